"""One Markdown leaf laid out at a width, growing with its source: rows that are final are handed out once.

`grow` takes the complete lines that have come, `tail` shows the rest without keeping it, `close` may lay the leaf out
once more. Each says how many of the earlier rows stay. Costs are bounded by what came since, or by the leaf once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from renderers.code import highlight_chunk, highlight_rows, plain_rows
from renderers.markdown_inline import References, inline_rows
from renderers.markdown_leaf import Leaf, split_cells
from renderers.markdown_prose import ProseFlow
from renderers.markdown_rows import Row, wrap
from renderers.table import column_widths, parse_aligns, stacked_row, table_row, table_rule
from renderers.text import expand_tabs

if TYPE_CHECKING:
    from renderers.table import Align

TABLE_SAMPLE_ROWS = 20
CODE_INDENT = 2
CHUNK_LINES = 128
MAX_COLOURED_LINES = 5_000

_HEADING_STYLES = ("", "bold underline $md-heading", "bold $md-heading", "bold $md-heading")


class Rows(NamedTuple):
    """Rows of a leaf: behind all that it gave before, or in place of all but the first `keep` of those."""

    rows: list[Row]
    keep: int | None = None


@dataclass(slots=True)
class Frame:
    """What a leaf is laid out in: cells for prose and for wide things, known links, and a count of the work done."""

    prose_cells: int
    wide_cells: int
    references: References
    is_quoted: bool = False
    parsed_chars: int = 0

    def inline(self, source: str, style: str) -> list[Row]:
        """Return the inline pieces of a text, one row a hard-broken line."""
        self.parsed_chars += len(source)
        return inline_rows(source, self.references, style)


class LeafView:
    """A leaf whose rows all depend on all of its text: heading, rule, html."""

    def __init__(self, leaf: Leaf, frame: Frame) -> None:
        self.leaf = leaf
        self.kind = leaf.kind
        self.frame = frame

    def grow(self) -> Rows:
        """Take the leaf's lines so far; return the rows that are now final."""
        return Rows([])

    def tail(self) -> list[Row]:
        """Return the rows of everything that isn't final."""
        return self._all()

    def close(self) -> Rows:
        """Return the rows that make the leaf whole."""
        return Rows(self._all(), 0)

    def _all(self) -> list[Row]:
        leaf, frame = self.leaf, self.frame
        if leaf.kind == "rule":
            return [[("─" * frame.prose_cells, "$md-rule")]]
        base = "$md-quote" if frame.is_quoted else ""
        if leaf.kind == "html":
            return [row for line in leaf.lines for row in wrap([(expand_tabs(line), base)], frame.prose_cells)]
        if leaf.kind == "heading":
            base = _HEADING_STYLES[min(leaf.level, 3)]
        source = "\n".join(leaf.lines).rstrip(" ")
        return [row for line in frame.inline(source, base) for row in wrap(line, frame.prose_cells)]


class ParagraphView(LeafView):
    """A paragraph: its rows depend on all of its text, but those far behind the end of a long one are final."""

    def __init__(self, leaf: Leaf, frame: Frame) -> None:
        super().__init__(leaf, frame)
        base = "$md-quote" if frame.is_quoted else ""
        self._flow = ProseFlow(lambda source: frame.inline(source, base), frame.prose_cells)

    def grow(self) -> Rows:
        """Return the rows that lie far enough behind the end."""
        return Rows(self._flow.advance(self.leaf.lines))

    def tail(self) -> list[Row]:
        """Return the rows after them."""
        return self._flow.rest(self.leaf.lines)

    def close(self) -> Rows:
        """Lay out the whole once more."""
        return Rows(self._all() if self.leaf.lines or self.leaf.path else [], 0)


