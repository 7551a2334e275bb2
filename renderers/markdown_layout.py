"""The rows of a Markdown text at one width: a final part that only grows, and the rows of what is still open."""

from __future__ import annotations

from collections.abc import Sequence

from renderers.markdown_blocks import BlockParser
from renderers.markdown_leaf import Container, Leaf
from renderers.markdown_rows import Row, fit
from renderers.markdown_views import Frame, LeafView, view_of
from renderers.text import cell_width

MIN_CONTENT_CELLS = 4
_BAR = "▎ "


class Layout:
    """Rows at one width. `changed` holds the indexes whose row is another one than before; the owner clears it."""

    def __init__(self, width: int, prose_cells: int) -> None:
        self.width = width
        self.rows: list[Row] = []
        self.changed: set[int] = set()
        self.parsed_chars = 0
        self._prose_cells = prose_cells
        self._final = 0
        """Rows that later text can only change when their own leaf closes."""
        self._done = 0
        """Leaves that are closed and laid out."""
        self._begin = 0
        """The first row of the leaf at index `_done`."""
        self._begins: list[int] = []
        """The first row of each leaf before that."""
        self._view: LeafView | None = None

    def settle(self, parser: BlockParser) -> None:
        """Take every complete line that the parser has."""
        leaves = parser.leaves
        while self._done < len(leaves):
            leaf = leaves[self._done]
            view = self._view
            is_new = view is None or view.leaf is not leaf or view.kind != leaf.kind
            if view is None or is_new:
                view = self._view = view_of(leaf, self._frame(leaf, parser))
                self._final = self._begin
            grown = view.close() if leaf.closed else view.grow()
            if grown.keep is not None:
                gap = 1 if leaf.gap and self._begin else 0
                self._final = self._begin + (grown.keep + gap if grown.keep else 0)
            self._final = self._place(leaf, grown.rows, self._final)
            self._count(view)
            if not leaf.closed:
                return
            self._done += 1
            self._begins.append(self._begin)
            self._begin = self._final
            self._view = None

    def tail(self, parser: BlockParser) -> None:
        """Show what is not final, with the line that the parser is trying; everything after it goes."""
        end = self._final
        for leaf in parser.leaves[self._done :]:
            view = self._view
            if view is None or view.leaf is not leaf or view.kind != leaf.kind:
                if view is not None and view.leaf is leaf:
                    end = self._begin
                view = view_of(leaf, self._frame(leaf, parser))
                rows = [*view.grow().rows, *view.tail()]
            else:
                rows = view.tail()
            self._count(view)
            end = self._place(leaf, rows, end, self._begin if leaf is parser.leaves[self._done] else end)
        if len(self.rows) > end:
            del self.rows[end:]
            self.changed = {at for at in self.changed if at < end}
            self.changed.add(end)

    def restart_from(self, leaf_index: int) -> None:
        """Lay out again from that leaf on, which must be closed (a link got its address); earlier rows stay."""
        self._begin = self._final = self._begins[leaf_index]
        self._done, self._view = leaf_index, None
        del self._begins[leaf_index:]

    def _count(self, view: LeafView) -> None:
        self.parsed_chars += view.frame.parsed_chars
        view.frame.parsed_chars = 0

    def _place(self, leaf: Leaf, rows: Sequence[Row], at: int, begin: int | None = None) -> int:
        """Write rows at an index, keeping equal ones; return the index after them."""
        if not rows:
            return at
        is_start = at == (self._begin if begin is None else begin)
        head, rest = self._gutters(leaf)
        if is_start and leaf.gap and at:
            self._put(at, self._gap(leaf))
            at += 1
        for index, row in enumerate(rows):
            gutter = head if is_start and not index else rest
            self._put(at, fit([*gutter, *row] if row else _bare(gutter), self.width))
            at += 1
        return at

    def _put(self, at: int, row: Row) -> None:
        if at < len(self.rows):
            if self.rows[at] == row:
                return
            self.rows[at] = row
        else:
            self.rows.append(row)
        self.changed.add(at)

    def _gap(self, leaf: Leaf) -> Row:
        return _bare([piece for container in leaf.path[: leaf.shared] for piece in _gutter(container, False)])

    def _gutters(self, leaf: Leaf) -> tuple[Row, Row]:
        head: Row = []
        rest: Row = []
        room = self.width - MIN_CONTENT_CELLS
        for index, container in enumerate(leaf.path):
            room -= container_cells(container)
            if room < 0:
                break
            head += _gutter(container, index >= leaf.fresh)
            rest += _gutter(container, False)
        return head, rest

    def _frame(self, leaf: Leaf, parser: BlockParser) -> Frame:
        _, rest = self._gutters(leaf)
        wide = max(1, self.width - sum(cell_width(text) for text, _ in rest))
        is_quoted = any(not container.is_item for container in leaf.path)
        return Frame(min(wide, self._prose_cells), wide, parser.references, is_quoted)


def container_cells(container: Container) -> int:
    """Return the cells that a container's gutter takes."""
    return cell_width(container.marker) + 1 if container.is_item else cell_width(_BAR)


def _gutter(container: Container, is_first: bool) -> Row:
    if not container.is_item:
        return [(_BAR, "$md-rule")]
    if is_first:
        return [(container.marker, "$md-marker"), (" ", "")]
    return [(" " * container_cells(container), "")]


def _bare(gutter: Sequence[tuple[str, str]]) -> Row:
    row = list(gutter)
    while row and not row[-1][0].strip(" "):
        row.pop()
    if row:
        row[-1] = (row[-1][0].rstrip(" "), row[-1][1])
    return row
