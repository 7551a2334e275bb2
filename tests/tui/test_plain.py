"""The plain interface: no box, no block, no spinner on any screen; words, numbers and the terminal's cursor instead."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyte
import pytest
from textual.app import App
from textual.geometry import Offset
from textual.pilot import Pilot

from app.ai.adapters.scripted import answer, text, thinking, tool_call
from app.cli.arguments import parse_arguments
from app.config.settings import Settings
from app.runtime.navigation import go_to
from app.tui.plain import GLYPHS, cursor_place, wants_plain
from app.tui.screens.chat import ChatScreen
from app.tui.screens.compare import CompareScreen
from app.tui.screens.detail import DetailScreen
from app.tui.screens.sessions import SessionsScreen
from app.tui.screens.tree import TreeScreen
from tests.tui.chat_kit import chat, idle, say, shown, until
from tests.tui.pty_kit import Terminal
from widgets.dialogs import ChoiceScreen, TextScreen
from widgets.picker import Picker, PickerScreen
from widgets.plain import in_words, is_plain
from widgets.text_input import TextInputScreen

pytestmark = pytest.mark.anyio

DRAWN = re.compile("[\u2500-\u259f\u25a0-\u25ff\u2600-\u27bf\u2800-\u28ff‹›]")
TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n- [x] done\n- point\n\n---\n\n```python\nprint('┌─┐ █')\n```\n"


def rows(app: App[Any]) -> list[str]:
    """What the terminal is sent: the screen's rows behind the line filters."""
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]


def drawn(app: App[Any]) -> Iterator[str]:
    return (row for row in rows(app) if DRAWN.search(row))


def script() -> list[Any]:
    return [
        answer(
            thinking("let me see"),
            text("I look."),
            tool_call("read", {"path": "a.txt"}, "c1"),
            tool_call("grep", {"pattern": "alpha"}, "c2"),
        ),
        answer(tool_call("edit", {"path": "a.txt", "edits": [{"oldText": "alpha", "newText": "beta"}]}, "c3")),
        answer(tool_call("bash", {"command": "echo '│ ▸ ⠹'; exit 3"}, "c4")),
        TABLE,
    ]


async def everything(work: Path, pilot: Pilot[None], screen: ChatScreen) -> None:
    (work / "a.txt").write_text("alpha │ ██\n")
    await say(pilot, screen, "go ▲")


def test_the_flag_or_the_setting_makes_it_plain() -> None:
    assert parse_arguments(["--plain-ui"]).plain_ui
    assert wants_plain(True, Settings())
    assert wants_plain(False, Settings(raw={"plainUi": True}))
    assert not wants_plain(False, Settings(raw={"plainUi": "yes"}))


def test_every_sign_is_replaced_by_one_ascii_character() -> None:
    for point in (*range(0x2500, 0x25A0), *range(0x2800, 0x2900)):
        assert GLYPHS[point].isascii()
        assert len(GLYPHS[point]) == 1


def test_bars_name_arrow_keys_and_drop_signs() -> None:
    assert in_words("alt+↑ edit queue") == "alt+up edit queue"
    assert in_words("↑↓ move") == "up/down move"
    assert in_words("● working 8 s") == "working 8 s"
    assert in_words("a → b") == "a → b"


async def test_the_chat_with_every_kind_of_block_has_no_drawn_character(work: Path) -> None:
    async with chat(work, script(), "--plain-ui", size=(100, 70)) as (pilot, screen, _):
        await everything(work, pilot, screen)
        assert list(drawn(screen.app)) == []
        words = "\n".join(rows(screen.app))
    assert "failed: bash" in words
    assert "done: edit" in words
    assert "│" not in words


async def test_what_runs_is_told_in_words_and_nothing_spins(work: Path) -> None:
    slow = [answer(tool_call("bash", {"command": "echo begun; read x < fifo"}, "c1")), "over"]
    os.mkfifo(work / "fifo")
    async with chat(work, slow, "--plain-ui") as (pilot, screen, _):
        screen.prompt.insert_typed("go")
        await pilot.press("enter")
        await until(pilot, lambda: "begun" in "\n".join(rows(screen.app)))
        words = "\n".join(rows(screen.app))
        assert list(drawn(screen.app)) == []
        assert "running: bash" in words
        assert re.search(r"working \d+ s", words)
        await pilot.press("escape")
        await idle(pilot, screen)


