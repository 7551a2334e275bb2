"""Two branches beside each other: from their fork on, with figures, the files they left, and what is taken."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from app.runtime.agent_session import AgentSession
from app.tui.screens.compare import CompareScreen
from app.tui.tree_services import SessionServices, TreeChoice
from tests.tui.chat_kit import until
from tests.tui.tree_kit import ScreenApp, entry_id, shown, two_branches
from widgets.dialogs import ChoiceScreen

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def comparing(
    work: Path, size: tuple[int, int] = (120, 30), *, with_files: bool = True
) -> AsyncIterator[tuple[Pilot[None], AgentSession, CompareScreen, list[Any]]]:
    async with two_branches(work, size=size) as (pilot, session, tree_screen):
        services = tree_screen.services if with_files else SessionServices(session)
        leaf = session.session.leaf_id
        assert leaf is not None
        screen = CompareScreen(session, services, leaf, entry_id(session, "Rewrote"))
        results: list[Any] = []
        pilot.app.push_screen(screen, results.append)
        await until(pilot, lambda: shown(pilot.app).count("entries ·") == 2 or size[0] < 100)
        await until(pilot, lambda: all(side.transcript.is_settled for side in screen.sides))
        await until(pilot, lambda: "┃" in shown(pilot.app))
        await until(pilot, lambda: not with_files or size[0] < 100 or "2 files" in shown(pilot.app).split("\n")[0])
        yield pilot, session, screen, results


async def test_both_sides_begin_behind_the_fork(work: Path) -> None:
    async with comparing(work) as (pilot, _, _, _):
        words = shown(pilot.app)
    rows = words.split("\n")
    assert rows[0].strip().startswith("compare from: I look at the failing test first.")
    assert "2 files" in rows[0], "what differs between the files is said before anything is pressed"
    assert "here: write it by hand" in rows[1]
    assert "▶ try a regex instead" in rows[1]
    assert rows[2].count("tokens") == 2
    assert "Wrote it by hand, with a test." in words
    assert "Rewrote split with a regex." in words
    assert "The CSV test fails" not in words, "what is common is left out"


async def test_under_100_columns_one_side_at_a_time_is_seen(work: Path) -> None:
    async with comparing(work, (80, 24)) as (pilot, _, screen, _):
        await until(pilot, lambda: "Rewrote split" in shown(pilot.app))
        assert "Wrote it by hand" not in shown(pilot.app)
        await pilot.press("tab")
        await until(pilot, lambda: "Wrote it by hand" in shown(pilot.app))
        assert "Rewrote split" not in shown(pilot.app)
        assert screen.active == 0


async def test_d_shows_the_diff_of_the_files_they_left(work: Path) -> None:
    async with comparing(work) as (pilot, _, screen, results):
        await pilot.press("d")
        await until(pilot, lambda: "+ import re" in shown(pilot.app))
        words = shown(pilot.app)
        assert "2 files" in words.split("\n")[0]
        assert "parse.py +2 −2" in words
        assert "test_parse.py deleted −1" in words
        first, second = (screen.pane.files.render_line(y) for y in (0, 1))
        cursor = screen.pane.files.get_component_rich_style("preview--cursor", partial=True)
        assert {segment.style.bgcolor for segment in first if segment.style} == {cursor.bgcolor}
        assert cursor.bgcolor not in {segment.style.bgcolor for segment in second if segment.style}
        await pilot.press("down")
        await until(pilot, lambda: "- assert True" in shown(pilot.app))
        await pilot.press("escape")
        await pilot.pause()
        assert results == []
        assert not screen.has_class("-files")
        await pilot.press("escape")
        await until(pilot, lambda: results == [None])


async def test_without_snapshots_the_files_pane_says_so(work: Path) -> None:
    async with comparing(work, with_files=False) as (pilot, _, _, _):
        await pilot.press("d")
        await until(pilot, lambda: "no snapshots of the files were taken" in shown(pilot.app))


async def test_taking_the_other_branchs_files(work: Path) -> None:
    async with comparing(work) as (pilot, session, _, results):
        await pilot.press("t")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
        await pilot.press("enter")
        await until(pilot, lambda: bool(results))
        assert results == [TreeChoice("take_files", entry_id(session, "Rewrote"))]


async def test_taking_one_message_of_it(work: Path) -> None:
    async with comparing(work) as (pilot, session, _, results):
        await pilot.press("end", "t")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
        await pilot.press("2", "enter")
        await until(pilot, lambda: bool(results))
        target = entry_id(session, "Rewrote")
        assert results == [TreeChoice("take_text", target, text="Rewrote split with a regex.")]


async def test_the_files_of_the_branch_one_is_on_are_not_taken(work: Path) -> None:
    async with comparing(work) as (pilot, _, _, results):
        await pilot.press("tab", "t")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
        words = shown(pilot.app)
        assert "its files are here already" in words
        assert "file changes, onto" not in words
        await pilot.press("escape")
        await pilot.pause()
        assert results == []


async def test_blocks_are_walked_and_opened_on_the_side_one_is_on(work: Path) -> None:
    async with comparing(work) as (pilot, _, screen, _):
        await pilot.press("down", "enter", "enter")
        await until(pilot, lambda: "import re" in shown(pilot.app))
        cursor = screen.sides[1].transcript.cursor_id
        assert cursor is not None
        assert screen.sides[0].transcript.cursor_id != cursor


@pytest.mark.parametrize("width", [20, 60, 99, 100, 200])
async def test_it_fits_any_width(work: Path, width: int) -> None:
    async with comparing(work, (width, 16)) as (pilot, _, _, _):
        assert isinstance(pilot.app, ScreenApp)
        rows = shown(pilot.app).split("\n")
        assert len(rows) == 16
        await pilot.press("d", "tab", "d")
        await pilot.pause()
