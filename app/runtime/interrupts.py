"""What escape stops: an explicit stack, innermost on top, so that nothing has to save and restore a handler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class Interrupt:
    """`label` says what escape would do now ("stop", "stop waiting"); `stop` does it and returns at once."""

    label: str
    stop: Callable[[], None]


class InterruptStack:
    """`on_change` is called whenever the top changes, for the footer's hint."""

    def __init__(self) -> None:
        self._stack: list[Interrupt] = []
        self.on_change: Callable[[], None] | None = None

    @property
    def label(self) -> str | None:
        """What escape would do now; None: nothing to stop."""
        return self._stack[-1].label if self._stack else None

    @contextmanager
    def entry(self, label: str, stop: Callable[[], None]) -> Iterator[Interrupt]:
        """Keep an interrupt on the stack while the block runs; it may end in any order with others."""
        interrupt = Interrupt(label, stop)
        self._stack.append(interrupt)
        self._changed()
        try:
            yield interrupt
        finally:
            self._stack.remove(interrupt)
            self._changed()

    def interrupt(self) -> bool:
        """Stop the innermost thing. Returns False when there is nothing to stop."""
        if not self._stack:
            return False
        self._stack[-1].stop()
        return True

    def _changed(self) -> None:
        if self.on_change:
            self.on_change()