async def test_it_is_switched_both_ways_in_the_same_session_and_kept_for_later(work: Path) -> None:
    path = Path(os.environ["PINYON_CONFIG_DIR"]) / "settings.json"
    async with chat(work, script(), size=(100, 70)) as (pilot, screen, _):
        await everything(work, pilot, screen)
        session, before = screen.session, shown(screen)
        screen.run_command("toggle_plain")
        await until(pilot, lambda: is_plain(screen) and json.loads(path.read_text()).get("plainUi") is True)
        await pilot.pause()
        assert list(drawn(screen.app)) == []
        screen.run_command("toggle_plain")
        await until(pilot, lambda: not is_plain(screen) and json.loads(path.read_text())["plainUi"] is False)
        await pilot.pause()
        assert screen.session is session
        assert shown(screen).split("\n")[1:-1] == before.split("\n")[1:-1]


async def test_a_picker_numbers_its_rows_and_a_number_highlights_one(work: Path) -> None:
    async with chat(work, [], "--plain-ui", size=(100, 40)) as (pilot, screen, _):
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(screen.app.screen, PickerScreen))
        picker = screen.app.screen.query_one(Picker)
        ids = picker.shown_ids
        await pilot.press("1", "2")
        await pilot.pause()
        assert picker.selected == ids[11]
        assert any(re.match(r"\s*>12 /", row) for row in rows(screen.app))
        assert list(drawn(screen.app)) == []
        place = cursor_place(screen.app.screen)
        assert place is not None
        assert ">12 /" in rows(screen.app)[place.y]
        await pilot.press("q", "2")
        assert picker.query_text == "q2"
        await pilot.press("escape")


async def test_a_number_is_part_of_the_filter_where_rows_have_none(work: Path) -> None:
    async with chat(work, [], size=(100, 40)) as (pilot, screen, _):
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(screen.app.screen, PickerScreen))
        await pilot.press("2")
        assert screen.app.screen.query_one(Picker).query_text == "2"
        await pilot.press("escape")


async def test_help_and_questions_have_no_border_but_keep_their_titles(work: Path) -> None:
    async with chat(work, [], "--plain-ui", size=(100, 40)) as (pilot, screen, _):
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(screen.app.screen, TextScreen))
        await pilot.pause()
        assert list(drawn(screen.app)) == []
        lines = rows(screen.app)
        assert any("ctrl+up" in row and "Walk the blocks" in row for row in lines)
        at = next(y for y, row in enumerate(lines) if "Keys and commands" in row)
        assert lines[at].strip() == "Keys and commands"  # nothing of what is behind stands beside it
        await pilot.press("escape")
        question = ChoiceScreen("Really?", [("yes", "do it"), ("no", "leave it")], body="┌─ a box ─┐")
        screen.app.push_screen(question)
        await until(pilot, lambda: screen.app.screen is question)
        await pilot.press("1")
        await pilot.pause()
        assert list(drawn(screen.app)) == []
        place = cursor_place(question)
        assert place is not None
        assert "> 1 do it" in rows(screen.app)[place.y]
        await pilot.press("escape")


@pytest.mark.parametrize(("key", "kind"), [("ctrl+t", TreeScreen), ("ctrl+s", SessionsScreen)])
async def test_tree_and_sessions_have_no_drawn_character(work: Path, key: str, kind: type[Any]) -> None:
    async with chat(work, [*script(), "more"], "--plain-ui", size=(120, 40)) as (pilot, screen, _):
        await everything(work, pilot, screen)
        await say(pilot, screen, "and then")
        await pilot.press(key)
        await until(pilot, lambda: isinstance(screen.app.screen, kind))
        await until(pilot, lambda: "go" in "\n".join(rows(screen.app)))
        await pilot.pause()
        assert list(drawn(screen.app)) == []
        place = cursor_place(screen.app.screen)
        assert place is not None
        assert rows(screen.app)[place.y].strip()
        await pilot.press("escape")


