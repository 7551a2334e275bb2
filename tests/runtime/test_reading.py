"""A long conversation is read when it is first needed; what is known before that, and that nothing is lost in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from app.ai.adapters.scripted import ScriptedModel
from app.runtime import navigation, reading, switching
from app.runtime.agent_session import AgentSession
from app.runtime.events import CompactionEnd, EditorText, QueueUpdate, SessionEvent
from app.session.messages import bash_execution_message
from app.session.session import Session
from tests.runtime.support import scripted_session

pytestmark = pytest.mark.anyio
STAMP = "2026-11-30T10:00:00.000Z"
MS = 1796032800000


def message(number: int, parent: int | None, **members: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "id": f"{number:08x}",
        "parentId": None if parent is None else f"{parent:08x}",
        "timestamp": STAMP,
        "message": {"timestamp": MS + number, **members},
    }


def turn(number: int) -> dict[str, Any]:
    """Requests at even numbers, answers with usage at odd ones."""
    parent = number - 1 if number else None
    if number % 2 == 0:
        return message(number, parent, role="user", content=f"request {number}")
    cost = {"input": 0.1, "output": 0.2, "cacheRead": 0, "cacheWrite": 0, "total": 0.25}
    usage = {"input": 10, "output": 5, "cacheRead": 2, "cacheWrite": 1, "totalTokens": number + 1000, "cost": cost}
    text = [{"type": "text", "text": f"answer {number}"}]
    kind = {"api": "pinyon-scripted", "provider": "scripted", "model": "scripted-1", "stopReason": "stop"}
    return message(number, parent, role="assistant", content=text, usage=usage, **kind)


def session_file(work: Path, entries: list[dict[str, Any]]) -> str:
    header = {"type": "session", "version": 3, "id": "long", "timestamp": STAMP, "cwd": str(work)}
    path = work / "long.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in [header, *entries]))
    return str(path)


@pytest.fixture
def long(work: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A session of 1,200 messages, read in so many pieces that a test can come in between."""
    monkeypatch.setattr(reading, "PIECE", 2)
    return session_file(work, [turn(number) for number in range(1200)])


async def until(is_so: Callable[[], bool]) -> None:
    with anyio.fail_after(10):
        while not is_so():
            await anyio.lowlevel.checkpoint()


def given_back(events: list[SessionEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, EditorText)]


def sent(model: ScriptedModel) -> list[str]:
    return [
        m.content if isinstance(m.content, str) else "".join(getattr(block, "text", "") for block in m.content)
        for m in model.calls[-1].messages
    ]


async def test_a_long_session_opens_without_its_messages_and_knows_its_totals(work: Path, long: str) -> None:
    async with scripted_session(work, [], session=long) as (s, _, _):
        assert not s.reader.is_read
        assert s.agent.state.messages == []
        totals = s.totals
        assert (totals.input, totals.output, totals.cache_read, totals.cache_write) == (6000, 3000, 1200, 600)
        assert totals.cost == pytest.approx(150)
        assert totals.context_tokens == 2199


async def test_a_short_session_is_read_on_the_spot(work: Path) -> None:
    path = session_file(work, [turn(number) for number in range(10)])
    async with scripted_session(work, [], session=path) as (s, _, _):
        assert s.reader.is_read
        assert len(s.agent.state.messages) == 10


async def test_the_first_request_has_the_whole_conversation(work: Path, long: str) -> None:
    async with scripted_session(work, ["done", "again"], session=long) as (s, model, events):
        await s.prompt("the next request")
        said = sent(model)
        assert len(said) == 1201
        assert (said[0], said[-2], said[-1]) == ("request 0", "answer 1199", "the next request")
        assert s.agent.state.messages == s.session.context().messages
        waiting = [event.steering for event in events if isinstance(event, QueueUpdate)]
        assert waiting == [["the next request"], []]
        await s.prompt("one more")
        assert len(sent(model)) == 1203


async def test_escape_stops_the_reading_and_gives_everything_typed_back(work: Path, long: str) -> None:
    async with scripted_session(work, ["done"], session=long) as (s, model, events):
        before = Path(long).read_bytes()
        s.submit("the next request")
        await until(lambda: s.reader.is_reading)
        s.submit("and mind this")
        assert s.interrupts.label == "stop"
        assert s.interrupts.interrupt()
        s.interrupts.interrupt()
        await until(lambda: not s.is_busy)
        assert given_back(events) == ["the next request\n\nand mind this"]
        assert not s.reader.is_reading
        assert s.agent.state.messages == []
        assert model.calls == []
        assert Path(long).read_bytes() == before
        await s.prompt("the next request")
        assert len(sent(model)) == 1201


async def test_what_is_typed_while_it_reads_is_sent(work: Path, long: str) -> None:
    async with scripted_session(work, ["done", "done"], session=long) as (s, model, _):
        s.submit("the next request")
        await until(lambda: s.reader.is_reading)
        s.submit("and mind this")
        await until(lambda: not s.is_busy and "and mind this" in (sent(model) if model.calls else []))
        assert "the next request" in sent(model)


