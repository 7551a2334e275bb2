"""The order of events, case by case, against what the real pi 0.73.1 was recorded to emit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from app.agent.events import AgentEvent, MessageEnd, MessageStart, ToolExecutionEnd, TurnEnd
from app.agent.tool import AgentToolResult, OnUpdate
from app.ai.adapters.scripted import ScriptedModel, answer, text, thinking, tool_call
from tests.agent.support import FunctionTool, agent_with, echo, fail, kinds, record

RECORDED = Path(__file__).parent.parent / "data" / "events"


def test_there_are_ten_agent_events() -> None:
    assert [kind.__dataclass_fields__["type"].default for kind in get_args(AgentEvent)] == [
        "agent_start",
        "agent_end",
        "turn_start",
        "turn_end",
        "message_start",
        "message_update",
        "message_end",
        "tool_execution_start",
        "tool_execution_update",
        "tool_execution_end",
    ]


def shape(event: AgentEvent) -> dict[str, Any]:
    """What the recordings keep of an event."""
    told: dict[str, Any] = {"type": event.type}
    match event:
        case MessageStart(message) | MessageEnd(message):
            told["role"] = message.role
            if message.role == "assistant" and isinstance(event, MessageEnd):
                told["stopReason"] = message.stop_reason
                told["blocks"] = [block.type for block in message.content]
            if message.role == "toolResult":
                told |= {"call": message.tool_call_id, "isError": message.is_error}
        case ToolExecutionEnd(call, _, _, is_error):
            told |= {"call": call, "isError": is_error}
        case TurnEnd(message, results):
            told |= {"toolResults": len(results), "stopReason": message.stop_reason}
        case _:
            pass
    return told


def recorded(scenario: str) -> list[dict[str, Any]]:
    data = json.loads((RECORDED / f"{scenario}.json").read_text("utf-8"))
    wanted = []
    for event in data["openai-completions"]:
        if event["type"] in ("session", "message_update", "tool_execution_update"):
            continue
        keep = {"type", "role", "call", "isError", "toolResults", "stopReason", "blocks"}
        kept = {key: value for key, value in event.items() if key in keep}
        if event["type"] == "message_start":
            kept.pop("stopReason", None)
            kept.pop("blocks", None)
        if event["type"] == "tool_execution_start":
            kept.pop("call")
        wanted.append({key: value for key, value in kept.items() if key != "messages"})
    return wanted


def script(scenario: str) -> list[Any]:
    def calls(*ids: str) -> Any:
        return answer(*(tool_call("work", {"name": call_id}, call_id) for call_id in ids))

    done = answer(text("one two three four"))
    return {
        "plain": [done],
        "thinking": [answer(thinking("hm"), text("well"))],
        "tool-once": [calls("c1"), done],
        "tool-twice": [calls("c1"), calls("c2"), done],
        "parallel-bash": [calls("c1", "c2", "c3"), done],
        "parallel-reads": [calls("c1", "c2", "c3"), done],
        "tool-fails": [calls("c1"), done],
    }[scenario]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "scenario", ["plain", "thinking", "tool-once", "tool-twice", "parallel-bash", "parallel-reads", "tool-fails"]
)
async def test_events_come_in_the_recorded_order(scenario: str) -> None:
    failing = scenario in ("tool-fails", "parallel-reads")
    agent = agent_with(ScriptedModel(script(scenario)), FunctionTool("work", fail if failing else echo))
    events = record(agent)
    await agent.prompt("go")
    seen = [shape(event) for event in events if event.type not in ("message_update", "tool_execution_update")]
    assert seen == recorded(scenario)


@pytest.mark.anyio
async def test_a_failure_before_the_stream_began_is_still_a_message_with_start_and_end() -> None:
    agent = agent_with(ScriptedModel([]))
    events = record(agent)
    await agent.prompt("go")
    assert kinds(events) == [
        "agent_start",
        "turn_start",
        "message_start",
        "message_end",
        "message_start",
        "message_end",
        "turn_end",
        "agent_end",
    ]
    assert agent.state.error_message


@pytest.mark.anyio
async def test_one_sequential_tool_makes_the_whole_batch_sequential() -> None:
    running: list[str] = []
    most = 0

    async def busy(name: str, on_update: OnUpdate) -> AgentToolResult:
        nonlocal most
        running.append(name)
        most = max(most, len(running))
        await _turn_over()
        running.remove(name)
        return AgentToolResult.of_text(name)

    batch = answer(tool_call("a", {"name": "1"}, "c1"), tool_call("b", {"name": "2"}, "c2"))
    agent = agent_with(
        ScriptedModel([batch, "end"]), FunctionTool("a", busy), FunctionTool("b", busy, mode="sequential")
    )
    events = record(agent)
    await agent.prompt("go")
    assert most == 1
    between = kinds(events)[6:14]
    assert between == [
        "tool_execution_start",
        "tool_execution_end",
        "message_start",
        "message_end",
        "tool_execution_start",
        "tool_execution_end",
        "message_start",
        "message_end",
    ]


@pytest.mark.anyio
async def test_parallel_results_stand_in_call_order_whichever_ends_first() -> None:
    import anyio

    second_done = anyio.Event()

    async def work(name: str, on_update: OnUpdate) -> AgentToolResult:
        if name == "first":
            await second_done.wait()
        else:
            second_done.set()
        return AgentToolResult.of_text(name)

    batch = answer(tool_call("work", {"name": "first"}, "c1"), tool_call("work", {"name": "second"}, "c2"))
    agent = agent_with(ScriptedModel([batch, "end"]), FunctionTool("work", work))
    events = record(agent)
    await agent.prompt("go")
    assert [event.tool_call_id for event in events if isinstance(event, ToolExecutionEnd)] == ["c2", "c1"]
    results = [message.tool_call_id for message in agent.state.messages if message.role == "toolResult"]
    assert results == ["c1", "c2"]


async def _turn_over() -> None:
    import anyio.lowlevel

    for _ in range(3):
        await anyio.lowlevel.checkpoint()
