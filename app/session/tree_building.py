"""Builds the rows of a tree view from its lanes and folds; iterative, by marks of one byte an entry, reads no body.

A mark says once for all what a filter makes of an entry, so that folding again costs no more than the rows it gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from app.session.tree_filter import TreeFilter, is_call_only, is_tool_work, shown_by
from app.session.tree_lanes import Lane, Lanes

if TYPE_CHECKING:
    from app.session.facts import IndexEntry
    from app.session.tree import Tree

RowKind = Literal["entry", "run", "call"]
HIDDEN, SHOWN, RESULT, CALL = range(4)
"""Marks. RESULT and CALL are shown as parts of a run of tool calls; CALL has no row even when the run is open."""


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


@dataclass(slots=True)
class Folds:
    """What is open and folded, by id: heads of open lanes, starts of folded segments, first entries of open runs."""

    opened: set[str] = field(default_factory=set)
    folded: set[str] = field(default_factory=set)
    open_runs: set[str] = field(default_factory=set)

    def copy(self) -> Folds:
        """The same, for coming back to it."""
        return Folds(set(self.opened), set(self.folded), set(self.open_runs))


def marks_of(entries: Sequence[IndexEntry], mode: TreeFilter, tree: Tree) -> bytearray:
    """The mark of each entry under a filter."""
    shows = shown_by(mode, tree)
    if mode not in (TreeFilter.DEFAULT, TreeFilter.ALL):
        return bytearray(SHOWN if shows(entry) else HIDDEN for entry in entries)
    return bytearray(
        HIDDEN if not shows(entry) else SHOWN if not is_tool_work(entry) else CALL if is_call_only(entry) else RESULT
        for entry in entries
    )


def mark_lanes(lanes: Lanes, mode: TreeFilter) -> None:
    """Mark every lane, and count for each hanging one what the filter shows of it and of those that left it."""
    for lane in lanes.all:
        lane.marks = marks_of(lane.entries, mode, lanes.tree)
        lane.shown = len(lane.marks) - lane.marks.count(HIDDEN)
    for lane in reversed(lanes.all[1:]):
        if lane.parent is not None:
            lane.parent.shown += lane.shown


def hanging(lane: Lane, index: int) -> list[Lane]:
    """The lanes that left a lane at an entry and of which something is shown, file order."""
    below = lane.below.get(index)
    return [other for other in below if other.shown] if below else []


def entries_in_order(lanes: Lanes) -> list[IndexEntry]:
    """Every entry that is shown, as rows stand when all is open; answers that only call tools are left out."""
    found: list[IndexEntry] = []
    main = lanes.main
    stack = [(main, 0), *((lane, 0) for lane in reversed(hanging(main, -1)))]
    while stack:
        lane, index = stack.pop()
        marks, below, entries = lane.marks, lane.below, lane.entries
        if index == 0 and lane is not main:
            index = next((at for at, mark in enumerate(marks) if mark), len(marks))
            beside = [other for at in sorted(below) if at < index for other in hanging(lane, at)]
            stack.extend((other, 0) for other in reversed(beside))
        while index < len(marks):
            mark = marks[index]
            if mark and mark != CALL:
                found.append(entries[index])
            index += 1
            if index - 1 in below and (others := hanging(lane, index - 1)):
                stack.append((lane, index))
                stack.extend((other, 0) for other in reversed(others))
                break
    return found


_Stack = list[tuple[Column, int, Lane | None, bool]]
"""What is still to be built, the next at the end: a lane that hangs in a column, or (None) the rest of the column's
own lane from an index on; whether a segment starts there."""


class RowBuilder:
    """`rows`, and the index of the row for each entry that has one."""

    def __init__(self, lanes: Lanes, folds: Folds) -> None:
        self._lanes = lanes
        self._folds = folds
        self.rows: list[Row] = []
        self.row_of: dict[str, int] = {}

    def build(self) -> None:
        """All rows anew."""
        self.rows, self.row_of = [], {}
        main = Column(self._lanes.main, None, 0)
        stack: _Stack = [(main, 0, None, True)]
        self._hang(stack, main, hanging(main.lane, -1))
        self._run(stack)

    def extend(self) -> bool:
        """The main lane grew: build its end anew, from its last row on; False when that is not enough."""
        last = self.rows[-1] if self.rows else None
        if last is None or last.depth or last.kind == "call" or last.more:
            return False
        self.rows.pop()
        for entry in last.column.lane.entries[last.first : last.last + 1]:
            self.row_of.pop(entry.id, None)
        self._run([(last.column, last.first, None, last.starts)])
        return True

    def _hang(self, stack: _Stack, column: Column, lanes: list[Lane]) -> None:
        stack.extend((column, 0, lane, True) for lane in reversed(lanes))

    def _run(self, stack: _Stack) -> None:
        while stack:
            column, index, lane, starts = stack.pop()
            if lane is None:
                self._lane_rows(column, index, stack, starts)
            else:
                self._head_row(column, lane, stack)

    def _head_row(self, parent: Column, lane: Lane, stack: _Stack) -> None:
        """The row of a lane that hangs; what left it before its first visible entry hangs beside it."""
        entries, marks = lane.entries, lane.marks
        first = next((index for index, mark in enumerate(marks) if mark), len(marks))
        beside = [other for at in sorted(lane.below) if at < first for other in hanging(lane, at)]
        self._hang(stack, parent, beside)
        if first == len(marks):
            return
        column = Column(lane, parent, parent.depth + 1)
        is_open = lane.key in self._folds.opened
        kind: RowKind = "run" if marks[first] > SHOWN else "entry"
        last = self._run_end(lane, first) if kind == "run" else first
        if kind == "run" and is_open and self._is_open_run(entries[first].id):
            kind, last = "call", first
        more = 0
        if not is_open:
            own = last + 1 - first - marks.count(HIDDEN, first, last + 1)
            more = lane.shown - own - sum(other.shown for other in beside)
        self._add(Row(column, first, last, kind, True, True, more, is_open or not more))
        parent.last = max(parent.last, len(self.rows) - 1)
        if is_open or not more:
            below = hanging(lane, last)
            stack.append((column, last + 1, None, bool(below)))
            self._hang(stack, column, below)

    def _is_open_run(self, first_id: str) -> bool:
        return first_id in self._folds.open_runs

    def _run_end(self, lane: Lane, index: int) -> int:
        """The index of the last entry of the run of tool calls that begins at `index`; a branch point ends it."""
        marks, below, count = lane.marks, lane.below, len(lane.marks)
        last = at = index
        while at + 1 < count and not (at in below and hanging(lane, at)):
            at += 1
            if marks[at] > SHOWN:
                last = at
            elif marks[at]:
                break
        # hidden entries behind the last call stay outside, so that what hangs from them is not lost
        return last

    def _lane_rows(self, column: Column, index: int, stack: _Stack, starts: bool) -> None:
        """Rows of a lane from `index` on, up to and with the next entry that something hangs from."""
        lane = column.lane
        entries, marks, below, count = lane.entries, lane.marks, lane.below, len(lane.marks)
        folded, add = self._folds.folded, self._add
        in_run = -1
        while index < count:
            mark = marks[index]
            last = index
            if mark:
                kind: RowKind = "entry"
                more = 0
                if mark > SHOWN:
                    kind = "call"
                    if index > in_run:
                        last = self._run_end(lane, index)
                        if self._is_open_run(entries[index].id):
                            in_run, last = last, index
                        else:
                            kind = "run"
                if starts and folded and entries[index].id in folded:
                    last, more = self._segment_end(lane, last)
                    kind = "entry" if kind == "call" else kind
                if kind != "call" or mark != CALL or index == in_run:
                    add(Row(column, index, last, kind, False, starts, more))
                    starts = False
            index = last + 1
            if last in below and (others := hanging(lane, last)):
                stack.append((column, index, None, True))
                self._hang(stack, column, others)
                return

    def _segment_end(self, lane: Lane, last: int) -> tuple[int, int]:
        """Where the segment that begins at a row ends, and how many entries of it the row hides."""
        marks, more = lane.marks, 0
        while last + 1 < len(marks) and not (last in lane.below and hanging(lane, last)):
            last += 1
            more += marks[last] != HIDDEN
        return last, more

    def _add(self, row: Row) -> None:
        column, first, last = row.column, row.first, row.last
        at = column.last = len(self.rows)
        self.rows.append(row)
        entries = column.lane.entries
        self.row_of[entries[first].id] = at
        if last > first and not (row.more and not row.is_head):
            for entry in entries[first + 1 : last + 1]:
                self.row_of[entry.id] = at
