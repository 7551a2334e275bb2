"""What folding and jumping keys do to a tree's rows: each gives the id of the entry to stand on afterwards.

A segment is the stretch of a lane between two branch points. Source: ui.md §3, spec ui.md §2.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.session.tree_building import Row
    from app.session.tree_layout import TreeLayout


def fold(layout: TreeLayout, at: int) -> str:
    """Fold what the row belongs to: an open run, a segment, a branch; when folded already, go up a branch point.

    In the middle of a segment the first step goes to its start.
    """
    row = layout.rows[at]
    lane = row.column.lane
    if row.kind == "call" and (first := _run_start(layout, at)) is not None:
        layout.folds.open_runs.discard(first)
        layout.rebuild()
        return row.entry.id
    if row.more or (row.starts and not _has_segment(layout, at)):
        return parent_point(layout, at)
    if row.is_head:
        layout.folds.opened.discard(lane.key)
        layout.rebuild()
        return lane.entries[row.first].id
    if row.starts:
        layout.folds.folded.add(lane.entries[row.first].id)
        layout.rebuild()
        return lane.entries[row.first].id
    start = next((up for up in range(at - 1, -1, -1) if _same_column(layout, up, row) and layout.rows[up].starts), at)
    return layout.rows[start].entry.id


def unfold(layout: TreeLayout, at: int) -> str:
    """Open a branch, a segment or a run; from an open row go to the one below."""
    row = layout.rows[at]
    lane = row.column.lane
    head_id = lane.entries[row.first].id
    if row.more:
        if row.is_head:
            layout.folds.opened.add(lane.key)
        else:
            layout.folds.folded.discard(head_id)
    elif row.kind == "run":
        layout.folds.open_runs.add(head_id)
    else:
        return layout.rows[min(at + 1, len(layout.rows) - 1)].entry.id
    layout.rebuild()
    members = lane.entries[row.first : row.last + 1] if row.kind == "run" else ()
    return next((entry.id for entry in members if layout.has_row(entry.id)), head_id)


def parent_point(layout: TreeLayout, at: int) -> str:
    """The nearest branch point above on the way to the root, else the first row of that way."""
    row = layout.rows[at]
    best = at
    for up in range(at - 1, -1, -1):
        if not _same_column(layout, up, row):
            continue
        best = up
        if layout.hangs_from(layout.rows[up]):
            return layout.rows[up].entry.id
    lane = row.column.lane
    if row.column.parent is not None and lane.parent is not None and lane.at >= 0:
        found = layout.row_of(lane.parent.entries[lane.at].id)
        if found is not None and found != at:
            return layout.rows[found].entry.id
    return layout.rows[best].entry.id


def child_point(layout: TreeLayout, at: int) -> str:
    """The next branch point below in the same column, else its last row; a folded branch is opened first."""
    row = layout.rows[at]
    if row.more:
        head_id = row.column.lane.entries[row.first].id
        unfold(layout, at)
        found = layout.row_of(head_id)
        at = found if found is not None else at
        row = layout.rows[at]
        if layout.hangs_from(row):
            return row.entry.id
    best = at
    for down in range(at + 1, min(row.column.last + 1, len(layout.rows))):
        if _same_column(layout, down, row):
            best = down
            if layout.hangs_from(layout.rows[down]):
                break
    return layout.rows[best].entry.id


def _same_column(layout: TreeLayout, at: int, row: Row) -> bool:
    return layout.rows[at].column is row.column


def _has_segment(layout: TreeLayout, at: int) -> bool:
    """Whether the segment or branch that begins at a row has more than this row."""
    row = layout.rows[at]
    if row.is_head:
        return row.column.last > at
    if layout.hangs_from(row):
        return False
    return at + 1 < len(layout.rows) and _same_column(layout, at + 1, row)


def _run_start(layout: TreeLayout, at: int) -> str | None:
    """The id by which the opened run around a row is known; a run's first entry may have no row of its own."""
    row = layout.rows[at]
    entries = row.column.lane.entries
    for index in range(row.last, -1, -1):
        if entries[index].id in layout.folds.open_runs:
            return entries[index].id
        if layout.has_row(entries[index].id) and layout.rows[layout.row_of(entries[index].id) or 0].kind != "call":
            return None
    return None
