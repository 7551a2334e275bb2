"""Visuals stand above each other, and a gutter stands before every row."""

from __future__ import annotations

import pytest
from textual.content import Content
from textual.css.styles import RulesMap
from textual.style import Style
from textual.visual import RenderOptions, Visual

from renderers.palette import style_resolver
from renderers.stack import Indent, Stack

OPTIONS = RenderOptions(style_resolver(), RulesMap())


def rows(visual: Visual, width: int, height: int | None = None) -> list[str]:
    return [strip.text for strip in visual.render_strips(width, height, Style(), OPTIONS)]


def test_parts_stand_above_each_other() -> None:
    stack = Stack([Content("one two"), Content("three")], gap=1)
    assert rows(stack, 3) == ["one", "two", "", "thr", "ee"]
    assert stack.get_height(RulesMap(), 3) == 5
    assert rows(stack, 3, 2) == ["one", "two"]
    assert stack.get_optimal_width(RulesMap(), 80) == 7


def test_the_gutter_is_repeated_on_wrapped_rows() -> None:
    indent = Indent(Content("one two three"), "│ ", "▸")
    assert rows(indent, 7) == ["▸ one", "│ two", "│ three"]
    assert indent.get_height(RulesMap(), 7) == 3
    assert indent.get_optimal_width(RulesMap(), 80) == 15


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_a_gutter_without_room_is_dropped(width: int) -> None:
    strips = Indent(Content("日本 abc"), 4).render_strips(width, None, Style(), OPTIONS)
    assert strips
    assert "".join(strip.text for strip in strips).replace(" ", "").endswith("abc")


def test_a_gutter_takes_its_style_from_a_token() -> None:
    strip = Indent(Content("x" * 9), Content.styled("│ ", "$gutter")).render_strips(20, None, Style(), OPTIONS)[0]
    first = next(iter(strip))
    assert first.text == "│ "
    assert first.style is not None
    assert first.style.color is not None
