from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.selection import Selection

from renderers.palette import defaults
from renderers.registry import render_tool
from tests.renderers.draw import HOSTILE, result
from widgets.tool_card import ToolCard


class CardApp(App[None]):
    def __init__(self, card: ToolCard) -> None:
        super().__init__()
        self.card = card

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return defaults(dark=True)

    def compose(self) -> ComposeResult:
        yield self.card


def bash_card(text: str = "one\ntwo 日本\nthree\n") -> ToolCard:
    return ToolCard(render_tool("bash", {"command": "ls"}, result(text), False))


def rows(card: ToolCard) -> list[str]:
    return [card.render_line(y).text.rstrip() for y in range(card.size.height)]


@pytest.mark.anyio
async def test_a_card_is_as_high_as_its_call() -> None:
    app = CardApp(bash_card())
    async with app.run_test(size=(60, 20)) as pilot:
        assert app.card.size.height == 4
        assert rows(app.card)[1:] == ["    │ one", "    │ two 日本", "    │ three"]
        app.card.update(render_tool("bash", {"command": "ls"}, result("one"), False, density="title"))
        await pilot.pause()
        assert app.card.size.height == 1


@pytest.mark.anyio
async def test_a_call_that_is_not_custom_gets_a_border() -> None:
    app = CardApp(ToolCard(render_tool("unknown", {"a": 1}, result("x"), False)))
    async with app.run_test(size=(60, 20)):
        assert app.card.has_class("-card")
        assert app.card.content_size.width < app.card.outer_size.width


@pytest.mark.anyio
async def test_selected_text_can_be_copied() -> None:
    app = CardApp(bash_card())
    async with app.run_test(size=(60, 20)):
        picked = app.card.get_selection(Selection(Offset(6, 1), Offset(9, 2)))
        assert picked == ("one\n    │ two", "\n")
        assert app.card.get_selection(Selection(Offset(10, 2), Offset(12, 2))) == ("日本", "\n")
        whole = app.card.get_selection(Selection(None, None))
        assert whole is not None
        assert whole[0].count("\n") == 3


@pytest.mark.anyio
async def test_a_selection_is_drawn_on_the_selected_characters() -> None:
    app = CardApp(bash_card())
    async with app.run_test(size=(60, 20)) as pilot:
        app.screen.selections = {app.card: Selection(Offset(10, 2), Offset(12, 2))}
        await pilot.pause()
        plain = app.card.visual_style.rich_style.bgcolor
        marked = [
            part.text for part in app.card.render_line(2) if part.style is not None and part.style.bgcolor != plain
        ]
        assert "".join(marked) == "日本"


@pytest.mark.anyio
async def test_cells_know_their_offsets_so_that_the_mouse_can_select() -> None:
    app = CardApp(bash_card())
    async with app.run_test(size=(60, 20)):
        offsets = [part.style.meta.get("offset") for part in app.card.render_line(1) if part.style is not None]
        assert offsets[0] == (0, 1)


@pytest.mark.anyio
async def test_clicks_on_foreign_text_do_nothing() -> None:
    app = CardApp(bash_card("\n".join(HOSTILE[1:])))
    async with app.run_test(size=(60, 20)) as pilot:
        for y in range(app.card.size.height):
            await pilot.click(ToolCard, offset=(8, y))
        assert app.is_running
        assert HOSTILE[-1] in "\n".join(rows(app.card))