async def test_a_command_that_ends_while_it_reads_is_part_of_the_request_once(work: Path, long: str) -> None:
    async with scripted_session(work, ["done"], session=long) as (s, _, _):
        s.submit("the next request")
        await until(lambda: s.reader.is_reading)
        await s.keep(bash_execution_message("ls", "a.txt", timestamp=STAMP, exit_code=0))
        await until(lambda: not s.is_busy)
        roles = [getattr(m, "role", "") for m in s.agent.state.messages]
        assert roles[1200:] == ["bashExecution", "user", "assistant"]
        assert s.agent.state.messages == s.session.context().messages


async def test_a_move_before_anything_was_read_needs_no_reading(work: Path, long: str) -> None:
    async with scripted_session(work, ["done"], session=long) as (s, model, _):
        await navigation.go_to(s, f"{601:08x}")
        assert not s.reader.is_read
        assert s.totals.input == 3010
        await s.prompt("another way")
        assert sent(model)[-2:] == ["answer 601", "another way"]
        assert len(sent(model)) == 603


async def test_a_move_can_stop_a_reading_and_the_prompt_comes_back(work: Path, long: str) -> None:
    async with scripted_session(work, ["done"], session=long) as (s, model, events):
        s.submit("the next request")
        await until(lambda: s.reader.is_reading)
        moved = await navigation.go_to(s, f"{601:08x}", stop_first=True)
        assert moved.moved
        assert given_back(events) == ["the next request"]
        await s.prompt("another way")
        assert len(sent(model)) == 603


async def test_going_away_from_a_long_session_leaves_none_of_it(work: Path, long: str) -> None:
    async with scripted_session(work, ["done", "done"], session=long) as (s, model, _):
        await s.prompt("read it")
        await switching.new_session(s)
        assert s.agent.state.messages == []
        assert s.totals.input == 0
        await s.prompt("fresh")
        assert sent(model) == ["fresh"]


async def test_compacting_reads_first_and_escape_stops_that_too(work: Path, long: str) -> None:
    async with scripted_session(work, ["a summary"], session=long) as (s, _, events):
        async with anyio.create_task_group() as group:
            ends: list[CompactionEnd] = []

            async def compact() -> None:
                ends.append(await s.compaction.run())

            group.start_soon(compact)
            await until(lambda: s.reader.is_reading)
            s.interrupts.interrupt()
        assert [end.aborted for end in ends] == [True]
        assert given_back(events) == []
        assert not s.is_busy


async def test_a_session_that_closes_while_it_reads_gives_the_prompt_back(work: Path, long: str) -> None:
    async with scripted_session(work, [], session=long) as (s, _, events):
        s.submit("the next request")
        await until(lambda: s.reader.is_reading)
    assert given_back(events) == ["the next request"]


def compaction(number: int, parent: int, kept: int, stamp: str) -> dict[str, Any]:
    return {
        "type": "compaction",
        "id": f"{number:08x}",
        "parentId": f"{parent:08x}",
        "timestamp": stamp,
        "summary": "so far",
        "firstKeptEntryId": f"{kept:08x}",
        "tokensBefore": 99,
    }


@pytest.mark.parametrize("answered", [False, True])
async def test_the_size_of_a_context_is_unknown_until_an_answer_came_after_its_compaction(
    work: Path, answered: bool
) -> None:
    entries = [turn(number) for number in range(4)]
    entries.append(compaction(4, 3, 2, "2026-11-30T10:00:01.000Z"))
    if answered:
        late = turn(5)
        late["message"]["timestamp"] = MS + 5000
        entries.append(late)
    async with scripted_session(work, [], session=session_file(work, entries)) as (s, _, _):
        assert s.totals.context_tokens == (1005 if answered else None)
        assert s.totals.input == (20 if answered else 10)


async def test_totals_of_odd_usage_count_what_can_be_counted(work: Path) -> None:
    odd = [turn(number) for number in range(6)]
    odd[1]["message"]["usage"] = "none"
    odd[3]["message"]["usage"] = {"input": "many", "output": True, "cacheRead": 2.0, "cost": 7}
    odd[5]["message"]["stopReason"] = "error"
    async with scripted_session(work, [], session=session_file(work, odd)) as (s, _, _):
        assert (s.totals.input, s.totals.output, s.totals.cache_read, s.totals.cost) == (10, 5, 4, 0.25)
        assert s.totals.context_tokens == 2


def whole(session: AgentSession | Session) -> list[Any]:
    store = session.session if isinstance(session, AgentSession) else session
    return list(store.context().messages)


async def test_in_pieces_or_whole_the_context_is_the_same(work: Path, long: str) -> None:
    edited = {"type": "context_edit", "id": "edit0001", "parentId": f"{1199:08x}", "timestamp": STAMP}
    with Path(long).open("a") as file:
        file.write(json.dumps({**edited, "targetId": f"{2:08x}", "replacement": None}) + "\n")
    session = await Session.open(Path(long))
    pieces = session.reading()
    while not pieces.step(7):
        pass
    assert len(pieces.context.messages) == 1199
    assert pieces.context.messages == whole(session)
    await session.close()
