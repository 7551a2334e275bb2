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
    before the first entry (other roots, on the main lane only). `total` counts entries, those of `below` included.
    """

    entries: list[IndexEntry]
    parent: Lane | None = None
    at: int = -1
    total: int = 0
    shown: int = 0
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
        self.place: dict[str, tuple[Lane, int]] = {}
        self._known = 0
        self._build()

    @property
    def main(self) -> Lane:
        """The path from the root to the leaf."""
        return self.all[0]

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
        for entry in fresh:
            self.place[entry.id] = (main, len(main.entries))
            main.entries.append(entry)
        main.total += len(fresh)
        self._known += len(fresh)
        return len(fresh)

    def _build(self) -> None:
        tree = self.tree
        self._known = len(tree.entries)
        main = Lane(tree.branch() if tree.leaf_id is not None else [])
        lanes, place = [main], self.place
        place.clear()
        for index, entry in enumerate(main.entries):
            place[entry.id] = (main, index)
        # The newest tip claims its way up first: what is left of an older one's way is a lane that left it.
        for tip in reversed(tree.tips):
            if tip.id in place:
                continue
            path: list[IndexEntry] = []
            left: tuple[Lane, int] | None = None
            for entry in tree.up(tip.id):
                left = place.get(entry.id)
                if left is not None:
                    break
                path.append(entry)
            path.reverse()
            lane = Lane(path, left[0] if left else main, left[1] if left else -1)
            for index, entry in enumerate(path):
                place[entry.id] = (lane, index)
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
