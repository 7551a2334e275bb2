"""What a token, a key, a focus change, a resize and a tick cost does not grow with the session (issue 3)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import anyio.lowlevel
import pytest
from textual._styles_cache import StylesCache
from textual.pilot import Pilot
from textual.scrollbar import ScrollBar
from textual.strip import Strip
from textual.widget import Widget

from app.agent.events import MessageStart, MessageUpdate
from app.ai.events import TextDelta, TextStart
from app.ai.messages import AssistantMessage, TextContent
from app.runtime import reading
from app.tui import earlier
from app.tui.feed import EARLIER
from app.tui.screens.chat import ChatScreen
from app.tui.walking import show_entry
from tests.tui.chat_kit import chat, until

pytestmark = pytest.mark.anyio

Costs = dict[str, dict[str, int]]


def session_file(path: Path, count: int) -> Path:
    """A session of so many entries, every four of them alike: request, call, result, answer."""
    stamp = "2026-11-30T10:00:00.000Z"
    lines: list[object] = [
        {"type": "session", "version": 3, "id": path.stem, "timestamp": stamp, "cwd": str(path.parent)}
    ]
    answer = {"role": "assistant", "api": "pinyon-scripted", "provider": "scripted", "model": "scripted-1"}
    answer["stopReason"] = "stop"
    for number in range(count):
        call = f"call_{number // 4}"
        tool = {"type": "toolCall", "id": call, "name": "bash", "arguments": {"command": "ls"}}
        words = [{"type": "text", "text": "some **words** of an answer\n\n- one\n- two"}]
        message = (
            {"role": "user", "content": "a request"},
            {**answer, "content": [tool], "stopReason": "toolUse"},
            {
                "role": "toolResult",
                "toolCallId": call,
                "toolName": "bash",
                "content": [{"type": "text", "text": "a\nb"}],
            },
            {**answer, "content": words},
        )[number % 4]
        timed = {**message, "timestamp": 1796032800000 + number}
        parent = f"{number - 1:08x}" if number else None
        lines.append(
            {"type": "message", "id": f"{number:08x}", "parentId": parent, "timestamp": stamp, "message": timed}
        )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


async def drawn(pilot: Pilot[None], screen: ChatScreen) -> None:
    """Wait until everything that was asked for has been drawn."""
    await pilot.pause()
    await until(
        pilot,
        lambda: (
            screen.transcript.is_settled
            and not (screen._dirty_widgets or screen._layout_required or screen._repaint_required)
        ),
    )
    await pilot.pause()


async def costs_of(work: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> Costs:
    """Strips that each part of the screen rendered, and blocks that were drawn anew, for each thing that happens."""
    strips: Counter[str] = Counter()
    plain = StylesCache.render_line

    def counting(cache: StylesCache, *args: Any) -> Strip:
        owners = {getattr(each, "__self__", None) for each in args if callable(each)}
        owner = next(each for each in owners if isinstance(each, Widget))
        if not isinstance(owner, ScrollBar):  # a longer session moves its thumb less
            strips[type(owner).__name__] += 1
        return plain(cache, *args)

    path = session_file(work / f"of{count}.jsonl", count)
    costs: Costs = {}
    async with chat(work, [], "--session", str(path)) as (pilot, screen, _):
        await until(pilot, lambda: len(screen.transcript.blocks) == count * 3 // 4)
        await drawn(pilot, screen)
        monkeypatch.setattr(StylesCache, "render_line", counting)
        screen.transcript.rendered_blocks = 0

        async def cost(name: str) -> None:
            await drawn(pilot, screen)
            costs[name] = {**strips, "blocks": screen.transcript.rendered_blocks}
            strips.clear()
            screen.transcript.rendered_blocks = 0

        await cost("nothing")
        message = AssistantMessage(content=[TextContent(text="")])
        screen.on_session_event(MessageStart(message))
        screen.on_session_event(MessageUpdate(message, TextStart(0, message)))
        await cost("start of an answer")
        for number in range(5):
            screen.on_session_event(MessageUpdate(message, TextDelta(0, f"word{number} ", message)))
            screen.transcript.flush()
            await cost(f"token {number}")
        for key in ("a", "b", "backspace"):
            await pilot.press(key)
            await cost(f"key {key}")
        screen.set_focus(screen.transcript)
        await cost("focus to the transcript")
        screen.set_focus(screen.prompt)
        await cost("focus to the prompt")
        await pilot.press("pageup")
        await cost("a page up")
        await pilot.press("pagedown")
        await cost("a page down")
        await pilot.resize_terminal(80, 24)
        await cost("resize")
        screen.transcript.tick()
        screen.show_status()
        await cost("tick")
        monkeypatch.setattr(StylesCache, "render_line", plain)
    return costs


async def test_nothing_that_happens_often_costs_more_in_a_longer_session(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = await costs_of(work, 100, monkeypatch)
    long = await costs_of(work, 10_000, monkeypatch)
    assert long == short
    assert short["nothing"] == {"blocks": 0}
    for number in range(1, 5):  # the first one begins a row, which may scroll the page
        assert short[f"token {number}"] == {"Transcript": 1, "blocks": 1}
    assert short["key b"] == {"Prompt": 3, "blocks": 0}
    assert short["focus to the transcript"].get("Transcript", 0) == 0
    assert short["tick"] == {"blocks": 0}


async def test_a_long_session_shows_its_end_first_and_all_of_it_in_order(work: Path) -> None:
    path = session_file(work / "long.jsonl", 1000)
    async with chat(work, [], "--session", str(path)) as (pilot, screen, _):
        transcript = screen.transcript
        at_once = len(transcript.blocks)
        assert transcript.is_following
        await until(pilot, lambda: len(transcript.blocks) == 750)
        await drawn(pilot, screen)
        assert at_once <= 750
        assert transcript.is_following
        places = [screen.feed.entry_of_block[slot.block.id] for slot in transcript.blocks]
        assert places == sorted(places)
        assert transcript.blocks.total_rows == sum(slot.height for slot in transcript.blocks)
        transcript.go_to_start()
        await drawn(pilot, screen)
        first = transcript.row_at(0)
        assert first is not None
        assert first.slot is transcript.blocks.first


async def test_a_huge_session_shows_its_newest_entries_and_more_on_the_way_up(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(earlier, "WHOLE", 400)
    monkeypatch.setattr(earlier, "STEP", 300)
    path = session_file(work / "huge.jsonl", 2000)
    async with chat(work, [], "--session", str(path)) as (pilot, screen, _):
        transcript = screen.transcript
        await until(pilot, lambda: transcript.get_block(EARLIER) is not None)
        await drawn(pilot, screen)
        assert screen.earlier is not None
        left = screen.earlier.left
        assert 1000 <= left <= 2000 - 500
        note = transcript.blocks.first
        assert note is not None
        assert note.block.plain_text() == f"{left:,} earlier entries · scroll up to read them"
        assert transcript.is_following

        transcript.go_to_start()
        await until(pilot, lambda: screen.earlier is not None and screen.earlier.left < left)
        await until(pilot, lambda: transcript.get_block(EARLIER) is not None)
        await drawn(pilot, screen)
        top = transcript.row_at(0)
        assert top is not None
        assert top.slot is not None
        assert int(screen.feed.entry_of_block[top.slot.block.id], 16) == left  # what stood on top still does
        places = [screen.feed.entry_of_block.get(slot.block.id, "") for slot in transcript.blocks]
        assert places == sorted(places)


async def test_an_entry_far_up_in_a_huge_session_is_brought_in_to_be_shown(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(earlier, "WHOLE", 400)
    monkeypatch.setattr(earlier, "STEP", 300)
    path = session_file(work / "huge.jsonl", 2000)
    async with chat(work, [], "--session", str(path)) as (pilot, screen, _):
        await until(pilot, lambda: screen.transcript.get_block(EARLIER) is not None)
        show_entry(screen, f"{800:08x}")
        await until(pilot, lambda: screen.transcript.cursor_id == f"{800:08x}")
        assert screen.earlier is not None
        assert 500 < screen.earlier.left < 800


async def test_a_search_finds_what_was_not_shown_yet(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(earlier, "WHOLE", 400)
    monkeypatch.setattr(earlier, "STEP", 300)
    path = session_file(work / "huge.jsonl", 2000)
    path.write_text(path.read_text().replace("a request", "the very first words", 1))
    async with chat(work, [], "--session", str(path)) as (pilot, screen, _):
        await until(pilot, lambda: screen.transcript.get_block(EARLIER) is not None)
        screen.run_command("search_transcript", "the very first words")
        await until(pilot, lambda: screen.transcript.cursor_id == f"{0:08x}")
        assert screen.status.note.startswith("1 hit")
        assert screen.transcript.get_block(EARLIER) is None


async def test_another_branch_ends_the_coming_in_of_the_first(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(earlier, "WHOLE", 400)
    monkeypatch.setattr(earlier, "STEP", 300)
    path = session_file(work / "huge.jsonl", 2000)
    async with chat(work, [], "--session", str(path)) as (pilot, screen, _):
        screen.show_session()
        first = screen.earlier
        assert first is not None
        screen.show_session()
        await first.wait()
        await until(pilot, lambda: screen.transcript.get_block(EARLIER) is not None)
        places = [screen.feed.entry_of_block.get(slot.block.id, "") for slot in screen.transcript.blocks]
        assert places == sorted(places)


async def test_a_prompt_in_a_session_that_is_still_read_says_so_and_comes_back_by_escape(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "PIECE", 1)
    path = session_file(work / "huge.jsonl", 2000)
    async with chat(work, ["done"], "--session", str(path)) as (pilot, screen, model):
        session = screen.session
        assert session is not None
        screen.send("hello")  # a key of the pilot's would wait until it is read
        while not session.reader.is_reading:
            await anyio.lowlevel.checkpoint()
        footer = screen.status.footer(session)
        assert (footer.activity, footer.escape_hint) == ("reading the session", "stop")
        screen.action_run_interrupt()
        await until(pilot, lambda: not session.is_busy)
        assert screen.prompt.text == "hello"
        assert screen.status.footer(session).activity == ""
        assert model.calls == []
        await pilot.press("enter")
        await until(pilot, lambda: bool(model.calls))
        assert len(model.calls[0].messages) == 2001
