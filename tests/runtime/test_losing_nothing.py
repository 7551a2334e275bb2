"""What a person typed or ran is sent, stored or given back, whenever it came: races, full disks, early ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.ai.adapters.scripted import answer, tool_call
from app.errors import UsageError, WriteFailedError
from app.runtime.agent_session import AgentSession
from app.runtime.events import BashEnd, BashOutput, EditorText, SessionEvent
from app.runtime.navigation import go_to, set_name
from app.runtime.opening import StartOptions, open_agent_session
from app.runtime.switching import new_session
from app.session.naming import lease_path
from app.session.session import Session
from tests.runtime.support import scripted_session

pytestmark = pytest.mark.anyio


@contextmanager
def full_disk(s: AgentSession) -> Iterator[None]:
    """No message of this session can be stored inside."""
    store, real = s.session, s.session.append_message

    async def refuse(message: Any, *, sync: bool = True) -> str:
        raise WriteFailedError(f"{store.path}: not saved: the disk is full")

    store.append_message = refuse  # type: ignore[method-assign]
    try:
        yield
    finally:
        store.append_message = real  # type: ignore[method-assign]


def stored(path: Path | None) -> list[str]:
    """The first words of each message in the file, in order: what was typed, answered, run."""
    assert path is not None
    entries = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    messages = [entry["message"] for entry in entries if entry["type"] == "message"]
    return [m["command"] if m["role"] == "bashExecution" else m["content"][0].get("text", "") for m in messages]


async def idle(s: AgentSession) -> None:
    with anyio.fail_after(10):
        while s.is_busy or s.agent.has_queued_messages():
            await anyio.sleep(0.005)


@pytest.mark.parametrize("behavior", ["steer", "follow_up"])
async def test_what_is_typed_when_a_run_has_just_ended_is_sent(work: Path, behavior: Any) -> None:
    async with scripted_session(work, ["one", "two"]) as (s, model, _):
        late = ["late"]
        s.subscribe(
            lambda event: s.submit(late.pop(), behavior=behavior) if event.type == "agent_end" and late else None
        )
        await s.prompt("first")
        await idle(s)
        assert len(model.calls) == 2
        assert stored(s.session.path) == ["first", "one", "late", "two"]


async def test_what_is_typed_while_the_name_is_stored_is_sent(work: Path) -> None:
    async with scripted_session(work, ["one", "two"]) as (s, _, _):
        await s.prompt("first")
        async with anyio.create_task_group() as group:
            group.start_soon(set_name, s, "a name")
            while not s.is_busy:
                await anyio.lowlevel.checkpoint()
            s.submit("second")
        await idle(s)
        assert stored(s.session.path) == ["first", "one", "second", "two"]


async def test_a_prompt_that_something_else_overtakes_is_sent_after_it(work: Path) -> None:
    async with scripted_session(work, ["one", "two"]) as (s, _, events):
        await s.prompt("first")
        async with anyio.create_task_group() as group:
            group.start_soon(set_name, s, "a name")
            s.submit("second")  # its task begins when the lock is taken
        await idle(s)
        assert stored(s.session.path) == ["first", "one", "second", "two"]
        assert not [event for event in events if event.type == "note"]


async def test_what_is_typed_after_escape_is_sent_when_the_run_has_ended(work: Path) -> None:
    script = [answer(tool_call("bash", {"command": "trap '' TERM; sleep 30"}, "c1")), "stopped", "two"]
    async with scripted_session(work, script) as (s, _, _):
        running = anyio.Event()
        s.subscribe(lambda event: running.set() if event.type == "agent_end" else None)

        def stop(event: SessionEvent) -> None:
            if event.type == "tool_execution_start":
                s.interrupts.interrupt()

        s.subscribe(stop)
        s.submit("go")
        with anyio.fail_after(10):
            await running.wait()
            s.submit("second")
        await idle(s)
        assert s.agent.state.messages[-1].text() == "two"


async def test_a_prompt_that_cannot_be_stored_or_sent_is_given_back_and_asked_once(work: Path) -> None:
    async with scripted_session(work, ["one", "two"]) as (s, model, events):
        await s.prompt("first")
        with full_disk(s):
            await s.prompt("second")
            s.submit("third")
            s.submit("fourth")
            with anyio.fail_after(10):
                while not any(isinstance(event, EditorText) for event in events):
                    await anyio.sleep(0.005)
        assert [event.text for event in events if isinstance(event, EditorText)] == ["third\n\nfourth"]
        await idle(s)
        assert len(model.calls) == 1
        await s.prompt("third")
        assert stored(s.session.path) == ["first", "one", "second", "third", "two"]


@pytest.mark.parametrize("act", ["go_to", "new_session", "bash"])
async def test_what_waits_to_be_stored_goes_to_its_own_place_before_anything_else(work: Path, act: str) -> None:
    async with scripted_session(work, ["one", "two"]) as (s, _, _):
        await s.prompt("first")
        path, leaf = s.session.path, s.session.leaf_id
        assert leaf is not None
        with full_disk(s):
            await s.prompt("second")
            with pytest.raises(WriteFailedError):
                await go_to(s, s.session.tree.roots[0].id)
        assert s.session.leaf_id == leaf
        match act:
            case "go_to":
                await go_to(s, s.session.tree.roots[0].id)
            case "new_session":
                await new_session(s)
            case _:
                await s.bash.run("true", False)
        assert not len(s.unsaved)
        assert stored(path) == ["first", "one", "second", *(["true"] if act == "bash" else [])]


async def test_a_users_command_that_could_not_be_stored_is_stored_once(work: Path) -> None:
    async with scripted_session(work, ["one", "two"]) as (s, model, _):
        await s.prompt("first")
        with full_disk(s), pytest.raises(WriteFailedError):
            await s.bash.run("true", False)
        await s.prompt("second")
        assert stored(s.session.path) == ["first", "one", "true", "second", "two"]
        assert len(model.calls[-1].messages) == 4


async def test_storing_again_from_two_sides_stores_once(work: Path) -> None:
    async with scripted_session(work, ["one", "two"]) as (s, _, _):
        await s.prompt("first")
        with full_disk(s):
            await s.prompt("second")
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(s.unsaved.store)
        await s.prompt("third")
        assert stored(s.session.path) == ["first", "one", "second", "third", "two"]


async def test_a_users_command_that_ends_in_a_run_is_stored_though_no_prompt_follows(work: Path) -> None:
    script = [answer(tool_call("bash", {"command": "while [ ! -e go ]; do sleep 0.01; done"}, "c1")), "end"]
    async with scripted_session(work, script) as (s, _, _):
        running = anyio.Event()
        s.subscribe(lambda event: running.set() if event.type == "tool_execution_start" else None)
        async with anyio.create_task_group() as group:
            group.start_soon(s.prompt, "first")
            await running.wait()
            await s.bash.run("touch go", False)
    words = stored(s.session.path)
    assert words[0] == "first"
    assert words[-2:] == ["end", "touch go"]


async def test_leaving_while_the_disk_is_full_stores_what_it_can_at_the_end(work: Path) -> None:
    async with scripted_session(work, ["one"]) as (s, _, _):
        await s.prompt("first")
        with full_disk(s):
            await s.prompt("second")
    assert stored(s.session.path) == ["first", "one", "second"]


async def test_stopping_first_waits_for_a_prompt_that_is_only_beginning(work: Path) -> None:
    script = [answer(tool_call("bash", {"command": "sleep 30"}, "c1")), "stopped"]
    async with scripted_session(work, ["one", *script]) as (s, _, _):
        await s.prompt("first")
        s.submit("second")
        while not s.is_busy:
            await anyio.lowlevel.checkpoint()
        with anyio.fail_after(10):
            await new_session(s, stop_first=True)
        assert s.agent.state.messages == []


async def test_leaving_while_a_users_command_runs_stores_what_it_printed(work: Path) -> None:
    async with scripted_session(work, ["one"]) as (s, _, _):
        await s.prompt("first")
        printed = anyio.Event()
        s.subscribe(lambda event: printed.set() if isinstance(event, BashOutput) and "half" in event.output else None)
        s.start(s.bash.run, "echo half; sleep 30", False)
        with anyio.fail_after(10):
            await printed.wait()
    assert stored(s.session.path) == ["first", "one", "echo half; sleep 30"]


@pytest.mark.parametrize("command", ["echo \0", "true"])
async def test_a_users_command_that_cannot_be_started_ends_where_it_began(work: Path, command: str) -> None:
    async with scripted_session(work, ["one"]) as (s, _, events):
        await s.prompt("first")
        if command == "true":
            work.rename(work.with_name("gone"))
        await s.bash.run(command, False)
        ends = [event.message for event in events if isinstance(event, BashEnd)]
        assert [(end.exit_code, end.cancelled) for end in ends] == [(126, False)]
        assert ends[0].output
        assert not s.bash.is_running


@pytest.mark.parametrize("wrong", [{"tools": ["no-such-tool"]}, {"model": "no/such:model"}])
async def test_a_start_that_fails_lets_go_of_the_session(work: Path, wrong: dict[str, Any]) -> None:
    async with scripted_session(work, ["one"]) as (s, _, _):
        await s.prompt("first")
        path = s.session.path
    assert path is not None
    with pytest.raises(UsageError):
        await open_agent_session(StartOptions(cwd=work, continue_=True, **wrong))
    assert not lease_path(path).exists()
    again = await Session.open(path)
    assert again.notes == []
    await again.close()


async def test_a_view_that_leaves_and_then_fails_breaks_no_run(work: Path) -> None:
    async with scripted_session(work, ["one"]) as (s, _, _):

        def leave(event: SessionEvent) -> None:
            unsubscribe()
            raise RuntimeError("gone")

        unsubscribe = s.subscribe(leave)
        told = await s.prompt("first")
        assert told is not None
        assert told.stop_reason == "stop"
