"""Files that differ, one a row, and under them the diff of the one that is chosen; it reads nothing itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from rich.segment import Segment
from textual import getters
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.visual import Visual
from textual.widget import Widget
from textual.widgets import Static

from renderers.diff import diff_rows, parse_diff
from renderers.rows import FULL_ROWS, Body
from renderers.text import sanitise
from widgets.tree_preview import PreviewLine, TreePreview
from widgets.tree_work import begin

LoadDiff = Callable[[str], Awaitable[str]]
MOST_LINES = 5_000


class FileList(TreePreview):
    """The files; one is chosen. Every line has a tail, so that a line is a row."""

    DEFAULT_CSS = """
    FileList {
        & .preview--cursor { background: $popup-cursor; color: $popup-cursor-text; }
    }
    """
    COMPONENT_CLASSES = TreePreview.COMPONENT_CLASSES | {"preview--cursor"}

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self.chosen = 0

    def choose(self, index: int) -> None:
        """Choose a row and keep it in sight."""
        self.chosen = max(0, min(index, len(self.lines) - 1))
        if not self._top <= self.chosen < self._top + max(1, self.size.height):
            self._top = max(0, self.chosen - self.size.height // 2)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The chosen row on its own ground."""
        strip = super().render_line(y)
        if self._top + y == self.chosen and self.lines:
            return Strip(Segment.apply_style(strip, post_style=self._style("cursor")), strip.cell_length)
        return strip


class DiffPane(Widget):
    """`show` gives it files and how to load a diff; `step` chooses another, `scroll_diff` moves in it."""

    class Chosen(Message):
        """Another file is chosen."""

        def __init__(self, path: str) -> None:
            self.path = path
            super().__init__()

    DEFAULT_CSS = """
    DiffPane {
        height: 1fr;
        layout: vertical;
        & FileList { height: auto; max-height: 30%; min-height: 1; }
        & VerticalScroll { height: 1fr; scrollbar-size-vertical: 1; padding: 0 1; }
        & Static { height: auto; }
    }
    """
    files = getters.query_one(FileList)
    scroll = getters.query_one(VerticalScroll)
    body = getters.query_one("#diff", Static)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self._paths: list[str] = []
        self._load: LoadDiff | None = None

    def compose(self) -> ComposeResult:
        """The list over the diff."""
        yield FileList()
        with VerticalScroll(can_focus=False):
            yield Static(id="diff", markup=False)

    def show(self, files: Sequence[tuple[str, PreviewLine]], load: LoadDiff) -> None:
        """Show these (path, line); the first is chosen."""
        self._paths = [path for path, _ in files]
        self._load = load
        self.files.styles.height = max(1, len(files))
        self.files.show([line for _, line in files])
        self._choose(0)

    def say(self, text: str) -> None:
        """Words in place of a diff."""
        self.body.update(Content(sanitise(text)))

    def step(self, step: int) -> None:
        """Choose the file `step` rows further."""
        if self._paths:
            self._choose(self.files.chosen + step)

    def scroll_diff(self, pages: float) -> None:
        """Move in the diff by pages."""
        rows = round(pages * max(1, self.scroll.size.height - 1)) or (1 if pages > 0 else -1)
        self.scroll.scroll_relative(y=rows, animate=False)

    def _choose(self, index: int) -> None:
        if not self._paths:
            return
        self.files.choose(index)
        path = self._paths[self.files.chosen]
        self.post_message(self.Chosen(path))
        begin(self, partial(self._fetch, path), "diff", exclusive=True)

    async def _fetch(self, path: str) -> None:
        if self._load is None:
            return
        try:
            text = await self._load(path)
        except Exception as error:  # the border: one diff that can't be had is said in its place
            self.say(str(error))
            return
        self.body.update(diff_visual(text))
        self.scroll.scroll_home(animate=False)


def diff_visual(text: str) -> Visual:
    """A diff in text form, or a sentence, as something to draw; very long ones are cut, and say so."""
    if not text.strip():
        return Content("no difference in its lines")
    lines = parse_diff(text, MOST_LINES)
    hidden = max(0, text.strip("\n").count("\n") + 1 - len(lines))
    return Body(diff_rows(lines), FULL_ROWS, hidden=hidden, has_gutter=False)
