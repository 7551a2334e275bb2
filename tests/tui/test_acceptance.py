"""What the screens promise, one rule a test: help, quiet retries, early keys, narrow windows, odd names."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot

from app.ai.adapters.scripted import answer, text, tool_call
from app.config.paths import data_dir
from app.runtime.events import WriteFailed
from app.session.naming import project_folder
from app.tui.keymap import help_text
from app.tui.screens.chat import ChatScreen
from app.tui.screens.sessions import SessionsScreen
from app.tui.screens.tree import TreeScreen
from tests.session.sessions_kit import said, write_session
from tests.tui.chat_kit import chat, idle, say, shown, until
from tests.tui.tree_kit import shown as shown_top
from tests.tui.tree_kit import writes
from widgets.dialogs import ChoiceScreen, TextScreen

pytestmark = pytest.mark.anyio


async def test_help_begins_with_what_one_looks_for_and_ends_with_cursor_keys() -> None:
    sections = [line for line in help_text().split("\n") if line and not line.startswith(" ")]
    assert sections == ["Run", "Session", "View", "Browse", "Prompt", "Tree", "Sessions"]
    prompt = help_text().split("Prompt\n")[1]
    assert prompt.index("Undo") < prompt.index("Character left")


async def test_a_question_mark_opens_the_help_of_the_place_one_is_in(work: Path) -> None:
    async def top(kind: type[object], key: str) -> str:
        await pilot.press(key)
        await until(pilot, lambda: isinstance(pilot.app.screen, kind))
        await pilot.pause()
        return shown_top(pilot.app)

    async with chat(work, ["one"], size=(100, 40)) as (pilot, screen, _):
        await say(pilot, screen, "first")
        await pilot.press("ctrl+up")
        words = await top(TextScreen, "question_mark")
        assert 0 <= words.index("Browse") < words.index("Run")
        await top(ChatScreen, "question_mark")
        for key, kind, section in (("ctrl+t", TreeScreen, "Tree"), ("ctrl+s", SessionsScreen, "Sessions")):
            for ask in ("question_mark", "f1"):
                await top(kind, key)
                words = await top(TextScreen, ask)
                assert words.index(section + " ") < words.index("Back")
                await top(kind, "escape")
                await top(ChatScreen, "escape")


def failed(words: str) -> Any:
    return answer(error_message=words, retryable=True)


async def test_a_failure_that_was_retried_is_one_quiet_line_live_and_after_continuing(work: Path) -> None:
    script = [failed("500 first " + "long " * 60), failed("500 second"), "Fine now.", failed("last"), failed("end")]
    settings = {"retry": {"baseDelayMs": 1, "maxRetries": 2}}
    async with chat(work, script[:3], settings=settings) as (pilot, screen, _):
        await say(pilot, screen, "go")
        live = shown(screen)
    async with chat(work, [], "-c") as (pilot, screen, _):
        await idle(pilot, screen)
        again = shown(screen)
    for words in (live, again):
        assert "✗" not in words
        assert len([row for row in words.split("\n") if "failed once: 500 first" in row and "· retried" in row]) == 1
        assert len([row for row in words.split("\n") if "failed again: 500 second · retried" in row]) == 1
        assert "Fine now." in words


async def test_the_last_failure_stays_red(work: Path) -> None:
    settings = {"retry": {"baseDelayMs": 1, "maxRetries": 1}}
    async with chat(work, [failed("500 a"), failed("500 b")], settings=settings) as (pilot, screen, _):
        await say(pilot, screen, "go")
        words = shown(screen)
        assert "failed once: 500 a · retried" in words
        assert "✗ 500 b" in words


async def test_keys_pressed_while_the_session_opens_act_once_it_is_there(work: Path) -> None:
    async with chat(work, ["one", "two"]) as (pilot, screen, _):
        await say(pilot, screen, "first")
        await say(pilot, screen, "second")
        session, screen.session = screen.session, None
        await pilot.press("ctrl+up", "K", "K")
        assert not screen.is_browsing
        assert screen.prompt.is_empty
        screen.session = session
        screen.show_session()
        await until(pilot, lambda: (block := screen.block_under_cursor()) is not None and block.plain_text() == "first")
        assert screen.prompt.is_empty


async def test_escape_gives_keys_that_waited_for_the_session_to_the_prompt(work: Path) -> None:
    async with chat(work, ["one"]) as (pilot, screen, _):
        session, screen.session = screen.session, None
        await pilot.press("ctrl+up", "h", "i")
        await pilot.press("escape")
        await until(pilot, lambda: screen.prompt.has_focus)
        assert screen.prompt.text == "hi"
        await pilot.press("!")
        assert screen.prompt.text == "hi!"
        screen.session = session


async def test_a_move_in_the_tree_asks_about_files_that_are_not_as_there(work: Path) -> None:
    never = {"branchSummary": {"skipPrompt": True}}
    script = ["I look.", writes("way.txt", "first\n"), "Done."]
    async with chat(work, script, size=(120, 30), settings=never) as (pilot, screen, _):
        await say(pilot, screen, "look at it")
        await say(pilot, screen, "write it")
        for key in ("enter", "e"):
            await pilot.press("ctrl+t")
            await until(pilot, lambda: isinstance(pilot.app.screen, TreeScreen))
            await until(pilot, lambda: "write it" in shown_top(pilot.app))
            tree = pilot.app.screen
            assert isinstance(tree, TreeScreen)
            assert screen.session is not None
            wanted = next(e.id for e in screen.session.session.tree.entries if e.preview == "write it")
            tree.tree_view.select(wanted, reveal=True)
            await pilot.press(key)
            await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
            words = shown_top(pilot.app)
            assert "Bring its files too?" in words
            assert "deleted  way.txt" in words
            assert words.count("Never kept") == 1
            await pilot.press(*(["escape"] if key == "enter" else ["down", "enter"]))
            await until(pilot, lambda: pilot.app.screen is screen)
            assert (work / "way.txt").exists() or key == "e"
            await until(pilot, lambda: screen.prompt.text == "write it")
            screen.prompt.load_prompt("")
            if key == "e":
                await until(pilot, lambda: not (work / "way.txt").exists())


ROWS = "| name | what it is |\n|---|---|\n| one | the first of them |\n\n```python\ncode = 'in a block'\n```"


async def test_table_code_and_diff_are_whole_again_after_a_window_of_two_columns(work: Path) -> None:
    (work / "a.txt").write_text("alpha\nbeta\n")
    edit = tool_call("edit", {"path": "a.txt", "edits": [{"oldText": "beta", "newText": "gamma"}]})
    async with chat(work, [answer(text(ROWS), edit), "Done."], size=(80, 30)) as (pilot, screen, _):
        await say(pilot, screen, "go")
        before = shown(screen)
        for words in ("one", "the first of them", "code = 'in a block'", "gamma", "Done."):
            assert words in before
        for columns in (1, 2, 5, 2, 1):
            await pilot.resize_terminal(columns, 30)
            await idle(pilot, screen)
        await pilot.resize_terminal(80, 30)
        await idle(pilot, screen)
        await until(pilot, lambda: shown(screen) == before)


async def test_a_table_that_streams_survives_narrow_windows(work: Path) -> None:
    async with chat(work, [ROWS + "\n\nEnd."], size=(80, 30), tokens_per_second=400.0) as (pilot, screen, _):
        screen.prompt.insert_typed("go")
        await pilot.press("enter")
        for columns in (2, 80, 1, 5, 80):
            await pilot.resize_terminal(columns, 30)
            await pilot.pause()
        await idle(pilot, screen)
        await until(pilot, lambda: "End." in shown(screen))
        assert "the first of them" in shown(screen)


async def test_a_hostile_first_message_is_one_row_of_visible_characters(work: Path) -> None:
    here = project_folder(str(work))
    hostile = "bad\x1b[31m\r\n\ttext\u202egnihtemos " + "x" * 10_000
    write_session(here, "a", [said("user", "above it")], cwd=str(work), day=3)
    write_session(here, "b", [said("user", hostile)], cwd=str(work), day=2)
    write_session(here, "c", [said("user", "below it")], cwd=str(work), day=1)
    assert data_dir().exists()

    async def rows(pilot: Pilot[None], screen: ChatScreen) -> list[str]:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(pilot.app.screen, SessionsScreen))
        sessions = pilot.app.screen
        assert isinstance(sessions, SessionsScreen)
        await until(pilot, lambda: not sessions._is_loading and "below it" in shown_top(pilot.app))
        return shown_top(pilot.app).split("\n")

    async with chat(work, [], size=(80, 24)) as (pilot, screen, _):
        lines = await rows(pilot, screen)
        at = next(y for y, row in enumerate(lines) if "bad" in row)
        assert "above it" in lines[at - 1]
        assert "below it" in lines[at + 1]
        assert all(unicodedata.category(sign) not in ("Cc", "Cf") for row in lines for sign in row)
        pilot.app.post_message(events.Key("escape", None))
        await until(pilot, lambda: pilot.app.screen is screen)


async def test_the_banner_of_a_failed_write_says_why_even_where_it_is_narrow(work: Path) -> None:
    error = f"/{'very/' * 20}long.jsonl: not saved: the disk is full. Free some space and try again"
    async with chat(work, [], size=(80, 20)) as (pilot, screen, _):
        screen.on_session_event(WriteFailed(error))
        await pilot.pause()
        assert "✗ not saved: the disk is full." in shown(screen)
        assert "/retry-save · /save-to FOLDER" in shown(screen)


async def test_ctrl_c_goes_back_to_the_prompt_or_the_chat_and_twice_leaves(work: Path) -> None:
    async with chat(work, ["one"], size=(100, 30)) as (pilot, screen, _):
        await say(pilot, screen, "first")
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(pilot.app.screen, TreeScreen))
        await pilot.press("ctrl+c")
        await until(pilot, lambda: pilot.app.screen is screen)
        await pilot.press("ctrl+up", "ctrl+c")
        await until(pilot, lambda: screen.prompt.has_focus)
        assert not screen.is_browsing
        assert "ctrl+c again leaves" in shown(screen)
        await pilot.press("ctrl+c")
        await until(pilot, lambda: pilot.app._exit)


async def test_a_burst_that_begins_with_a_letter_for_the_prompt_arrives_whole(work: Path) -> None:
    async with chat(work, ["one"]) as (pilot, screen, _):
        await say(pilot, screen, "first")
        for first, whole in (("x", "xjk gG?/ <c>"), ("i", "jinx")):
            await pilot.press("ctrl+up")
            assert screen.is_browsing
            for sign in (first if first == "i" else "") + whole:
                pilot.app.post_message(events.Key("space" if sign == " " else _character_to_key(sign), sign))
            await until(pilot, lambda whole=whole: screen.prompt.text == whole)  # type: ignore[misc]
            screen.prompt.load_prompt("")


async def test_what_needs_an_alt_key_has_a_command_too(work: Path) -> None:
    async with chat(work, ["one two three four " * 40, "later"], tokens_per_second=60.0) as (pilot, screen, _):
        assert screen.session is not None
        session = screen.session
        screen.prompt.insert_typed("go")
        await pilot.press("enter")
        await until(pilot, lambda: session.is_busy)
        screen.send("/follow-up and then this")
        await until(pilot, lambda: "follow-up  and then this" in shown(screen))
        screen.run_command("edit_queue")
        await until(pilot, lambda: screen.prompt.text == "and then this")
        screen.run_command("follow_up")
        await until(pilot, lambda: screen.prompt.is_empty and "follow-up  and then this" in shown(screen))
        screen.run_command("edit_queue")
        await until(pilot, lambda: screen.prompt.text == "and then this")
        screen.prompt.load_prompt("")
        screen.run_command("toggle_thinking")
        await pilot.press("escape")
        await idle(pilot, screen)
