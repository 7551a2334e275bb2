"""The side panel: the tree beside the conversation, live, at no cost per token, and gone where there is no room."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from app.tui.screens.tree import TreeScreen
from tests.tui.chat_kit import chat, idle, say, shown, until
from widgets.side_panel import SidePanel

pytestmark = pytest.mark.anyio


def panel_rows(panel: SidePanel) -> list[str]:
    return [panel.render_line(y).text.rstrip() for y in range(panel.size.height)]


async def test_it_opens_with_the_path_and_grows_with_the_session(work: Path) -> None:
    async with chat(work, ["one", "two"], size=(140, 30)) as (pilot, screen, _):
        await say(pilot, screen, "the first question")
        await pilot.press("f2")
        await until(pilot, lambda: screen.side_panel is not None and screen.side_panel.display)
        await pilot.pause()
        panel = screen.side_panel
        assert panel is not None
        assert screen.transcript.size.width == 140 - panel.outer_size.width
        assert any("the first question" in row for row in panel_rows(panel))
        await pilot.press("escape")
        await say(pilot, screen, "the second question")
        assert any("the second question" in row for row in panel_rows(panel))
        assert "the first question" in shown(screen)


async def test_f2_again_closes_it_and_both_are_remembered(work: Path) -> None:
    path = Path(os.environ["PINYON_CONFIG_DIR"]) / "settings.json"
    async with chat(work, ["one"], size=(140, 30)) as (pilot, screen, _):
        await say(pilot, screen, "a question")
        await pilot.press("f2")
        await until(pilot, lambda: json.loads(path.read_text()).get("sidePanel") is True)
        await pilot.press("f2")
        await until(pilot, lambda: json.loads(path.read_text()).get("sidePanel") is False)
        await pilot.pause()
        assert screen.side_panel is not None
        assert not screen.side_panel.display
        assert screen.focused is screen.prompt
        assert screen.transcript.size.width == 140


async def test_the_setting_opens_it_at_the_start_and_leaves_the_cursor_in_the_prompt(work: Path) -> None:
    async with chat(work, ["one"], size=(140, 30), settings={"sidePanel": True}) as (pilot, screen, _):
        await until(pilot, lambda: screen.side_panel is not None and screen.side_panel.display)
        assert screen.focused is screen.prompt
        await say(pilot, screen, "hello there")
        assert screen.side_panel is not None
        assert any("hello there" in row for row in panel_rows(screen.side_panel))


async def test_it_hides_under_120_columns_and_has_missed_nothing_when_it_is_back(work: Path) -> None:
    async with chat(work, ["one", "two"], size=(140, 30), settings={"sidePanel": True}) as (pilot, screen, _):
        await until(pilot, lambda: screen.side_panel is not None and screen.side_panel.display)
        panel = screen.side_panel
        assert panel is not None
        await pilot.resize_terminal(119, 30)
        await until(pilot, lambda: not panel.display)
        assert screen.transcript.size.width == 119
        await say(pilot, screen, "while it was hidden")
        await pilot.resize_terminal(120, 30)
        await until(pilot, lambda: panel.display)
        await until(pilot, lambda: any("while it was hidden" in row for row in panel_rows(panel)))


async def test_tokens_draw_none_of_its_rows(work: Path) -> None:
    async with chat(work, ["one", "word " * 3000], size=(140, 30), settings={"sidePanel": True}) as (pilot, screen, _):
        await say(pilot, screen, "first")
        panel = screen.side_panel
        assert panel is not None
        assert screen.session is not None
        calls: list[str] = []
        screen.session.subscribe(lambda event: calls.append(event.type))
        before = panel.rendered_rows
        await say(pilot, screen, "second")
        assert calls.count("message_update") > 100
        assert panel.rendered_rows - before < 60


async def test_enter_goes_to_the_tree_at_the_row_and_letters_go_to_the_prompt(work: Path) -> None:
    async with chat(work, ["one", "two"], size=(140, 30)) as (pilot, screen, _):
        await say(pilot, screen, "the first question")
        await say(pilot, screen, "the second question")
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(screen.focused, SidePanel))
        panel = screen.side_panel
        assert panel is not None
        await pilot.press("home")
        wanted = panel.entry
        assert wanted is not None
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(screen.app.screen, TreeScreen))
        tree = screen.app.screen
        assert isinstance(tree, TreeScreen)
        assert tree.tree_view.selected == wanted.id
        await pilot.press("escape")
        await until(pilot, lambda: screen.app.screen is screen)
        await pilot.press("x")
        await pilot.pause()
        assert screen.focused is screen.prompt
        assert screen.prompt.text == "x"


async def test_a_click_goes_to_the_tree_at_the_row(work: Path) -> None:
    async with chat(work, ["one"], size=(140, 30), settings={"sidePanel": True}) as (pilot, screen, _):
        await say(pilot, screen, "the first question")
        panel = screen.side_panel
        assert panel is not None
        y = next(y for y, row in enumerate(panel_rows(panel)) if "the first question" in row)
        await pilot.click(panel, offset=(5, y))
        await until(pilot, lambda: isinstance(screen.app.screen, TreeScreen))
        await pilot.press("escape")
        await idle(pilot, screen)
