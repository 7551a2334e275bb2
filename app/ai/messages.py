"""The messages that go to and come from models, under their wire names; they must never know a provider.

Python sees snake_case, files and JSON see pi's camelCase (spec core §1.1). Foreign files are read leniently:
unknown members are kept, and what is missing or of a wrong kind gets a harmless value (cases S5).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

StopReason = Literal["stop", "length", "toolUse", "error", "aborted"]
ThinkingLevel = Literal["off", "minimal", "low", "medium", "high", "xhigh"]
InputKind = Literal["text", "image"]
THINKING_LEVELS: tuple[ThinkingLevel, ...] = ("off", "minimal", "low", "medium", "high", "xhigh")


def now_ms() -> int:
    """The present time in milliseconds since 1970 (message timestamps)."""
    return int(time.time() * 1000)


class WireModel(BaseModel):
    """A value of a file or of the wire: camelCase outside, unknown members survive a round trip."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")

    def to_wire(self) -> dict[str, Any]:
        """The JSON object that pi writes: camelCase, absent members left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def _as_text(value: object) -> object:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _as_object(value: object) -> object:
    return value if isinstance(value, dict) else {} if value is None else {"value": value}


_BLOCK_TYPES = frozenset({"text", "thinking", "image", "toolCall"})


def _as_block(value: object) -> object:
    """A block of a kind we don't know becomes a text that says so: the file keeps the original."""
    if isinstance(value, dict) and value.get("type") not in _BLOCK_TYPES:
        return {"type": "text", "text": f"[{value.get('type', 'unknown')} block]"}
    return {"type": "text", "text": value} if isinstance(value, str) else value


def _as_blocks(value: object) -> object:
    if value is None:
        return []
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    return [_as_block(block) for block in value] if isinstance(value, list) else []


def _as_user_content(value: object) -> object:
    return value if isinstance(value, str) else _as_blocks(value)


def _as_number(value: object) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


LenientText = Annotated[str, BeforeValidator(_as_text)]
LenientNumber = Annotated[float, BeforeValidator(_as_number)]
LenientInt = Annotated[int, BeforeValidator(lambda value: int(_as_number(value)))]


class TextContent(WireModel):
    """Plain text; `text_signature` is the provider's own, replayed only to the same model."""

    type: Literal["text"] = "text"
    text: LenientText = ""
    text_signature: str | None = None


class ThinkingContent(WireModel):
    """Reasoning; with `redacted` the signature holds the encrypted payload and the text is a stand-in.

    `duration_ms` is ours: how long the model thought, written by the loop.
    """

    type: Literal["thinking"] = "thinking"
    thinking: LenientText = ""
    thinking_signature: str | None = None
    redacted: bool | None = None
    duration_ms: int | None = None


class ImageContent(WireModel):
    """An image: base64 `data` without a data: prefix."""

    type: Literal["image"] = "image"
    data: LenientText = ""
    mime_type: LenientText = "image/png"


class ToolCall(WireModel):
    """A call that the model asks for. `arguments` is always an object.

    `cut` marks a call whose arguments never arrived whole: it is never run (architecture §2).
    """

    type: Literal["toolCall"] = "toolCall"
    id: LenientText = ""
    name: LenientText = ""
    arguments: Annotated[dict[str, Any], BeforeValidator(_as_object)] = Field(default_factory=dict)
    thought_signature: str | None = None
    cut: bool | None = None


UserBlock = Annotated[TextContent | ImageContent, Field(discriminator="type")]
AssistantBlock = Annotated[TextContent | ThinkingContent | ToolCall, Field(discriminator="type")]


class Cost(WireModel):
    """US dollars."""

    input: LenientNumber = 0.0
    output: LenientNumber = 0.0
    cache_read: LenientNumber = 0.0
    cache_write: LenientNumber = 0.0
    total: LenientNumber = 0.0


class Usage(WireModel):
    """Tokens of one answer. `input` is always the part that did not come from the cache."""

    input: LenientInt = 0
    output: LenientInt = 0
    cache_read: LenientInt = 0
    cache_write: LenientInt = 0
    total_tokens: LenientInt = 0
    cost: Annotated[Cost, BeforeValidator(lambda v: v if isinstance(v, dict | Cost) else {})] = Field(
        default_factory=Cost
    )


Timestamp = Annotated[int, BeforeValidator(lambda v: int(_as_number(v)))]


class UserMessage(WireModel):
    """What the user said; a string or blocks of text and images."""

    role: Literal["user"] = "user"
    content: Annotated[str | list[UserBlock], BeforeValidator(_as_user_content)] = ""
    timestamp: Timestamp = Field(default_factory=now_ms)


class AssistantMessage(WireModel):
    """A model's answer. While it streams, this very object grows in place.

    `error_kind` (ErrorKind value), `retryable` and `retry_after_s` are set beside `error_message`, for retries.
    """

    role: Literal["assistant"] = "assistant"
    content: Annotated[list[AssistantBlock], BeforeValidator(_as_blocks)] = Field(default_factory=list)
    api: LenientText = ""
    provider: LenientText = ""
    model: LenientText = ""
    response_model: str | None = None
    response_id: str | None = None
    usage: Annotated[Usage, BeforeValidator(lambda v: v if isinstance(v, dict | Usage) else {})] = Field(
        default_factory=Usage
    )
    stop_reason: StopReason = "stop"
    error_message: str | None = None
    error_kind: str | None = None
    retryable: bool | None = None
    retry_after_s: float | None = None
    timestamp: Timestamp = Field(default_factory=now_ms)

    def tool_calls(self) -> list[ToolCall]:
        """The calls in it, in order, cut ones included."""
        return [block for block in self.content if isinstance(block, ToolCall)]

    def text(self) -> str:
        """Its text blocks, joined by nothing."""
        return "".join(block.text for block in self.content if isinstance(block, TextContent))


class ToolResultMessage(WireModel):
    """What a tool call gave; `details` is a JSON object that only the tool's renderer reads.

    `duration_ms` is ours: how long the tool ran, written by the loop, ignored by pi.
    """

    role: Literal["toolResult"] = "toolResult"
    tool_call_id: LenientText = ""
    tool_name: LenientText = ""
    content: Annotated[list[UserBlock], BeforeValidator(_as_blocks)] = Field(default_factory=list)
    details: Any = None
    is_error: bool = False
    duration_ms: int | None = None
    timestamp: Timestamp = Field(default_factory=now_ms)

    def text(self) -> str:
        """Its text blocks joined by line feeds."""
        return "\n".join(block.text for block in self.content if isinstance(block, TextContent))


Message = UserMessage | AssistantMessage | ToolResultMessage


class ModelCost(WireModel):
    """US dollars per million tokens."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0


class Model(WireModel):
    """A model that can be asked. Two are the same when provider and id are."""

    id: str
    name: str = ""
    api: str
    provider: str
    base_url: str = ""
    reasoning: bool = False
    thinking_level_map: dict[str, str | None] | None = None
    input: list[InputKind] = Field(default_factory=lambda: list[InputKind](("text",)))
    cost: ModelCost = Field(default_factory=ModelCost)
    context_window: int = Field(default=128_000, gt=0)
    max_tokens: int = Field(default=16_384, gt=0)
    headers: dict[str, str] | None = None
    compat: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it; `parameters` is a JSON schema object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Context:
    """One request: system prompt, messages in order, tools on offer."""

    system_prompt: str | None = None
    messages: list[Message] = field(default_factory=list)
    tools: list[ToolSpec] = field(default_factory=list)
