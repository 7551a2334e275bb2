"""The window on a tree's rows: which are in it, how each is drawn, where one stands; no keys, no messages.

Only rows in the window are put together, each once, and a step repaints two of them; nothing here grows with the tree.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset, Size
from textual.strip import Strip
from textual.widget import Widget

from app.session.facts import IndexEntry
from app.session.tree import Tree
from app.session.tree_building import Row
from app.session.tree_filter import TreeFilter, TreeQuery
from app.session.tree_layout import TreeLayout
from widgets.repaint import ChangedCellsOnly
from widgets.tree_line import Piece, TreeLook, row_pieces
from widgets.tree_text import EntryTexts, ReadEntry

MARGIN_ROWS = 2


def local_now() -> datetime:
    """The present time with the zone of this machine."""
    return datetime.now().astimezone()


class TreeWindow(ChangedCellsOnly, Widget, can_focus=True):
    """Shows a TreeLayout. `selected` is an id, so that neither filters nor new entries move it."""

    DEFAULT_CSS = """
    TreeWindow {
        width: 1fr;
        height: 1fr;
        color: $foreground;
        & .tree--lines { color: $path; }
        & .tree--user { color: $foreground; text-style: bold; }
        & .tree--other { color: $foreground; }
        & .tree--answer { color: $quiet; }
        & .tree--quiet { color: $faint; }
        & .tree--label { color: $moving; }
        & .tree--summary { color: $warning; }
        & .tree--error { color: $error; }
        & .tree--fold { color: $faint; }
        & .tree--here { color: $brand; text-style: bold; }
        & .tree--hit { background: $warning-muted; color: $text-warning; }
        & .tree--field { color: $foreground; }
        & .tree--caret { text-style: reverse; }
        & .tree--cursor { background: $popup-cursor; color: $popup-cursor-text; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "tree--lines", "tree--user", "tree--other", "tree--answer", "tree--quiet", "tree--label", "tree--summary",
        "tree--error", "tree--fold", "tree--here", "tree--hit", "tree--field", "tree--caret", "tree--cursor",
    }  # fmt: skip

    def __init__(
        self,
        tree: Tree,
        read: ReadEntry | None = None,
        *,
        mode: TreeFilter = TreeFilter.DEFAULT,
        now: Callable[[], datetime] = local_now,
        id: str | None = None,  # noqa: A002  # Textual's own name
    ) -> None:
        super().__init__(id=id)
        self.session_tree = tree
        self.laid_out = TreeLayout(tree, mode)
        self.selected: str | None = tree.leaf_id
        self.rendered_rows = 0
        """How many rows were put together: what the growth tests count."""
        self._read = read
        self._now = now
        self._look = TreeLook(tree, EntryTexts(tree, read), TreeQuery(""), now())
        self._look.here_row = self._here()
        self._first = 0
        self._kept: dict[tuple[int, bool], Strip] = {}
        self._kept_for: tuple[int, str] | None = None
        self._styles: dict[str, Style] = {}
        self._is_placed = False

    @property
    def at(self) -> int | None:
        """The row one stands on: that of the selected entry, or of the nearest ancestor that is shown."""
        return self.laid_out.row_of(self.selected)

    @property
    def row(self) -> Row | None:
        """The same as a Row."""
        at = self.at
        return None if at is None else self.laid_out.rows[at]

    @property
    def entry(self) -> IndexEntry | None:
        """The entry that keys act on."""
        row = self.row
        return None if row is None else row.entry

    def _here(self) -> int | None:
        return self.laid_out.ancestor_row(self.session_tree.leaf_id)

    # The window

    @property
    def list_top(self) -> int:
        """The screen row of the widget where the list begins: a subclass may want some for itself."""
        return 0

    @property
    def list_rows(self) -> int:
        """Rows of the list in the window."""
        return max(1, self.size.height - self.list_top)

    def _screen_row(self) -> int | None:
        at = self.at
        return None if at is None else at - self._first

    def _bring_into_view(self) -> None:
        """Keep the row in the window; past an edge go on by a third of the window, which repaints seldom."""
        at, rows, count = self.at, self.list_rows, len(self.laid_out.rows)
        if at is None or not self.size.height:
            return
        margin = min(MARGIN_ROWS, (rows - 1) // 2)
        if not self._is_placed:
            self._is_placed = True
            self._first = at - rows * 2 // 3
        elif at < self._first + margin:
            self._first = min(self._first - rows // 3, at - margin)
        elif at >= self._first + rows - margin:
            self._first = max(self._first + rows // 3, at - rows + margin + 1)
        self._first = max(0, min(self._first, count - rows))
        if not self._first <= at < self._first + rows:
            self._first = max(0, min(at, at - rows + 1))

    @property
    def cursor_screen_offset(self) -> Offset:
        """Where the row one stands on is on the screen."""
        return self.content_region.offset + Offset(0, self.list_top + max(0, self._screen_row() or 0))

    def scroll_list(self, rows: int) -> None:
        """Move the window without moving the row one stands on."""
        self._first = max(0, min(self._first + rows, len(self.laid_out.rows) - self.list_rows))
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        """The row one stands on stays in sight."""
        self._bring_into_view()

    def row_at(self, y: int) -> int | None:
        """The index of the row on a screen row of the widget."""
        at = self._first + y - self.list_top
        return at if y >= self.list_top and 0 <= at < len(self.laid_out.rows) else None

    # Drawing

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """All rows, were there room."""
        return len(self.laid_out.rows)

    def notify_style_update(self) -> None:
        """Colours may have changed."""
        self._styles.clear()
        self._kept.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """One row of the window, exactly as wide as the widget."""
        width = self.size.width
        if self._kept_for != (width, self.app.theme):
            self._kept_for = (width, self.app.theme)
            self._kept.clear()
        at = self.row_at(y)
        if at is None:
            return self._empty_row(y)
        key = (at, at == self.at)
        strip = self._kept.get(key)
        if strip is None:
            if len(self._kept) > 1024:
                self._kept.clear()
            strip = self._kept[key] = self._strip(row_pieces(self.laid_out, at, width, self._look), is_cursor=key[1])
            self.rendered_rows += 1
        return strip

    def _strip(self, pieces: list[Piece], *, is_cursor: bool = False) -> Strip:
        base = self.rich_style
        if is_cursor:
            base = base + self._style("cursor")
        segments = []
        for text, name in pieces:
            style = base + self._style(name) if name and not (is_cursor and name in ("user", "other")) else base
            if is_cursor and name != "hit":
                style = style + Style(bgcolor=base.bgcolor)
            segments.append(Segment(text, style))
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def _empty_row(self, y: int) -> Strip:
        if y == self.list_top and not self.laid_out.rows:
            return self._strip([(self.empty_text, "quiet")])
        return Strip.blank(self.size.width, self.rich_style)

    @property
    def empty_text(self) -> str:
        """What stands where no row is."""
        if self.laid_out.mode is TreeFilter.DEFAULT or not len(self.session_tree):
            return " nothing here yet"
        return f" nothing that the filter {self.laid_out.mode} shows"

    def _style(self, name: str) -> Style:
        style = self._styles.get(name)
        if style is None:
            style = self._styles[name] = self.get_component_rich_style(f"tree--{name}", partial=True)
        return style

    def _row(self, y: int) -> Strip:
        return self.render_line(y)
