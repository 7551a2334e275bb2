"""Rows with a gutter: the body of a tool call, folded at its drawn width; it must never lay out more than it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.segment import Segment
from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

FULL_ROWS = 2_000
"""The most visual rows a block shows in the transcript; the detail screen opens all of it."""

EMPTY = Content("")
GUTTER_STYLE = "$gutter"
NOTE_STYLE = "$meta"


@dataclass(frozen=True, slots=True)
class Row:
    """One logical line. `prefix` (line number, sign) stands before it, and as blanks before its folded rows."""

    text: Content
    prefix: Content = EMPTY


def wrap_content(text: Content, width_cells: int) -> list[Content]:
    """The rows of a content of one or more lines, broken between words, without blanks at row ends. Never empty."""
    from renderers.text import break_offsets

    rows: list[Content] = []
    for line in text.split("\n", allow_blank=True):
        cuts = break_offsets(line.plain, width_cells)
        rows.extend(piece.rstrip() for piece in (line.divide(cuts) if cuts else [line]))
    return rows or [EMPTY]


def strip_of(parts: Sequence[Content], style: Style, options: RenderOptions) -> Strip:
    """The contents side by side as one strip, on `style`."""
    segments: list[Segment] = []
    for part in parts:
        if part.plain:
            _paint(part, style, options, segments)
    return Strip(segments)


def _paint(part: Content, style: Style, options: RenderOptions, segments: list[Segment]) -> None:
    """Append the content's segments. Spans that follow each other, as a lexer gives them, need no stack of styles."""
    text = part.plain
    spans = part.spans
    at = 0
    for start, end, _ in spans:
        if start < at or end < start or end > len(text):
            segments.extend(
                Segment(piece, own.rich_style)
                for piece, own in part.render(style, end="", parse_style=options.get_style)
            )
            return
        at = end
    at = 0
    for start, end, name in spans:
        if start > at:
            segments.append(Segment(text[at:start], style.rich_style))
        if end > start:
            segments.append(Segment(text[start:end], (style + options.get_style(name)).rich_style))
        at = end
    if at < len(text):
        segments.append(Segment(text[at:], style.rich_style))


def gutter_for(width: int, plain: bool) -> str:
    """The gutter that suits the width: under the tool's name, narrower on narrow screens, blanks in plain mode."""
    text = "    │ " if width >= 40 else "│ " if width >= 12 else ""
    return text.replace("│", " ") if plain else text


@dataclass(slots=True, eq=False)
class Body(Visual):
    """Rows behind a gutter, at most `max_rows` of them as drawn, from the head or from the tail.

    `hidden` counts the lines that the caller left out at the far end; `noun` names them in the note. `footer` rows are
    always shown after them. `prose` wraps between words instead of folding.
    """

    rows: Sequence[Row]
    max_rows: int = FULL_ROWS
    keep_tail: bool = False
    hidden: int = 0
    hint: str = ""
    plain: bool = False
    footer: Sequence[Row] = field(default_factory=tuple)
    has_gutter: bool = True
    prose: bool = False

    def _cut(self, row: Row, inner: int, *, words: bool = False) -> list[tuple[Content, Content]]:
        from renderers.text import break_offsets

        prefix = row.prefix if row.prefix.cell_length + 4 <= inner else EMPTY
        room = max(1, inner - prefix.cell_length)
        if self.prose or words:
            pieces = wrap_content(row.text, room)
        else:
            cuts = break_offsets(row.text.plain, room, words=False)
            pieces = row.text.divide(cuts) if cuts else [row.text]
        blank = Content(" " * prefix.cell_length)
        return [(blank if index else prefix, piece) for index, piece in enumerate(pieces or [EMPTY])]

    def _layout(self, width: int) -> tuple[list[tuple[Content, Content]], int]:
        """The drawn rows within the limit, and how many logical lines are not wholly among them."""
        gutter = gutter_for(width, self.plain) if self.has_gutter else ""
        inner = max(1, width - len(gutter))
        rows: list[tuple[Content, Content]] = []
        limit = max(1, self.max_rows)
        whole = 0
        for row in reversed(self.rows) if self.keep_tail else self.rows:
            if len(rows) >= limit:
                break
            pieces = self._cut(row, inner)
            room = limit - len(rows)
            if len(pieces) <= room:
                whole += 1
            if self.keep_tail:
                rows.extend(reversed(pieces[-room:]))
            else:
                rows.extend(pieces[:room])
        if self.keep_tail:
            rows.reverse()
        return rows, self.hidden + len(self.rows) - whole

    def _note(self, hidden: int, inner: int) -> tuple[Content, Content]:
        from renderers.text import cut_cells

        word = "earlier" if self.keep_tail else "more"
        lines = f"{hidden:,} {word} line{'' if hidden == 1 else 's'}"
        text = f"… {lines}"
        if self.hint and len(text) + len(self.hint) + 4 <= inner:
            text += f"  ({self.hint})"
        return EMPTY, Content.styled(cut_cells(text, inner), NOTE_STYLE)

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """One strip a row; [] at width 0. A selection is the caller's business (textual-notes §2.13)."""
        if width < 1:
            return []
        gutter = gutter_for(width, self.plain) if self.has_gutter else ""
        inner = max(1, width - len(gutter))
        rows, hidden = self._layout(width)
        if hidden and self.keep_tail:
            rows.insert(0, self._note(hidden, inner))
        elif hidden:
            rows.append(self._note(hidden, inner))
        after = [piece for row in self.footer for piece in self._cut(row, inner, words=True)]
        edge = Content.styled(gutter, GUTTER_STYLE)
        strips = [strip_of((edge, *row), style, options) for row in (*rows, *after)]
        return strips if height is None else strips[:height]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """The width of the widest row unfolded, never more than the container."""
        widest = max((row.prefix.cell_length + row.text.cell_length for row in self.rows), default=1)
        return min(container_width, widest + 6)

    def get_height(self, rules: RulesMap, width: int) -> int:
        """The number of rows at this width."""
        if width < 1:
            return 0
        inner = max(1, width - (len(gutter_for(width, self.plain)) if self.has_gutter else 0))
        rows, hidden = self._layout(width)
        fixed = sum(len(self._cut(row, inner, words=True)) for row in self.footer)
        return len(rows) + fixed + (1 if hidden else 0)
