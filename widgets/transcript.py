"""The transcript: blocks in, rows out, with a cursor, densities, search and copy; it never knows sessions or models.

The chat screen calls its methods; it posts messages for what the reader did with the mouse. Text deltas go
`block.append(delta)` and `touch(block.id)`: no messages, one render of the tail a frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual import events
from textual.message import Message
from textual.selection import Selection

from widgets.block import Block, BlockKind, Density, next_density
from widgets.block_list import Slot
from widgets.folding import fold_all, refold, unfold
from widgets.selection import Point
from widgets.transcript_search import Hit, TranscriptSearch
from widgets.transcript_view import TranscriptView

if TYPE_CHECKING:
    from textual.scrollbar import ScrollDown, ScrollTo, ScrollUp
    from textual.visual import Visual

WHEEL_ROWS = 3


class TranscriptBlocks(TranscriptView):
    """The half that keeps blocks: order, groups of folded calls, densities by id, running clocks."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._chosen: dict[str, Density] = {}
        self._for_all: Density | None = None
        self._ticking: dict[Slot, None] = {}

    def set_blocks(self, blocks: Iterable[Block]) -> None:
        """Show these blocks and no others, from the end; chosen densities stay by id. Linear, draws nothing yet."""
        width = self.size.width or 80
        slots = [Slot(block, block.estimate_rows(width) + (0 if block.is_compact else 1)) for block in blocks]
        self._recent.clear()
        self._dirty.clear()
        self._rows = self._rows if self._look is not None else []
        self.blocks.load(slots)
        fold_all(list(self.blocks))
        for slot in self.blocks:
            fold = slot.fold
            if fold is not None and fold.is_folded and fold.members[0] is not slot:
                self.blocks.set_height(slot, 0)
        self._ticking = {slot: None for slot in self.blocks if slot.block.is_running}
        self.cursor_slot = None
        self.marked.update(None)
        self.viewport.reset()
        self.redraw()

    def clear(self) -> None:
        """Show nothing."""
        self.set_blocks(())

    def append_block(self, block: Block) -> None:
        """Add a block at the end. Raises KeyError when its id is taken."""
        self._insert(block, self.blocks.last)

    def insert_after(self, block_id: str | None, block: Block) -> None:
        """Add a block behind another (None: first). Raises KeyError when there is no such, or the new id is taken."""
        after = None
        if block_id is not None and (after := self.blocks.get(block_id)) is None:
            raise KeyError(block_id)
        self._insert(block, after)

    def _insert(self, block: Block, after: Slot | None) -> None:
        slot = Slot(block, block.estimate_rows(self.size.width or 80) + (0 if block.is_compact else 1))
        self.blocks.insert(slot, after)
        for neighbour in (slot.prev, slot.next):
            if neighbour is not None and neighbour.fold is not None and slot.prev is not None and slot.next is not None:
                self._split_at(slot)
                break
        self._note(slot)

    def _split_at(self, slot: Slot) -> None:
        """A group that now has a stranger in its middle falls in two."""
        before = slot.prev.fold if slot.prev is not None else None
        if before is None or slot.next is None or slot.next.fold is not before:
            return
        member = slot.next
        for changed in (*unfold(member), *refold(member)):
            self._dirty[changed] = None

    def _note(self, slot: Slot) -> None:
        if slot.block.is_running:
            self._ticking[slot] = None
        self.mark_changed(slot)

    def remove_block(self, block_id: str) -> None:
        """Take a block out; nothing happens when it isn't there."""
        slot = self.blocks.get(block_id)
        if slot is None:
            return
        neighbour = slot.next or slot.prev
        for changed in unfold(slot):
            self._dirty[changed] = None
        self._dirty.pop(slot, None)
        self._recent.pop(slot, None)
        self._ticking.pop(slot, None)
        self.blocks.remove(slot)
        if self.cursor_slot is slot:
            self.cursor_slot = neighbour
        if neighbour is not None:
            self.mark_changed(neighbour)
        else:
            self.redraw()

    def rename_block(self, old_id: str, new_id: str) -> None:
        """Give a block the id its entry got; its density goes along. Raises KeyError when the new id is taken."""
        slot = self.blocks.get(old_id)
        if slot is None:
            return
        self.blocks.rename(slot, new_id)
        if old_id in self._chosen:
            self._chosen[new_id] = self._chosen.pop(old_id)

    def touch(self, block_id: str) -> None:
        """The block changed: draw it with the next frame."""
        slot = self.blocks.get(block_id)
        if slot is not None:
            self.mark_changed(slot)

    def tick(self) -> None:
        """A second went by: draw what shows a running time anew, and nothing else."""
        for slot in self._ticking:
            slot.block.changed()
            self.mark_changed(slot)

    @property
    def has_running(self) -> bool:
        """Whether any block shows a time that goes on: only then is `tick()` needed."""
        return bool(self._ticking)

    def before_frame(self, changed: list[Slot]) -> None:
        """Bring groups and clocks up to date."""
        for slot in changed:
            refold(slot)
            if slot.block.is_running:
                self._ticking[slot] = None
            else:
                self._ticking.pop(slot, None)

    def fold_visual(self, slot: Slot) -> Visual:
        """The one line that a closed fold group shows."""
        from widgets.fold_line import fold_line

        return fold_line([member.block for member in slot.fold.members] if slot.fold else [], plain=self.is_plain)

    # Densities

    def density_of(self, slot: Slot) -> Density:
        """The density chosen for the block, else the one chosen for all, else its own."""
        block = slot.block
        if not block.is_steppable:
            return "full"
        return self._chosen.get(block.id) or self._for_all or block.default_density

    def set_density(self, block_id: str, density: Density) -> None:
        """Draw a block at this density from now on; its header stays where it is on the screen."""
        slot = self.blocks.get(block_id)
        if slot is None or not slot.block.is_steppable:
            return
        self._chosen[block_id] = density
        self._keep_place(slot)
        self.redraw()

    def step_density(self, block_id: str) -> None:
        """Title, preview, full, title; a folded line opens."""
        slot = self.blocks.get(block_id)
        if slot is None:
            return
        if slot.fold is not None and slot.fold.is_folded:
            self._keep_place(slot.fold.members[0])
            self.open_fold(slot)
            self.redraw()
            return
        self.set_density(block_id, next_density(self.density_of(slot)))

    def set_all_densities(self, density: Density | None = None, *, cycle: bool = True) -> Density | None:
        """Full, title, each its own: one further with every call, or the one given. Returns what it is now."""
        if density is not None or not cycle:
            self._for_all = density
        else:
            order: tuple[Density | None, ...] = (None, "full", "title")
            self._for_all = order[(order.index(self._for_all) + 1) % 3] if self._for_all in order else None
        self._chosen.clear()
        slot = self.cursor_slot
        if slot is None:
            row = self.row_at(0)
            slot = row.slot if row is not None else None
        if slot is not None:
            self._keep_place(slot)
        self.redraw()
        return self._for_all

    def open_fold(self, slot: Slot) -> None:
        """Show the calls of a folded line one by one."""
        if slot.fold is not None and slot.fold.is_folded:
            slot.fold.is_open = True
            slot.fold.changed()

    def _keep_place(self, slot: Slot) -> None:
        """Before a block changes its height: let its header stay at its row, if it is in view."""
        if self.viewport.is_following and slot is self.blocks.last:
            return
        for y, row in enumerate(self._rows):
            if row.slot is slot:
                if row.row > 0 and y == 0:
                    self.viewport.show(slot, 0)
                else:
                    self.viewport.hold()
                return

    def set_plain(self, plain: bool) -> None:
        """Plain mode: words for glyphs (ui.md §7)."""
        if plain != self.is_plain:
            self.is_plain = plain
            self.forget_colours()


