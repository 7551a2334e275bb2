"""The ten AgentEvents in their four layers: agent, turn, message, tool execution (spec core §2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from app.agent.tool import AgentToolResult
from app.ai.events import AssistantMessageEvent
from app.ai.messages import AssistantMessage, ToolResultMessage

# A message of a run: one of app.ai.messages.Message, or one that the session or an extension added (open union).
AgentMessage = Any


@dataclass(frozen=True, slots=True)
class AgentStart:
    """A run began."""

    type: Literal["agent_start"] = "agent_start"


@dataclass(frozen=True, slots=True)
class AgentEnd:
    """A run ended, whatever happened; `messages` are those it added, prompts included."""

    messages: list[AgentMessage]
    type: Literal["agent_end"] = "agent_end"


@dataclass(frozen=True, slots=True)
class TurnStart:
    """One request to the model and the tool calls that follow from it begin."""

    type: Literal["turn_start"] = "turn_start"


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The turn is over: the answer and the results of its calls in call order."""

    message: AssistantMessage
    tool_results: list[ToolResultMessage]
    type: Literal["turn_end"] = "turn_end"


@dataclass(frozen=True, slots=True)
class MessageStart:
    """A message begins; an assistant's is still growing."""

    message: AgentMessage
    type: Literal["message_start"] = "message_start"


@dataclass(frozen=True, slots=True)
class MessageUpdate:
    """The answer grew; `message` is the live object. Delivered synchronously (one for each token)."""

    message: AssistantMessage
    assistant_message_event: AssistantMessageEvent
    type: Literal["message_update"] = "message_update"


@dataclass(frozen=True, slots=True)
class MessageEnd:
    """The message is final."""

    message: AgentMessage
    type: Literal["message_end"] = "message_end"


@dataclass(frozen=True, slots=True)
class ToolExecutionStart:
    """A call begins; `args` as the model gave them, before validation."""

    tool_call_id: str
    tool_name: str
    args: dict[str, Any]
    type: Literal["tool_execution_start"] = "tool_execution_start"


@dataclass(frozen=True, slots=True)
class ToolExecutionUpdate:
    """The tool has something to show so far; `partial_result` replaces the one before. Delivered synchronously."""

    tool_call_id: str
    tool_name: str
    args: dict[str, Any]
    partial_result: AgentToolResult
    type: Literal["tool_execution_update"] = "tool_execution_update"


@dataclass(frozen=True, slots=True)
class ToolExecutionEnd:
    """The call ended."""

    tool_call_id: str
    tool_name: str
    result: AgentToolResult
    is_error: bool
    type: Literal["tool_execution_end"] = "tool_execution_end"


AgentEvent = (
    AgentStart
    | AgentEnd
    | TurnStart
    | TurnEnd
    | MessageStart
    | MessageUpdate
    | MessageEnd
    | ToolExecutionStart
    | ToolExecutionUpdate
    | ToolExecutionEnd
)
