"""Long text, line by line, with its own index: only what is in sight is cleaned, cut and drawn."""

from __future__ import annotations

import itertools

from rich.segment import Segment
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from renderers.text import break_offsets, cell_width, expand_tabs, sanitise

LONGEST_LINE = 20_000  # characters of one line that are shown


class LineViewer(ScrollView, can_focus=True):
    """Shows a text; `wrapped` breaks lines at the width, else they scroll sideways."""

    DEFAULT_CSS = """
    LineViewer { height: 1fr; overflow-y: scroll; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 1; }
    """
    COMPONENT_CLASSES = {"line-viewer--number", "line-viewer--hit"}

    def __init__(self, text: str, *, wrapped: bool = True, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._lines = text.split("\n")
        self._wrapped = wrapped
        self._rows: list[tuple[int, int, int]] = []  # (line, start, end) in characters
        self._width = 0
        self._query = ""

    @property
    def line_count(self) -> int:
        """Lines of the text."""
        return len(self._lines)

    def toggle_wrap(self) -> None:
        """Break lines, or don't."""
        self._wrapped = not self._wrapped
        self._width = 0
        self._lay_out()
        self.refresh()

    def search(self, query: str, *, backwards: bool = False) -> bool:
        """Go to the next line (the one before) that holds `query`, ignoring case; whether there is one."""
        self._query = query.lower()
        self.refresh()
        if not query:
            return False
        top = self._rows[min(self.scroll_offset.y, len(self._rows) - 1)][0] if self._rows else 0
        count = len(self._lines)
        order = range(1, count + 1)
        for step in order:
            line = (top - step if backwards else top + step) % count
            if self._query in self._lines[line].lower():
                row = next((place for place, (owner, _, _) in enumerate(self._rows) if owner == line), 0)
                self.scroll_to(y=row, animate=False)
                return True
        return False

    def on_resize(self) -> None:
        """Another width."""
        self._lay_out()

    def _clean(self, line: int) -> str:
        return expand_tabs(sanitise(self._lines[line][:LONGEST_LINE]))

    def _lay_out(self) -> None:
        width = max(1, self._area_cells - self._gutter)
        if width == self._width:
            return
        self._width = width
        rows: list[tuple[int, int, int]] = []
        widest = width
        for number, raw in enumerate(self._lines):
            if len(raw) * 2 <= width:  # no cell is wider than two
                rows.append((number, 0, len(raw) * 4))
                continue
            text = self._clean(number)
            if not self._wrapped:
                widest = max(widest, cell_width(text))
                rows.append((number, 0, len(text)))
                continue
            offsets = [0, *break_offsets(text, width), len(text)]
            rows += [(number, start, end) for start, end in itertools.pairwise(offsets) if end > start or not text]
        self._rows = rows
        self.virtual_size = Size(self._gutter + (width if self._wrapped else widest), len(rows))

    @property
    def _area_cells(self) -> int:
        """The width without the scroll bar, which `size` counts."""
        return self.scrollable_content_region.width

    @property
    def _gutter(self) -> int:
        return len(str(len(self._lines))) + 2

    def render_line(self, y: int) -> Strip:
        """One row: the line's number, then its text."""
        left, top = self.scroll_offset
        base = self.rich_style
        if y + top >= len(self._rows):
            return Strip.blank(self._area_cells, base)
        line, start, end = self._rows[y + top]
        text = self._clean(line)[start:end]
        number = f"{line + 1:>{self._gutter - 2}}  " if start == 0 else " " * self._gutter
        style = base
        if self._query and self._query in text.lower():
            style = base + self.get_component_rich_style("line-viewer--hit", partial=True)
        body = Strip([Segment(text, style)]).crop(left, left + max(1, self._area_cells - self._gutter))
        head = Segment(number, base + self.get_component_rich_style("line-viewer--number", partial=True))
        return Strip([head, *body]).adjust_cell_length(self._area_cells, base)
