"""Rows of prose: a mark, text wrapped between words at no more than 100 cells, or one row that never wraps."""

from __future__ import annotations

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from renderers.console import cluster_edge, head_lines
from renderers.header import META_STYLE
from renderers.rows import FULL_ROWS, strip_of, wrap_content

PROSE_CELLS = 100


def clean(text: str, limit_lines: int = FULL_ROWS, limit_chars: int = 200_000) -> str:
    """The text as it can be drawn; of a huge one the head, and how much is left out (a paste may have any size)."""
    from renderers.text import expand_tabs, sanitise

    text = text.strip("\r\n")
    cut = head_lines(text[: cluster_edge(text, limit_chars)], limit_lines)
    if not cut.hidden and len(text) <= limit_chars:
        return expand_tabs(sanitise(text))
    left = text.count("\n") + 1 - len(cut.lines)
    note = f"… {left:,} more line{'' if left == 1 else 's'}" if left else "…"
    return "\n".join((*cut.lines, note))


class Prose(Visual):
    """Text wrapped between words at no more than 100 cells, after a mark and with a hanging indent."""

    def __init__(self, mark: str, mark_style: str, text: Content, tail: Content | None = None) -> None:
        self._mark = mark
        self._mark_style = mark_style
        self._text = text
        self._tail = tail

    def _wrapped(self, width: int) -> list[tuple[Content, Content]]:
        indent = "  " if width >= 24 else ""
        mark = Content.assemble(indent, (f"{self._mark} " if self._mark else "", self._mark_style))
        if mark.cell_length + 4 > width:
            mark = Content("")
        blank = Content(" " * mark.cell_length)
        room = max(1, min(PROSE_CELLS, width - mark.cell_length))
        rows = [(blank if index else mark, row) for index, row in enumerate(wrap_content(self._text, room))]
        rows.extend(
            (blank, row)
            for row in (wrap_content(self._tail, room) if self._tail is not None and self._tail.plain else ())
        )
        return rows

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """One strip a row; [] at width 0."""
        strips = [strip_of(parts, style, options) for parts in self._wrapped(width)] if width > 0 else []
        return strips if height is None else strips[:height]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """As wide as the text, within the container."""
        return min(container_width, self._text.cell_length + 4)

    def get_height(self, rules: RulesMap, width: int) -> int:
        """The number of rows at this width."""
        return len(self._wrapped(width)) if width > 0 else 0


class MetaLine(Visual):
    """A label and a remark in one row that never wraps, with the sign that says whether it is open."""

    def __init__(self, label: str, subject: str, expanded: bool | None, plain: bool) -> None:
        self._label = label
        self._subject = subject
        self._expanded = expanded
        self._plain = plain

    def _row(self, width: int) -> Content:
        from renderers.text import cut_cells

        sign = ""
        if self._expanded is not None:
            words = ("(open)", "(closed)") if self._plain else ("▾", "▸")
            sign = " " + words[0 if self._expanded else 1]
        indent = "  " if width >= 24 else ""
        room = width - len(indent) - len(sign)
        if room < 1:
            return Content.styled(cut_cells(self._label, width), "bold $text-accent")
        label = cut_cells(self._label, room)
        rest = room - Content(label).cell_length - 1
        subject = cut_cells(self._subject, rest) if self._subject and rest > 2 else ""
        return Content.assemble(
            indent, (label, "bold $text-accent"), " " if subject else "", (subject, META_STYLE), (sign, META_STYLE)
        )

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """One strip; [] at width 0."""
        return [strip_of((self._row(width),), style, options)] if width > 0 else []

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """As wide as its texts, within the container."""
        return min(container_width, Content(f"  {self._label} {self._subject}").cell_length + 9)

    def get_height(self, rules: RulesMap, width: int) -> int:
        """One row."""
        return 1 if width > 0 else 0
