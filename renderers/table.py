"""Tables as rows of cells: column widths, wrapped cells, alignment, and stacked rows where columns have no room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from renderers.markdown_rows import Row, fit, row_width, wrap
from renderers.text import cell_width

Align = Literal["left", "center", "right"]

GAP = " │ "
MIN_COLUMN_CELLS = 4
RULE_STYLE = "$md-rule"


def column_widths(rows: Sequence[Sequence[Row]], width_cells: int) -> list[int]:
    """Return the width of each column so that a row fits, in cells; [] where there is no room for columns.

    Columns that need less than an even share keep what they need; the others share the rest evenly.
    """
    count = max((len(row) for row in rows), default=0)
    room = width_cells - cell_width(GAP) * (count - 1)
    if not count or room < count * MIN_COLUMN_CELLS:
        return _narrow(rows, count, room)
    needs = [max((row_width(row[at]) for row in rows if at < len(row)), default=0) for at in range(count)]
    needs = [max(1, need) for need in needs]
    widths = [0] * count
    left, columns = room, count
    for at in sorted(range(count), key=lambda at: needs[at]):
        widths[at] = min(needs[at], left // columns)
        left -= widths[at]
        columns -= 1
    return widths


def _narrow(rows: Sequence[Sequence[Row]], count: int, room: int) -> list[int]:
    needs = [max(1, *(row_width(row[at]) for row in rows if at < len(row))) for at in range(count)]
    return needs if count and sum(needs) <= room else []


def table_row(cells: Sequence[Row], widths: Sequence[int], aligns: Sequence[Align]) -> list[Row]:
    """Return the screen rows of one table row, its cells wrapped to the widths. Blanks at row ends are left out."""
    wrapped = [wrap(cells[at] if at < len(cells) else [], width) for at, width in enumerate(widths)]
    rows: list[Row] = []
    for line in range(max(map(len, wrapped), default=0)):
        row: Row = []
        for at, width in enumerate(widths):
            part = fit(wrapped[at][line], width) if line < len(wrapped[at]) else []
            spare = width - row_width(part)
            before = {"left": 0, "center": spare // 2, "right": spare}[aligns[at] if at < len(aligns) else "left"]
            if at:
                row.append((GAP, RULE_STYLE))
            if before:
                row.append((" " * before, ""))
            row.extend(part)
            if spare > before and at < len(widths) - 1:
                row.append((" " * (spare - before), ""))
        rows.append(row)
    return rows


def table_rule(widths: Sequence[int]) -> Row:
    """Return the line under a header."""
    return [("─┼─".join("─" * width for width in widths), RULE_STYLE)]


def stacked_row(cells: Sequence[Row], header: Sequence[Row], width_cells: int) -> list[Row]:
    """Return one table row as a line "header: value" a cell, wrapped, for widths that have no room for columns."""
    rows: list[Row] = []
    for at, cell in enumerate(cells):
        head = header[at] if at < len(header) else []
        label: Row = [*head, (": ", RULE_STYLE)] if head else []
        rows.extend(wrap([*label, *cell], max(1, width_cells)))
    return rows


def parse_aligns(delimiter_cells: Sequence[str]) -> list[Align]:
    """Return the alignment that each cell of a delimiter row (":-:") asks for."""
    aligns: list[Align] = []
    for cell in delimiter_cells:
        left, right = cell.startswith(":"), cell.endswith(":")
        aligns.append("center" if left and right else "right" if right else "left")
    return aligns
