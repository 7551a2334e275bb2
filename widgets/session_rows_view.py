"""How the list of sessions and its search field are drawn, line by line; it knows no key and must never read a file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from renderers.text import cell_width, cut_cells, humanise, humanise_bytes, one_line
from widgets.repaint import ChangedCellsOnly
from widgets.session_rows import SessionRow, title_of
from widgets.tree_field import LineField

_CURSOR = Style(reverse=True)


def age(ms: int, now_ms: int) -> str:
    """How long ago a time is: now, 5 m, 3 h, 2 d, 4 w, 7 mo, 2 y; a time to come is "now"."""
    minutes = max(0, now_ms - ms) // 60_000
    steps = ((525_600, "y"), (43_200, "mo"), (10_080, "w"), (1_440, "d"), (60, "h"), (1, "m"))
    return next((f"{minutes // size} {unit}" for size, unit in steps if minutes >= size), "now")


class SessionRowsView(ChangedCellsOnly, Widget):
    """The drawing half of `SessionList`: rows in view, the row stood on, the search field above them."""

    DEFAULT_CSS = """
    SessionRowsView { height: 1fr; width: 1fr; }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "session-list--marker", "session-list--field", "session-list--project", "session-list--title",
        "session-list--name", "session-list--lead", "session-list--meta", "session-list--role", "session-list--text",
        "session-list--match", "session-list--pin", "session-list--current", "session-list--cursor",
    }  # fmt: skip

    def __init__(self, query: str, current: str, id: str | None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.rows: Sequence[SessionRow] = ()
        self.selected = ""
        self.current = current
        self.empty = "looking for sessions"
        self.remark = ""
        self.is_searching = False
        self.drawn_rows = 0
        """How many rows were drawn: what the growth tests count."""
        self._field = LineField(query)
        self._place: dict[str, int] = {}
        self._first = 0

    @property
    def _room(self) -> int:
        return max(1, self.size.height - 1)

    def _keep_in_sight(self) -> None:
        at = self._place.get(self.selected, 0)
        top = at - 1 if at and not self.rows[at - 1].id else at
        self._first = max(0, min(self._first, len(self.rows) - self._room))
        if top < self._first:
            self._first = top
        elif at >= self._first + self._room:
            self._first = at - self._room + 1

    def render_line(self, y: int) -> Strip:
        """Return one row of the screen."""
        width, base = self.size.width, self.rich_style
        if y == 0:
            return self._field_row(width, base)
        self._keep_in_sight()
        at = self._first + y - 1
        if not self.rows and y == 1:
            return Strip(
                [Segment(f" {cut_cells(self.empty, width - 2)}", self._style("meta", base))]
            ).adjust_cell_length(width, base)
        if at >= len(self.rows):
            return Strip.blank(width, base)
        self.drawn_rows += 1
        row = self.rows[at]
        if row.id and row.id == self.selected:
            base = base + self.get_component_rich_style("session-list--cursor", partial=True)
        left, right = _pieces(row, self.current)
        return self._laid_out(left, right, width, base)

    def _row(self, y: int) -> Strip:
        return self.render_line(y)

    def _field_row(self, width: int, base: Style) -> Strip:
        remark = cut_cells(one_line(self.remark), max(0, width // 2 - 1))
        room = width - 4 - cell_width(remark)
        pieces = [Segment(" / ", self._style("marker", base))]
        if self.is_searching:
            before, under, after = self._field.window(max(2, room))
            pieces += [
                Segment(before, self._style("field", base)),
                Segment(under, base + _CURSOR),
                Segment(after, self._style("field", base)),
            ]
        elif self._field.text:
            pieces.append(Segment(cut_cells(self._field.text, room), self._style("field", base)))
        else:
            hint = 'words, "a phrase" or re:pattern, in every message and tool output'
            pieces.append(Segment(cut_cells(hint, room), self._style("meta", base)))
        used = sum(cell_width(piece.text) for piece in pieces)
        pieces.append(Segment(" " * max(0, width - 1 - used - cell_width(remark)), base))
        pieces.append(Segment(f"{remark} ", self._style("meta", base)))
        return Strip(pieces).adjust_cell_length(width, base)

    def _laid_out(self, left: list[tuple[str, str]], right: str, width: int, base: Style) -> Strip:
        if cell_width(right) + 24 > width:
            right = ""
        room = width - cell_width(right) - (2 if right else 1)
        pieces: list[Segment] = []
        used = 0
        for text, style in left:
            shown = cut_cells(text, room - used)
            pieces.append(Segment(shown, self._style(style, base) if style else base))
            used += cell_width(shown)
            if shown != text:
                break
        pieces.append(Segment(" " * max(0, width - used - cell_width(right) - 1), base))
        pieces.append(Segment(f"{right} ", self._style("meta", base)))
        return Strip(pieces).adjust_cell_length(width, base)

    def _style(self, name: str, base: Style) -> Style:
        return base + self.get_component_rich_style(f"session-list--{name}", partial=True)


def _pieces(row: SessionRow, current: str) -> tuple[list[tuple[str, str]], str]:
    """(text, style) pieces of a row from the left, and what stands at its right."""
    match row.kind:
        case "project":
            return [(f" {row.text}", "project")], f"{row.hits}" if row.hits else ""
        case "session":
            info = row.info
            assert info is not None
            mark = ("● ", "current") if row.id == current else ("★ ", "pin") if row.is_pinned else ("  ", "")
            left = [("  ", ""), mark, (row.lead, "lead"), (title_of(info), "name" if info.name else "title")]
            size = f"{humanise(info.message_count)} msg" if info.message_count is not None else ""
            found = f"{humanise(row.hits)} {'hit' if row.hits == 1 else 'hits'}" if row.hits else ""
            when = age(info.modified_ms, int(time.time() * 1000))
            return left, " · ".join(part for part in (found or size or humanise_bytes(info.size_bytes), when) if part)
        case "hit":
            hit = row.hit
            assert hit is not None
            return [
                ("      ", ""),
                (f"{cut_cells(one_line(hit.role, 40), 12):<12} ", "role"),
                *_marked(hit.snippet, hit.marks),
            ], ""


def _marked(text: str, marks: Sequence[tuple[int, int]]) -> list[tuple[str, str]]:
    """The text in pieces, hits apart; what had to be made safe has lost the places of its hits."""
    safe = one_line(text)
    if safe != text:
        return [(safe, "text")]
    pieces: list[tuple[str, str]] = []
    at = 0
    for begin, end in marks:
        if begin >= at:
            pieces += [(text[at:begin], "text"), (text[begin:end], "match")]
            at = end
    return [piece for piece in (*pieces, (text[at:], "text")) if piece[0]]
