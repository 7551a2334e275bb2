"""Agent: queues, abort, hooks that fail, termination; a run always ends with agent_end and every call has a result."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from app.agent.agent import AgentBusyError
from app.agent.config import AfterToolCallResult, BeforeToolCallResult
from app.agent.tool import AgentToolResult, OnUpdate
from app.ai.adapters.scripted import ScriptedModel, answer, text, tool_call
from app.ai.messages import Context, UserMessage
from tests.agent.support import FunctionTool, agent_with, echo, fail, kinds, record

pytestmark = pytest.mark.anyio


def user(words: str) -> UserMessage:
    return UserMessage(content=words)


def results(messages: list[Any]) -> dict[str, tuple[bool, str]]:
    return {m.tool_call_id: (m.is_error, m.text()) for m in messages if m.role == "toolResult"}


async def test_steering_comes_after_the_whole_batch_and_before_the_next_request() -> None:
    model = ScriptedModel([answer(tool_call("work", {}, "c1"), tool_call("work", {}, "c2")), "end"])
    agent = agent_with(model, FunctionTool("work", echo))
    agent.subscribe(lambda event, signal: agent.steer(user("also")) if event.type == "tool_execution_start" else None)
    agent.steering.mode = "all"
    await agent.prompt("go")
    roles = [message.role for message in agent.state.messages]
    assert roles == ["user", "assistant", "toolResult", "toolResult", "user", "user", "assistant"]


async def test_a_follow_up_waits_until_the_agent_would_stop() -> None:
    model = ScriptedModel(["one", "two"])
    agent = agent_with(model)
    agent.follow_up(user("next"))
    await agent.prompt("go")
    assert [message.role for message in agent.state.messages] == ["user", "assistant", "user", "assistant"]


async def test_continuing_an_answer_with_two_steering_messages_takes_one_request_each() -> None:
    model = ScriptedModel(["zero", "one", "two"])
    agent = agent_with(model)
    await agent.prompt("go")
    agent.steer(user("a"))
    agent.steer(user("b"))
    await agent.continue_()
    assert [message.role for message in agent.state.messages[2:]] == ["user", "assistant", "user", "assistant"]


async def test_continuing_from_nothing_or_from_an_answer_is_refused_before_any_event() -> None:
    agent = agent_with(ScriptedModel(["one"]))
    events = record(agent)
    with pytest.raises(ValueError, match="no message"):
        await agent.continue_()
    assert events == []
    await agent.prompt("go")
    with pytest.raises(ValueError, match="answer"):
        await agent.continue_()


async def test_a_second_prompt_while_one_runs_is_refused() -> None:
    agent = agent_with(ScriptedModel([answer(tool_call("work", {}, "c1")), "end"]))
    refused: list[str] = []

    async def work(name: str, on_update: OnUpdate) -> AgentToolResult:
        with pytest.raises(AgentBusyError) as error:
            await agent.prompt("again")
        refused.append(str(error.value))
        return AgentToolResult.of_text("")

    agent.state.tools = [FunctionTool("work", work)]
    await agent.prompt("go")
    assert "steer" in refused[0]


async def test_an_abort_in_a_batch_gives_every_call_one_result_in_call_order() -> None:
    started = anyio.Event()

    async def forever(name: str, on_update: OnUpdate) -> AgentToolResult:
        on_update(AgentToolResult.of_text("so far"))
        started.set()
        await anyio.sleep_forever()
        raise AssertionError

    batch = answer(*(tool_call("work", {"name": str(n)}, f"c{n}") for n in range(3)))
    agent = agent_with(ScriptedModel([batch, "never"]), FunctionTool("work", forever, mode="sequential"))
    events = record(agent)
    async with anyio.create_task_group() as group:
        group.start_soon(agent.prompt, "go")
        await started.wait()
        agent.abort()
    assert results(agent.state.messages) == {
        "c0": (True, "so far\n\nOperation aborted"),
        "c1": (True, "Operation aborted"),
        "c2": (True, "Operation aborted"),
    }
    assert agent.state.messages[-1].stop_reason == "aborted"
    assert kinds(events)[-1] == "agent_end"
    assert not agent.state.is_streaming


async def test_a_tool_that_turns_the_abort_into_an_error_of_its_own_is_taken_at_its_word() -> None:
    started = anyio.Event()

    async def stubborn(name: str, on_update: OnUpdate) -> AgentToolResult:
        started.set()
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            raise RuntimeError("stopped by hand") from None
        raise AssertionError

    agent = agent_with(
        ScriptedModel([answer(tool_call("work", {}, "c1")), "never", "fine"]), FunctionTool("work", stubborn)
    )
    async with anyio.create_task_group() as group:
        group.start_soon(agent.prompt, "go")
        await started.wait()
        agent.abort()
    assert results(agent.state.messages) == {"c1": (True, "stopped by hand")}
    await anyio.lowlevel.checkpoint()
    await agent.prompt("more")
    assert agent.state.messages[-1].stop_reason == "stop"


async def test_cancelling_the_caller_ends_the_run_as_an_abort_does() -> None:
    started = anyio.Event()

    async def forever(name: str, on_update: OnUpdate) -> AgentToolResult:
        started.set()
        await anyio.sleep_forever()
        raise AssertionError

    agent = agent_with(ScriptedModel([answer(tool_call("work", {}, "c1")), "never"]), FunctionTool("work", forever))
    events = record(agent)
    async with anyio.create_task_group() as group:
        group.start_soon(agent.prompt, "go")
        await started.wait()
        group.cancel_scope.cancel()
    assert results(agent.state.messages) == {"c1": (True, "Operation aborted")}
    assert kinds(events)[-1] == "agent_end"


async def test_an_abort_in_the_stream_keeps_the_text_so_far() -> None:
    agent = agent_with(ScriptedModel(["word " * 400], tokens_per_second=1000))
    events = record(agent)

    def stop(event: Any, signal: Any) -> None:
        if event.type == "message_update" and len(event.message.text()) > 20:
            agent.abort()

    agent.subscribe(stop)
    await agent.prompt("go")
    last = agent.state.messages[-1]
    assert last.stop_reason == "aborted"
    assert 20 < len(last.text()) < 2000
    assert kinds(events)[-2:] == ["turn_end", "agent_end"]


async def test_a_call_with_cut_arguments_is_not_run_and_the_model_is_told() -> None:
    call = tool_call("work", {"name": "half"}, "c1")
    call.cut = True
    ran: list[str] = []

    async def work(name: str, on_update: OnUpdate) -> AgentToolResult:
        ran.append(name)
        return AgentToolResult.of_text("")

    message = answer(call, tool_call("work", {"name": "whole"}, "c2"))
    message.stop_reason = "length"
    agent = agent_with(ScriptedModel([message, "sorry"]), FunctionTool("work", work))
    await agent.prompt("go")
    assert ran == ["whole"]
    assert results(agent.state.messages)["c1"][0]
    assert "cut off" in results(agent.state.messages)["c1"][1]


async def test_an_unknown_tool_bad_arguments_and_a_raising_tool_are_results_for_the_model() -> None:
    batch = answer(
        tool_call("nope", {}, "c1"), tool_call("work", {"name": ["x"]}, "c2"), tool_call("bad", {"name": "way"}, "c3")
    )
    agent = agent_with(ScriptedModel([batch, "end"]), FunctionTool("work", echo), FunctionTool("bad", fail))
    await agent.prompt("go")
    told = results(agent.state.messages)
    assert all(is_error for is_error, _ in told.values())
    assert "not found" in told["c1"][1]
    assert "name" in told["c2"][1]
    assert told["c3"][1] == "no way"


async def test_termination_needs_every_result_of_the_batch_to_ask_for_it() -> None:
    async def last(name: str, on_update: OnUpdate) -> AgentToolResult:
        return AgentToolResult(terminate=name == "yes")

    for names, requests in ((("yes", "yes"), 1), (("yes", "no"), 2)):
        model = ScriptedModel([answer(*(tool_call("work", {"name": n}, n + str(i)) for i, n in enumerate(names))), "x"])
        agent = agent_with(model, FunctionTool("work", last))
        await agent.prompt("go")
        assert len(model.calls) == requests


async def test_before_tool_call_blocks_with_its_reason_and_skips_after_tool_call() -> None:
    after: list[str] = []

    async def before(ask: Any, signal: Any) -> BeforeToolCallResult:
        return BeforeToolCallResult(block=True, reason="not today")

    async def after_hook(told: Any, signal: Any) -> None:
        after.append("called")

    agent = agent_with(
        ScriptedModel([answer(tool_call("work", {}, "c1")), "end"]),
        FunctionTool("work", echo),
        before_tool_call=before,
        after_tool_call=after_hook,
    )
    await agent.prompt("go")
    assert results(agent.state.messages) == {"c1": (True, "not today")}
    assert after == []


async def test_after_tool_call_replaces_whole_fields_and_keeps_the_others() -> None:
    async def after(told: Any, signal: Any) -> AfterToolCallResult:
        return AfterToolCallResult(content=[text("other")], is_error=True)

    async def work(name: str, on_update: OnUpdate) -> AgentToolResult:
        return AgentToolResult.of_text("mine", {"a": 1})

    agent = agent_with(
        ScriptedModel([answer(tool_call("work", {}, "c1")), "end"]), FunctionTool("work", work), after_tool_call=after
    )
    await agent.prompt("go")
    (result,) = (m for m in agent.state.messages if m.role == "toolResult")
    assert (result.text(), result.is_error, result.details) == ("other", True, {"a": 1})


async def _raise(*_: Any) -> Any:
    raise RuntimeError("broken hook")


def _raise_now(*_: Any) -> Any:
    raise RuntimeError("broken hook")


@pytest.mark.parametrize(
    ("hook", "value"),
    [
        ("convert_to_llm", _raise_now),
        ("transform_context", _raise),
        ("get_api_key", _raise),
        ("should_stop_after_turn", _raise),
        ("before_tool_call", _raise),
        ("after_tool_call", _raise),
    ],
)
async def test_a_hook_that_raises_is_told_and_the_run_still_ends(hook: str, value: Any) -> None:
    failures: list[str] = []
    agent = agent_with(
        ScriptedModel([answer(tool_call("work", {}, "c1")), "end"]),
        FunctionTool("work", echo),
        on_hook_error=lambda name, error: failures.append(name),
        **{hook: value},
    )
    events = record(agent)
    await agent.prompt("go")
    assert kinds(events)[-1] == "agent_end"
    told = [*failures, *(m.text() for m in agent.state.messages if m.role == "toolResult")]
    assert any(hook in words or "broken hook" in words for words in told)
    assert not agent.state.is_streaming


async def test_queue_hooks_that_raise_are_told_and_the_run_still_ends() -> None:
    from app.agent.config import AgentContext, AgentLoopConfig
    from app.agent.loop import run_agent_loop
    from app.agent.tool import AbortSignal

    model = ScriptedModel(["end"])
    failures: list[str] = []
    seen: list[str] = []

    class Sink:
        async def emit(self, event: Any) -> None:
            seen.append(event.type)

        def emit_now(self, event: Any) -> None:
            seen.append(event.type)

    config = AgentLoopConfig(
        model=model.model,
        stream_fn=model.stream_fn,
        get_steering_messages=_raise,
        get_follow_up_messages=_raise,
        on_hook_error=lambda name, error: failures.append(name),
    )
    await run_agent_loop([user("go")], AgentContext(), config, AbortSignal(), Sink())
    assert seen[-1] == "agent_end"
    assert set(failures) == {"get_steering_messages", "get_follow_up_messages"}


@pytest.mark.parametrize("at", ["agent_start", "message_update", "message_end", "turn_end", "tool_execution_update"])
async def test_a_listener_that_raises_ends_the_run_in_the_open(at: str) -> None:
    agent = agent_with(ScriptedModel([answer(tool_call("work", {}, "c1")), "end"]), FunctionTool("work", echo))

    def listener(event: Any, signal: Any) -> None:
        if event.type == at:
            raise RuntimeError("view broke")

    agent.subscribe(listener)
    events = record(agent)
    await agent.prompt("go")
    assert kinds(events)[-1] == "agent_end"
    assert not agent.state.is_streaming
    if at != "tool_execution_update":
        assert agent.state.error_message == "view broke"


async def test_a_stream_function_that_raises_becomes_an_error_message() -> None:
    def broken(model: Any, context: Context, options: Any) -> Any:
        raise RuntimeError("no stream")

    model = ScriptedModel([])
    agent = agent_with(model)
    agent.config.stream_fn = broken
    events = record(agent)
    await agent.prompt("go")
    assert agent.state.messages[-1].stop_reason == "error"
    assert "no stream" in (agent.state.messages[-1].error_message or "")
    assert kinds(events)[-1] == "agent_end"


async def test_should_stop_after_turn_ends_the_run_before_the_queues_are_asked() -> None:
    async def stop(turn: Any) -> bool:
        return True

    model = ScriptedModel([answer(tool_call("work", {}, "c1")), "never"])
    agent = agent_with(model, FunctionTool("work", echo), should_stop_after_turn=stop)
    agent.follow_up(user("next"))
    await agent.prompt("go")
    assert len(model.calls) == 1
    assert len(agent.follow_ups) == 1


async def test_state_copies_lists_and_a_run_works_on_a_snapshot() -> None:
    agent = agent_with(ScriptedModel(["one"]))
    mine = [user("old")]
    agent.state.messages = mine
    assert agent.state.messages == mine
    assert agent.state.messages is not mine
    agent.abort()
    agent.steer(user("later"))
    assert agent.state.messages == mine
    agent.reset()
    assert agent.state.messages == []
    assert not agent.has_queued_messages()


@pytest.mark.parametrize("hook", ["get_api_key", "transform_context"])
async def test_an_abort_ends_a_hook_that_waits_before_the_request(hook: str) -> None:
    waiting = anyio.Event()

    async def wait(*_: Any) -> Any:
        waiting.set()
        await anyio.sleep_forever()

    model = ScriptedModel(["never"])
    agent = agent_with(model, **{hook: wait})
    events = record(agent)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(agent.prompt, "go")
            await waiting.wait()
            agent.abort()
    assert agent.state.messages[-1].stop_reason == "aborted"
    assert not model.calls
    assert kinds(events)[-4:] == ["message_start", "message_end", "turn_end", "agent_end"]


async def test_an_abort_while_a_batch_is_prepared_runs_none_of_it() -> None:
    ran: list[str] = []

    async def work(name: str, on_update: OnUpdate) -> AgentToolResult:
        ran.append(name)
        return AgentToolResult.of_text(name)

    batch = answer(*(tool_call("work", {"name": str(n)}, f"c{n}") for n in range(3)))
    agent = agent_with(ScriptedModel([batch, "never"]), FunctionTool("work", work))

    def stop(event: Any, signal: Any) -> None:
        if event.type == "tool_execution_start" and event.tool_call_id == "c2":
            agent.abort()

    agent.subscribe(stop)
    await agent.prompt("go")
    assert ran == []
    assert results(agent.state.messages) == {f"c{n}": (True, "Operation aborted") for n in range(3)}


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
@pytest.mark.parametrize("fails_at", ["assistant", "toolResult"])
async def test_a_run_that_breaks_off_leaves_no_call_without_a_result(mode: Any, fails_at: str) -> None:
    kept: list[Any] = []

    async def store(message: Any) -> None:
        kept.append(message)
        if message.role == fails_at:
            raise RuntimeError("the disk is full")

    batch = answer(*(tool_call("work", {"name": str(n)}, f"c{n}") for n in range(3)))
    agent = agent_with(ScriptedModel([batch, "never"]), FunctionTool("work", echo, mode=mode))
    agent.subscribe(lambda event, signal: store(event.message) if event.type == "message_end" else None)
    await agent.prompt("go")
    told = [message.tool_call_id for message in kept if message.role == "toolResult"]
    assert told == ["c0", "c1", "c2"]
    assert list(results(agent.state.messages)) == told
    words = [text for _, text in results(agent.state.messages).values()]
    ran = {"assistant": 0, "toolResult": 3 if mode == "parallel" else 1}[fails_at]
    assert [word.startswith("done") for word in words] == [True] * ran + [False] * (3 - ran)
    assert agent.state.messages[-1].error_message == "the disk is full"