class CodeView(LeafView):
    """A fence or indented code: every complete line is final in its text and coloured alone at first.

    Chunks of 128 to 256 lines are coloured once more as a whole when they end (best at an unindented line after an
    empty one), so a string over many lines comes right and no frame pays for a long fence at once. Where chunks end
    depends on the text alone: a streamed fence looks like one that came whole.
    """

    def __init__(self, leaf: Leaf, frame: Frame) -> None:
        super().__init__(leaf, frame)
        self._taken = 0
        self._exact = 0
        self._exact_rows = 0
        self._scanned = 0

    def grow(self) -> Rows:
        """Colour the complete lines that have come, and again as a whole the chunks that they end."""
        keep, rows = self._exact_rows, self._chunks()
        lines = self.leaf.lines
        start = self._exact if rows else self._taken
        self._taken = len(lines)
        return Rows([*rows, *self._rows(lines[start:], alone=True)], keep if rows else None)

    def tail(self) -> list[Row]:
        """Return the line that is being written."""
        return self._rows(self.leaf.lines[self._taken :], alone=True)

    def close(self) -> Rows:
        """Colour what the last chunk left."""
        keep = self._exact_rows
        return Rows([*self._chunks(), *self._rows(self.leaf.lines[self._exact :], alone=False)], keep)

    def _chunks(self) -> list[Row]:
        lines = self.leaf.lines
        rows: list[Row] = []
        at = max(self._scanned, self._exact + CHUNK_LINES)
        while at < len(lines):
            is_top = not lines[at - 1].strip() and lines[at][:1].strip() != ""
            if is_top or at - self._exact >= 2 * CHUNK_LINES:
                rows += self._rows(lines[self._exact : at], alone=False)
                self._exact = at
                at += CHUNK_LINES
            else:
                at += 1
        self._scanned = at
        self._exact_rows += len(rows)
        return rows

    def _rows(self, lines: list[str], *, alone: bool) -> list[Row]:
        if not lines:
            return []
        language = self.leaf.language
        lines = [expand_tabs(line) for line in lines]
        self.frame.parsed_chars += sum(map(len, lines))
        if self._exact >= MAX_COLOURED_LINES:
            coloured = plain_rows(lines)
        elif alone:
            coloured = [highlight_rows(line, language)[0] for line in lines]
        else:
            coloured = list(highlight_chunk("\n".join([*lines, ""]), language))
        wide = self.frame.wide_cells
        indent = CODE_INDENT if wide >= 12 else 0
        rows: list[Row] = []
        for line in coloured:
            for row in wrap(line, wide - indent, words=False):
                rows.append([(" " * indent, ""), *row] if indent and row else row)
        return rows


class TableView(LeafView):
    """A table: widths come from its first rows and then stay; at the end it is laid out once more by all of them."""

    def __init__(self, leaf: Leaf, frame: Frame) -> None:
        super().__init__(leaf, frame)
        self._aligns: list[Align] = parse_aligns(split_cells(leaf.lines[1]))
        self._header = self._cells(leaf.lines[0], "bold")
        self._body: list[list[Row]] = []
        self._widths: list[int] | None = None

    def grow(self) -> Rows:
        """Lay out the rows that have come; anew while the first ones still decide the widths."""
        before = len(self._body)
        for line in self.leaf.lines[2 + before :]:
            self._body.append(self._cells(line, ""))
        if before < TABLE_SAMPLE_ROWS:
            widths = column_widths([self._header, *self._body[:TABLE_SAMPLE_ROWS]], self.frame.wide_cells)
            if widths != self._widths or not widths:
                self._widths = widths
                return Rows(self._whole(), 0)
        return Rows(self._rows_from(before))

    def tail(self) -> list[Row]:
        """Return the row that is being written, in the widths so far."""
        lines = self.leaf.lines[2 + len(self._body) :]
        return [row for line in lines for row in self._row(self._cells(line, ""))]

    def close(self) -> Rows:
        """Lay out by all rows, if that gives other widths."""
        grown = self.grow()
        widths = column_widths([self._header, *self._body], self.frame.wide_cells)
        if widths == self._widths:
            return grown
        self._widths = widths
        return Rows(self._whole(), 0)

    def _cells(self, line: str, style: str) -> list[Row]:
        cells = split_cells(line)[: len(self._aligns)]
        return [self.frame.inline(cell, style)[0] for cell in cells]

    def _row(self, cells: list[Row]) -> list[Row]:
        if self._widths:
            return table_row(cells, self._widths, self._aligns)
        return [*stacked_row(cells, self._header, self.frame.wide_cells), []]

    def _whole(self) -> list[Row]:
        if self._widths:
            head = [*table_row(self._header, self._widths, self._aligns), table_rule(self._widths)]
        else:
            head = [row for cell in self._header for row in wrap(cell, self.frame.wide_cells)] if not self._body else []
        return [*head, *self._rows_from(0)]

    def _rows_from(self, start: int) -> list[Row]:
        return [row for cells in self._body[start:] for row in self._row(cells)]


def view_of(leaf: Leaf, frame: Frame) -> LeafView:
    """Return a new view of the leaf."""
    if leaf.kind in ("code", "indented"):
        return CodeView(leaf, frame)
    if leaf.kind == "paragraph":
        return ParagraphView(leaf, frame)
    return TableView(leaf, frame) if leaf.kind == "table" else LeafView(leaf, frame)
