"""What an Agent holds between runs: model, prompt, tools, messages, and what is going on now."""

from __future__ import annotations

from app.agent.events import (
    AgentEnd,
    AgentEvent,
    AgentMessage,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    ToolExecutionEnd,
    ToolExecutionStart,
    TurnEnd,
)
from app.agent.tool import AgentTool
from app.ai.messages import AssistantMessage, Model, ThinkingLevel


class AgentState:
    """`tools` and `messages` copy the list that is assigned; what a run changes can only be read."""

    def __init__(
        self,
        model: Model,
        system_prompt: str = "",
        thinking_level: ThinkingLevel = "off",
        tools: list[AgentTool] | None = None,
        messages: list[AgentMessage] | None = None,
    ) -> None:
        self.model = model
        self.system_prompt = system_prompt
        self.thinking_level = thinking_level
        self._tools = list(tools or [])
        self._messages = list(messages or [])
        self._is_streaming = False
        self._streaming_message: AgentMessage | None = None
        self._pending_tool_calls: frozenset[str] = frozenset()
        self._error_message: str | None = None

    @property
    def tools(self) -> list[AgentTool]:
        """The tools on offer (the live list)."""
        return self._tools

    @tools.setter
    def tools(self, tools: list[AgentTool]) -> None:
        self._tools = list(tools)

    @property
    def messages(self) -> list[AgentMessage]:
        """The conversation (the live list)."""
        return self._messages

    @messages.setter
    def messages(self, messages: list[AgentMessage]) -> None:
        self._messages = list(messages)

    @property
    def is_streaming(self) -> bool:
        """Whether a run is going on; true until the listeners of agent_end are done."""
        return self._is_streaming

    @property
    def streaming_message(self) -> AgentMessage | None:
        """The message that is growing now."""
        return self._streaming_message

    @property
    def pending_tool_calls(self) -> frozenset[str]:
        """The ids of calls that run now; replaced, never changed in place."""
        return self._pending_tool_calls

    @property
    def error_message(self) -> str | None:
        """Why the last answer failed."""
        return self._error_message

    def begin_run(self) -> None:
        """A run begins."""
        self._is_streaming = True
        self._streaming_message = None
        self._error_message = None

    def end_run(self) -> None:
        """A run is over, its listeners too."""
        self._is_streaming = False
        self._streaming_message = None
        self._pending_tool_calls = frozenset()

    def clear(self) -> None:
        """Forget the conversation; model, prompt and tools stay."""
        self._messages = []
        self._streaming_message = None
        self._pending_tool_calls = frozenset()
        self._error_message = None

    def fail(self, message: AssistantMessage) -> None:
        """Keep the message that says why a run broke off."""
        self._messages.append(message)
        self._error_message = message.error_message

    def reduce(self, event: AgentEvent) -> None:
        """Take over what an event says; comes before any listener."""
        match event:
            case MessageStart(message) | MessageUpdate(message):
                self._streaming_message = message
            case MessageEnd(message):
                self._streaming_message = None
                self._messages.append(message)
            case ToolExecutionStart(call_id):
                self._pending_tool_calls |= {call_id}
            case ToolExecutionEnd(call_id):
                self._pending_tool_calls -= {call_id}
            case TurnEnd(message):
                self._error_message = message.error_message or self._error_message
            case AgentEnd():
                self._streaming_message = None
            case _:
                pass
