"""The twelve events of a streaming answer (spec core §1.2); plain data, made by adapters, read by the loop.

`partial` is the live message that grows in place: whoever needs a still picture copies it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.ai.messages import AssistantMessage, ToolCall


@dataclass(frozen=True, slots=True)
class StreamStart:
    """The provider accepted the request; comes before every other event except an early `StreamError`."""

    partial: AssistantMessage
    type: Literal["start"] = "start"


@dataclass(frozen=True, slots=True)
class TextStart:
    """A text block was opened at `content_index`."""

    content_index: int
    partial: AssistantMessage
    type: Literal["text_start"] = "text_start"


@dataclass(frozen=True, slots=True)
class TextDelta:
    """`delta` was appended to the text block at `content_index`."""

    content_index: int
    delta: str
    partial: AssistantMessage
    type: Literal["text_delta"] = "text_delta"


@dataclass(frozen=True, slots=True)
class TextEnd:
    """The text block is whole: `content`."""

    content_index: int
    content: str
    partial: AssistantMessage
    type: Literal["text_end"] = "text_end"


@dataclass(frozen=True, slots=True)
class ThinkingStart:
    """A thinking block was opened."""

    content_index: int
    partial: AssistantMessage
    type: Literal["thinking_start"] = "thinking_start"


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """`delta` was appended to the thinking block."""

    content_index: int
    delta: str
    partial: AssistantMessage
    type: Literal["thinking_delta"] = "thinking_delta"


@dataclass(frozen=True, slots=True)
class ThinkingEnd:
    """The thinking block is whole: `content`."""

    content_index: int
    content: str
    partial: AssistantMessage
    type: Literal["thinking_end"] = "thinking_end"


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """A tool call was opened; its name may still be empty."""

    content_index: int
    partial: AssistantMessage
    type: Literal["toolcall_start"] = "toolcall_start"


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """`delta` is a piece of the arguments' JSON text."""

    content_index: int
    delta: str
    partial: AssistantMessage
    type: Literal["toolcall_delta"] = "toolcall_delta"


@dataclass(frozen=True, slots=True)
class ToolCallEnd:
    """The call is whole (or `tool_call.cut`)."""

    content_index: int
    tool_call: ToolCall
    partial: AssistantMessage
    type: Literal["toolcall_end"] = "toolcall_end"


@dataclass(frozen=True, slots=True)
class StreamDone:
    """The answer is whole."""

    reason: Literal["stop", "length", "toolUse"]
    message: AssistantMessage
    type: Literal["done"] = "done"


@dataclass(frozen=True, slots=True)
class StreamError:
    """The answer failed or was aborted; `message` keeps what had arrived and says why in `error_message`."""

    reason: Literal["error", "aborted"]
    message: AssistantMessage
    type: Literal["error"] = "error"


AssistantMessageEvent = (
    StreamStart
    | TextStart
    | TextDelta
    | TextEnd
    | ThinkingStart
    | ThinkingDelta
    | ThinkingEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | StreamDone
    | StreamError
)
