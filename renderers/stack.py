"""Visuals above each other, and a Visual with a gutter that every one of its rows repeats."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from renderers.text import cell_width


class Stack(Visual):
    """A vertical group: each Visual's rows below those of the one before, with `gap` empty rows between them."""

    def __init__(self, visuals: Iterable[Visual], gap: int = 0) -> None:
        self._visuals = tuple(visuals)
        self._gap = gap

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """Return the rows of all parts, at most `height`; later parts are not rendered once it is reached."""
        strips: list[Strip] = []
        for visual in self._visuals:
            if height is not None and len(strips) >= height:
                break
            part = visual.render_strips(width, None if height is None else height - len(strips), style, options)
            if strips and part:
                strips.extend([Strip([], 0)] * self._gap)
            strips.extend(part)
        return strips if height is None else strips[:height]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """Return the widest part's width in cells."""
        return max((visual.get_optimal_width(rules, container_width) for visual in self._visuals), default=0)

    def get_height(self, rules: RulesMap, width: int) -> int:
        """Return the sum of the parts' rows and the gaps between those that have any."""
        heights = [visual.get_height(rules, width) for visual in self._visuals]
        return sum(heights) + self._gap * max(0, sum(1 for height in heights if height) - 1)


class Indent(Visual):
    """A Visual moved right by a gutter, which stands in front of wrapped rows too.

    `left` is the gutter of every row, `first` that of the first one (default: the same); the narrower is padded. In a
    width that leaves less than four cells for the content the gutter is dropped.
    """

    def __init__(self, visual: Visual, left: Content | str | int, first: Content | str | None = None) -> None:
        self._visual = visual
        self._left = Content(" " * left if isinstance(left, int) else left) if isinstance(left, int | str) else left
        head = self._left if first is None else Content(first) if isinstance(first, str) else first
        self._cells = max(self._left.cell_length, head.cell_length)
        self._left = self._left.pad_right(self._cells - self._left.cell_length)
        self._first = head.pad_right(self._cells - head.cell_length)

    def _room(self, width: int) -> int:
        return width - self._cells if width - self._cells >= 4 else width

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """Return the content's rows at the width that is left, each with its gutter."""
        room = self._room(width)
        strips = self._visual.render_strips(room, height, style, options)
        if room == width or not strips:
            return strips
        first, left = (_gutter(content, style, options) for content in (self._first, self._left))
        return [Strip.join([first if not row else left, strip]) for row, strip in enumerate(strips)]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """Return the content's optimal width and the gutter's."""
        return self._visual.get_optimal_width(rules, max(1, container_width - self._cells)) + self._cells

    def get_height(self, rules: RulesMap, width: int) -> int:
        """Return the content's height at the width that is left."""
        return self._visual.get_height(rules, self._room(width))


def _gutter(content: Content, style: Style, options: RenderOptions) -> Strip:
    from rich.segment import Segment

    segments = [
        Segment(text, (style + part).rich_style)
        for text, part in content.render(style, end="", parse_style=options.get_style)
    ]
    return Strip(segments, cell_width(content.plain))
