"""The footer: what the session has cost, what is going on, and what escape would do now; one row.

While something is going on a timer ticks once a second; when idle there is none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from renderers.text import humanise, humanise_duration, one_line
from widgets.bar import Bar, Token
from widgets.plain import is_plain

if TYPE_CHECKING:
    from textual.timer import Timer


@dataclass(frozen=True, slots=True)
class FooterState:
    """What the footer says. Tokens are counts, cost in dollars; `activity` is a word such as "working", "" when idle.

    `busy_since` is in the footer's clock (time.monotonic), and so is `due`: when what is waited for comes, counted
    down to. `escape_hint` says what escape does now ("stop"), "" if it does nothing; `hints` are keys with their action
    ("ctrl+t tree"); `note` is said in place of the hints.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_tokens: int = 0
    cost: float | None = None
    is_subscription: bool = False
    activity: str = ""
    busy_since: float | None = None
    escape_hint: str = ""
    hints: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    note: str = ""
    due: float | None = None


def elapsed(seconds: float) -> str:
    """Return whole seconds for people: 8 s, 42 s, 4 m 05 s."""
    whole = max(0, int(seconds))
    return f"{whole} s" if whole < 60 else humanise_duration(whole)


def money(cost: float) -> str:
    """Return dollars with as many digits as say something: $0.0042, $0.14, $12.30."""
    return f"${cost:.4f}" if 0 < cost < 0.01 else f"${cost:.2f}"


class Footer(Bar):
    """Shows a FooterState."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "footer--tokens", "footer--cache", "footer--cost", "footer--activity", "footer--status", "footer--hint",
        "footer--escape", "footer--note",
    }  # fmt: skip

    def __init__(
        self,
        state: FooterState | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        id: str | None = None,  # noqa: A002  # Textual's own name
    ) -> None:
        super().__init__(id=id)
        self.state = state or FooterState()
        self._clock = clock
        self._ticking: Timer | None = None

    def show(self, state: FooterState) -> None:
        """Show this from now on; nothing is repainted that did not change."""
        if state == self.state:
            return
        self.state = state
        self._set_ticking()
        self.refresh()

    def on_mount(self) -> None:
        """Start ticking if we were born busy."""
        self._set_ticking()

    @property
    def is_ticking(self) -> bool:
        """True while a timer runs."""
        return self._ticking is not None

    def _set_ticking(self) -> None:
        busy = self.state.busy_since is not None and self.is_mounted
        if busy and self._ticking is None:
            self._ticking = self.set_interval(1.0, self.refresh, name="footer")
        elif not busy and self._ticking is not None:
            self._ticking.stop()
            self._ticking = None

    def tokens_of_row(self, y: int) -> Sequence[Token]:
        """Return the tokens; under 80 cells no hints but that of escape."""
        state = self.state
        sides = ("{} in", "{} out") if is_plain(self) else ("↑{}", "↓{}")
        counts = (state.input_tokens, state.output_tokens)
        spent = [side.format(humanise(count)) for side, count in zip(sides, counts, strict=True) if count]
        cost = "" if state.cost is None or (not state.cost and not state.is_subscription) else money(state.cost)
        if state.is_subscription:
            cost = f"{cost} (sub)".strip()
        cached = f"cache {humanise(state.cache_tokens)}" if state.cache_tokens else ""
        tokens = [
            Token((", " if is_plain(self) else " ").join(spent), "footer--tokens", weight=60),
            Token(cached, "footer--cache", weight=30),
            Token(cost, "footer--cost", weight=50),
            Token(self._activity(), "footer--activity", weight=90, gap=3),
            *(Token(status, "footer--status", weight=35, gap=3, cut="end") for status in state.statuses),
        ]
        return tokens + self._hints()

    def _activity(self) -> str:
        state = self.state
        if not state.activity:
            return ""
        if state.due is not None:
            return f"● {state.activity} in {elapsed(math.ceil(state.due - self._clock()))}"
        since = "" if state.busy_since is None else f" {elapsed(self._clock() - state.busy_since)}"
        return f"● {state.activity}{since}"

    def _hints(self) -> list[Token]:
        state = self.state
        if state.note:
            return [Token(state.note, "footer--note", weight=80, on_right=True, cut="end")]
        hints: list[tuple[str, str, int]] = []
        if state.escape_hint:
            hints.append((f"esc {state.escape_hint}", "footer--escape", 70))
        if self.size.width >= 80:
            hints.extend((hint, "footer--hint", 20 - at) for at, hint in enumerate(state.hints))
        tokens: list[Token] = []
        for text, style, weight in hints:
            joint = " · " if tokens else ""
            tokens.append(Token(joint + one_line(text), style, weight=weight, on_right=True, gap=0, is_clean=True))
        return tokens
