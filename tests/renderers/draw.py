"""Draws Visuals as text, and makes tool results, for the tests of renderers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.segment import Segment
from textual.style import Style
from textual.visual import RenderOptions, Visual

from renderers.palette import style_resolver

HOSTILE = ("[/a/b]", "[red]x", "[/]", "[data: /m?s=b-]", "\\[", "[@click=app.quit]x[/]")
"""Case R2: all of it must be shown literally."""

_get_style = style_resolver()


@dataclass
class Block:
    text: str | None = None
    data: str | None = None
    mime_type: str = "image/png"


@dataclass
class Outcome:
    content: list[object] = field(default_factory=list)
    details: object = None
    is_error: bool = False
    duration_ms: int | None = None


def result(text: str = "", details: object = None, *, error: bool = False, ms: int | None = None) -> Outcome:
    return Outcome([Block(text)], details, error, ms)


def strips(visual: Visual, width: int) -> list[list[Segment]]:
    drawn = visual.render_strips(width, None, Style(), RenderOptions(_get_style, {}))
    assert len(drawn) == visual.get_height({}, width)
    for strip in drawn:
        assert strip.cell_length <= width, strip.text
        assert "\n" not in strip.text
    return [list(strip) for strip in drawn]


def draw(visual: Visual, width: int = 80) -> list[str]:
    """The rows as text without blanks at their ends; checks height and width on the way."""
    return ["".join(segment.text for segment in row).rstrip() for row in strips(visual, width)]


def shown(visual: Visual, width: int = 80) -> str:
    return "\n".join(draw(visual, width))


def metas(visual: Visual, width: int = 80) -> list[Mapping[str, object]]:
    return [segment.style.meta for row in strips(visual, width) for segment in row if segment.style is not None]


def styled(visual: Visual, style: str, width: int = 80) -> list[str]:
    """The texts drawn in the colours of `style`, a palette style such as "$error" or "on $diff-add-word"."""
    wanted = _get_style(style).rich_style
    found = []
    for row in strips(visual, width):
        for segment in row:
            own = segment.style
            if own is None:
                continue
            if wanted.color in (None, own.color) and wanted.bgcolor in (None, own.bgcolor):
                found.append(segment.text)
    return found
