"""Branches as a person walks them: the whole chat screen, real tools, real files, one key after the other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from textual.pilot import Pilot

from app.ai.adapters.scripted import answer, text, tool_call
from app.cli.arguments import parse_arguments
from app.config.settings import load_settings
from app.runtime.agent_session import AgentSession
from app.session.session import Session
from app.tui.application import PinyonApp
from app.tui.screens.chat import ChatScreen
from app.tui.screens.compare import CompareScreen
from app.tui.screens.sessions import SessionsScreen
from app.tui.screens.tree import TreeScreen
from app.tui.starting import Face
from tests.tui.chat_kit import chat, idle, say, until
from tests.tui.tree_kit import shown, writes
from widgets.dialogs import ChoiceScreen

pytestmark = pytest.mark.anyio

LONG = "I look first.\n\n" + "\n".join(f"- line {number}" for number in range(60))
FIRST = [LONG, writes("way.txt", "first\n"), "First way.", writes("more.txt", "more\n"), "And more."]


@pytest.fixture(autouse=True)
def _no_waiting_after_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.tui.screens.view_actions.CALM_S", 0.0)


@asynccontextmanager
async def three_turns(
    work: Path, *more: Any, settings: dict[str, Any] | None = None
) -> AsyncIterator[tuple[Pilot[None], ChatScreen, AgentSession]]:
    """A question, a first way that writes a file, and a turn that writes another."""
    never = {"branchSummary": {"skipPrompt": True}}
    async with chat(work, [*FIRST, *more], size=(120, 40), settings=settings or never) as (pilot, screen, _):
        for words in ("look at it", "try the first way", "go on with it"):
            await say(pilot, screen, words)
        assert screen.session is not None
        yield pilot, screen, screen.session


async def asked(pilot: Pilot[None], words: str) -> None:
    """Wait for a question."""
    await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen) and words in shown(pilot.app))


async def back_in(pilot: Pilot[None], screen: ChatScreen, is_so: Any = lambda: True) -> None:
    """Wait until the chat is on top again and something holds."""
    await until(pilot, lambda: pilot.app.screen is screen and is_so())
    await idle(pilot, screen)


def entry_of(session: AgentSession, words: str) -> str:
    return next(entry.id for entry in session.session.tree.entries if entry.preview.startswith(words))


async def try_another_way(pilot: Pilot[None], screen: ChatScreen) -> list[str]:
    """The keys of docs/branches.md from the end of the third turn to the end of the new attempt."""
    keys = ["escape", "K", "K", "e", "down", "enter"]
    await pilot.press(*keys[:4])
    await asked(pilot, "Write this message anew?")
    await pilot.press(*keys[4:])
    await back_in(pilot, screen, lambda: screen.prompt.text == "try the first way")
    screen.prompt.load_prompt("try the second way")
    await pilot.press("enter")
    await pilot.pause()
    await idle(pilot, screen)
    return [*keys, "enter"]


async def test_going_back_trying_again_and_keeping_the_better_way_takes_at_most_12_keys(work: Path) -> None:
    async with three_turns(work, writes("way.txt", "second\n"), "Second way.") as (pilot, screen, session):
        keys = await try_another_way(pilot, screen)
        assert (work / "way.txt").read_text() == "second\n"
        assert not (work / "more.txt").exists(), "the second way begins with the files of its place"
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(pilot.app.screen, TreeScreen))
        await pilot.press("c")
        await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen) and "2 files" in shown(pilot.app))
        await pilot.press("K")
        await asked(pilot, "Go on with this branch?")
        await pilot.press("down", "enter")
        await back_in(pilot, screen, lambda: (work / "more.txt").exists())
        keys += ["ctrl+t", "c", "K", "down", "enter"]
        assert (work / "way.txt").read_text() == "first\n"
        assert "And more." in shown(pilot.app)
        assert session.agent.state.messages[-1].role == "assistant"
        assert len(keys) <= 12


async def test_staying_with_the_new_way_is_two_escapes(work: Path) -> None:
    async with three_turns(work, writes("way.txt", "second\n"), "Second way.") as (pilot, screen, _):
        await try_another_way(pilot, screen)
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(pilot.app.screen, TreeScreen))
        await pilot.press("c")
        await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen))
        await pilot.press("escape", "escape")
        await back_in(pilot, screen)
        assert (work / "way.txt").read_text() == "second\n"


@pytest.mark.parametrize("key", ["e", "f", "r"])
async def test_a_letter_asks_before_it_changes_anything_and_no_is_the_default(work: Path, key: str) -> None:
    async with three_turns(work) as (pilot, screen, session):
        leaf, path = session.session.leaf_id, session.session.path
        await pilot.press("escape", "K", "K", key)
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
        await pilot.press("enter")
        await back_in(pilot, screen)
        assert (session.session.leaf_id, session.session.path) == (leaf, path)
        assert screen.prompt.text == ""
        assert (work / "more.txt").exists()


async def test_e_on_an_answer_a_tool_call_or_a_remark_writes_its_request_anew(work: Path) -> None:
    async with three_turns(work) as (pilot, screen, _):
        screen.note("a remark")
        for moves in (("escape",), ("escape", "k"), ("escape", "k", "k")):
            await pilot.press(*moves, "e")
            await asked(pilot, "Write this message anew?")
            await pilot.press("escape")
            await back_in(pilot, screen)
        await pilot.press("escape", "e")
        await asked(pilot, "Write this message anew?")
        await pilot.press("3", "enter")
        await back_in(pilot, screen, lambda: screen.prompt.text == "go on with it")
        assert (work / "more.txt").exists(), "the files were to stay"
        assert "1 file is not as at this place" in shown(pilot.app)


async def test_the_other_branch_stands_where_this_one_stood_and_keeps_the_cursor(work: Path) -> None:
    async with three_turns(work, writes("way.txt", "second\n"), "Second way.") as (pilot, screen, session):
        await try_another_way(pilot, screen)
        second, first = entry_of(session, "try the second"), entry_of(session, "try the first")
        await pilot.press("escape", "K")
        y = screen.transcript.place_of(second)
        assert y is not None
        for key, there in (("h", first), ("l", second), ("left", first), ("right", second)):
            await pilot.press(key)
            await until(pilot, lambda there=there: screen.transcript.cursor_id == there)  # type: ignore[misc]
            assert screen.transcript.place_of(there) == y
        await pilot.press("G", "h")
        await until(pilot, lambda: screen.transcript.cursor_id == first)


async def test_the_footer_says_when_files_are_not_those_of_the_branch_that_is_shown(work: Path) -> None:
    async with three_turns(work, writes("way.txt", "second\n"), "Second way.") as (pilot, screen, _):
        await try_another_way(pilot, screen)
        await pilot.press("escape", "h")
        await until(pilot, lambda: "2 files are not as here" in shown(pilot.app))
        await pilot.press("l")
        await until(pilot, lambda: "are not as here" not in shown(pilot.app))


async def test_no_single_key_stops_a_run(work: Path) -> None:
    held = anyio.Event()

    async def waits(*_: Any) -> Any:
        await held.wait()
        return answer(text("Late."))

    async with three_turns(work, writes("way.txt", "second\n"), "Second way.", waits) as (pilot, screen, session):
        await try_another_way(pilot, screen)
        screen.prompt.insert_typed("one more")
        await pilot.press("enter")
        await until(pilot, lambda: session.is_busy)
        leaf = session.session.leaf_id
        await pilot.press("ctrl+up", "K", "K", "h")
        await until(pilot, lambda: "the agent is at work" in shown(pilot.app))
        await pilot.press("e")
        await asked(pilot, "A run goes on.")
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is screen)
        assert session.is_busy
        assert session.session.tree.get(leaf or "").id in {entry.id for entry in session.session.tree.branch()}
        held.set()
        await idle(pilot, screen)
        await pilot.press("end")
        await until(pilot, lambda: "Late." in shown(pilot.app))


async def test_what_someone_else_changed_is_left_alone_and_listed(work: Path) -> None:
    async with three_turns(work) as (pilot, screen, session):
        (work / "more.txt").write_text("a person's\n")
        await pilot.press("escape", "K", "K", "r")
        await asked(pilot, "Bring back the files of this place?")
        words = shown(pilot.app)
        assert "left alone: more.txt (changed by someone else" in words
        assert "deleted  way.txt" in words
        assert words.count("Never kept: files outside") == 1, "what no snapshot covers is said, and shortly"
        await pilot.press("down", "enter")
        await back_in(pilot, screen, lambda: not (work / "way.txt").exists())
        assert (work / "more.txt").read_text() == "a person's\n"
        assert "left alone: more.txt" in shown(pilot.app)
        assert session.session.leaf_id is not None


async def test_undoing_a_restore_keeps_what_was_changed_since(work: Path) -> None:
    async with three_turns(work, writes("late.txt", "late\n"), "Later.") as (pilot, screen, _):
        await pilot.press("escape", "K", "r")
        await asked(pilot, "Bring back")
        await pilot.press("down", "enter")
        await back_in(pilot, screen, lambda: not (work / "more.txt").exists())
        await say(pilot, screen, "write something else")
        screen.prompt.insert_typed("/undo-restore")
        await pilot.press("enter")
        await asked(pilot, "Take back what was restored last?")
        assert "late.txt" not in shown(pilot.app).split("Take back")[1].split("Covered")[0]
        await pilot.press("down", "enter")
        await back_in(pilot, screen, lambda: (work / "more.txt").exists())
        assert (work / "late.txt").read_text() == "late\n"


async def test_the_place_is_the_same_after_a_restart_and_files_are_untouched(work: Path) -> None:
    async with three_turns(work) as (pilot, screen, session):
        target = entry_of(session, "I look first.")
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(pilot.app.screen, TreeScreen))
        tree = pilot.app.screen
        assert isinstance(tree, TreeScreen)
        tree.tree_view.select(target)
        await pilot.press("enter")
        await asked(pilot, "Bring its files too?")
        await pilot.press("escape")
        await back_in(pilot, screen, lambda: session.session.leaf_id == target)
    files = {path.name: path.stat().st_mtime_ns for path in work.iterdir()}
    async with chat(work, [], "-c", size=(120, 40)) as (pilot, screen, _):
        assert screen.session is not None
        await idle(pilot, screen)
        assert screen.session.session.leaf_id == target
        await until(pilot, lambda: "line 59" in shown(pilot.app))
        assert "First way." not in shown(pilot.app)
    assert {path.name: path.stat().st_mtime_ns for path in work.iterdir()} == files


async def open_hit(pilot: Pilot[None], words: str) -> None:
    """Ctrl+s, search, enter on what is found."""
    await pilot.press("ctrl+s")
    await until(pilot, lambda: isinstance(pilot.app.screen, SessionsScreen))
    await pilot.press("slash", *words.replace(" ", "_"))
    await until(pilot, lambda: "1 hit" in shown(pilot.app))
    await pilot.press("enter")


async def test_enter_opens_a_session_at_the_hit(work: Path) -> None:
    needle = [tool_call("bash", {"command": "printf 'zeb%s' ra"})]
    async with three_turns(work, answer(*needle), "Printed.", "okapi is the word.", "New.") as (pilot, screen, session):
        await say(pilot, screen, "print it")
        await say(pilot, screen, "a word")
        first = session.session.path
        for words, kind in (("zebra", "bash"), ("okapi", "okapi")):
            screen.run_command("new_session")
            await until(pilot, lambda: session.session.path != first)
            await open_hit(pilot, words)
            await back_in(pilot, screen, lambda: session.session.path == first)
            await until(pilot, lambda: screen.transcript.cursor_id is not None)
            block = screen.block_under_cursor()
            assert block is not None
            assert kind in block.plain_text(), "the call whose output has the word; the answer that has it"
            await pilot.press("i")


async def test_a_hit_on_another_branch_opens_the_tree_there(work: Path) -> None:
    async with three_turns(work, "okapi is the word.", "New.") as (pilot, screen, session):
        await say(pilot, screen, "a word")
        hit = entry_of(session, "okapi")
        screen.run_command("edit_entry", entry_of(session, "a word"))
        await asked(pilot, "Write this message anew?")
        await pilot.press("down", "enter")
        await back_in(pilot, screen)
        screen.prompt.load_prompt("another")
        await pilot.press("enter")
        await pilot.pause()
        await idle(pilot, screen)
        first = session.session.path
        screen.run_command("new_session")
        await until(pilot, lambda: session.session.path != first)
        await open_hit(pilot, "okapi")
        await until(pilot, lambda: isinstance(pilot.app.screen, TreeScreen))
        tree = pilot.app.screen
        assert isinstance(tree, TreeScreen)
        await until(pilot, lambda: tree.tree_view.entry is not None and tree.tree_view.entry.id == hit)
        await pilot.press("escape")
        await back_in(pilot, screen)


async def test_a_hit_in_another_project_is_opened_in_its_folder(work: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    async with chat(other, ["okapi is the word."]) as (pilot, screen, _):
        await say(pilot, screen, "a word")
    async with chat(work, [], size=(120, 30)) as (pilot, screen, _):
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(pilot.app.screen, SessionsScreen))
        await pilot.press("ctrl+a", "slash", *"okapi")
        await until(pilot, lambda: "1 hit" in shown(pilot.app))
        await pilot.press("enter")
        await until(pilot, lambda: screen.cwd == other and screen.session is not None)
        await back_in(pilot, screen, lambda: screen.transcript.cursor_id is not None)
        block = screen.block_under_cursor()
        assert block is not None
        assert "okapi" in block.plain_text()


async def test_a_session_that_is_open_elsewhere_is_told_and_never_touched(work: Path) -> None:
    async with three_turns(work) as (pilot, screen, session):
        first = session.session.path
        assert first is not None
        screen.run_command("new_session")
        await until(pilot, lambda: session.session.path != first)
        await idle(pilot, screen)
        holder = await Session.open(first)
        try:
            before = first.read_bytes()
            await pilot.press("ctrl+s")
            await until(
                pilot, lambda: isinstance(pilot.app.screen, SessionsScreen) and "look at it" in shown(pilot.app)
            )
            await pilot.press("enter")
            await asked(pilot, "This session is in use")
            await pilot.press("escape", "escape")
            await back_in(pilot, screen)
            assert first.read_bytes() == before
        finally:
            await holder.close()


async def test_resume_looks_at_a_session_in_use_without_asking_twice_and_keeps_nothing(work: Path) -> None:
    async with chat(work, ["okapi is the word."]) as (pilot, screen, _):
        await say(pilot, screen, "a word")
        assert screen.session is not None
        path = screen.session.session.path
    assert path is not None
    holder = await Session.open(path)
    try:
        before = path.read_bytes()
        settings = load_settings(work, trusted=False)[0]
        app = PinyonApp(parse_arguments(["-r"]), work, Face(ssh=False, theme="dark", settings=settings))
        async with app.run_test(size=(120, 30)) as pilot:
            await until(pilot, lambda: isinstance(app.screen, SessionsScreen) and "a word" in shown(app))
            await pilot.press("enter")
            await asked(pilot, "This session is in use")
            await pilot.press("1", "enter")
            await until(pilot, lambda: isinstance(app.screen, ChatScreen) and "okapi is the word." in shown(app))
            assert app._chat is not None
            assert app._chat.session is not None
            assert app._chat.session.session.is_read_only
            app._chat.quit()
            await until(pilot, lambda: app._exit)
        assert path.read_bytes() == before
    finally:
        await holder.close()
