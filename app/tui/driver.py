"""Textual's driver with our manners: few bytes, and a terminal that is gone ends the program instead of hanging it.

Textual's writer thread dies at the first failed write, and then its queue blocks the event loop for good.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

from app.tui.squeeze import squeezed

if TYPE_CHECKING:
    from textual.app import App
    from textual.driver import Driver

HANGUP_CODE = 129
"""As after SIGHUP, which is what a terminal sends that goes away."""


class SafeFile:
    """Where the writer thread writes; after the first failure nothing is written any more, and `on_gone` was told."""

    def __init__(self, file: TextIO, on_gone: Callable[[], None]) -> None:
        self._file = file
        self._on_gone = on_gone
        self._is_gone = False

    def write(self, text: str) -> int:
        """Write, or leave it. The length, as of any file."""
        self._do(self._file.write, text)
        return len(text)

    def flush(self) -> None:
        """Flush, or leave it."""
        self._do(self._file.flush)

    def fileno(self) -> int:
        """The descriptor beneath."""
        return self._file.fileno()

    def isatty(self) -> bool:
        """Whether there is a terminal."""
        return not self._is_gone and self._file.isatty()

    def _do(self, function: Callable[..., object], *args: object) -> None:
        if self._is_gone:
            return
        try:
            function(*args)
        except OSError:
            self._is_gone = True
            self._on_gone()


def well_behaved(base: type[Driver]) -> type[Driver]:
    """A driver class like Textual's for Unix, with these manners; any other is given back as it is."""
    if not hasattr(base, "run_input_thread"):
        return base

    class UnixDriver(base):  # type: ignore[misc, valid-type]
        """`app.leave` ends the program."""

        def __init__(self, app: App[Any], **options: Any) -> None:
            super().__init__(app, **options)
            inner: TextIO = vars(self)["_file"]
            self._file = SafeFile(inner, self._terminal_is_gone)

        def write(self, data: str) -> None:
            super().write(squeezed(data))

        def run_input_thread(self) -> None:
            try:
                super().run_input_thread()
            except OSError:
                self._terminal_is_gone()

        def _terminal_is_gone(self) -> None:
            try:
                self._loop.call_soon_threadsafe(self._app.leave, HANGUP_CODE)
            except RuntimeError:  # the loop has ended: so has the program
                pass

    return UnixDriver
