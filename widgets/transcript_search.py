"""Finds text in the blocks; it looks through what they hold, not through what happens to be drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from widgets.transcript_rows import matches

if TYPE_CHECKING:
    from widgets.block_list import BlockList, Slot

MOST_HITS = 10_000


class Hit(NamedTuple):
    """One occurrence: the block and which occurrence in it, counted from 0."""

    block_id: str
    nth: int


class TranscriptSearch:
    """The hits of the last search and where the reader stands among them."""

    def __init__(self, blocks: BlockList) -> None:
        self._blocks = blocks
        self._query = ""
        self.hits: list[Hit] = []
        self._at = -1

    def start(self, query: str) -> list[Hit]:
        """All hits in order, at most MOST_HITS; [] for an empty query."""
        self._query = query
        self._at = -1
        self.hits = []
        if not query:
            return []
        wanted = query.lower()
        for slot in self._blocks:
            count = slot.block.search_text().lower().count(wanted)
            self.hits.extend(Hit(slot.block.id, nth) for nth in range(count))
            if len(self.hits) >= MOST_HITS:
                del self.hits[MOST_HITS:]
                break
        return self.hits

    def step(self, step: int, from_block: str | None) -> Hit | None:
        """The next (+1) or previous (-1) hit, around the ends; the first step starts at the block given, if any."""
        if not self.hits:
            return None
        if self._at < 0:
            self._at = self._entry(step, from_block)
        else:
            self._at = (self._at + step) % len(self.hits)
        return self.hits[self._at]

    def _entry(self, step: int, from_block: str | None) -> int:
        slot = None if from_block is None else self._blocks.get(from_block)
        if slot is None:
            return 0 if step > 0 else len(self.hits) - 1
        low, high = 0, len(self.hits)
        while low < high:  # hits stand in the order of the transcript
            middle = (low + high) // 2
            other = self._blocks.get(self.hits[middle].block_id)
            if other is None or self._blocks.is_before(other, slot) or (step < 0 and other is slot):
                low = middle + 1
            else:
                high = middle
        return low % len(self.hits) if step > 0 else (low - 1) % len(self.hits)

    def row_of(self, hit: Hit, slot: Slot) -> int | None:
        """The drawn row that shows the hit; None when it isn't drawn (folded away, or broken over two rows)."""
        seen = 0
        last: int | None = None
        for row, strip in enumerate(slot.strips):
            count = len(matches(strip.text, self._query))
            if count:
                last = row + slot.gap
                if seen + count > hit.nth:
                    return last
            seen += count
        return last
