"""A tree cut into lanes: the path to the leaf first, then each other branch down to its newest tip; it never recurses.

Every entry stands in exactly one lane, so a lane is what a view draws as one column (ui.md §3).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.session.facts import IndexEntry
    from app.session.tree import Tree


@dataclass(slots=True, eq=False)
class Lane:
    """Entries from a head to its newest tip. It left `parent` at that lane's entry `at` (-1: it is a root).

    `below` has the lanes that left this one, by the index of the entry they left, in file order; those of -1 stand
    before the first entry (other roots, on the main lane only). `total` counts entries, those of `below` included;
    `marks` and `shown` are what a filter makes of it (tree_building).
    """

    entries: list[IndexEntry]
    parent: Lane | None = None
    at: int = -1
    total: int = 0
    shown: int = 0
    marks: bytearray = field(default_factory=bytearray)
    below: dict[int, list[Lane]] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The id of the head; "" for the empty main lane of a leaf before the root."""
        return self.entries[0].id if self.entries else ""


class Lanes:
    """All lanes of a tree; `all[0]` is the main one, which ends at the leaf. Every other stands behind its parent."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.all: list[Lane] = []
        # two dicts and no pairs: 100,000 more objects would cost the collector half a second
        self._lane_of: dict[str, Lane] = {}
        self._index_of: dict[str, int] = {}
        self._known = 0
        self._build()

    @property
    def main(self) -> Lane:
        """The path from the root to the leaf."""
        return self.all[0]

    def find(self, entry_id: str | None) -> tuple[Lane, int] | None:
        """The lane of an entry and its index there; None for an id that is not in the tree."""
        lane = self._lane_of.get(entry_id) if entry_id is not None else None
        return None if lane is None or entry_id is None else (lane, self._index_of[entry_id])

    def _put(self, lane: Lane, start: int = 0) -> None:
        ids = [entry.id for entry in lane.entries[start:]]
        self._lane_of.update(dict.fromkeys(ids, lane))
        self._index_of.update(zip(ids, range(start, start + len(ids)), strict=True))

    def refresh(self) -> int | None:
        """Take in what the tree got since: how many entries the main lane grew by, None when all was cut anew."""
        tree, main = self.tree, self.main
        tip = main.entries[-1].id if main.entries else None
        fresh = tree.entries[self._known :]
        at = tip
        for entry in fresh:
            if at is None or tree.parent_id(entry.id) != at:
                break
            at = entry.id
        if at != tree.leaf_id or (fresh and fresh[-1].id != at):
            self._build()
            return None
        main.entries.extend(fresh)
        self._put(main, len(main.entries) - len(fresh))
        main.total += len(fresh)
        self._known += len(fresh)
        return len(fresh)

    def _build(self) -> None:
        tree = self.tree
        self._known = len(tree.entries)
        main = Lane(tree.branch() if tree.leaf_id is not None else [])
        lanes, lane_of = [main], self._lane_of
        lane_of.clear()
        self._index_of.clear()
        self._put(main)
        # The newest tip claims its way up first: what is left of an older one's way is a lane that left it.
        for tip in reversed(tree.tips):
            if tip.id in lane_of:
                continue
            path: list[IndexEntry] = []
            parent, at = main, -1
            for entry in tree.up(tip.id):
                if entry.id in lane_of:
                    parent, at = lane_of[entry.id], self._index_of[entry.id]
                    break
                path.append(entry)
            path.reverse()
            lane = Lane(path, parent, at)
            self._put(lane)
            lanes.append(lane)
        for lane in lanes[1:]:
            if lane.parent is not None:
                lane.parent.below.setdefault(lane.at, []).append(lane)
        for lane in reversed(lanes):
            lane.total += len(lane.entries)
            if lane.parent is not None:
                lane.parent.total += lane.total
            for hanging in lane.below.values():
                hanging.sort(key=lambda other: other.entries[0].place)
        self.all = lanes
