"""The transcript's blocks in order with their heights; it must never walk all of them for one question.

Chunked sums: a question costs a look at the chunk heads (their number grows with the square root of nothing: 100,000
blocks are 400 chunks) and at one chunk's slots. Slots are linked, so a neighbour costs nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.strip import Strip

    from widgets.block import Block, BlockKind, Density
    from widgets.folding import FoldGroup

CHUNK = 256
DrawKey = tuple[int, int, "Density", int, bool]


class Slot:
    """One block's place in the list: its height in rows (gap included) and what was drawn of it last."""

    __slots__ = ("block", "chunk", "drawn_for", "fold", "gap", "height", "next", "prev", "strips")

    def __init__(self, block: Block, height: int) -> None:
        self.block = block
        self.height = height
        self.gap = 0
        self.strips: Sequence[Strip] = ()
        self.drawn_for: DrawKey | None = None
        self.fold: FoldGroup | None = None
        self.prev: Slot | None = None
        self.next: Slot | None = None
        self.chunk: _Chunk | None = None


class _Chunk:
    __slots__ = ("height", "kinds", "slots")

    def __init__(self, slots: list[Slot]) -> None:
        self.slots = slots
        self.height = sum(slot.height for slot in slots)
        self.kinds = Counter(slot.block.kind for slot in slots)
        for slot in slots:
            slot.chunk = self


