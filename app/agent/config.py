"""What a run is given: context, configuration and hooks (spec core §2.2); data only, nothing here runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.agent.events import AgentEvent, AgentMessage
from app.agent.tool import AbortSignal, AgentTool, AgentToolResult, ToolExecutionMode
from app.ai.messages import (
    AssistantMessage,
    ImageContent,
    Message,
    Model,
    TextContent,
    ToolCall,
    ToolResultMessage,
)
from app.ai.stream import StreamFn, StreamOptions


@dataclass(slots=True)
class AgentContext:
    """What one run sees: a copy made at its start, so that a change meanwhile counts from the next run on."""

    system_prompt: str = ""
    messages: list[AgentMessage] = field(default_factory=list)
    tools: list[AgentTool] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class BeforeToolCall:
    """What `before_tool_call` is asked about; it may change `args` in place before the tool sees them."""

    assistant_message: AssistantMessage
    tool_call: ToolCall
    args: Any
    context: AgentContext


@dataclass(frozen=True, slots=True)
class BeforeToolCallResult:
    """`block` stops the call; `reason` is what the model reads then."""

    block: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class AfterToolCall:
    """What `after_tool_call` is told."""

    assistant_message: AssistantMessage
    tool_call: ToolCall
    args: Any
    result: AgentToolResult
    is_error: bool
    context: AgentContext


@dataclass(frozen=True, slots=True)
class AfterToolCallResult:
    """Fields that replace those of the result, whole; None keeps what was there."""

    content: list[TextContent | ImageContent] | None = None
    details: Any = None
    is_error: bool | None = None
    terminate: bool | None = None


@dataclass(frozen=True, slots=True)
class TurnSummary:
    """What `should_stop_after_turn` is asked about; `goes_on`: the model is asked again because of its tool calls."""

    message: AssistantMessage
    tool_results: list[ToolResultMessage]
    context: AgentContext
    new_messages: list[AgentMessage]
    goes_on: bool = True


MessagesHook = Callable[[], Awaitable[list[AgentMessage]]]


def keep_model_messages(messages: list[AgentMessage]) -> list[Message]:
    """The messages that every model knows; others are left out. The default `convert_to_llm`."""
    return [message for message in messages if getattr(message, "role", "") in ("user", "assistant", "toolResult")]


@dataclass(slots=True)
class AgentLoopConfig:
    """How a run goes. No hook but `before_tool_call` and `after_tool_call` may raise; one that does is guarded:
    the run still ends with `agent_end`, and `on_hook_error(hook name, exception)` makes the failure visible.
    """

    model: Model
    stream_fn: StreamFn
    options: StreamOptions = field(default_factory=StreamOptions)
    convert_to_llm: Callable[[list[AgentMessage]], list[Message]] = keep_model_messages
    transform_context: Callable[[list[AgentMessage], AbortSignal], Awaitable[list[AgentMessage]]] | None = None
    get_api_key: Callable[[Model], Awaitable[StreamOptions | None]] | None = None
    should_stop_after_turn: Callable[[TurnSummary], Awaitable[bool]] | None = None
    get_steering_messages: MessagesHook | None = None
    get_follow_up_messages: MessagesHook | None = None
    before_tool_call: Callable[[BeforeToolCall, AbortSignal], Awaitable[BeforeToolCallResult | None]] | None = None
    after_tool_call: Callable[[AfterToolCall, AbortSignal], Awaitable[AfterToolCallResult | None]] | None = None
    tool_execution: ToolExecutionMode = "parallel"
    on_hook_error: Callable[[str, Exception], None] | None = None


class EventSink(Protocol):
    """Where a run's events go."""

    async def emit(self, event: AgentEvent) -> None:
        """Deliver and wait until every listener is done."""
        ...

    def emit_now(self, event: AgentEvent) -> None:
        """Deliver at once, without waiting: message_update, tool_execution_update, an answer's message_start."""
        ...
