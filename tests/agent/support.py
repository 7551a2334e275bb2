"""An Agent on a scripted model, tools that do what a test says, and a record of events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import BaseModel

from app.agent.agent import Agent
from app.agent.config import AgentLoopConfig
from app.agent.events import AgentEvent
from app.agent.state import AgentState
from app.agent.tool import AbortSignal, AgentTool, AgentToolResult, BaseTool, OnUpdate, ToolExecutionMode
from app.ai.adapters.scripted import ScriptedModel
from app.errors import ToolError


class Named(BaseModel):
    """Parameters of the test tools."""

    name: str = ""


class FunctionTool(BaseTool):
    """A tool whose work is a function of the call's name argument and the update callback."""

    description = "does what a test says"
    parameters = Named

    def __init__(
        self,
        name: str,
        work: Callable[[str, OnUpdate], Awaitable[AgentToolResult]],
        mode: ToolExecutionMode | None = None,
    ) -> None:
        self.name = self.label = name
        self.work = work
        self.execution_mode = mode

    async def execute(
        self, tool_call_id: str, params: Named, signal: AbortSignal, on_update: OnUpdate
    ) -> AgentToolResult:
        return await self.work(params.name, on_update)


async def echo(name: str, on_update: OnUpdate) -> AgentToolResult:
    on_update(AgentToolResult.of_text(name))
    return AgentToolResult.of_text(f"done {name}")


async def fail(name: str, on_update: OnUpdate) -> AgentToolResult:
    raise ToolError(f"no {name}")


def agent_with(model: ScriptedModel, *tools: AgentTool, **config: Any) -> Agent:
    loop = AgentLoopConfig(model=model.model, stream_fn=model.stream_fn, **config)
    return Agent(AgentState(model.model, tools=list(tools)), loop)


def record(agent: Agent) -> list[AgentEvent]:
    events: list[AgentEvent] = []
    agent.subscribe(lambda event, signal: events.append(event))
    return events


def kinds(events: list[AgentEvent]) -> list[str]:
    return [event.type for event in events if event.type != "message_update"]