async def test_header_and_footer_speak_in_words(work: Path) -> None:
    async with chat(work, ["yes"], "--plain-ui", size=(120, 30)) as (pilot, screen, _):
        await say(pilot, screen, "is it?")
        lines = rows(screen.app)
    assert re.search(r"context \d+ % of \d+ (thousand|million)", lines[0]), lines[0]
    assert re.search(r"^ \d+ out ", lines[-1]), lines[-1]


async def test_the_cursor_is_where_one_types_and_on_the_block_one_stands_on(work: Path) -> None:
    async with chat(work, ["first", "second"], "--plain-ui") as (pilot, screen, _):
        await say(pilot, screen, "a")
        await say(pilot, screen, "b")
        screen.prompt.insert_typed("abc")
        await pilot.pause()
        assert cursor_place(screen) == screen.prompt.cursor_screen_offset
        screen.prompt.load_prompt("")
        await pilot.press("ctrl+up", "k")
        await pilot.pause()
        place = cursor_place(screen)
        assert isinstance(place, Offset)
        assert rows(screen.app)[place.y].endswith("b")


async def test_detail_search_and_comparison_have_no_drawn_character(work: Path) -> None:
    async with chat(work, [*script(), "more", "other"], "--plain-ui", size=(120, 40)) as (pilot, screen, _):
        await everything(work, pilot, screen)
        session = screen.session
        assert session is not None
        fork = session.session.leaf_id
        assert fork is not None
        await say(pilot, screen, "and then")
        left = session.session.leaf_id
        await go_to(session, fork)
        await say(pilot, screen, "or else")
        await pilot.press("ctrl+up", "o")
        await until(pilot, lambda: isinstance(screen.app.screen, DetailScreen))
        await pilot.pause()
        assert list(drawn(screen.app)) == []
        await pilot.press("escape")
        await pilot.press("ctrl+f")
        await until(pilot, lambda: isinstance(screen.app.screen, TextInputScreen))
        await pilot.pause()
        assert list(drawn(screen.app)) == []
        await pilot.press("escape")
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(screen.app.screen, TreeScreen))
        tree = screen.app.screen
        assert isinstance(tree, TreeScreen)
        tree.tree_view.select(left, reveal=True)
        await pilot.press("c")
        await until(pilot, lambda: isinstance(screen.app.screen, CompareScreen))
        await pilot.pause()
        assert list(drawn(screen.app)) == []
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(screen.app.screen, TreeScreen))
        await pilot.press("escape")


async def test_completion_and_side_panel_have_no_drawn_character(work: Path) -> None:
    async with chat(work, ["yes"], "--plain-ui", size=(140, 30), settings={"sidePanel": True}) as (pilot, screen, _):
        await say(pilot, screen, "is it?")
        await pilot.press("slash", "r", "e")
        await until(pilot, lambda: screen.prompt_area.is_completing)
        await until(pilot, lambda: screen.side_panel is not None and screen.side_panel.display)
        await pilot.pause()
        assert list(drawn(screen.app)) == []
        assert "tree, 1 branch" in "\n".join(rows(screen.app))
        screen.prompt.load_prompt("")


def test_the_terminal_shows_its_own_cursor_where_one_types(work: Path) -> None:
    with Terminal(work, "--plain-ui") as terminal:
        terminal.wait_for("Try:")
        terminal.type(b"abc")
        terminal.read_until(lambda: cursor_row(terminal.output) == "> abc", "the cursor behind what is typed")
        assert terminal.is_on(25)


def cursor_row(output: bytes) -> str:
    """What stands before the cursor in its row."""
    screen = pyte.Screen(100, 30)
    pyte.ByteStream(screen).feed(output)
    return str(screen.display[screen.cursor.y][: screen.cursor.x])
