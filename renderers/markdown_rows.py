"""Rows of styled pieces: the form in which Markdown and code are laid out before they become strips.

A piece is (text, style name); text is sanitised and holds no line feed or tab. Names are resolved only when a strip is
made, so that a theme change needs no new layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from renderers.text import break_offsets, cell_width, cut_cells

if TYPE_CHECKING:
    from textual.strip import Strip
    from textual.style import Style
    from textual.visual import RenderOptions

Piece: TypeAlias = tuple[str, str]
Row: TypeAlias = list[Piece]


def plain(row: Sequence[Piece]) -> str:
    """Return the row's text."""
    return "".join([text for text, _ in row])


def row_width(row: Sequence[Piece]) -> int:
    """Return the row's width in cells."""
    return cell_width(plain(row))


def slice_row(row: Sequence[Piece], start: int, end: int) -> Row:
    """Return the pieces between two character offsets."""
    part: Row = []
    at = 0
    for text, style in row:
        after = at + len(text)
        if after > start and at < end:
            part.append((text[max(0, start - at) : end - at], style))
        at = after
    return part


def divide(row: Sequence[Piece], offsets: Sequence[int]) -> list[Row]:
    """Return the rows that begin at 0 and at each offset (ascending), in one pass over the pieces."""
    rows: list[Row] = []
    current: Row = []
    at = 0
    cuts = iter([*offsets, -1])
    cut = next(cuts)
    for text, style in row:
        begin = 0
        while cut >= 0 and cut - at < len(text):
            if cut - at > begin:
                current.append((text[begin : cut - at], style))
            rows.append(current)
            current = []
            begin = cut - at
            cut = next(cuts)
        if begin < len(text):
            current.append((text[begin:], style))
        at += len(text)
    rows.append(current)
    return rows


def wrap(row: Sequence[Piece], width_cells: int, *, words: bool = True) -> list[Row]:
    """Return the row broken to the width: between words and without blanks at the ends, or filled (words=False)."""
    offsets = break_offsets(plain(row), width_cells, words=words)
    if not offsets:
        return [trim_end(row) if words else list(row)]
    rows = divide(row, offsets)
    return [trim_end(part) for part in rows] if words else rows


def trim_end(row: Sequence[Piece]) -> Row:
    """Return the row without blanks at its end."""
    trimmed = list(row)
    while trimmed:
        text, style = trimmed[-1]
        bare = text.rstrip(" ")
        if bare == text:
            break
        trimmed.pop()
        if bare:
            trimmed.append((bare, style))
    return trimmed


def fit(row: Sequence[Piece], width_cells: int) -> Row:
    """Return the row cut to the width, as a last guard: nothing we draw stands past the edge."""
    text = plain(row)
    if (len(text) <= width_cells and text.isascii()) or cell_width(text) <= width_cells:
        return list(row)
    kept = cut_cells(text, width_cells, "")
    return slice_row(row, 0, len(kept)) if kept else ([("…", row[0][1])] if width_cells else [])


class RowPainter:
    """Makes strips of rows over one base style, resolving each style name once."""

    def __init__(self, style: Style, options: RenderOptions, base: str = "") -> None:
        get_style = options.get_style
        self._under = style + get_style(base) if base else style
        self._get_style = get_style
        self._over = options.post_style
        self._rich: dict[str, object] = {}

    def paint(self, row: Sequence[Piece]) -> Strip:
        """Return the strip of one row."""
        from rich.segment import Segment
        from rich.style import Style as RichStyle
        from textual.strip import Strip

        segments: list[Segment] = []
        cells = 0
        for text, name in row:
            rich = self._rich.get(name)
            if rich is None:
                full = self._under + self._get_style(name) if name else self._under
                if self._over is not None:
                    full = full + self._over
                rich = self._rich[name] = full.rich_style
            assert isinstance(rich, RichStyle)
            segments.append(Segment(text, rich))
            cells += cell_width(text)
        return Strip(segments, cells)
