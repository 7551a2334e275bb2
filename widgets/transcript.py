"""The transcript: blocks in, rows out, with a cursor, search and copy; it never knows sessions or models.

The chat screen calls its methods; it posts messages for what the reader did with the mouse. Text deltas go
`block.append(delta)` and `touch(block.id)`: no messages, one render of the tail a frame.
"""

from __future__ import annotations

from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection

from widgets.block import BlockKind
from widgets.block_list import Slot
from widgets.transcript_blocks import TranscriptBlocks
from widgets.transcript_search import Hit, TranscriptSearch

NEAR_WINDOWS = 3
"""So many windows above, the start is near: what comes before it is there when the reader arrives."""


class Transcript(TranscriptBlocks):
    """The transcript with its reader: place, cursor, search, mouse, copy."""

    ALLOW_SELECT = True
    FOCUS_ON_CLICK = False  # typing after a click still goes to the prompt
    can_focus = True

    class BlockActivated(Message):
        """A block was clicked."""

        def __init__(self, block_id: str) -> None:
            self.block_id = block_id
            super().__init__()

    class SiblingRequested(Message):
        """The reader wants the sibling branch before (-1) or after (+1) this one."""

        def __init__(self, block_id: str, step: int) -> None:
            self.block_id = block_id
            self.step = step
            super().__init__()

    class FollowChanged(Message):
        """Whether the end is followed, and how many new lines are below."""

        def __init__(self, is_following: bool, new_lines: int) -> None:
            self.is_following = is_following
            self.new_lines = new_lines
            super().__init__()

    class StartNeared(Message):
        """The reader comes near the first block while `awaits_earlier` says that more can be had before it."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.awaits_earlier = False
        self._search = TranscriptSearch(self.blocks)
        self._told = (True, 0)
        self._pressed: tuple[int, int] | None = None

    # Place

    def after_frame(self) -> None:
        """Tell when following began or ended, how many lines are new, and that the start is near."""
        super().after_frame()
        now = self.is_following, self.new_lines
        if now != self._told:
            self._told = now
            self.post_message(self.FollowChanged(*now))
        if self.awaits_earlier and not self.is_following and self._top_row < NEAR_WINDOWS * self.size.height:
            self.awaits_earlier = False
            self.post_message(self.StartNeared())

    def show_block(self, block_id: str, row: int = 0) -> bool:
        """Bring a block (that row of it) into view with as little movement as will do; whether it is there."""
        slot = self.blocks.get(block_id)
        if slot is None:
            return False
        if slot.fold is not None and self.is_folded(slot) and slot.fold.members[0] is not slot:
            self.open_fold(slot)
        self._bring_into_view(slot, row or None)
        self.redraw()
        return True

    def place_of(self, block_id: str) -> int | None:
        """The window's row in which the block's first row stands, None when that is out of view."""
        for y in range(self.size.height):
            row = self.row_at(y)
            if row is not None and row.slot is not None and row.slot.block.id == block_id and row.row == row.slot.gap:
                return y
        return None

    def show_block_at(self, block_id: str, y: int) -> None:
        """Put a block's first row at the window's row `y`: after its sibling was taken, say."""
        slot = self.blocks.get(block_id)
        if slot is not None:
            self._measure(slot)
            self.viewport.show(slot, slot.gap, y=y)
            self.redraw()

    def _bring_into_view(self, slot: Slot, row: int | None = None) -> None:
        """Show a block, or that row of it with rows around it; nothing moves when it can be seen already."""
        self._measure(slot)
        height = self.size.height
        if row is not None:
            row = min(row, max(0, slot.height - 1))
            if not any(place.slot is slot and place.row == row for place in self._rows):
                self.viewport.show(slot, row, y=height // 3)
            elif slot is not self.blocks.last:
                self.viewport.hold()
            return
        row, wanted = 0, slot.height
        inside = [y for y, place in enumerate(self._rows) if place.slot is slot]
        if len(inside) >= min(wanted, height):
            if slot is not self.blocks.last:
                self.viewport.hold()
            return
        top = self.blocks.top_of(slot) + row
        if top > self._top_row:
            y = max(0, height - min(wanted, height))
            self.viewport.show(slot, row, y=y)
        else:
            self.viewport.show(slot, row)

    # Block cursor

    @property
    def cursor_id(self) -> str | None:
        """The block under the cursor, None outside browse mode."""
        return None if self.cursor_slot is None else self.cursor_slot.block.id

    @property
    def cursor_screen_offset(self) -> Offset:
        """Where the block cursor stands on the screen; the last row when it is out of sight."""
        y = None if self.cursor_slot is None else self.place_of(self.cursor_slot.block.id)
        return self.content_region.offset + Offset(0, max(0, self.size.height - 1) if y is None else y)

    def set_cursor(self, block_id: str | None) -> None:
        """Put the cursor on a block and show it; None takes it away."""
        slot = None if block_id is None else self.blocks.get(block_id)
        self.cursor_slot = slot
        if slot is not None:
            self._bring_into_view(slot)
        self.redraw()

    def move_cursor(self, step: int, kind: BlockKind | None = None) -> str | None:
        """Move the cursor to the next (+1) or previous (-1) block, of a kind when given; returns where it is now."""
        slot = self.cursor_slot
        if slot is None or slot.chunk is None:
            self.cursor_to_end()
            if kind is None or self.cursor_slot is None or self.cursor_slot.block.kind == kind:
                return self.cursor_id
            slot = self.cursor_slot
        other: Slot | None
        if kind is not None:
            other = self.blocks.neighbour_of_kind(slot, step, kind)
        else:
            other = slot.next if step > 0 else slot.prev
            while other is not None:
                self._measure(other)
                if other.height:
                    break
                other = other.next if step > 0 else other.prev
        if other is not None:
            self.cursor_slot = other
            self._bring_into_view(other)
            self.redraw()
        return self.cursor_id

    def cursor_to_end(self) -> None:
        """Put the cursor on the last block."""
        slot = self.blocks.last
        while slot is not None and slot.prev is not None:
            self._measure(slot)
            if slot.height:
                break
            slot = slot.prev
        self.cursor_slot = slot
        self.viewport.follow()
        self.redraw()

    def cursor_to_top(self) -> None:
        """Put the cursor on the first block."""
        self.cursor_slot = self.blocks.first
        self.go_to_start()

    # Search

    def search(self, text: str) -> list[Hit]:
        """Where the text stands, letter case aside, in the order of the transcript; marks it in view. "" ends it."""
        self.query_text = text
        hits = self._search.start(text)
        self.redraw()
        return hits

    def next_hit(self) -> Hit | None:
        """Go to the next hit; from the last to the first."""
        return self._go_to_hit(self._search.step(1, self.cursor_id))

    def previous_hit(self) -> Hit | None:
        """Go to the hit before; from the first to the last."""
        return self._go_to_hit(self._search.step(-1, self.cursor_id))

    def _go_to_hit(self, hit: Hit | None) -> Hit | None:
        slot = None if hit is None else self.blocks.get(hit.block_id)
        if hit is None or slot is None:
            return None
        if slot.fold is not None and slot.fold.is_folded:
            self.open_fold(slot)
        self._measure(slot)
        row = self._search.row_of(hit, slot)
        if row is None and slot.block.is_steppable:
            self._chosen[slot.block.id] = "full"
            self._measure(slot)
            row = self._search.row_of(hit, slot)
        self.cursor_slot = slot
        self._bring_into_view(slot, row or 0)
        self.redraw()
        return hit

    # Selection and copy

    def selection_updated(self, selection: Selection | None) -> None:
        """Take over the screen's selection and repaint the cells that it changes."""
        self.marked.update(selection)
        self.redraw()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The marked text, from the marked rows only."""
        text = self.marked.text(self._measure, self.indent_of)
        return (text, "\n") if text else None

    def copy_text(self, *, markdown: bool = False) -> str:
        """The marked text, else the text of the block under the cursor (or as Markdown); "" without either."""
        if self.marked.is_active and (text := self.marked.text(self._measure, self.indent_of)):
            return text
        if self.cursor_slot is None:
            return ""
        block = self.cursor_slot.block
        return block.markdown() if markdown else block.plain_text()

    # Mouse and inherited keys

    def _mark_block(self, slot: Slot) -> None:
        top = self.blocks.top_of(slot)
        start, end = Offset(0, top + slot.gap), Offset(self.area.width, top + slot.height - 1)
        self.screen.selections = {self: Selection(start, end)}

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Remember where, to tell a click from a drag."""
        self._pressed = (event.x, event.y)

    def on_click(self, event: events.Click) -> None:
        """Pill: to the end. Sibling arrows: that sibling. Header: next density. Twice: mark the block."""
        event.prevent_default()
        if event.chain > 1:
            event.stop()  # the screen would mark everything
        row = self.row_at(event.y)
        if row is None or self._pressed not in (None, (event.x, event.y)):
            return
        if row.pill and event.x >= self.area.width - len(row.pill):
            self.follow()
            return
        if row.slot is None or row.strip is None:
            return
        block = row.slot.block
        step = event.style.meta.get("pinyon_sibling")
        if isinstance(step, int):
            self.post_message(self.SiblingRequested(block.id, step))
            return
        self.post_message(self.BlockActivated(block.id))
        if event.chain == 2:
            self._mark_block(row.slot)
        elif event.chain == 1 and row.row == row.slot.gap and block.is_steppable:
            self.step_density(block.id)
