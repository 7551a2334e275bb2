"""The text marked with the mouse, kept by block and row, so that neither streams nor scrolling move it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from widgets.transcript_rows import row_text

if TYPE_CHECKING:
    from textual.geometry import Offset
    from textual.selection import Selection

    from widgets.block_list import BlockList, Slot


class Point(NamedTuple):
    """A place in the transcript: a block, a row in it, a character in that row."""

    slot: Slot
    row: int
    column: int


class MarkedText:
    """Turns Textual's selection (absolute rows) into points, once each, and back into spans of the rows in view."""

    def __init__(self, blocks: BlockList) -> None:
        self._blocks = blocks
        self._points: dict[Offset, Point] = {}
        self._start: Point | None = None
        self._end: Point | None = None
        self.is_active = False
        self._bounds: tuple[tuple[int, int] | None, tuple[int, int] | None] = (None, None)

    def update(self, selection: Selection | None) -> None:
        """Take over what the screen selected; None clears. A point once placed keeps its block and row."""
        self.is_active = selection is not None
        if selection is None:
            self._points.clear()
            self._start = self._end = None
            return
        self._start = self._place(selection.start)
        self._end = self._place(selection.end)
        if len(self._points) > 64:
            kept = {offset: self._points[offset] for offset in selection if offset in self._points}
            self._points = kept

    def _place(self, offset: Offset | None) -> Point | None:
        if offset is None:
            return None
        point = self._points.get(offset)
        if point is None or point.slot.chunk is None:
            found = self._blocks.at_row(offset.y)
            if found is None:
                return None
            point = self._points[offset] = Point(*found, offset.x)
        return point

    def prepare(self) -> None:
        """Look up where the ends stand now; before a round of `span` calls."""
        self._bounds = (self._absolute(self._start), self._absolute(self._end))

    def _absolute(self, point: Point | None) -> tuple[int, int] | None:
        if point is None or point.slot.chunk is None:
            return None
        return self._blocks.top_of(point.slot) + point.row, point.column

    def span(self, absolute_row: int) -> tuple[int, int] | None:
        """The marked characters [start, end) of a row, end -1 = to the end; None when nothing is marked there."""
        if not self.is_active:
            return None
        start, end = self._bounds
        if start is not None and absolute_row < start[0]:
            return None
        if end is not None and absolute_row > end[0]:
            return None
        first = start[1] if start is not None and start[0] == absolute_row else 0
        last = end[1] if end is not None and end[0] == absolute_row else -1
        return (first, last) if last < 0 or last > first else None

    def text(self, measure: Callable[[Slot], None], indent_of: Callable[[Slot], int]) -> str:
        """The marked characters as they stand on the screen, without indentation; whole blocks give their own text."""
        if not self.is_active or self._blocks.first is None:
            return ""
        if self._start is None and self._end is None:
            return "\n\n".join(slot.block.plain_text() for slot in self._blocks)
        slot: Slot | None = self._blocks.first if self._start is None else self._start.slot
        lines: list[str] = []
        while slot is not None:
            measure(slot)
            is_last = self._end is not None and slot is self._end.slot
            first = self._start.row if self._start is not None and slot is self._start.slot else 0
            last = self._end.row if is_last and self._end is not None else slot.height - 1
            for row in range(first, min(last, slot.height - 1) + 1):
                lines.append(self._line(slot, row, indent_of(slot)))
            if is_last:
                break
            slot = slot.next
        return "\n".join(lines)

    def _line(self, slot: Slot, row: int, indent: int) -> str:
        at = row - slot.gap
        text = row_text(slot.strips[at] if 0 <= at < len(slot.strips) else None, indent)
        first, last = 0, len(text)
        if self._end is not None and self._end.slot is slot and self._end.row == row:
            last = min(last, self._end.column)
        if self._start is not None and self._start.slot is slot and self._start.row == row:
            first = self._start.column
        return text[max(first, indent) : last].rstrip()
