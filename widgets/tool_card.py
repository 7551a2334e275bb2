"""One tool call as a widget of its own: approval bar, tree preview, detail screen; it must never know the tool."""

from __future__ import annotations

from typing import cast

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.css.styles import RulesMap
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual
from textual.widget import Widget

from renderers.registry import ToolRenderResult


class ToolCard(Widget):
    """Shows a ToolRenderResult: bare when it is custom, else with a card's border around it.

    A Visual of ours knows nothing of selection, and Static can't give its text (textual-notes §2.13): the card puts
    offsets and the selection's style on the strips, and reads the selected text from them.
    """

    ALLOW_SELECT = True
    DEFAULT_CSS = """
    ToolCard {
        height: auto;
        width: 1fr;
        &.-card { padding: 0 1; border: round $panel; }
    }
    """

    def __init__(
        self,
        drawn: ToolRenderResult,
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 (Textual's own name)
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._drawn = drawn
        self.set_class(not drawn.is_custom, "-card")

    @property
    def drawn(self) -> ToolRenderResult:
        """What is shown."""
        return self._drawn

    def update(self, drawn: ToolRenderResult) -> None:
        """Show this instead; the card's height follows."""
        self._drawn = drawn
        self.set_class(not drawn.is_custom, "-card")
        self.clear_cached_dimensions()
        self.refresh(layout=True)

    def render(self) -> Visual:
        """The call, with the selection on it."""
        return _Selectable(self._drawn.content)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, blanks at row ends left out, or None when nothing is selected."""
        strips = self._drawn.content.render_strips(
            self.content_size.width,
            None,
            self.visual_style,
            RenderOptions(self._get_style, cast("RulesMap", self.styles)),
        )
        rows: list[str] = []
        for index, strip in enumerate(strips):
            span = selection.get_span(index)
            if span is not None:
                start, end = span
                text = strip.text
                rows.append((text[start:] if end == -1 else text[start:end]).rstrip())
        return ("\n".join(rows), "\n") if rows else None


class _Selectable(Visual):
    """A Visual with offsets in its strips and the selected characters in the selection's style."""

    def __init__(self, visual: Visual) -> None:
        self._visual = visual

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """The content's strips, marked."""
        strips = self._visual.render_strips(width, height, style, options)
        return [self._marked(strip, row, style, options).apply_offsets(0, row) for row, strip in enumerate(strips)]

    def _marked(self, strip: Strip, row: int, style: Style, options: RenderOptions) -> Strip:
        if options.selection is None or options.selection_style is None:
            return strip
        span = options.selection.get_span(row)
        if span is None:
            return strip
        start = strip.index_to_cell_position(span[0])
        end = strip.cell_length if span[1] == -1 else strip.index_to_cell_position(span[1])
        start, end = min(start, strip.cell_length), min(end, strip.cell_length)
        if end <= start:
            return strip
        # The selection's colour is half transparent: it is mixed with the ground first. Strip.apply_style would lay it
        # under the text's own style, but it must win.
        over = RichStyle(bgcolor=(style + options.selection_style).rich_style.bgcolor)
        parts = [Segment(text, over if own is None else own + over) for text, own, _ in strip.crop(start, end)]
        marked = Strip(parts, end - start)
        return Strip.join([strip.crop(0, start), marked, strip.crop(end, strip.cell_length)])

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """The content's."""
        return self._visual.get_optimal_width(rules, container_width)

    def get_height(self, rules: RulesMap, width: int) -> int:
        """The content's."""
        return self._visual.get_height(rules, width)
