"""A tree view's rows as they are folded and filtered, and where an entry stands among them; pure, no body is read.

The main lane stands leftmost, every other lane hangs one step right of where it left, as one row until it is opened.
Rows are built for what is open only; bars and texts are worked out by whoever draws a row.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from app.session.tree_building import Folds, Row, RowBuilder, entries_in_order, hanging, mark_lanes, marks_of
from app.session.tree_filter import TreeFilter, TreeQuery, is_tool_work, searched_text
from app.session.tree_lanes import Lane, Lanes

if TYPE_CHECKING:
    from app.session.facts import IndexEntry
    from app.session.tree import Tree


class TreeLayout:
    """Rows for a tree. `refresh` after the tree changed; `folds` may be changed, then call `rebuild`."""

    def __init__(self, tree: Tree, mode: TreeFilter = TreeFilter.DEFAULT) -> None:
        self.tree = tree
        self.mode = mode
        self.lanes = Lanes(tree)
        self.folds = Folds()
        self.built = 0
        """How many rows were ever built: what the growth tests count."""
        self._builder = RowBuilder(self.lanes, self.folds)
        self._version = tree.version
        self._order: list[IndexEntry] | None = None
        self._order_at: dict[str, int] = {}
        self._searched: list[str] = []
        mark_lanes(self.lanes, mode)
        self.rebuild()

    @property
    def rows(self) -> list[Row]:
        """All rows, from the top."""
        return self._builder.rows

    # Changes

    def refresh(self) -> bool:
        """Take in what the tree got since; whether anything changed. Costs what was added, on the path to the leaf."""
        if self._version == self.tree.version:
            return False
        self._version = self.tree.version
        self._order = None
        was = len(self.lanes.main.entries)
        grown = self.lanes.refresh()
        main = self.lanes.main
        if grown is None or not was or self.mode is TreeFilter.LABELED or main.below.get(was - 1):
            mark_lanes(self.lanes, self.mode)
            self.rebuild()
            return True
        # an empty answer is shown only as the leaf: what was marked last is marked again
        start = self.rows[-1].first if self.rows and not self.rows[-1].depth else 0
        main.marks[start:] = marks_of(main.entries[start:], self.mode, self.tree)
        before = len(self.rows)
        if self._builder.extend():
            self.built += len(self.rows) - before + 1
        else:
            self.rebuild()
        return True

    def set_mode(self, mode: TreeFilter) -> None:
        """Show what this filter shows; folds stay, by id."""
        self.mode = mode
        self._order = None
        mark_lanes(self.lanes, mode)
        self.rebuild()

    def rebuild(self) -> None:
        """Build the rows anew after folds changed."""
        self._builder.build()
        self.built += len(self.rows)

    def put_back(self, folds: Folds) -> bool:
        """Fold as it was at a `folds.copy()`; whether that changed anything."""
        if folds == self.folds:
            return False
        self.folds.opened, self.folds.folded = set(folds.opened), set(folds.folded)
        self.folds.open_runs = set(folds.open_runs)
        self.rebuild()
        return True

    # Looking up

    def row_of(self, entry_id: str | None) -> int | None:
        """The row of an entry, else of the nearest ancestor that has one, else the first; None without any rows."""
        found = self.ancestor_row(entry_id)
        return found if found is not None or not self.rows else 0

    def ancestor_row(self, entry_id: str | None) -> int | None:
        """The row of an entry, else of the nearest ancestor that has one; None without."""
        row_of = self._builder.row_of
        place = self.lanes.find(entry_id)
        while place is not None:
            lane, index = place
            while index >= 0:
                row = row_of.get(lane.entries[index].id)
                if row is not None:
                    return row
                index -= 1
            place = (lane.parent, lane.at) if lane.parent is not None else None
        return None

    def has_row(self, entry_id: str) -> bool:
        """Whether a row stands for this very entry now."""
        return entry_id in self._builder.row_of

    def hangs_from(self, row: Row) -> list[Lane]:
        """The lanes that hang right below a row, file order."""
        return hanging(row.column.lane, row.last)

    def reveal(self, entry_id: str) -> bool:
        """Open what hides an entry, as far as the filter shows it; whether anything had to be opened."""
        place = self.lanes.find(entry_id)
        if place is None or self._is_plain_row(entry_id):
            return False
        folds, target = self.folds, place[0].entries[place[1]]
        lane: Lane | None = place[0]
        opened = set[str]()
        while lane is not None and lane is not self.lanes.main:
            if lane is not place[0] or place[1] > 0:
                opened.add(lane.key)
            lane = lane.parent
        changed = not opened <= folds.opened
        if changed:
            folds.opened |= opened
            self.rebuild()
        for _ in range(2):
            at = self.row_of(entry_id)
            if at is None or self._is_plain_row(entry_id):
                break
            row = self.rows[at]
            first_id = row.column.lane.entries[row.first].id
            if row.more and not row.is_head:
                folds.folded.discard(first_id)
            elif row.kind == "run" and is_tool_work(target):
                folds.open_runs.add(first_id)
                if row.is_head:
                    folds.opened.add(row.column.lane.key)
            else:
                break
            changed = True
            self.rebuild()
        return changed

    def _is_plain_row(self, entry_id: str) -> bool:
        at = self._builder.row_of.get(entry_id)
        return at is not None and self.rows[at].kind != "run"

    # Searching

    def order(self) -> list[IndexEntry]:
        """Every entry that the filter shows, in the order in which rows stand when all is open. Kept until a change."""
        if self._order is None:
            self._order = entries_in_order(self.lanes)
            self._order_at = {entry.id: at for at, entry in enumerate(self._order)}
            self._searched = [searched_text(entry, self.tree) for entry in self._order]
        return self._order

    def hits(self, query: TreeQuery, among: list[str] | None = None) -> list[str]:
        """Ids of the entries that a search finds, in order; `among` the hits of a search that it narrows. Linear."""
        if query.is_empty:
            return []
        order, searched, fits = self.order(), self._searched, query.fits
        if among is not None:
            at = self._order_at
            return [entry_id for entry_id in among if entry_id in at and fits(searched[at[entry_id]])]
        return [order[at].id for at, text in enumerate(searched) if fits(text)]

    def first_hit_from(self, hits: list[str], entry_id: str | None) -> str | None:
        """The first of the hits at or behind the row of an entry, else the first of all; None without hits."""
        self.order()
        at = self.row_of(entry_id)
        if not hits or at is None:
            return hits[0] if hits else None
        row = self.rows[at]
        lane = row.column.lane
        ids = [entry_id, *(entry.id for entry in lane.entries[row.first : row.last + 1])]
        start = next((self._order_at[known] for known in ids if known in self._order_at), 0)
        found = bisect_left(hits, start, key=lambda hit: self._order_at[hit])
        return hits[found] if found < len(hits) else hits[0]
