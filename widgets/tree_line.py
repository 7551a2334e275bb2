"""One row of the tree put together as styled pieces of exactly the width; pure, so that it may be drawn at any time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.session.tree import Tree
from app.session.tree_building import Column, Row
from app.session.tree_filter import TreeQuery
from app.session.tree_layout import TreeLayout
from renderers.text import cell_width, cut_cells, one_line
from widgets.tree_text import EntryTexts, clock, run_text

Piece = tuple[str, str]
"""Text and the name of a style ("" for the row's own)."""

_LEAST_TEXT = 24
_LABEL_CELLS = 24


@dataclass(slots=True)
class TreeLook:
    """What decides how rows look besides the layout."""

    tree: Tree
    texts: EntryTexts
    query: TreeQuery
    now: datetime
    here_row: int | None = None
    label_times: bool = False
    plain: bool = False


def row_pieces(layout: TreeLayout, at: int, width_cells: int, look: TreeLook) -> list[Piece]:
    """The pieces of row `at`, exactly `width_cells` cells together: lines, sign, text, label, facts at the right."""
    row = layout.rows[at]
    lines = _lines(row, at, width_cells, look.plain)
    text, style, sign = _what(row, look)
    is_main = row.depth == 0
    if sign == "●" and not is_main:
        sign, style = "○", "other"
    if look.plain:
        sign = {"●": "you", "○": "you", "◇": "answer", "Σ": "summary", "✗": "failed"}.get(sign, sign)
    room = width_cells - cell_width(lines) - cell_width(sign) - 1
    facts = _facts(row, at, look)
    while facts and room - _cells(facts) - 2 < min(_LEAST_TEXT, cell_width(text)):
        weakest = min(facts, key=lambda fact: fact[2])
        facts.remove(weakest)
    right = _cells(facts) + (2 if facts else 0)
    label = _label(row, look)
    label_cells = cell_width(label) + 2 if label else 0
    if label_cells and room - right - label_cells < min(_LEAST_TEXT, cell_width(text)):
        label, label_cells = "", 0
    shown = cut_cells(text, max(0, room - right - label_cells))
    pieces: list[Piece] = [(lines, "lines"), (sign, style), (" ", "")]
    pieces += _marked(shown, style, look.query)
    if label:
        pieces += [("  ", ""), *_marked(label, "label", look.query)]
    left = sum(cell_width(piece) for piece, _ in pieces)
    pieces.append((" " * max(0, width_cells - left - right), ""))
    pieces.append((" " if facts else "", ""))
    for number, (fact, name, _) in enumerate(facts):
        pieces.append(((_gap(fact) if number else "") + fact, name))
    pieces.append((" " if facts else "", ""))
    return _fitted([piece for piece in pieces if piece[0]], width_cells)


def _fitted(pieces: list[Piece], width: int) -> list[Piece]:
    """A terminal too narrow for signs and lines gets what fits."""
    room, kept = width, list[Piece]()
    for text, style in pieces:
        cells = cell_width(text)
        if cells > room:
            text = cut_cells(text, room, "")
            cells = cell_width(text)
        if cells:
            kept.append((text, style))
        room -= cells
    if room > 0:
        kept.append((" " * room, ""))
    return kept


def _cells(facts: list[tuple[str, str, int]]) -> int:
    return sum(cell_width(fact) + (len(_gap(fact)) if number else 0) for number, (fact, _, _) in enumerate(facts))


def _gap(fact: str) -> str:
    return " " if fact.startswith("·") else "  "


def _what(row: Row, look: TreeLook) -> tuple[str, str, str]:
    if row.kind == "run":
        return run_text(row.column.lane.entries[row.first : row.last + 1]), "quiet", "·"
    entry = row.column.lane.entries[row.first]
    line = look.texts.line(entry)
    return line.text, line.style, line.sign


def _facts(row: Row, at: int, look: TreeLook) -> list[tuple[str, str, int]]:
    """(text, style, weight) at the right, the lightest goes first."""
    entry = row.column.lane.entries[row.first]
    time = clock(entry.timestamp, look.now)
    facts: list[tuple[str, str, int]] = []
    if row.is_head:
        count = row.column.lane.total
        entries = f"{count:,} {'entry' if count == 1 else 'entries'}"
        sign = "" if row.is_open else "+ " if look.plain else "▸ "
        facts.append((f"{sign}{entries}", "fold" if sign else "quiet", 30))
        if time:
            facts.append((f"· {time}", "quiet", 10))
    elif row.more:
        facts.append((f"{'+' if look.plain else '▸'} {row.more:,} more", "fold", 30))
    if not row.is_head and entry.role == "user" and time:
        facts.append((time, "quiet", 10))
    if at == look.here_row:
        facts.append(("here" if look.plain else "◀ here", "here", 50))
    return facts


def _label(row: Row, look: TreeLook) -> str:
    label = look.tree.labels.get(row.column.lane.entries[row.first].id)
    if label is None and row.first != row.last:
        label = look.tree.labels.get(row.entry.id)
    if label is None:
        return ""
    text = cut_cells(one_line(label.text), _LABEL_CELLS)
    time = clock(label.timestamp, look.now) if look.label_times else ""
    return f"{'label' if look.plain else '⚑'} {text}" + (f" {time}" if time else "")


def _marked(text: str, style: str, query: TreeQuery) -> list[Piece]:
    pieces: list[Piece] = []
    at = 0
    for start, end in query.spans(text):
        if start > at:
            pieces.append((text[at:start], style))
        pieces.append((text[start:end], "hit"))
        at = end
    pieces.append((text[at:], style))
    return pieces


def _lines(row: Row, at: int, width: int, plain: bool) -> str:
    """The lines of the columns to the left; far to the right only the nearest columns, and a number for the rest."""
    most = max(1, width // 3 // 2)
    columns: list[Column] = []
    column: Column | None = row.column
    while column is not None and len(columns) <= most:
        columns.append(column)
        column = column.parent
    columns.reverse()
    hidden = row.depth + 1 - len(columns)
    if plain:
        return f"{row.depth} " if row.depth else ""
    drawn = [f"‹{hidden} "] if hidden else []
    for other in columns[:-1]:
        drawn.append("│ " if other.last > at else "  ")
    entry = row.column.lane.entries[row.first]
    if row.is_head and row.depth:
        parent_last = row.column.parent.last if row.column.parent is not None else at
        drawn[-1] = "╭─" if at == 0 else "├─" if parent_last > at else "╰─"
    elif at and entry.role != "user":
        drawn.append("│ " if row.column.last > at else "╰ ")
    return "".join(drawn)