class Transcript(TranscriptBlocks):
    """The transcript with its reader: place, cursor, search, mouse, copy."""

    ALLOW_SELECT = True
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

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._search = TranscriptSearch(self.blocks)
        self._told = (True, 0)
        self._pressed: tuple[int, int] | None = None

    # Place

    @property
    def is_following(self) -> bool:
        """Whether the end stays in view."""
        return self.viewport.is_following

    @property
    def new_lines(self) -> int:
        """Lines that came below since the reader left the end; 0 while following."""
        return self.viewport.new_rows

    def follow(self) -> None:
        """Go to the end and stay there."""
        self.viewport.follow()
        self.redraw()

    def after_frame(self) -> None:
        """Tell when following began or ended, and how many lines are new."""
        now = self.is_following, self.new_lines
        if now != self._told:
            self._told = now
            self.post_message(self.FollowChanged(*now))

    def scroll_pages(self, pages: float) -> bool:
        """Move by so many windows, two rows kept; whether it moved."""
        rows = max(1, round(abs(pages) * self.size.height) - 2)
        return self.scroll_rows(rows if pages > 0 else -rows)

    def go_to_start(self) -> None:
        """Show the first row."""
        if self.blocks.first is not None:
            self.viewport.show(self.blocks.first)
            self.redraw()

    def show_block(self, block_id: str, row: int = 0) -> bool:
        """Bring a block (that row of it) into view with as little movement as will do; whether it is there."""
        slot = self.blocks.get(block_id)
        if slot is None:
            return False
        if slot.fold is not None and slot.fold.is_folded and slot.fold.members[0] is not slot:
            self.open_fold(slot)
        self._bring_into_view(slot, row)
        self.redraw()
        return True

    def _bring_into_view(self, slot: Slot, row: int = 0) -> None:
        self._measure(slot)
        row = min(row, max(0, slot.height - 1))
        height = self.size.height
        wanted = slot.height if row == 0 else 1
        inside = [y for y, place in enumerate(self._rows) if place.slot is slot and place.row >= row]
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

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Remember where, to tell a click from a drag."""
        self._pressed = (event.x, event.y)

    def on_click(self, event: events.Click) -> None:
        """Pill: to the end. Sibling arrows: that sibling. Header: next density. Twice: mark the block."""
        event.prevent_default()
        row = self.row_at(event.y)
        if row is None or self._pressed not in (None, (event.x, event.y)):
            return
        if row.pill and event.x >= self.size.width - len(row.pill):
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
            self.marked.select(Point(row.slot, row.slot.gap, 0), Point(row.slot, row.slot.height - 1, 10_000))
            self.redraw()
        elif event.chain == 1 and row.row == row.slot.gap and block.is_steppable:
            self.step_density(block.id)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Three rows down."""
        event.prevent_default().stop()
        self.scroll_rows(WHEEL_ROWS)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Three rows up."""
        event.prevent_default().stop()
        self.scroll_rows(-WHEEL_ROWS)

    def on_scroll_to(self, message: ScrollTo) -> None:
        """The scroll bar was dragged."""
        message.prevent_default().stop()
        if message.y is not None:
            self.viewport.go_to_row(round(message.y))
            self.redraw()

    def on_scroll_up(self, message: ScrollUp) -> None:
        """The scroll bar was clicked above its thumb."""
        message.prevent_default().stop()
        self.scroll_pages(-1)

    def on_scroll_down(self, message: ScrollDown) -> None:
        """The scroll bar was clicked below its thumb."""
        message.prevent_default().stop()
        self.scroll_pages(1)

    def action_scroll_up(self) -> None:
        """A row up."""
        self.scroll_rows(-1)

    def action_scroll_down(self) -> None:
        """A row down."""
        self.scroll_rows(1)

    def action_page_up(self) -> None:
        """A window up."""
        self.scroll_pages(-1)

    def action_page_down(self) -> None:
        """A window down."""
        self.scroll_pages(1)

    def action_scroll_home(self) -> None:
        """To the first row."""
        self.go_to_start()

    def action_scroll_end(self) -> None:
        """To the end, and follow."""
        self.follow()
