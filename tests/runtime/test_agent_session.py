"""AgentSession: what is stored, retried, queued, stopped; nothing is lost and every call has its result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.agent.agent import AgentBusyError
from app.ai.adapters.scripted import ScriptedModel, answer, tool_call
from app.ai.handoff import transform_messages
from app.ai.messages import AssistantMessage
from app.errors import UsageError
from app.runtime.events import AutoRetryEnd, AutoRetryStart, EditorText, QueueUpdate, WriteFailed
from tests.runtime.support import kinds, scripted_session

pytestmark = pytest.mark.anyio


def lines(path: Path | None) -> list[dict[str, Any]]:
    assert path is not None
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def failed(text: str, *, retryable: bool, retry_after_s: float | None = None) -> AssistantMessage:
    message = answer("so far")
    message.stop_reason = "error"
    message.error_message = text
    message.retryable = retryable
    message.retry_after_s = retry_after_s
    return message


def settings(text: str) -> None:
    import os

    folder = Path(os.environ["PINYON_CONFIG_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(text)


async def test_a_run_is_on_disk_entry_by_entry(work: Path) -> None:
    (work / "a.txt").write_text("alpha\n")
    async with scripted_session(work, [answer(tool_call("read", {"path": "a.txt"}, "c1")), "done"]) as (s, _, events):
        last = await s.prompt("look")
        assert last is not None
        assert last.text() == "done"
        stored = lines(s.session.path)
    assert [entry["type"] for entry in stored] == [
        "session",
        "model_change",
        "thinking_level_change",
        "message",
        "message",
        "message",
        "message",
    ]
    assert [entry["message"]["role"] for entry in stored[3:]] == ["user", "assistant", "toolResult", "assistant"]
    assert "alpha" in stored[5]["message"]["content"][0]["text"]
    assert kinds(events)[-1] == "agent_end" or kinds(events)[-1] == "entry_appended"


async def test_continuing_finds_the_conversation_again(work: Path) -> None:
    async with scripted_session(work, ["one"]) as (s, _, _):
        await s.prompt("first")
        session_id = s.session.id
    async with scripted_session(work, ["two"], continue_=True) as (s, model, _):
        assert s.session.id == session_id
        await s.prompt("second")
        roles = [message.role for message in model.calls[0].messages]
        assert roles == ["user", "assistant", "user"]


async def test_a_failed_request_is_sent_again_and_the_failure_stays_in_the_file_only(work: Path) -> None:
    settings('{"retry": {"baseDelayMs": 1}}')
    script = [failed("overloaded", retryable=True), failed("overloaded", retryable=True), "fine"]
    async with scripted_session(work, script) as (s, model, events):
        last = await s.prompt("go")
        assert last is not None
        assert last.text() == "fine"
        assert [m.role for m in model.calls[-1].messages] == ["user"]
        stored = [entry["message"] for entry in lines(s.session.path) if entry["type"] == "message"]
    assert [message.get("stopReason") for message in stored] == [None, "error", "error", "stop"]
    starts = [event.attempt for event in events if isinstance(event, AutoRetryStart)]
    assert starts == [1, 2]
    assert [event.success for event in events if isinstance(event, AutoRetryEnd)] == [True]
    order = kinds(events)
    assert order.index("auto_retry_end") < len(order) - 1 - order[::-1].index("turn_end")


async def test_retrying_ends_at_the_limit_and_says_so(work: Path) -> None:
    settings('{"retry": {"baseDelayMs": 1, "maxRetries": 2}}')
    async with scripted_session(work, [failed("busy", retryable=True)] * 3) as (s, model, events):
        last = await s.prompt("go")
        assert last is not None
        assert last.stop_reason == "error"
        assert len(model.calls) == 3
    (end,) = (event for event in events if isinstance(event, AutoRetryEnd))
    assert (end.success, end.attempt, end.final_error) == (False, 2, "busy")


@pytest.mark.parametrize(
    "message",
    [failed("no such model", retryable=False), failed("later", retryable=True, retry_after_s=3600)],
    ids=["not retryable", "asks for an hour"],
)
async def test_what_makes_no_sense_is_not_sent_again(work: Path, message: AssistantMessage) -> None:
    async with scripted_session(work, [message, "never"]) as (s, model, events):
        await s.prompt("go")
        assert len(model.calls) == 1
        assert not [event for event in events if isinstance(event, AutoRetryStart)]


async def test_escape_in_a_retry_wait_ends_it_at_once(work: Path) -> None:
    settings('{"retry": {"baseDelayMs": 50000}}')
    async with scripted_session(work, [failed("busy", retryable=True), "never"]) as (s, model, events):
        waiting = anyio.Event()
        s.subscribe(lambda event: waiting.set() if isinstance(event, AutoRetryStart) else None)
        async with anyio.create_task_group() as group:
            group.start_soon(s.prompt, "go")
            await waiting.wait()
            while s.interrupts.label != "stop retrying":
                await anyio.lowlevel.checkpoint()
            with anyio.fail_after(2):
                assert s.interrupts.interrupt()
        assert len(model.calls) == 1
        assert [event.success for event in events if isinstance(event, AutoRetryEnd)] == [False]


async def test_typing_while_it_works_steers_and_stopping_gives_the_text_back(work: Path) -> None:
    script = [answer(tool_call("bash", {"command": "sleep 30"}, "c1")), "never"]
    async with scripted_session(work, script) as (s, _, events):
        running = anyio.Event()
        s.subscribe(lambda event: running.set() if event.type == "tool_execution_start" else None)
        s.submit("go")
        with anyio.fail_after(10):
            await running.wait()
            s.submit("also this")
            s.submit("and that", behavior="follow_up")
            assert s.interrupts.interrupt()
            while s.is_busy:
                await anyio.sleep(0.01)
        assert [event.text for event in events if isinstance(event, EditorText)] == ["also this\n\nand that"]
        updates = [(event.steering, event.follow_up) for event in events if isinstance(event, QueueUpdate)]
        assert updates == [(["also this"], []), (["also this"], ["and that"]), ([], [])]
        stored = [entry["message"] for entry in lines(s.session.path) if entry["type"] == "message"]
    results = [message for message in stored if message["role"] == "toolResult"]
    assert [result["toolCallId"] for result in results] == ["c1"]
    assert results[0]["isError"]
    assert stored[-1]["stopReason"] == "aborted"


async def test_every_call_has_one_result_in_the_next_request_after_an_abort(work: Path) -> None:
    batch = answer(*(tool_call("bash", {"command": "sleep 30"}, f"c{n}") for n in range(3)))
    async with scripted_session(work, [batch, "aborted", "fine"]) as (s, model, _):
        s.agent.config.tool_execution = "sequential"
        running = anyio.Event()
        s.subscribe(lambda event: running.set() if event.type == "tool_execution_start" else None)
        async with anyio.create_task_group() as group:
            group.start_soon(s.prompt, "go")
            await running.wait()
            await s.abort()
        await s.prompt("again")
        sent = model.calls[-1].messages
    ids = [call.id for m in sent if m.role == "assistant" for call in m.tool_calls()]
    assert ids == ["c0", "c1", "c2"]
    at = next(place for place, m in enumerate(sent) if m.role == "assistant")
    assert [m.tool_call_id for m in sent[at + 1 : at + 4] if m.role == "toolResult"] == ids


async def test_a_second_prompt_is_refused_while_one_runs(work: Path) -> None:
    async with scripted_session(work, [answer(tool_call("bash", {"command": "sleep 30"}, "c1")), "x"]) as (s, _, _):
        running = anyio.Event()
        s.subscribe(lambda event: running.set() if event.type == "tool_execution_start" else None)
        s.submit("go")
        await running.wait()
        with pytest.raises(AgentBusyError):
            await s.prompt("again")
        await s.abort()


async def test_without_a_key_the_prompt_is_refused_before_anything_is_stored(work: Path) -> None:
    async with scripted_session(work, []) as (s, _, _):
        claude = next(m for m in s.registry.models() if m.provider == "anthropic")
        s.agent.state.model = claude
        with pytest.raises(UsageError) as error:
            await s.prompt("go")
        assert "ANTHROPIC" in str(error.value)
        assert not s.session.is_stored


async def test_a_write_that_fails_stops_the_run_and_is_told(work: Path) -> None:
    async with scripted_session(work, ["one", "two"]) as (s, model, events):
        await s.prompt("first")
        assert s.session.path is not None
        folder = s.session.path.parent
        moved = folder.with_name("gone")
        folder.rename(moved)
        folder.write_text("a file where the folder was")
        await s.prompt("second")
        await s.prompt("third")
        told = [event for event in events if isinstance(event, WriteFailed)]
        survivors = lines(moved / s.session.path.name)
    if told:
        assert str(s.session.path) in told[0].error_message
    assert [entry["message"]["role"] for entry in survivors if entry["type"] == "message"][:2] == ["user", "assistant"]
    assert len(model.calls) >= 1


async def test_a_view_that_raises_is_closed_and_the_run_goes_on(work: Path) -> None:
    async with scripted_session(work, ["fine"]) as (s, _, events):

        def broken(event: Any) -> None:
            raise RuntimeError("view broke")

        s.subscribe(broken)
        last = await s.prompt("go")
        assert last is not None
        assert last.text() == "fine"
        assert any(event.type == "note" and "view broke" in event.text for event in events)


async def test_images_are_blocked_by_the_setting_at_each_call_and_kept_in_the_file(work: Path) -> None:
    from app.ai.messages import ImageContent

    settings('{"images": {"blockImages": true}}')
    async with scripted_session(work, ["ok"]) as (s, model, _):
        await s.prompt("see", [ImageContent(data="aGk=", mime_type="image/png")])
        sent = model.calls[0].messages[0].to_wire()
        stored = lines(s.session.path)
    assert [block["type"] for block in sent["content"]] == ["text", "text"]
    assert [block["type"] for block in stored[3]["message"]["content"]] == ["text", "image"]


async def test_a_users_own_command_is_kept_and_sent_and_a_double_bang_is_not_sent(work: Path) -> None:
    async with scripted_session(work, ["ok"]) as (s, model, events):
        await s.bash.run("echo seen", False)
        await s.bash.run("echo hidden", True)
        await s.prompt("go")
        text = json.dumps([m.to_wire() for m in model.calls[0].messages])
    assert "seen" in text
    assert "hidden" not in text
    assert [event.type for event in events if event.type.startswith("bash_")].count("bash_end") == 2


async def test_the_scripted_model_counts_its_calls(work: Path) -> None:
    model = ScriptedModel(["a"])
    async with scripted_session(work, [], scripted=model, no_session=True) as (s, _, _):
        await s.prompt("go")
        assert s.session.path is None
    assert len(model.calls) == 1


async def test_two_prompts_sent_at_once_are_one_run_and_one_steering_message(work: Path) -> None:
    async with scripted_session(work, ["one", "two"]) as (s, _, events):
        ended = anyio.Event()
        s.subscribe(lambda event: ended.set() if event.type == "agent_end" else None)
        s.submit("first")
        s.submit("second")
        with anyio.fail_after(10):
            await ended.wait()
        said = [m.text() if m.role == "assistant" else m.content[0].text for m in s.agent.state.messages]
    assert said[:2] in (["first", "second"], ["first", "one"])
    assert "second" in said
    assert not [event for event in events if event.type == "note"]


async def test_what_could_not_be_stored_is_stored_first_when_it_can_be_again(work: Path, tmp_path: Path) -> None:
    async with scripted_session(work, ["one", "two", "three"]) as (s, _, events):
        await s.prompt("first")
        assert s.session.path is not None
        folder = s.session.path.parent
        real, calls = s.session.append_message, 0

        async def full_disk(message: Any, *, sync: bool = True) -> str:
            from app.errors import WriteFailedError

            nonlocal calls
            calls += 1
            if calls <= 2:
                raise WriteFailedError(f"{s.session.path} can't be written: no space left")
            return await real(message, sync=sync)

        s.session.append_message = full_disk  # type: ignore[method-assign]
        await s.prompt("second")
        assert [event.type for event in events].count("write_failed") == 1
        assert len(s.unsaved) == 1
        with pytest.raises(Exception, match="no space"):
            await s.prompt("third")
        await s.unsaved.store()
        await s.prompt("third")
        stored = [entry["message"] for entry in lines(s.session.path) if entry["type"] == "message"]
    words = [m["content"][0]["text"] for m in stored if m["role"] == "user"]
    assert words == ["first", "second", "third"]
    assert folder.exists()


async def test_calls_of_an_answer_that_was_stopped_or_failed_have_their_results_in_the_file_at_once(work: Path) -> None:
    settings('{"retry": {"baseDelayMs": 1}}')
    broken = answer(tool_call("bash", {"command": "never"}, "c1"), tool_call("read", {"path": "x"}, "c2"))
    broken.stop_reason = "error"
    broken.error_message = "cut"
    broken.retryable = True
    async with scripted_session(work, [broken, "fine"]) as (s, model, _):
        last = await s.prompt("go")
        assert last is not None
        assert last.text() == "fine"
        assert [m.role for m in model.calls[-1].messages] == ["user"]
        stored = [entry["message"] for entry in lines(s.session.path) if entry["type"] == "message"]
    assert [m["role"] for m in stored] == ["user", "assistant", "toolResult", "toolResult", "assistant"]
    assert [m["toolCallId"] for m in stored[2:4]] == ["c1", "c2"]
    assert all(m["isError"] and "Not run" in m["content"][0]["text"] for m in stored[2:4])
    async with scripted_session(work, ["again"], continue_=True) as (s, model, _):
        await s.prompt("more")
        sent = transform_messages(model.calls[0].messages, model.model)
        assert [m.role for m in sent] == ["user", "assistant", "user"]
