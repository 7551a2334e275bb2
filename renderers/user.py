"""What the user said, as a Visual: a bar, a tint, and the switch between sibling branches."""

from __future__ import annotations

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from renderers.header import META_STYLE
from renderers.prose import PROSE_CELLS, clean
from renderers.rows import strip_of, wrap_content

SIBLING_META = "pinyon_sibling"
"""Key in the style meta of the sibling arrows: -1 or 1. A click on such a cell asks for that sibling."""


class UserVisual(Visual):
    """What the user said: a bar, a tint over the whole width, and the switch between siblings at the right."""

    def __init__(self, text: str, siblings: tuple[int, int] | None, images: int, plain: bool) -> None:
        shown = clean(text)
        marks = f"[{images} image{'' if images == 1 else 's'}]" if images else ""
        self._text = Content(shown) if shown or not marks else Content("")
        if marks:
            self._text = Content.assemble(self._text, "\n" if shown else "", (marks, META_STYLE))
        self._switch = self._siblings(siblings, plain)
        self._bar = "> " if plain else "▌ "
        self._tint = "" if plain else "on $user-background"

    @staticmethod
    def _siblings(siblings: tuple[int, int] | None, plain: bool) -> Content:
        if siblings is None or siblings[1] < 2:
            return Content("")
        place, count = siblings
        if plain:
            return Content(f"version {place} of {count}")
        before, after = (Style.from_meta({SIBLING_META: step}) for step in (-1, 1))
        return Content.assemble(("‹", before), f" {place}/{count} ", ("›", after)).stylize("$text-warning")

    def _wrapped(self, width: int) -> tuple[list[Content], bool]:
        """The text's rows and whether the switch has room beside the first."""
        beside = self._switch.cell_length + 3
        has_room = bool(self._switch.plain) and width - 2 - beside >= 16
        room = max(1, min(PROSE_CELLS, width - 2 - (beside if has_room else 0)))
        return wrap_content(self._text, room), has_room

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """Rows of exactly `width` cells; [] at width 0."""
        if width < 1:
            return []
        rows, beside = self._wrapped(width)
        bar = Content.styled(self._bar if width > 2 else self._bar[:width], "$user-bar")
        base = style + options.get_style(self._tint) if self._tint else style
        strips = []
        if self._switch.plain and not beside:
            rows = [*rows, self._switch]
        for index, row in enumerate(rows):
            parts = [bar, row]
            if beside and index == 0:
                gap = width - bar.cell_length - row.cell_length - self._switch.cell_length - 1
                parts.extend((Content(" " * gap), self._switch))
            strips.append(strip_of(parts, base, options).adjust_cell_length(width, base.rich_style))
        return strips if height is None else strips[:height]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """The whole width, for the tint."""
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        """The number of rows at this width."""
        if width < 1:
            return 0
        rows, beside = self._wrapped(width)
        return len(rows) + (1 if self._switch.plain and not beside else 0)
