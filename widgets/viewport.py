"""Which rows stand on the screen: FOLLOW keeps the end in view, HOLD keeps the reader's place; it never draws.

The truth is an anchor (a block and a row in it), not a number of rows from the top: heights of blocks that were never
drawn are guesses, and correcting a guess must not move what the reader looks at.
"""

from __future__ import annotations

from collections.abc import Callable

from widgets.block_list import BlockList, Slot

Place = tuple[Slot, int]
LONGEST_STEP = 8
"""Rows scrolled at once while following: 109 bytes a token against 420 a row at a time (textual-notes §2.11)."""
SLOW_LINE_STEP = 12
"""The same on a slow line: 59 bytes a token at 15 frames a second, where 8 rows cost 75 and the budget is 60."""


class Viewport:
    """The window on a BlockList. `measure(slot)` must bring a slot's height up to date."""

    def __init__(self, blocks: BlockList, measure: Callable[[Slot], None]) -> None:
        self._blocks = blocks
        self._measure = measure
        self.height = 0
        self.longest_step = LONGEST_STEP
        self.is_following = True
        self._anchor: Slot | None = None
        self._row = 0
        self._origin = (0, 0)
        self._rescale = False
        self._resized = False
        self._mark: Place | None = None

    @property
    def step(self) -> int:
        """Rows scrolled at once while following; small screens take small steps."""
        return max(1, min(self.longest_step, self.height // 3))

    @property
    def top(self) -> int:
        """The row number of the window's first row, heights of undrawn blocks guessed."""
        if self._anchor is None or self._anchor.chunk is None:
            return 0
        return self._blocks.top_of(self._anchor) + self._row

    @property
    def new_rows(self) -> int:
        """Rows that came after the last one that stood there when the reader left the end."""
        if self.is_following or self._mark is None:
            return 0
        slot, rows = self._mark
        while slot.chunk is None and slot.prev is not None:
            slot = slot.prev
            rows = slot.height
        if slot.chunk is None:
            return 0
        return max(0, self._blocks.total_rows - self._blocks.top_of(slot) - min(rows, slot.height))

    def resize(self, height: int, *, width_changed: bool) -> None:
        """Take a new height; with a new width the place within the anchor block is kept in proportion."""
        self._rescale = self._rescale or width_changed
        self._resized = self._resized or height != self.height
        self.height = height
        if self.is_following and width_changed:
            self._anchor = None

    def reset(self) -> None:
        """Forget the place: show the end."""
        self.is_following = True
        self._anchor = None
        self._mark = None

    def layout(self) -> list[Place]:
        """The rows in view from the top, at most `height`; measures what it shows and nothing else."""
        if self.height <= 0 or self._blocks.first is None:
            self._anchor = None
            return []
        self._settle()
        places, reached_end = self._walk_down()
        blank = self.height - len(places)
        resized, self._resized = self._resized, False
        if not self.is_following:
            if resized and blank and not self._is_at_start():
                self._follow_if_at_end()
                places = self._walk_down()[0]
            return places
        if reached_end and (blank < self.step or self._is_at_start()):
            return places
        self._anchor_at_end(0 if reached_end or resized else self.step - 1)
        return self._walk_down()[0]

    def follow(self) -> None:
        """Show the end and stay there."""
        self.is_following = True
        self._mark = None
        if self.height > 0 and self._blocks.last is not None:
            places, reached_end = self._walk_down() if self._is_anchored() else ([], False)
            if not reached_end or len(places) < self.height:
                self._anchor_at_end(0)

    def hold(self) -> None:
        """Stay at this place whatever comes."""
        if not self.is_following:
            return
        self._settle()
        self.is_following = False
        last = self._blocks.last
        self._mark = None if last is None else (last, last.height)

    def scroll(self, rows: int) -> bool:
        """Move the window down (negative: up); whether it moved. Up holds, reaching the end follows."""
        if self.height <= 0 or self._blocks.first is None:
            return False
        self._settle()
        before = self._anchor, self._row
        self.hold()
        if rows < 0:
            self._move_up(-rows)
            moved = before != (self._anchor, self._row)
            if not moved:
                self._follow_if_at_end()
            return moved
        self._move_down(rows)
        self._follow_if_at_end()
        return before != (self._anchor, self._row)

    def go_to_row(self, row: int) -> None:
        """Jump to a row number, as a scroll bar gives it."""
        found = self._blocks.at_row(row)
        if found is None:
            return
        self.show(*found, y=0)

    def show(self, slot: Slot, row: int = 0, *, y: int = 0) -> None:
        """Put a block's row at the window's row `y`, or as near as the ends allow."""
        self.hold()
        self._measure(slot)
        self._set_anchor(slot, min(row, max(0, slot.height - 1)))
        if y > 0:
            self._move_up(y)
        self._follow_if_at_end()

    def _is_anchored(self) -> bool:
        return self._anchor is not None and self._anchor.chunk is not None

    def _is_at_start(self) -> bool:
        return self._row == 0 and (self._anchor is None or self._before(self._anchor) is None)

    def _set_anchor(self, slot: Slot, row: int) -> None:
        self._anchor, self._row = slot, row
        self._origin = row, max(1, slot.height)

    def _settle(self) -> None:
        """Make the anchor stand on a row that exists."""
        slot = self._anchor
        if slot is not None and slot.chunk is None:
            while slot is not None and slot.chunk is None:
                slot = slot.prev
            if slot is None and self._blocks.first is not None:
                slot = self._blocks.first
                self._set_anchor(slot, 0)
            elif slot is not None:
                self._measure(slot)
                self._set_anchor(slot, max(0, slot.height - 1))
        if slot is None:
            if self.is_following:
                self._anchor_at_end(0)
            elif self._blocks.first is not None:
                self._set_anchor(self._blocks.first, 0)
            self._rescale = False
            return
        self._measure(slot)
        if self._rescale:
            row, height = self._origin
            self._row = row * slot.height // height
            self._rescale = False
        if slot.height == 0:
            other = self._before(slot) or self._after(slot)
            if other is not None:
                self._set_anchor(other, 0)
        elif self._row >= slot.height:
            self._row = slot.height - 1

    def _walk_down(self) -> tuple[list[Place], bool]:
        places: list[Place] = []
        slot, row = self._anchor, self._row
        while slot is not None:
            self._measure(slot)
            for each in range(row, slot.height):
                if len(places) == self.height:
                    return places, False
                places.append((slot, each))
            slot, row = slot.next, 0
        return places, True

    def _anchor_at_end(self, blank_rows: int) -> None:
        need = max(1, self.height - blank_rows)
        slot = self._blocks.last
        while slot is not None:
            self._measure(slot)
            if slot.height >= need:
                self._set_anchor(slot, slot.height - need)
                return
            need -= slot.height
            if slot.prev is None:
                break
            slot = slot.prev
        if slot is not None:
            self._set_anchor(slot, 0)

    def _before(self, slot: Slot) -> Slot | None:
        other = slot.prev
        while other is not None:
            self._measure(other)
            if other.height:
                return other
            other = other.prev
        return None

    def _after(self, slot: Slot) -> Slot | None:
        other = slot.next
        while other is not None:
            self._measure(other)
            if other.height:
                return other
            other = other.next
        return None

    def _move_up(self, rows: int) -> None:
        slot, row = self._anchor, self._row - rows
        while slot is not None and row < 0:
            other = self._before(slot)
            if other is None:
                row = 0
                break
            slot = other
            row += slot.height
        if slot is not None:
            self._set_anchor(slot, row)

    def _move_down(self, rows: int) -> None:
        slot, row = self._anchor, self._row + rows
        while slot is not None and row >= slot.height:
            other = self._after(slot)
            if other is None:
                row = max(0, slot.height - 1)
                break
            row -= slot.height
            slot = other
        if slot is not None:
            self._set_anchor(slot, row)

    def _follow_if_at_end(self) -> None:
        """The end in view means following; rows past the end are given back."""
        places, reached_end = self._walk_down()
        if not reached_end:
            return
        if len(places) < self.height:
            self._anchor_at_end(0)
        self.is_following = True
        self._mark = None
