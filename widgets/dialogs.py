"""Dialogs: a question with a few answers, and a text to read. They scroll when they are taller than the screen.

Escape always means no. No single letter ever answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Offset, Size
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from renderers.text import cut_cells, expand_tabs, one_line, sanitise
from widgets.prompt_keys import normalise_key
from widgets.repaint import ChangedCellsOnly

if TYPE_CHECKING:
    from textual import events
    from textual.app import App

NO = "no"

ResultT = TypeVar("ResultT")


class Options(ChangedCellsOnly, Widget):
    """The answers, one a row, numbered; one is highlighted. The screen moves it."""

    DEFAULT_CSS = """
    Options { height: auto; width: 1fr; }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"options--cursor"}

    def __init__(self, labels: Sequence[str], index: int) -> None:
        super().__init__()
        self.labels = [one_line(label) for label in labels]
        self.index = index

    def move(self, step: int) -> None:
        """Highlight another answer, round the ends."""
        self.index = (self.index + step) % len(self.labels)
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return one row an answer."""
        return len(self.labels)

    @property
    def cursor_screen_offset(self) -> Offset:
        """Where the highlighted answer stands on the screen."""
        return self.content_region.offset + Offset(1, self.index)

    def render_line(self, y: int) -> Strip:
        """Return one answer."""
        width, base = self.size.width, self.rich_style
        if y >= len(self.labels):
            return Strip.blank(width, base)
        if y == self.index:
            base = base + self.get_component_rich_style("options--cursor", partial=True)
        mark = "▸" if y == self.index else " "
        return Strip([Segment(cut_cells(f" {mark} {y + 1} {self.labels[y]}", width), base)]).adjust_cell_length(
            width, base
        )

    def _row(self, y: int) -> Strip:
        return self.render_line(y)


class ChoiceScreen(ModalScreen[str]):
    """A question; its result is the id of an option. Escape gives `default`, which is highlighted first."""

    DEFAULT_CSS = """
    ChoiceScreen { align: center bottom; }
    ChoiceScreen > .dialog { height: auto; max-height: 80%; max-width: 100; width: 1fr; }
    ChoiceScreen .dialog--text { height: auto; max-height: 1fr; scrollbar-size-vertical: 1; }
    ChoiceScreen .dialog--title { height: auto; }
    ChoiceScreen Options { dock: bottom; }
    """

    def __init__(self, title: str, options: Sequence[tuple[str, str]], *, body: str = "", default: str = NO) -> None:
        super().__init__()
        self._ids = [option for option, _ in options]
        self._default = default
        at = self._ids.index(default) if default in self._ids else len(self._ids) - 1
        self._options = Options([label for _, label in options], at)
        self._options.styles.height = len(options)
        self._title, self._body = sanitise(title), expand_tabs(sanitise(body))

    def compose(self) -> ComposeResult:
        """Yield title, text and answers; the answers stay in sight."""
        with Vertical(classes="dialog"):
            yield Static(Content(self._title), classes="dialog--title", markup=False)
            if self._body:
                with VerticalScroll(classes="dialog--text", can_focus=False):
                    yield Static(Content(self._body), markup=False)
            yield self._options

    @property
    def cursor_screen_offset(self) -> Offset:
        """Where the highlighted answer stands."""
        return self._options.cursor_screen_offset

    def on_key(self, event: events.Key) -> None:
        """Move, answer, or scroll the text."""
        key = normalise_key(event.key)
        if key in ("up", "down", "tab", "shift+tab"):
            self._options.move(-1 if key in ("up", "shift+tab") else 1)
        elif key == "enter":
            self.dismiss(self._ids[self._options.index])
        elif key in ("escape", "ctrl+c"):
            self.dismiss(self._default)
        elif key.isdigit() and 1 <= int(key) <= len(self._ids):
            self._options.move(int(key) - 1 - self._options.index)
        elif key in ("pageup", "pagedown"):
            for text in self.query(VerticalScroll):
                text.scroll_relative(y=(1 if key == "pagedown" else -1) * max(1, text.size.height - 1), animate=False)
        event.stop()
        event.prevent_default()

    def on_click(self, event: events.Click) -> None:
        """Answer by the mouse."""
        if event.widget is self._options and event.y < len(self._ids):
            self.dismiss(self._ids[event.y])


class TextScreen(ModalScreen[None]):
    """A text to read, such as the help; any of escape, enter and q closes it."""

    DEFAULT_CSS = """
    TextScreen { align: center middle; }
    TextScreen > VerticalScroll { height: auto; max-height: 90%; max-width: 100; width: 1fr; }
    TextScreen > VerticalScroll { scrollbar-size-vertical: 1; }
    """

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = one_line(title)
        self._text = expand_tabs(sanitise(text))

    def compose(self) -> ComposeResult:
        """Yield the text in a box that scrolls."""
        with VerticalScroll(classes="dialog") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("esc close")
            yield Static(Content(self._text), markup=False)

    def on_key(self, event: events.Key) -> None:
        """Scroll or close."""
        box = self.query_one(VerticalScroll)
        page = max(1, box.size.height - 1)
        steps = {"up": -1, "k": -1, "down": 1, "j": 1, "pageup": -page, "pagedown": page, "space": page}
        key = normalise_key(event.key)
        if key in steps:
            box.scroll_relative(y=steps[key], animate=False)
        elif key in ("home", "g"):
            box.scroll_home(animate=False)
        elif key in ("end", "G"):
            box.scroll_end(animate=False)
        elif key in ("escape", "enter", "q", "f1", "question_mark", "ctrl+c"):
            self.dismiss(None)
        event.stop()
        event.prevent_default()


async def choose(
    app: App[ResultT], title: str, options: Sequence[tuple[str, str]], *, body: str = "", default: str = NO
) -> str:
    """Return the id of the option chosen, `default` for escape. Only inside a worker (Textual's push_screen_wait)."""
    return await app.push_screen_wait(ChoiceScreen(title, options, body=body, default=default))
