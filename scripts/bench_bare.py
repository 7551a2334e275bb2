"""The least that a Textual app with an editor can be: the floor beside which the bench measures. Dev only."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Static, TextArea


class Bare(App[None]):
    """A page and an editor."""

    CSS = "#page { height: 1fr; } TextArea { height: 5; }"
    ENABLE_COMMAND_PALETTE = False

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Static("bare", id="page")
        editor = TextArea()
        editor.cursor_blink = False
        yield editor

    def on_mount(self) -> None:
        """Keys go to the editor."""
        self.query_one(TextArea).focus()


if __name__ == "__main__":
    Bare().run()
