"""Which blocks the transcript holds, how much of each is shown, and which share a line; it must never draw."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from widgets.block import Block, BlockKind, Density, next_density
from widgets.block_list import Slot
from widgets.folding import fold_all, refold, split_around, unfold
from widgets.transcript_scroll import TranscriptScroll

if TYPE_CHECKING:
    from textual.visual import Visual


def guessed(blocks: Iterable[Block], width: int) -> list[Slot]:
    """Slots with heights guessed for a width in cells, calls folded."""
    slots = [Slot(block, block.estimate_rows(width) + (0 if block.is_compact else 1)) for block in blocks]
    fold_all(slots)
    for slot in slots:
        fold = slot.fold
        if fold is not None and fold.is_folded and fold.members[0] is not slot:
            slot.height = 0
    return slots


class TranscriptBlocks(TranscriptScroll):
    """The half that keeps blocks: order, groups of folded calls, densities by id, running clocks."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._chosen: dict[str, Density] = {}
        self._for_all: Density | None = None
        self._for_kind: dict[BlockKind, Density] = {}
        self._ticking: dict[Slot, None] = {}

    def set_blocks(self, blocks: Iterable[Block]) -> None:
        """Show these blocks and no others, from the end; chosen densities stay by id. Linear, draws nothing yet."""
        slots = guessed(blocks, self.area.width or 80)
        self._recent.clear()
        self._dirty.clear()
        self._rows = self._rows if self._look is not None else []
        self.blocks.load(slots)
        self._ticking = {slot: None for slot in self.blocks if slot.block.is_running}
        self.cursor_slot = None
        self.marked.update(None)
        self.viewport.reset()
        self.redraw()

    def prepend_blocks(self, blocks: Iterable[Block]) -> None:
        """Put finished blocks before all others; nothing that is in view moves. Ids that are there are left out."""
        first = self.blocks.first
        self.blocks.prepend(guessed(blocks, self.area.width or 80))
        if first is not None and first.drawn_for is not None:
            self._measure(first)  # it had no blank row above it, being the first
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
        slot = Slot(block, block.estimate_rows(self.area.width or 80) + (0 if block.is_compact else 1))
        self.blocks.insert(slot, after)
        self._dirty.update(dict.fromkeys(split_around(slot)))
        if slot.block.is_running:
            self._ticking[slot] = None
        self.mark_changed(slot)

    def remove_block(self, block_id: str) -> None:
        """Take a block out; nothing happens when it isn't there."""
        slot = self.blocks.get(block_id)
        if slot is None:
            return
        neighbour = slot.next or slot.prev
        self._dirty.update(dict.fromkeys(unfold(slot)))
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

    def get_block(self, block_id: str) -> Block | None:
        """The block of this id, or None."""
        slot = self.blocks.get(block_id)
        return None if slot is None else slot.block

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
        slot_at = self.cursor_slot
        if slot_at is not None and slot_at.fold is not None and self.is_folded(slot_at):
            self.cursor_slot = slot_at.fold.members[0]

    def is_folded(self, slot: Slot) -> bool:
        """Whether the block shares a line with its neighbours now: never while all are shown in full."""
        return self._for_all != "full" and super().is_folded(slot)

    def fold_visual(self, slot: Slot) -> Visual:
        """The one line that a closed fold group shows."""
        from renderers.folded import folded_visual

        return folded_visual(slot.fold.calls() if slot.fold is not None else [], plain=self.is_plain)

    # Densities

    def density_of(self, slot: Slot) -> Density:
        """The density chosen for the block, else for all, else for its kind, else its own."""
        block = slot.block
        if not block.is_steppable:
            return "full"
        chosen = self._chosen.get(block.id) or self._for_all or self._for_kind.get(block.kind)
        return chosen or block.default_density

    def set_density(self, block_id: str, density: Density) -> None:
        """Draw a block at this density from now on; its header stays where it is on the screen."""
        slot = self.blocks.get(block_id)
        if slot is None or not slot.block.is_steppable:
            return
        self._chosen[block_id] = density
        self._keep_place(slot)
        self.open_fold(slot)
        self.redraw()

    def step_density(self, block_id: str) -> None:
        """Title, preview, full, title; a folded line opens."""
        slot = self.blocks.get(block_id)
        if slot is None:
            return
        if slot.fold is not None and self.is_folded(slot):
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
        self._redraw_around_cursor()
        return self._for_all

    def set_kind_density(self, kind: BlockKind, density: Density | None) -> None:
        """Draw all blocks of a kind at this density (None: each its own), those the reader stepped excepted."""
        if density is None:
            self._for_kind.pop(kind, None)
        else:
            self._for_kind[kind] = density
        self._redraw_around_cursor()

    def _redraw_around_cursor(self) -> None:
        slot = self.cursor_slot
        if slot is None and not self.is_following and (row := self.row_at(0)) is not None:
            slot = row.slot
        if slot is not None:
            self._keep_place(slot)
        self.redraw()

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
