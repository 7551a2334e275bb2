"""The whole of one block: its text with line numbers, wrapped or not, searched and copied; it changes nothing."""

from __future__ import annotations

from typing import ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from renderers.outcome import plural
from widgets.bar import Bar, Token
from widgets.line_viewer import LineViewer


class DetailBar(Bar):
    """One row of plain words."""

    DEFAULT_CSS = "DetailBar { height: 1; }"
    COMPONENT_CLASSES: ClassVar[set[str]] = {"detail-bar--title", "detail-bar--hint"}

    def __init__(self, title: str, hint: str, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._title, self._hint = title, hint

    def say(self, hint: str) -> None:
        """Other words at the right."""
        self._hint = hint
        self.refresh()

    def tokens_of_row(self, y: int) -> list[Token]:
        """Title left, hint right."""
        return [
            Token(self._title, "detail-bar--title", weight=60, cut="middle", least_cells=10),
            Token(self._hint, "detail-bar--hint", weight=50, on_right=True, cut="end"),
        ]


HINT = "w wrap · / search · n N · y copy · esc back"


class DetailScreen(Screen[None]):
    """Escape or q goes back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "back"),
        Binding("w", "wrap", "wrap"),
        Binding("slash,ctrl+f", "search", "search"),
        Binding("n", "next", "next hit"),
        Binding("N", "previous", "previous hit"),
        Binding("y", "copy", "copy"),
        Binding("g", "top", "top"),
        Binding("G", "bottom", "bottom"),
        Binding("j", "down", "down", show=False),
        Binding("k", "up", "up", show=False),
    ]
    viewer = getters.query_one(LineViewer)
    bar = getters.query_one(DetailBar)

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._heading = title
        self._text = text
        self._query = ""

    def compose(self) -> ComposeResult:
        """Title and text."""
        viewer = LineViewer(self._text)
        yield DetailBar(f"{self._heading} · {plural(viewer.line_count, 'line')}", HINT)
        yield viewer

    def action_leave(self) -> None:
        """Back."""
        self.dismiss()

    def action_wrap(self) -> None:
        """Break long lines, or scroll them sideways."""
        self.viewer.toggle_wrap()

    def action_copy(self) -> None:
        """Copy everything."""
        self.app.copy_to_clipboard(self._text)
        self.bar.say(f"{len(self._text):,} characters sent to the terminal's clipboard")

    def action_top(self) -> None:
        """The first line."""
        self.viewer.scroll_home(animate=False)

    def action_bottom(self) -> None:
        """The last line."""
        self.viewer.scroll_end(animate=False)

    def action_down(self) -> None:
        """A line down."""
        self.viewer.scroll_down(animate=False)

    def action_up(self) -> None:
        """A line up."""
        self.viewer.scroll_up(animate=False)

    def action_search(self) -> None:
        """Ask for words and go to the first hit."""
        self.run_worker(self._ask(), exit_on_error=False, group="search", description="search")

    async def _ask(self) -> None:
        from widgets.text_input import ask_text

        if words := await ask_text(self.app, "Search", self._query):
            self._query = words
            self._go(backwards=False)

    def action_next(self) -> None:
        """The next hit."""
        self._go(backwards=False)

    def action_previous(self) -> None:
        """The hit before."""
        self._go(backwards=True)

    def _go(self, *, backwards: bool) -> None:
        if not self._query:
            self.action_search()
            return
        found = self.viewer.search(self._query, backwards=backwards)
        self.bar.say(HINT if found else f"{self._query!r} is not there")
