"""One line asked for in a small dialog: a name, a label, words to search; escape means no."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from renderers.text import one_line

if TYPE_CHECKING:
    from textual.app import App, ReturnType


class TextInputScreen(ModalScreen[str | None]):
    """Its result is the line, None for escape."""

    DEFAULT_CSS = """
    TextInputScreen { align: center bottom; }
    TextInputScreen > Static { width: 1fr; max-width: 120; height: 1; padding: 0 1; }
    TextInputScreen > Input { width: 1fr; max-width: 120; }
    """
    BINDINGS = [("escape", "leave", "no")]

    def __init__(self, title: str, value: str = "") -> None:
        super().__init__()
        self._title = one_line(title)
        self._value = one_line(value)

    def compose(self) -> ComposeResult:
        """A title and a field."""
        yield Static(self._title, markup=False, id="question")
        field = Input(self._value, id="answer")
        field.cursor_blink = False
        yield field

    @on(Input.Submitted)
    def on_submitted(self, message: Input.Submitted) -> None:
        """Enter."""
        self.dismiss(message.value)

    def action_leave(self) -> None:
        """Escape."""
        self.dismiss(None)


async def ask_text(app: App[ReturnType], title: str, value: str = "") -> str | None:
    """The line that was typed, None for escape. Only inside a worker."""
    return await app.push_screen_wait(TextInputScreen(title, value))
