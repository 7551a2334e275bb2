"""The chat screen: what is typed, shown, steered, stopped, and found again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from app.ai.adapters.scripted import answer, text, thinking, tool_call
from tests.tui.chat_kit import chat, idle, say, shown, until

pytestmark = pytest.mark.anyio


async def test_a_prompt_is_answered_and_the_screen_shows_both(work: Path) -> None:
    async with chat(work, ["The answer is **42**."]) as (pilot, screen, _):
        await say(pilot, screen, "what is it?")
        words = shown(screen)
    assert "▌ what is it?" in words
    assert "The answer is 42." in words
    assert "scripted" in words.split("\n")[0]


async def test_keys_typed_before_the_session_is_open_are_kept_and_sent(work: Path) -> None:
    async with chat(work, ["early bird"]) as (pilot, screen, model):
        session, screen.session = screen.session, None
        screen.prompt.insert_typed("already typed")
        await pilot.press("enter")
        await until(pilot, lambda: screen._early == ["already typed"])
        screen.session = session
        early, screen._early = screen._early, []
        for words in early:
            screen.send(words)
        await idle(pilot, screen)
        assert len(model.calls) == 1


async def test_every_kind_of_block_is_seen_live_and_the_same_after_continuing(work: Path) -> None:
    (work / "a.txt").write_text("alpha\n")
    script: list[Any] = [
        answer(
            thinking("let me see"),
            text("I look."),
            tool_call("read", {"path": "a.txt"}, "c1"),
            tool_call("grep", {"pattern": "alpha"}, "c2"),
        ),
        answer(tool_call("edit", {"path": "a.txt", "edits": [{"oldText": "alpha", "newText": "beta"}]}, "c3")),
        answer(tool_call("bash", {"command": "seq 200; exit 3"}, "c4")),
        "| a | b |\n|---|---|\n| 漢字 | 🎉 |\n\nDone.",
    ]
    async with chat(work, script, size=(100, 60)) as (pilot, screen, _):
        await say(pilot, screen, "go")
        live = shown(screen)
    for words in ("thought ▸", "I look.", "read 1 file, 1 search", "✓ edit", "+1 −1", "✗ bash", "exit 3", "漢字"):
        assert words in live, live
    assert (work / "a.txt").read_text() == "beta\n"
    async with chat(work, [], "-c", size=(100, 60)) as (pilot, screen, _):
        await idle(pilot, screen)
        again = shown(screen)
    body = slice(1, -6)
    assert [row for row in again.split("\n")[body] if row.strip()] == [
        row for row in live.split("\n")[body] if row.strip()
    ]


async def test_escape_stops_keeps_the_partial_answer_and_the_prompt_is_ready(work: Path) -> None:
    async with chat(work, ["word " * 2000, "better"], tokens_per_second=400) as (pilot, screen, _):
        screen.prompt.insert_typed("go")
        await pilot.press("enter")
        await until(pilot, lambda: "word word" in shown(screen))
        await pilot.press("escape")
        await idle(pilot, screen)
        words = shown(screen)
        assert "word word" in words
        assert "interrupted" in words
        await say(pilot, screen, "again")
        assert "better" in shown(screen)


async def test_typing_while_it_works_steers_and_escape_gives_it_back(work: Path) -> None:
    script = [answer(tool_call("bash", {"command": "sleep 30"}, "c1")), "never"]
    async with chat(work, script) as (pilot, screen, _):
        screen.prompt.insert_typed("go")
        await pilot.press("enter")
        await until(pilot, lambda: "bash" in shown(screen))
        screen.prompt.insert_typed("also this")
        await pilot.press("enter")
        await until(pilot, lambda: "▸ steer" in shown(screen))
        await pilot.press("escape")
        await idle(pilot, screen)
        assert screen.prompt.text.strip() == "also this"
        assert "▸ steer" not in shown(screen)


async def test_an_unknown_command_names_the_nearest_and_reaches_no_model(work: Path) -> None:
    async with chat(work, ["never"]) as (pilot, screen, model):
        screen.prompt.insert_typed("/modle x")
        await pilot.press("enter")
        await until(pilot, lambda: "is no command" in shown(screen))
        assert "/model" in shown(screen)
        assert model.calls == []


async def test_a_path_at_the_start_is_a_prompt_and_no_command(work: Path) -> None:
    async with chat(work, ["a path"]) as (pilot, screen, model):
        await say(pilot, screen, "/usr/bin/env is what?")
        assert len(model.calls) == 1


async def test_foreign_text_is_shown_literally_and_never_acts(work: Path) -> None:
    nasty = r"[/a/b] [red]x [/] [data: /m?s=b-] [@click=app.quit]x[/]"
    (work / "n.txt").write_text(nasty)
    script = [
        answer(tool_call("bash", {"command": f"cat n.txt; echo; echo '{nasty}' >&2; exit 1"}, "c1")),
        nasty,
    ]
    async with chat(work, script, size=(120, 40)) as (pilot, screen, _):
        await say(pilot, screen, nasty)
        words = shown(screen)
        assert words.count("[@click=app.quit]x[/]") >= 3
        assert "[red]x" in words


async def test_a_users_command_is_run_and_shown(work: Path) -> None:
    async with chat(work, []) as (pilot, screen, _):
        screen.prompt.insert_typed("!echo out$((1+1))")
        await pilot.press("enter")
        await until(pilot, lambda: "out2" in shown(screen))
        assert shown(screen).count("out2") == 1


async def test_browse_mode_walks_blocks_and_another_letter_returns_to_the_prompt(work: Path) -> None:
    async with chat(work, ["one", "two"]) as (pilot, screen, _):
        await say(pilot, screen, "first")
        await say(pilot, screen, "second")
        await pilot.press("ctrl+up")
        assert screen.is_browsing
        await pilot.press("K")
        block = screen.block_under_cursor()
        assert block is not None
        assert block.plain_text() == "second"
        await pilot.press("K")
        block = screen.block_under_cursor()
        assert block is not None
        assert block.plain_text() == "first"
        await pilot.press("x")
        assert not screen.is_browsing
        assert screen.prompt.text == "x"


async def test_help_and_palette_open_and_escape_closes_them(work: Path) -> None:
    async with chat(work, []) as (pilot, screen, _):
        await pilot.press("f1")
        await until(pilot, lambda: pilot.app.screen is not screen)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: pilot.app.screen is not screen)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)


async def test_ctrl_c_clears_and_twice_leaves(work: Path) -> None:
    async with chat(work, []) as (pilot, screen, _):
        screen.prompt.insert_typed("draft")
        await pilot.press("ctrl+c")
        assert screen.prompt.text == ""
        assert pilot.app.is_running
        await pilot.press("ctrl+c")
        await pilot.press("ctrl+c")
        await until(pilot, lambda: not pilot.app.is_running or pilot.app._exit)


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (60, 15), (300, 100)])
async def test_any_size_is_survived(work: Path, size: tuple[int, int]) -> None:
    async with chat(work, ["# Title\n\n```python\nx = 1\n```\n\n| a | b |\n|--|--|\n| 1 | 2 |"], size=size) as (
        pilot,
        screen,
        _,
    ):
        await say(pilot, screen, "go")
        await pilot.resize_terminal(2, 2)
        await pilot.pause()
        await pilot.resize_terminal(*size)
        await idle(pilot, screen)
        assert "a │ b" in shown(screen) or size[1] < 10


async def test_a_new_session_leaves_the_old_one_on_disk(work: Path) -> None:
    async with chat(work, ["one", "two"]) as (pilot, screen, _):
        await say(pilot, screen, "first")
        assert screen.session is not None
        old = screen.session.session
        screen.prompt.insert_typed("/new")
        await pilot.press("enter")
        await until(pilot, lambda: screen.session is not None and screen.session.session is not old)
        assert "first" not in shown(screen)
        assert old.path is not None
        assert old.path.exists()
        await say(pilot, screen, "second")
        assert "two" in shown(screen)


async def test_a_message_written_anew_becomes_a_sibling_that_one_key_switches(work: Path) -> None:
    skip = {"branchSummary": {"skipPrompt": True}}
    async with chat(work, ["one", "two"], settings=skip) as (pilot, screen, _):
        await say(pilot, screen, "first way")
        await pilot.press("ctrl+up", "K", "e")
        await until(pilot, lambda: pilot.app.screen is not screen)
        await pilot.press("down", "enter")
        await until(pilot, lambda: screen.prompt.text == "first way")
        screen.prompt.load_prompt("")
        await say(pilot, screen, "second way")
        assert "first way" not in shown(screen)
        await pilot.press("ctrl+up", "K")
        await until(pilot, lambda: "‹ 2/2 ›" in shown(screen))
        await pilot.press("h")
        await until(pilot, lambda: "first way" in shown(screen))
        assert "‹ 1/2 ›" in shown(screen)
        assert "one" in shown(screen)
        assert "second way" not in shown(screen)


async def test_a_lone_slash_opens_the_commands_and_reaches_no_model(work: Path) -> None:
    async with chat(work, ["never"]) as (pilot, screen, model):
        screen.send("/")
        await until(pilot, lambda: pilot.app.screen is not screen)
        assert model.calls == []
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)


async def test_a_command_that_has_to_wait_stays_in_the_prompt_and_one_without_words_goes_nowhere(work: Path) -> None:
    async with chat(work, ["never"]) as (pilot, screen, model):
        for words in ("!", "!!", "! "):
            screen.send(words)
        await until(pilot, lambda: shown(screen).count("wants a command") == 3)
        await say(pilot, screen, "!true")
        assert screen.session is not None
        screen.send("!sleep 30")
        await until(pilot, lambda: screen.session is not None and screen.session.bash.is_running)
        screen.send("!echo second")
        assert screen.prompt.text == "!echo second"
        await pilot.press("escape")
        await idle(pilot, screen)
        assert "second" not in shown(screen).replace("!echo second", "")
        assert model.calls == []


@pytest.mark.parametrize(("key", "words"), [("1", "looked at only"), ("2", "first"), ("4", "Try:")])
async def test_a_session_in_use_is_viewed_copied_or_left_as_the_user_says(work: Path, key: str, words: str) -> None:
    from app.session.session import Session
    from widgets.dialogs import ChoiceScreen

    async with chat(work, ["one"]) as (pilot, screen, _):
        await say(pilot, screen, "first")
        assert screen.session is not None
        path = screen.session.session.path
    assert path is not None
    other = await Session.open(path)
    before = path.read_bytes()

    async def answer_question(pilot: Any) -> None:
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
        await pilot.press(key, "enter")

    async with chat(work, [], "-c", before=answer_question) as (pilot, screen, _):
        await until(pilot, lambda: words in shown(screen))
        assert screen.session is not None
        assert (screen.session.session.path == path) == (key == "1")
    await other.close()
    assert path.read_bytes() == before


async def test_a_search_shows_the_hit_wherever_it_stands_in_a_long_block(work: Path) -> None:
    lines = [f"line {number}" for number in range(120)]
    lines[3], lines[60] = "needle one", "needle two"
    async with chat(work, ["\n\n".join(lines)], size=(80, 20)) as (pilot, screen, _):
        await say(pilot, screen, "x")
        screen.run_command("search_transcript", "needle")
        await until(pilot, lambda: "needle two" in shown(screen))
        await pilot.press("N")
        await until(pilot, lambda: "needle one" in shown(screen))
        await pilot.press("n")
        await until(pilot, lambda: "needle two" in shown(screen))


async def test_a_second_escape_after_a_dialog_does_not_go_on_to_browse_mode(work: Path) -> None:
    async with chat(work, []) as (pilot, screen, _):
        screen.note("something to walk")
        await pilot.press("f1")
        await until(pilot, lambda: pilot.app.screen is not screen)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        await pilot.press("escape")
        assert not screen.is_browsing


async def test_ctrl_c_copies_what_the_mouse_selected_and_keeps_the_draft(work: Path) -> None:
    async with chat(work, ["words to take along"]) as (pilot, screen, _):
        await say(pilot, screen, "x")
        y = next(at for at, row in enumerate(shown(screen).split("\n")) if "words to take" in row)
        screen.prompt.insert_typed("draft")
        await pilot.mouse_down(offset=(2, y))
        await pilot.hover(offset=(7, y))
        await pilot.mouse_up(offset=(7, y))
        await until(pilot, lambda: bool(screen.selections))
        await pilot.press("ctrl+c")
        await until(pilot, lambda: "sent to the terminal's clipboard" in shown(screen))
        assert "words".startswith(pilot.app.clipboard[:4])
        assert pilot.app.clipboard
        assert screen.prompt.text == "draft"
        await pilot.press("ctrl+c")
        assert screen.prompt.text == ""


async def test_after_a_compaction_the_size_of_the_context_is_unknown(work: Path) -> None:
    async with chat(work, ["one"]) as (pilot, screen, _):
        assert " 0% of" in shown(screen)
        await say(pilot, screen, "x")
        assert screen.session is not None
        screen.session.totals.context_tokens = None
        screen.show_status()
        await until(pilot, lambda: " ? of" in shown(screen))


async def test_what_was_said_in_a_session_is_found_again_by_the_up_key(work: Path) -> None:
    async with chat(work, ["one", "two"]) as (pilot, screen, _):
        await say(pilot, screen, "the older words")
        await say(pilot, screen, "the newer words")
    (Path(os.environ["PINYON_DATA_DIR"]) / "history.txt").unlink(missing_ok=True)
    async with chat(work, [], "-c") as (pilot, screen, _):
        await pilot.press("up")
        assert screen.prompt.text == "the newer words"
        await pilot.press("up")
        assert screen.prompt.text == "the older words"
