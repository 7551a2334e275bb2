"""Pictures of whole screens, to be looked at when they change; `--snapshot-update` takes them anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from app.ai.adapters.scripted import answer, tool_call
from app.tui.screens.chat import ChatScreen
from app.tui.screens.sessions import SessionsScreen
from app.tui.screens.tree import TreeScreen
from tests.tui.chat_kit import until
from tests.tui.picture_kit import Studio, before
from widgets.dialogs import ChoiceScreen, TextScreen
from widgets.picker import PickerScreen

Compare = Callable[..., bool]


@pytest.fixture
def studio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Studio:
    return Studio(tmp_path, monkeypatch)


@pytest.fixture
def recorded(studio: Studio) -> Studio:
    studio.with_scripted()
    studio.with_session()
    return studio


async def opened(pilot: Pilot[None], kind: type[Any]) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, kind))
    await pilot.pause()


def test_the_start_of_an_empty_session(studio: Studio, snap_compare: Compare) -> None:
    assert snap_compare(studio.app(), terminal_size=(100, 24), run_before=before())


def test_a_conversation_with_every_kind_of_block(recorded: Studio, snap_compare: Compare) -> None:
    assert snap_compare(recorded.app("-c"), terminal_size=(100, 66), run_before=before())


@pytest.mark.parametrize("theme", ["light", "ansi"])
def test_a_conversation_in_other_colours(recorded: Studio, snap_compare: Compare, theme: str) -> None:
    app = recorded.app("-c", theme=theme)
    assert snap_compare(app, terminal_size=(100, 40), run_before=before())


def test_a_conversation_in_a_narrow_low_window(recorded: Studio, snap_compare: Compare) -> None:
    assert snap_compare(recorded.app("-c"), terminal_size=(60, 15), run_before=before())


def test_a_conversation_in_the_plain_interface(recorded: Studio, snap_compare: Compare) -> None:
    assert snap_compare(recorded.app("-c", "--plain-ui"), terminal_size=(100, 66), run_before=before())


def test_the_side_panel(recorded: Studio, snap_compare: Compare) -> None:
    recorded.settings["sidePanel"] = True

    async def steps(pilot: Pilot[None], screen: ChatScreen) -> None:
        await until(pilot, lambda: screen.side_panel is not None and screen.side_panel.display)

    assert snap_compare(recorded.app("-c"), terminal_size=(130, 30), run_before=before(steps))


def test_a_tool_at_work_with_a_message_waiting(studio: Studio, snap_compare: Compare) -> None:
    command = "printf 'collected 12 items\\ntest_parse.py ....'; read line < fifo"
    script = studio.with_scripted(answer("I run the tests:", tool_call("bash", {"command": command})))
    os.mkfifo(studio.work / "fifo")

    async def steps(pilot: Pilot[None], screen: ChatScreen) -> None:
        assert script.pending
        screen.prompt.insert_typed("do the tests pass?")
        await pilot.press("enter")
        await until(pilot, lambda: any("test_parse.py ...." in block.plain_text() for block in running(screen)))
        screen.prompt.insert_typed("only the parser's")
        await pilot.press("enter")
        await until(pilot, lambda: bool(screen.queue.row_count))
        await until(pilot, lambda: screen.transcript.is_settled)

    assert snap_compare(studio.app(), terminal_size=(100, 24), run_before=before(steps))


def running(screen: ChatScreen) -> list[Any]:
    return [slot.block for slot in screen.transcript.blocks if slot.block.is_running]


def test_browse_mode(recorded: Studio, snap_compare: Compare) -> None:
    async def steps(pilot: Pilot[None], screen: ChatScreen) -> None:
        await pilot.press("ctrl+up", "k", "k")

    assert snap_compare(recorded.app("-c"), terminal_size=(100, 30), run_before=before(steps))


def test_completion_of_a_command(recorded: Studio, snap_compare: Compare) -> None:
    async def steps(pilot: Pilot[None], screen: ChatScreen) -> None:
        await pilot.press("slash", "r", "e")
        await until(pilot, lambda: screen.prompt_area.is_completing)

    assert snap_compare(recorded.app("-c"), terminal_size=(100, 24), run_before=before(steps))


@pytest.mark.parametrize(("key", "kind"), [("ctrl+p", PickerScreen), ("f1", TextScreen)])
def test_palette_and_help(recorded: Studio, snap_compare: Compare, key: str, kind: type[Any]) -> None:
    async def steps(pilot: Pilot[None], screen: ChatScreen) -> None:
        await pilot.press(key)
        await opened(pilot, kind)

    assert snap_compare(recorded.app("-c"), terminal_size=(100, 30), run_before=before(steps))


def test_a_question(recorded: Studio, snap_compare: Compare) -> None:
    async def steps(pilot: Pilot[None], screen: ChatScreen) -> None:
        answers = [("yes", "Restore 2 files"), ("diff", "Look at the diff first"), ("no", "Leave them")]
        body = "changed  parse.py  +1 -1\ndeleted  README.md"
        screen.app.push_screen(ChoiceScreen("Restore the files of this place?", answers, body=body))
        await opened(pilot, ChoiceScreen)

    assert snap_compare(recorded.app("-c"), terminal_size=(100, 24), run_before=before(steps))


def test_the_tree(recorded: Studio, snap_compare: Compare) -> None:
    async def steps(pilot: Pilot[None], screen: ChatScreen) -> None:
        await pilot.press("ctrl+t")
        await opened(pilot, TreeScreen)
        tree = pilot.app.screen
        assert isinstance(tree, TreeScreen)
        await until(pilot, lambda: bool(tree._facts))
        await pilot.pause()

    assert snap_compare(recorded.app("-c"), terminal_size=(120, 30), run_before=before(steps))


def test_the_sessions(recorded: Studio, snap_compare: Compare) -> None:
    async def steps(pilot: Pilot[None], screen: ChatScreen) -> None:
        await pilot.press("ctrl+s")
        await opened(pilot, SessionsScreen)
        sessions = pilot.app.screen
        assert isinstance(sessions, SessionsScreen)
        await until(pilot, lambda: not sessions._is_loading and "CSV" in str(sessions._preview.content))

    assert snap_compare(recorded.app("-c"), terminal_size=(120, 24), run_before=before(steps))