class BlockList:
    """Ordered slots by block id. Heights are changed only through `set_height`, so that the sums stay true."""

    def __init__(self) -> None:
        self._chunks: list[_Chunk] = []
        self._by_id: dict[str, Slot] = {}
        self.first: Slot | None = None
        self.last: Slot | None = None
        self.total_rows = 0

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Slot]:
        slot = self.first
        while slot is not None:
            yield slot
            slot = slot.next

    def get(self, block_id: str) -> Slot | None:
        """The slot of a block, or None."""
        return self._by_id.get(block_id)

    def load(self, slots: Iterable[Slot]) -> None:
        """Replace everything. Ids that come twice keep their first slot. Linear, once per session opened."""
        self._by_id = {}
        kept: list[Slot] = []
        previous: Slot | None = None
        for slot in slots:
            if slot.block.id in self._by_id:
                continue
            self._by_id[slot.block.id] = slot
            kept.append(slot)
            slot.prev = previous
            slot.next = None
            if previous is not None:
                previous.next = slot
            previous = slot
        self.first = kept[0] if kept else None
        self.last = previous
        self._chunks = [_Chunk(kept[start : start + CHUNK]) for start in range(0, len(kept), CHUNK)]
        self.total_rows = sum(chunk.height for chunk in self._chunks)

    def prepend(self, slots: Iterable[Slot]) -> None:
        """Put slots before all others; ids that are there are left out. Costs what it adds, not what is there."""
        kept: list[Slot] = []
        for slot in slots:
            if slot.block.id not in self._by_id:
                self._by_id[slot.block.id] = slot
                kept.append(slot)
        if not kept:
            return
        following = self.first
        for slot, other in zip(kept, [*kept[1:], following], strict=True):
            slot.next = other
            if other is not None:
                other.prev = slot
        self.first = kept[0]
        if following is None:
            self.last = kept[-1]
        chunks = [_Chunk(kept[start : start + CHUNK]) for start in range(0, len(kept), CHUNK)]
        self._chunks[:0] = chunks
        self.total_rows += sum(chunk.height for chunk in chunks)

    def insert(self, slot: Slot, after: Slot | None) -> None:
        """Put a slot behind another one (None: at the beginning). Raises KeyError when the block id is taken."""
        if slot.block.id in self._by_id:
            raise KeyError(slot.block.id)
        self._by_id[slot.block.id] = slot
        following = self.first if after is None else after.next
        slot.prev, slot.next = after, following
        if after is None:
            self.first = slot
        else:
            after.next = slot
        if following is None:
            self.last = slot
        else:
            following.prev = slot
        self._into_chunk(slot, after)
        self.total_rows += slot.height

    def append(self, slot: Slot) -> None:
        """Put a slot at the end. Raises KeyError when the block id is taken."""
        self.insert(slot, self.last)

    def remove(self, slot: Slot) -> None:
        """Take a slot out; its own links stay, so that a reader standing on it can step to a neighbour."""
        del self._by_id[slot.block.id]
        if slot.prev is None:
            self.first = slot.next
        else:
            slot.prev.next = slot.next
        if slot.next is None:
            self.last = slot.prev
        else:
            slot.next.prev = slot.prev
        chunk = _chunk_of(slot)
        chunk.slots.remove(slot)
        chunk.height -= slot.height
        chunk.kinds[slot.block.kind] -= 1
        slot.chunk = None
        self.total_rows -= slot.height
        if not chunk.slots:
            self._chunks.remove(chunk)

    def rename(self, slot: Slot, new_id: str) -> None:
        """Give a block another id. Raises KeyError when it is taken."""
        if new_id == slot.block.id:
            return
        if new_id in self._by_id:
            raise KeyError(new_id)
        del self._by_id[slot.block.id]
        slot.block.id = new_id
        self._by_id[new_id] = slot

    def set_height(self, slot: Slot, rows: int) -> None:
        """Set a slot's height in rows."""
        change = rows - slot.height
        if change:
            slot.height = rows
            _chunk_of(slot).height += change
            self.total_rows += change

    def top_of(self, slot: Slot) -> int:
        """The number of rows above a slot."""
        own = _chunk_of(slot)
        rows = 0
        for chunk in self._chunks:
            if chunk is own:
                break
            rows += chunk.height
        for other in own.slots:
            if other is slot:
                break
            rows += other.height
        return rows

    def at_row(self, row: int) -> tuple[Slot, int] | None:
        """The slot that covers a row, and the row within it; rows outside give the first or last row. None if empty."""
        row = max(row, 0)
        for chunk in self._chunks:
            if row >= chunk.height:
                row -= chunk.height
                continue
            for slot in chunk.slots:
                if row < slot.height:
                    return slot, row
                row -= slot.height
        last = self.last
        while last is not None and not last.height and last.prev is not None:
            last = last.prev
        return None if last is None else (last, max(0, last.height - 1))

    def is_before(self, one: Slot, other: Slot) -> bool:
        """Whether the first slot stands before the second."""
        if one is other:
            return False
        here, there = _chunk_of(one), _chunk_of(other)
        if here is there:
            return here.slots.index(one) < here.slots.index(other)
        return self._chunks.index(here) < self._chunks.index(there)

    def neighbour_of_kind(self, slot: Slot, step: int, kind: BlockKind) -> Slot | None:
        """The nearest slot of a kind before (step -1) or behind (+1) a slot; chunks without that kind are skipped."""
        own = _chunk_of(slot)
        place = own.slots.index(slot)
        rest = own.slots[place + 1 :] if step > 0 else own.slots[:place][::-1]
        for other in rest:
            if other.block.kind == kind and other.height:
                return other
        at = self._chunks.index(own)
        chunks = self._chunks[at + 1 :] if step > 0 else self._chunks[:at][::-1]
        for chunk in chunks:
            if not chunk.kinds[kind]:
                continue
            for other in chunk.slots[::step]:
                if other.block.kind == kind and other.height:
                    return other
        return None

    def _into_chunk(self, slot: Slot, after: Slot | None) -> None:
        if not self._chunks:
            self._chunks.append(_Chunk([slot]))
            return
        chunk = self._chunks[0] if after is None else _chunk_of(after)
        place = 0 if after is None else (len(chunk.slots) if chunk.slots[-1] is after else chunk.slots.index(after) + 1)
        chunk.slots.insert(place, slot)
        chunk.height += slot.height
        chunk.kinds[slot.block.kind] += 1
        slot.chunk = chunk
        if len(chunk.slots) > 2 * CHUNK:
            tail = chunk.slots[CHUNK:]
            del chunk.slots[CHUNK:]
            chunk.height = sum(each.height for each in chunk.slots)
            chunk.kinds = Counter(each.block.kind for each in chunk.slots)
            self._chunks.insert(self._chunks.index(chunk) + 1, _Chunk(tail))


def _chunk_of(slot: Slot) -> _Chunk:
    if slot.chunk is None:
        raise LookupError(f"block {slot.block.id} is not in the list")
    return slot.chunk
