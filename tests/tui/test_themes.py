"""Every colour token resolves in every theme, with and without colour."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.theme import BUILTIN_THEMES

from app.tui.themes import (
    ANSI,
    DARK,
    FACE_TOKENS,
    LIGHT,
    choose_theme,
    register_themes,
    theme_variable_defaults,
    themes,
)
from renderers import palette
from widgets.footer import Footer
from widgets.header import Header, HeaderState
from widgets.prompt import Prompt
from widgets.queue_strip import QueueStrip

STYLES = Path(__file__).parents[2] / "styles.tcss"
ALL = [theme.name for theme in themes()] + ["textual-dark", "textual-light", "nord", "ansi-dark", "ansi-light"]


class FaceApp(App[None]):
    CSS_PATH = STYLES

    def __init__(self, theme_name: str) -> None:
        super().__init__()
        register_themes(self)
        self.theme = theme_name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme_variable_defaults(self.current_theme)

    def compose(self) -> ComposeResult:
        yield Header(HeaderState("~/src", "main", "title", "model", "high", 190, 200))
        yield QueueStrip()
        yield Prompt(placeholder="Ask")
        yield Footer()


@pytest.mark.anyio
@pytest.mark.parametrize("name", ALL)
async def test_every_token_of_the_stylesheet_and_the_palettes_resolves(name: str) -> None:
    app = FaceApp(name)
    async with app.run_test(size=(80, 10)):
        variables = app.get_css_variables()
        used = set(re.findall(r"\$([a-z][a-z0-9-]*)", STYLES.read_text(encoding="utf-8")))
        missing = (used | set(FACE_TOKENS) | set(palette.TOKENS)) - set(variables)
        assert missing == set()


def test_no_colour_stands_in_the_stylesheet() -> None:
    text = re.sub(r"/\*.*?\*/", "", STYLES.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|rgb|hsl", text) == []


@pytest.mark.anyio
@pytest.mark.parametrize("name", [DARK, LIGHT])
async def test_the_level_of_thinking_and_bash_mode_show_in_the_border(name: str) -> None:
    app = FaceApp(name)
    async with app.run_test(size=(80, 10)) as pilot:
        prompt = app.query_one(Prompt)
        prompt.focus()
        seen = set()
        for level in ("off", "minimal", "low", "medium", "high", "xhigh"):
            prompt.thinking = level
            await pilot.pause()
            seen.add(prompt.styles.border_top[1].hex)
        await pilot.press("!")
        seen.add(prompt.styles.border_top[1].hex)
        await pilot.press("!")
        seen.add(prompt.styles.border_top[1].hex)
        assert len(seen) == 8


@pytest.mark.anyio
async def test_the_gauge_has_its_colour_by_token() -> None:
    app = FaceApp(DARK)
    async with app.run_test(size=(80, 10)):
        style = app.query_one(Header).get_component_rich_style("header--gauge-error", partial=True)
        assert style.color is not None
        assert style.color.get_truecolor().hex.lower() == app.theme_variables["error"].lower()


@pytest.mark.anyio
async def test_no_color_shows_the_same_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = FaceApp(DARK)
    async with app.run_test(size=(80, 10)):
        assert app.no_color
        assert "model · high" in app.query_one(Header).render_line(0).text


def test_the_ansi_theme_uses_the_terminals_own_colours_only() -> None:
    ours = next(theme for theme in themes() if theme.name == ANSI)
    values = [*theme_variable_defaults(ours).values(), *ours.variables.values()]
    assert [value for value in values if "#" in value] == []


def test_a_theme_is_chosen_by_its_name_or_short_name_and_falls_back_to_ours() -> None:
    known = {DARK, LIGHT, ANSI, *BUILTIN_THEMES}
    assert choose_theme("light", known=known) == LIGHT
    assert choose_theme("nord", known=known) == "nord"
    assert choose_theme("gone", known=known) == DARK
    assert choose_theme(None, known=known, light_terminal=True) == LIGHT


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", [DARK, LIGHT])
@pytest.mark.parametrize("token", ["brand", "path", "quiet", "faint", "moving", "bash-mode", "popup-match", "pill"])
def test_text_has_contrast_on_every_ground_of_the_face(name: str, token: str) -> None:
    theme = next(theme for theme in themes() if theme.name == name)
    values = {**theme_variable_defaults(theme), **theme.variables}
    text = _luminance(values[token])
    for ground in (str(theme.background), values["bar-background"], values["popup-background"]):
        darker, lighter = sorted((text, _luminance(ground)))
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (token, ground)


@pytest.mark.anyio
@pytest.mark.parametrize("name", [DARK, LIGHT, ANSI])
async def test_selected_text_can_be_read(name: str) -> None:
    app = FaceApp(name)
    async with app.run_test(size=(80, 10)):
        style = app.screen.get_component_rich_style("screen--selection")
        assert style.bgcolor is not None
        assert style.color is not None
        assert style.color != style.bgcolor or style.reverse
        if name != ANSI:
            values = sorted(
                _luminance("#{:02x}{:02x}{:02x}".format(*colour.get_truecolor()))
                for colour in (style.color, style.bgcolor)
            )
            assert (values[1] + 0.05) / (values[0] + 0.05) >= 4.5
