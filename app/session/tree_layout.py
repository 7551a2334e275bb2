"""The rows of a tree view: lanes, folds, runs of tool calls, filters; pure, iterative, and no body is ever read.

The main lane stands leftmost, every other lane hangs one step right of where it left, as one row until it is opened.
Rows are built for what is open only; bars and texts are worked out by whoever draws a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from app.session.tree_filter import TreeFilter, TreeQuery, is_call_only, is_tool_work, searched_text, shown_by
from app.session.tree_lanes import Lane, Lanes

if TYPE_CHECKING:
    from app.session.facts import IndexEntry
    from app.session.tree import Tree
    from app.session.tree_filter import Shows

RowKind = Literal["entry", "run", "call"]


@dataclass(slots=True, eq=False)
class Column:
    """A lane as it is drawn: how far to the right, in which column it hangs, and the last row that its line reaches."""

    lane: Lane
    parent: Column | None
    depth: int
    last: int = -1


class Row(NamedTuple):
    """One row. `first` to `last` are the entries of the lane that it stands for (several in a run of tool calls).

    `is_head`: the first row of a lane that hangs. `starts`: it begins a segment (what ←/→ fold). `more` counts what is
    folded away behind it; `is_open` says of a hanging lane's head whether the lane is open.
    """

    column: Column
    first: int
    last: int
    kind: RowKind = "entry"
    is_head: bool = False
    starts: bool = False
    more: int = 0
    is_open: bool = True

    @property
    def entry(self) -> IndexEntry:
        """The entry that the row stands for: of a run the last, of a folded segment the first."""
        is_segment = self.more > 0 and not self.is_head
        return self.column.lane.entries[self.first if is_segment else self.last]

    @property
    def depth(self) -> int:
        """Columns to the left of it."""
        return self.column.depth

    @property
    def is_folded(self) -> bool:
        """Whether → would show more."""
        return self.more > 0 or self.kind == "run"


_Stack = list[tuple[Column, int, Lane | None, bool]]
"""What is still to be built, the next at the end: a lane that hangs in a column, or (None) the rest of the column's
own lane from an index on; whether a segment starts there."""


class TreeLayout:
    """Rows for a tree as it is folded and filtered. `refresh` after the tree changed; ids stay what they were."""

    def __init__(self, tree: Tree, mode: TreeFilter = TreeFilter.DEFAULT) -> None:
        self.tree = tree
        self.mode = mode
        self.lanes = Lanes(tree)
        self.rows: list[Row] = []
        self.opened: set[str] = set()
        self.folded: set[str] = set()
        self.open_runs: set[str] = set()
        self.built = 0
        """How many rows were ever built: what the growth tests count."""
        self._row_of: dict[str, int] = {}
        self._version = tree.version
        self._everything = False
        self._order: list[IndexEntry] | None = None
        self._count_shown()
        self._build()

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
        if grown is not None and was and self.mode is not TreeFilter.LABELED and not main.below.get(was - 1):
            self._extend()
            return True
        self._count_shown()
        self._build()
        return True

    def set_mode(self, mode: TreeFilter) -> None:
        """Show what this filter shows; folds stay, by id."""
        self.mode = mode
        self._order = None
        self._count_shown()
        self._build()

    def _count_shown(self) -> None:
        """How many entries of each lane, with those that left it, the filter shows; the main lane is always there."""
        shows = shown_by(self.mode, self.tree)
        lanes = self.lanes.all
        for lane in lanes:
            lane.shown = 0
        for lane in reversed(lanes[1:]):
            lane.shown += sum(1 for entry in lane.entries if shows(entry))
            if lane.parent is not None:
                lane.parent.shown += lane.shown

    # Rows

    def _build(self) -> None:
        self.rows = []
        self._row_of = {}
        main = Column(self.lanes.main, None, 0)
        stack: _Stack = [(main, 0, None, True)]
        self._hang(stack, main, self._hanging(main.lane, -1))
        self._run(stack)

    def _extend(self) -> None:
        """Build the end of the main lane anew, from its last row on."""
        last = self.rows[-1] if self.rows else None
        if last is None or last.depth or last.kind == "call" or last.more:
            self._build()
            return
        self.rows.pop()
        for entry in last.column.lane.entries[last.first : last.last + 1]:
            self._row_of.pop(entry.id, None)
        self._run([(last.column, last.first, None, last.starts)])

    def _hanging(self, lane: Lane, index: int) -> list[Lane]:
        below = lane.below.get(index)
        return [other for other in below if other.shown] if below else []

    def _hang(self, stack: _Stack, column: Column, lanes: list[Lane]) -> None:
        stack.extend((column, 0, lane, True) for lane in reversed(lanes))

    def _run(self, stack: _Stack) -> None:
        shows = shown_by(self.mode, self.tree)
        while stack:
            column, index, lane, starts = stack.pop()
            if lane is None:
                self._lane_rows(column, index, stack, shows, starts)
            else:
                self._head_row(column, lane, stack, shows)

    def _head_row(self, parent: Column, lane: Lane, stack: _Stack, shows: Shows) -> None:
        """The row of a lane that hangs; what left it before its first visible entry hangs beside it."""
        entries = lane.entries
        first = next((index for index, entry in enumerate(entries) if shows(entry)), len(entries))
        beside = [other for at in sorted(lane.below) if at < first for other in self._hanging(lane, at)]
        self._hang(stack, parent, beside)
        if first == len(entries):
            return
        column = Column(lane, parent, parent.depth + 1)
        is_open = self._everything or lane.key in self.opened
        last = self._run_end(column, first, shows) if self._is_run_at(entries[first]) else first
        kind: RowKind = "run" if last > first or is_tool_work(entries[first]) else "entry"
        if kind == "run" and is_open and self._is_open_run(entries[first].id):
            kind, last = "call", first
        own = sum(1 for entry in entries[first : last + 1] if shows(entry))
        more = 0 if is_open else lane.shown - own - sum(other.shown for other in beside)
        if more == 0:
            is_open = True
        self._add(Row(column, first, last, kind, True, True, more, is_open))
        parent.last = max(parent.last, len(self.rows) - 1)
        if is_open:
            below = self._hanging(lane, last)
            stack.append((column, last + 1, None, bool(below)))
            self._hang(stack, column, below)

    def _is_open_run(self, first_id: str) -> bool:
        return self._everything or first_id in self.open_runs

    def _is_run_at(self, entry: IndexEntry) -> bool:
        return self.mode in (TreeFilter.DEFAULT, TreeFilter.ALL) and is_tool_work(entry)

    def _run_end(self, column: Column, index: int, shows: Shows) -> int:
        """The index of the last entry of the run of tool calls that begins at `index`; a branch point ends it."""
        entries, below = column.lane.entries, column.lane.below
        last = at = index
        while at + 1 < len(entries) and not (at in below and self._hanging(column.lane, at)):
            at += 1
            if is_tool_work(entries[at]):
                last = at
            elif shows(entries[at]):
                break
        # hidden entries behind the last call stay outside, so that what hangs from them is not lost
        return last

    def _lane_rows(self, column: Column, index: int, stack: _Stack, shows: Shows, starts: bool) -> None:
        """Rows of a lane from `index` on, up to and with the next entry that something hangs from."""
        lane = column.lane
        entries, below, count = lane.entries, lane.below, len(lane.entries)
        has_runs = self.mode in (TreeFilter.DEFAULT, TreeFilter.ALL)
        in_run = -1
        while index < count:
            entry = entries[index]
            last, more = index, 0
            if shows(entry):
                kind: RowKind = "entry"
                if has_runs and is_tool_work(entry):
                    kind = "call"
                    if index > in_run:
                        last = self._run_end(column, index, shows)
                        if self._is_open_run(entry.id):
                            in_run, last = last, index
                        else:
                            kind = "run"
                if starts and not self._everything and entry.id in self.folded:
                    last, more = self._segment_end(column, last, shows)
                    kind = "entry" if kind == "call" else kind
                if not (kind == "call" and is_call_only(entry) and index < in_run):
                    self._add(Row(column, index, last, kind, starts=starts, more=more))
                    starts = False
            index = last + 1
            if last in below and (hanging := self._hanging(lane, last)):
                stack.append((column, index, None, True))
                self._hang(stack, column, hanging)
                return

    def _segment_end(self, column: Column, last: int, shows: Shows) -> tuple[int, int]:
        """Where the segment that begins at a row ends, and how many entries of it the row hides."""
        lane, more = column.lane, 0
        while last + 1 < len(lane.entries) and not (last in lane.below and self._hanging(lane, last)):
            last += 1
            more += shows(lane.entries[last])
        return last, more

    def _add(self, row: Row) -> None:
        at = len(self.rows)
        self.rows.append(row)
        row.column.last = at
        self.built += 1
        if row.more and not row.is_head:
            self._row_of[row.column.lane.entries[row.first].id] = at
            return
        for entry in row.column.lane.entries[row.first : row.last + 1]:
            self._row_of[entry.id] = at

    # Looking up

    def row_of(self, entry_id: str | None) -> int | None:
        """The row of an entry, else of the nearest ancestor that has one, else the first; None without any rows."""
        found = self.ancestor_row(entry_id)
        return found if found is not None or not self.rows else 0

    def ancestor_row(self, entry_id: str | None) -> int | None:
        """The row of an entry, else of the nearest ancestor that has one; None without."""
        place = self.lanes.place.get(entry_id) if entry_id is not None else None
        while place is not None:
            lane, index = place
            while index >= 0:
                row = self._row_of.get(lane.entries[index].id)
                if row is not None:
                    return row
                index -= 1
            place = (lane.parent, lane.at) if lane.parent is not None else None
        return None

    def has_row(self, entry_id: str) -> bool:
        """Whether a row stands for this very entry now."""
        return entry_id in self._row_of

    def hangs_from(self, row: Row) -> list[Lane]:
        """The lanes that hang right below a row, file order."""
        return self._hanging(row.column.lane, row.last)

    def reveal(self, entry_id: str) -> None:
        """Open what hides an entry, as far as the filter shows it."""
        place = self.lanes.place.get(entry_id)
        if place is None:
            return
        if entry_id in self._row_of and self.rows[self._row_of[entry_id]].kind != "run":
            return
        lane: Lane | None = place[0]
        target = place[0].entries[place[1]]
        while lane is not None and lane is not self.lanes.main:
            if lane is not place[0] or place[1] > 0:
                self.opened.add(lane.key)
            lane = lane.parent
        self._build()
        for _ in range(2):
            at = self.row_of(entry_id)
            row = self.rows[at] if at is not None else None
            if row is None or (self.has_row(entry_id) and row.kind != "run"):
                return
            if row.more and not row.is_head:
                self.folded.discard(row.column.lane.entries[row.first].id)
            elif row.kind == "run" and is_tool_work(target):
                self.open_runs.add(row.column.lane.entries[row.first].id)
                if row.is_head:
                    self.opened.add(row.column.lane.key)
            else:
                return
            self._build()

    def rebuild(self) -> None:
        """Build the rows anew after folds changed."""
        self._build()

    def order(self) -> list[IndexEntry]:
        """Every entry that the filter shows, in the order in which rows stand when all is open. Kept until a change."""
        if self._order is None:
            rows, row_of, built = self.rows, self._row_of, self.built
            self._everything = True
            try:
                self._build()
                self._order = [row.entry for row in self.rows]
            finally:
                self._everything = False
                # columns were made anew for it: those of the rows on the screen belong to the rows on the screen
                self.rows, self._row_of, self.built = rows, row_of, built
        return self._order

    def hits(self, query: TreeQuery) -> list[str]:
        """Ids of the entries that a search finds, in order. Linear in the tree."""
        if query.is_empty:
            return []
        tree, fits = self.tree, query.fits
        return [entry.id for entry in self.order() if fits(searched_text(entry, tree))]
