"""Every colour token that renderers name is one that a theme defines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.color import Color
from textual.content import Content
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions
from textual.widgets import Static

import renderers.palette
from renderers.palette import THEME_TOKENS, TOKENS, defaults, style_resolver


@pytest.mark.parametrize("dark", [True, False])
def test_every_token_resolves_to_a_colour(dark: bool) -> None:
    get_style = style_resolver(dark)
    for name in (*TOKENS, *THEME_TOKENS):
        assert get_style(f"${name}").foreground is not None, name


@pytest.mark.parametrize(("dark", "ansi"), [(True, False), (False, False), (True, True)])
def test_defaults_are_colours_that_textual_reads(dark: bool, ansi: bool) -> None:
    values = defaults(dark, ansi)
    assert set(values) == set(TOKENS)
    for colour in values.values():
        assert Color.parse(colour).ansi is not None or not ansi


def test_a_mistyped_token_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"\$diff-ad"):
        style_resolver()("bold $diff-ad")


def test_renderers_name_no_token_that_is_not_listed() -> None:
    known = {*TOKENS, *THEME_TOKENS}
    for path in Path(renderers.palette.__file__).parent.glob("*.py"):
        for literal in re.findall(
            r"[\"']((?:[a-z]+ )*(?:on )?\$[a-z][a-z0-9-]*(?: on \$[a-z0-9-]+)?)[\"']", path.read_text()
        ):
            for token in re.findall(r"\$([a-z0-9-]+)", literal):
                assert token in known, f"{path.name}: ${token}"


@pytest.mark.parametrize(("dark", "ground"), [(True, "#111111"), (False, "#fafafa")])
def test_text_colours_can_be_read(dark: bool, ground: str) -> None:
    quiet = {"gutter", "md-rule"}
    background = Color.parse(ground)
    for name, value in defaults(dark).items():
        if name in quiet or name.endswith(("-background", "-word")):
            continue
        lighter, darker = sorted((_luminance(Color.parse(value)), _luminance(background)), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, name


def _luminance(colour: Color) -> float:
    channels = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in (channel / 255 for channel in (colour.r, colour.g, colour.b))
    ]
    return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]


class Asking(Content):
    """Content that keeps what the widget which draws it makes of each token."""

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        ASKED.update({name: options.get_style(f"${name}") for name in (*TOKENS, *THEME_TOKENS)})
        return super().render_strips(width, height, style, options)


ASKED: dict[str, Style] = {}


class Themed(App[None]):
    def get_theme_variable_defaults(self) -> dict[str, str]:
        return defaults(dark=True, ansi="ansi" in self.theme)

    def compose(self) -> ComposeResult:
        yield Static(Asking("x"))


@pytest.mark.anyio
@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "nord", "ansi-dark", "ansi-light"])
async def test_every_token_resolves_in_a_running_app(theme: str) -> None:
    ASKED.clear()
    app = Themed()
    app.theme = theme
    async with app.run_test(size=(20, 5)) as pilot:
        await pilot.pause()
        assert [name for name, style in ASKED.items() if style.foreground is None] == []
        assert len(ASKED) == len(TOKENS) + len(THEME_TOKENS)
