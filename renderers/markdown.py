"""Markdown that grows token by token as a Visual: finished rows are drawn once, only the open end is drawn again.

It holds text, never styles: tokens are resolved when rows become strips. It never joins or scans the whole text again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from renderers.markdown_blocks import BlockParser
from renderers.markdown_inline import normalise_label
from renderers.markdown_layout import Layout
from renderers.markdown_rows import Row, RowPainter, row_width
from renderers.text import sanitise

PROSE_CELLS = 100
LONG_LINE_CHARS = 1_500
ESCAPE_CHARS = 256

_LABEL = re.compile(r"\[([^\[\]]+)\]")

# Resolved at each render: a theme that changes none of these would show stale colours until `release`.
_PROBES = ("$text-muted", "$md-heading", "$md-code", "$code-keyword")

_UNPAINTED = Strip([], 0)


class MarkdownVisual(Visual):
    """A Markdown text, whole or still arriving.

    `append` takes a delta of any size (it may cut a line, an escape sequence or a character cluster), `finish` ends it.
    After a render `stable_rows` is the number of leading strips that are the same objects as at the render before it.
    """

    def __init__(self, text: str = "", *, base: str = "", prose_cells: int = PROSE_CELLS) -> None:
        self.stable_rows = 0
        self.painted_strips = 0
        """Strips made so far, a count for tests and the debug display."""
        self._base = base
        self._prose_cells = prose_cells
        self._deltas: list[str] = []
        self._pending: list[str] = []
        """Deltas since the last line end, as they came."""
        self._is_line_fed = False
        """The line that is arriving is long prose, and its start is with the parser already."""
        self._parser = BlockParser()
        self._layout: Layout | None = None
        self._strips: list[Strip] = []
        self._painter: RowPainter | None = None
        self._painted_for: tuple[object, ...] = ()
        self._dirty = True
        self._parsed_chars = 0
        self._is_finished = False
        if text:
            self.append(text)
            self.finish()

    @property
    def text(self) -> str:
        """The source as it came, not sanitised: for copying and for files, never for a terminal."""
        if len(self._deltas) > 1:
            self._deltas = ["".join(self._deltas)]
        return self._deltas[0] if self._deltas else ""

    @property
    def is_finished(self) -> bool:
        """Whether `finish` was called."""
        return self._is_finished

    @property
    def parsed_chars(self) -> int:
        """Characters that went through inline parsing or a lexer so far, a count for tests."""
        return self._parsed_chars + (self._layout.parsed_chars if self._layout else 0)

    def append(self, delta: str) -> None:
        """Add text at the end; costs nothing but the split into lines until the next render."""
        if not delta:
            return
        self._deltas.append(delta)
        self._dirty = True
        self._is_finished = False
        if "\n" not in delta:
            self._pending.append(delta)
            return
        *lines, rest = delta.split("\n")
        lines[0] = "".join([*self._pending, lines[0]])
        self._pending = [rest] if rest else []
        for line in lines:
            self._feed(line)

    def finish(self) -> None:
        """Take what stands there as complete; links whose address came after them are resolved now."""
        if self._is_finished:
            return
        self._is_finished = True
        self._dirty = True
        if self._pending:
            self._feed("".join(self._pending))
            self._pending = []
        self._is_line_fed = False
        self._parser.close()
        if self._parser.references:
            self._resolve_links()

    def release(self) -> None:
        """Drop rows and strips (they come back at the next render): for blocks far from the screen."""
        if self._layout is not None:
            self._parsed_chars += self._layout.parsed_chars
        self._layout = None
        self._strips = []
        self._painter = None
        self._dirty = True

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """Return the rows at that width, at most `height`; a new list of strips that are kept between renders."""
        if width <= 0:
            self.stable_rows = 0
            return []
        layout = self._laid_out(width)
        self._paint(layout, style, options)
        return self._strips[:] if height is None else self._strips[:height]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """Return the cells that the widest row needs at the container's width."""
        if container_width <= 0:
            return 0
        return max(map(row_width, self._laid_out(container_width).rows), default=0)

    def get_height(self, rules: RulesMap, width: int) -> int:
        """Return the number of rows at that width."""
        return len(self._laid_out(width).rows) if width > 0 else 0

    def plain_rows(self, width: int) -> Sequence[Row]:
        """Return the rows as styled pieces, for search and for tests."""
        return self._laid_out(width).rows

    def _feed(self, line: str) -> None:
        if self._is_line_fed:
            self._is_line_fed = False
            self._extend(line)
            return
        # Clean after joining: an escape sequence may be cut by the stream. A carriage return may end a line as well.
        for part in sanitise(line.removesuffix("\r")).split("\n"):
            self._parser.feed(part)

    def _extend(self, part: str) -> None:
        self._parser.extend(" ".join(sanitise(part.removesuffix("\r")).split("\n")))

    def _partial(self) -> str:
        """Return the sanitised line that is arriving; what of it needs no second look goes to the parser for good."""
        partial = "".join(self._pending)
        ends = partial.rfind("\r", 0, len(partial) - 1)
        if ends >= 0:  # a carriage return ends a line too; one at the very end may belong to a line feed
            self._feed(partial[:ends])
            partial = partial[ends + 1 :]
        if self._is_line_fed or len(partial) > LONG_LINE_CHARS:
            partial = self._take_long_line(partial)
        self._pending = [partial] if partial else []
        return "" if self._is_line_fed else sanitise(partial.removesuffix("\r"))

    def _take_long_line(self, partial: str) -> str:
        """Give a long line of prose to the parser, but for an escape sequence that may be cut; return the rest."""
        escape = max(partial.rfind(character, -ESCAPE_CHARS) for character in "\x1b\x90\x9b\x9d\r")
        end = escape if escape >= 0 else len(partial)
        if self._is_line_fed:
            self._extend(partial[:end])
            return partial[end:]
        start = sanitise(partial[:end])
        with self._parser.trying(start):
            leaf = self._parser.open_leaf
            if leaf is None or leaf.kind != "paragraph" or not leaf.lines:
                return partial
        self._parser.feed(start)
        self._is_line_fed = True
        return partial[end:]

    def _laid_out(self, width: int) -> Layout:
        layout = self._layout
        if layout is None or layout.width != width:
            self.release()
            layout = self._layout = Layout(width, self._prose_cells)
        if self._dirty:
            self._dirty = False
            partial = self._partial()
            layout.settle(self._parser)
            with self._parser.trying(partial):
                layout.tail(self._parser)
        return layout

    def _paint(self, layout: Layout, style: Style, options: RenderOptions) -> None:
        wanted = (style, options.post_style, *(options.get_style(probe) for probe in _PROBES))
        if self._painter is None or wanted != self._painted_for:
            self._painter = RowPainter(style, options, self._base)
            self._painted_for = wanted
            self._strips = []
            layout.changed = set(range(len(layout.rows)))
        rows, strips, painter = layout.rows, self._strips, self._painter
        self.stable_rows = min(layout.changed, default=len(rows))
        del strips[len(rows) :]
        strips.extend([_UNPAINTED] * (len(rows) - len(strips)))
        for at in layout.changed:
            if at < len(rows):
                strips[at] = painter.paint(rows[at])
                self.painted_strips += 1
        layout.changed = set()

    def _resolve_links(self) -> None:
        """Lay out again from the first leaf that names a known link: it may have come before its address."""
        layout, known = self._layout, self._parser.references
        if layout is None:
            return
        for index, leaf in enumerate(self._parser.leaves):
            if leaf.kind not in ("paragraph", "heading", "table"):
                continue
            if any(normalise_label(label) in known for line in leaf.lines for label in _LABEL.findall(line)):
                layout.settle(self._parser)
                layout.restart_from(index)
                return
