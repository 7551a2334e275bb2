"""How one screen row of the transcript is put together from a block's strip; pure: it may be drawn at any time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rich.segment import Segment
from textual.strip import Strip

if TYPE_CHECKING:
    from rich.style import Style

    from widgets.block_list import Slot

CURSOR_BAR = "┃"


class Row(NamedTuple):
    """All that decides how a screen row looks. Equal rows look the same."""

    slot: Slot | None
    row: int
    strip: Strip | None
    indent: int
    is_cursor: bool
    span: tuple[int, int] | None
    query: str
    pill: str


@dataclass(frozen=True, slots=True)
class RowStyles:
    """The styles that rows are drawn in."""

    base: Style
    cursor: Style
    pill: Style
    hit: Style
    selection: Style


def row_text(strip: Strip | None, indent: int) -> str:
    """The row's characters as they stand on the screen, indentation included, blanks at the end left out."""
    return (" " * indent + strip.text).rstrip() if strip is not None else ""


def compose(row: Row, width: int, styles: RowStyles) -> Strip:
    """The row as it stands on the screen, exactly `width` cells."""
    line = row.strip
    if line is None:
        line = Strip.blank(width, styles.base)
    elif row.indent:
        line = Strip([Segment(" " * row.indent, styles.base), *line])
    # Neighbours of one style become one segment: each further one costs the terminal about 45 bytes.
    line = line.adjust_cell_length(width, styles.base).simplify()
    if row.query and row.strip is not None:
        for start, end in matches(line.text, row.query):
            line = paint(line, start, end, styles.hit)
    if row.span is not None:
        line = paint(line, *row.span, styles.selection)
    if row.is_cursor and width > 1:
        line = Strip.join([Strip([Segment(CURSOR_BAR, styles.cursor)], 1), line.crop(1, width)])
    if row.pill:
        start = max(0, width - len(row.pill))
        line = Strip.join([line.crop(0, start), Strip([Segment(row.pill, styles.pill)]).crop(0, width - start)])
    return line


def paint(line: Strip, start: int, end: int, style: Style) -> Strip:
    """The strip with the characters from start to end (-1: to its end) in another style."""
    width = line.cell_length
    first = min(width, line.index_to_cell_position(start))
    last = width if end < 0 else min(width, line.index_to_cell_position(end))
    if last <= first:
        return line
    middle = line.crop(first, last)
    painted = Strip(Segment.apply_style(middle, post_style=style), middle.cell_length)
    return Strip.join([line.crop(0, first), painted, line.crop(last, width)])


def matches(text: str, query: str) -> list[tuple[int, int]]:
    """Where the query stands in the text, letter case aside; [] for an empty query."""
    if not query:
        return []
    lower, wanted = text.lower(), query.lower()
    if len(lower) != len(text):
        lower, wanted = text, query
    found: list[tuple[int, int]] = []
    at = lower.find(wanted)
    while at >= 0:
        found.append((at, at + len(wanted)))
        at = lower.find(wanted, at + len(wanted))
    return found
