"""The pane beside the tree: lines of words in a few styles, wrapped and scrolled; it knows no session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from renderers.text import cell_width, cut_cells, sanitise, wrap_cells
from widgets.repaint import ChangedCellsOnly


@dataclass(frozen=True, slots=True)
class PreviewLine:
    """A line (foreign text is made safe when it is drawn), a style, and pieces that follow it on its own row.

    Styles: "title", "meta", "text", "head", "path", "add", "del", "act". With `tail` the line is cut, not wrapped.
    """

    text: str
    style: str = "text"
    tail: tuple[tuple[str, str], ...] = ()


class TreePreview(ChangedCellsOnly, Widget):
    """Shows PreviewLines; a change repaints the changed cells."""

    can_focus = False
    DEFAULT_CSS = """
    TreePreview {
        width: 1fr;
        height: 1fr;
        color: $quiet;
        & .preview--title { color: $foreground; text-style: bold; }
        & .preview--meta { color: $faint; }
        & .preview--text { color: $quiet; }
        & .preview--head { color: $faint; }
        & .preview--path { color: $foreground; }
        & .preview--add { color: $diff-add; }
        & .preview--del { color: $diff-del; }
        & .preview--act { color: $brand; }
        & .preview--edge { color: $gauge-rest; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "preview--title", "preview--meta", "preview--text", "preview--head", "preview--path", "preview--add",
        "preview--del", "preview--act", "preview--edge",
    }  # fmt: skip

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self.lines: tuple[PreviewLine, ...] = ()
        self._rows: list[list[tuple[str, str]]] = []
        self._rows_for = -1
        self._top = 0

    def show(self, lines: Sequence[PreviewLine], *, keep_place: bool = False) -> None:
        """Show these lines, from the top unless the place is kept."""
        self.lines = tuple(lines)
        self._rows_for = -1
        if not keep_place:
            self._top = 0
        self.refresh()

    def scroll_rows(self, rows: int) -> None:
        """Move on by rows; the ends stop it."""
        self._lay_out(self.size.width)
        self._top = max(0, min(self._top + rows, len(self._rows) - self.size.height))
        self.refresh()

    def _lay_out(self, width: int) -> None:
        if self._rows_for == width:
            return
        self._rows_for = width
        room = max(1, width - 3)
        self._rows = []
        for line in self.lines:
            text = sanitise(line.text)
            if line.tail:
                tail = sum(cell_width(piece) + 1 for piece, _ in line.tail)
                shown = cut_cells(text.replace("\n", " "), max(1, room - tail))
                pieces = [(shown, line.style)]
                for piece, style in line.tail:
                    pieces += [(" ", ""), (piece, style)]
                self._rows.append(pieces)
            else:
                self._rows.extend([(row, line.style)] for row in wrap_cells(text, room))
        self._top = max(0, min(self._top, len(self._rows) - 1))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """All rows at this width."""
        self._lay_out(width)
        return len(self._rows)

    def render_line(self, y: int) -> Strip:
        """One row, exactly as wide as the widget."""
        width, base = self.size.width, self.rich_style
        self._lay_out(width)
        pieces = [("│ ", "edge")]
        if self._top + y < len(self._rows):
            pieces += self._rows[self._top + y]
        segments = [Segment(text, base + self._style(style)) for text, style in pieces]
        return Strip(segments).adjust_cell_length(width, base)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"preview--{name}", partial=True) if name else Style.null()

    def _row(self, y: int) -> Strip:
        return self.render_line(y)
