"""The session's own messages, the registry of message types, what a model reads of them; it never touches a file.

Source: spec core §3.1. The two sentences before summaries are our own words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, assert_never

from pydantic import BaseModel, BeforeValidator, Field

from app.ai.messages import (
    AssistantMessage,
    ImageContent,
    LenientInt,
    LenientText,
    Message,
    TextContent,
    ToolResultMessage,
    UserBlock,
    UserMessage,
    WireModel,
    now_ms,
)
from app.session.entries import iso_to_ms

BRANCH_PREFIX = (
    "The user tried another branch of this conversation and came back here. "
    "What happened on it, in short:\n\n<summary>\n"
)
BRANCH_SUFFIX = "</summary>"
COMPACTION_PREFIX = (
    "To make room, the conversation before this point was condensed into the summary that follows:\n\n<summary>\n"
)
COMPACTION_SUFFIX = "\n</summary>"
IMAGES_OFF = "[image left out: reading images is turned off in the settings]"


def _content(value: object) -> object:
    """User-like content: a string, or blocks of text and images; another kind becomes a text that names it."""
    if isinstance(value, str):
        return value
    return [_block(block) for block in value] if isinstance(value, list) else ""


def _block(value: object) -> object:
    if isinstance(value, str):
        return {"type": "text", "text": value}
    if isinstance(value, dict) and value.get("type") not in ("text", "image"):
        return {"type": "text", "text": f"[{value.get('type', 'unknown')} block]"}
    return value


def _flag(value: object) -> bool:
    return value is True


def _whole(value: object) -> object:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text_or_none(value: object) -> object:
    return value if isinstance(value, str) else None


Flag = Annotated[bool, BeforeValidator(_flag)]


class BashExecutionMessage(WireModel):
    """A command that the user ran with `!`; with `exclude_from_context` (`!!`) it is shown and never sent."""

    role: Literal["bashExecution"] = "bashExecution"
    command: LenientText = ""
    output: LenientText = ""
    exit_code: Annotated[int | None, BeforeValidator(_whole)] = None
    cancelled: Flag = False
    truncated: Flag = False
    full_output_path: Annotated[str | None, BeforeValidator(_text_or_none)] = None
    exclude_from_context: Flag = False
    timestamp: LenientInt = Field(default_factory=now_ms)

    def llm_text(self) -> str:
        """What the model reads of it (the shape is pinned by spec core §3.1)."""
        parts = [f"Ran `{self.command}`\n" + (f"```\n{self.output}\n```" if self.output else "(no output)")]
        if self.cancelled:
            parts.append("(command cancelled)")
        elif self.exit_code:
            parts.append(f"Command exited with code {self.exit_code}")
        if self.truncated and self.full_output_path:
            parts.append(f"[Output truncated. Full output: {self.full_output_path}]")
        return "\n\n".join(parts)


class CustomMessage(WireModel):
    """A message that an extension put into the conversation; with `display` false it is sent and not shown."""

    role: Literal["custom"] = "custom"
    custom_type: LenientText = ""
    content: Annotated[str | list[UserBlock], BeforeValidator(_content)] = ""
    display: Annotated[bool, BeforeValidator(lambda value: value is not False)] = True
    details: Any = None
    timestamp: LenientInt = Field(default_factory=now_ms)


class BranchSummaryMessage(WireModel):
    """What happened on a branch that was left; `from_id` is the entry it was attached to (`root` for none)."""

    role: Literal["branchSummary"] = "branchSummary"
    summary: LenientText = ""
    from_id: LenientText = ""
    timestamp: LenientInt = Field(default_factory=now_ms)


class CompactionSummaryMessage(WireModel):
    """What stands for the history before a compaction; `tokens_before` is how large the conversation was.

    `tokens_kept` is ours: how much of it was kept word for word; None where that was not written down.
    """

    role: Literal["compactionSummary"] = "compactionSummary"
    summary: LenientText = ""
    tokens_before: LenientInt = 0
    tokens_kept: int | None = None
    timestamp: LenientInt = Field(default_factory=now_ms)


class OpaqueMessage(WireModel):
    """A message of a role that nothing here knows: kept whole, written back whole, never sent."""

    role: LenientText = ""
    timestamp: LenientInt = 0


BuiltinMessage = (
    UserMessage
    | AssistantMessage
    | ToolResultMessage
    | BashExecutionMessage
    | CustomMessage
    | BranchSummaryMessage
    | CompactionSummaryMessage
)
# The open union: the built-ins, those of extensions (any pydantic model with a role), and OpaqueMessage.
AgentMessage = BuiltinMessage | BaseModel
ToLlm = Callable[[Any], "Message | Sequence[Message] | None"]
OnError = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class MessageType:
    """A registered role: its model, and what a model of the world outside reads of it."""

    role: str
    model: type[BaseModel]
    to_llm: ToLlm


BUILTIN_MODELS: dict[str, type[WireModel]] = {
    "user": UserMessage,
    "assistant": AssistantMessage,
    "toolResult": ToolResultMessage,
    "bashExecution": BashExecutionMessage,
    "custom": CustomMessage,
    "branchSummary": BranchSummaryMessage,
    "compactionSummary": CompactionSummaryMessage,
}
_registered: dict[str, MessageType] = {}


def register_message_type(role: str, model: type[BaseModel], to_llm: ToLlm) -> None:
    """Make messages of `role` known: `model` reads them from a file, `to_llm` gives what is sent (None: nothing).

    The last registration of a role wins. Raises ValueError for a built-in role or an empty one.
    """
    if not role or role in BUILTIN_MODELS:
        raise ValueError(f"the message role {role!r} is {'built in' if role else 'empty'}; choose another name")
    _registered[role] = MessageType(role, model, to_llm)


def message_type(role: str) -> MessageType | None:
    """What was registered for a role, None for an unknown one."""
    return _registered.get(role)


def bash_execution_message(
    command: str,
    output: str,
    timestamp: str,
    *,
    exit_code: int | None = None,
    cancelled: bool = False,
    truncated: bool = False,
    full_output_path: str | None = None,
    exclude_from_context: bool = False,
) -> BashExecutionMessage:
    """A user's command; `timestamp` is an ISO time (TypeError for a number)."""
    return BashExecutionMessage(
        command=command,
        output=output,
        exit_code=exit_code,
        cancelled=cancelled,
        truncated=truncated,
        full_output_path=full_output_path,
        exclude_from_context=exclude_from_context,
        timestamp=iso_to_ms(timestamp),
    )


def custom_message(
    custom_type: str, content: str | list[TextContent | ImageContent], display: bool, details: object, timestamp: str
) -> CustomMessage:
    """An extension's message; `timestamp` is an ISO time (TypeError for a number)."""
    ms = iso_to_ms(timestamp)
    message = CustomMessage(custom_type=custom_type, display=display, details=details, timestamp=ms)
    message.content = content
    return message


def branch_summary_message(summary: str, from_id: str, timestamp: str) -> BranchSummaryMessage:
    """A branch summary; `timestamp` is an ISO time (TypeError for a number)."""
    return BranchSummaryMessage(summary=summary, from_id=from_id, timestamp=iso_to_ms(timestamp))


def compaction_summary_message(summary: str, tokens_before: int, timestamp: str) -> CompactionSummaryMessage:
    """A compaction summary; `timestamp` is an ISO time (TypeError for a number)."""
    return CompactionSummaryMessage(summary=summary, tokens_before=tokens_before, timestamp=iso_to_ms(timestamp))


def _user(content: str | list[TextContent | ImageContent], timestamp: int) -> UserMessage:
    blocks = [TextContent(text=content)] if isinstance(content, str) else content
    return UserMessage.model_construct(role="user", content=list(blocks), timestamp=timestamp)


def _builtin_to_llm(message: BuiltinMessage) -> Message | None:
    match message:
        case UserMessage() | AssistantMessage() | ToolResultMessage():
            return message
        case BashExecutionMessage():
            return None if message.exclude_from_context else _user(message.llm_text(), message.timestamp)
        case CustomMessage():
            return _user(message.content, message.timestamp)
        case BranchSummaryMessage():
            return _user(BRANCH_PREFIX + message.summary + BRANCH_SUFFIX, message.timestamp)
        case CompactionSummaryMessage():
            return _user(COMPACTION_PREFIX + message.summary + COMPACTION_SUFFIX, message.timestamp)
        case _:
            assert_never(message)


def convert_to_llm(messages: Iterable[AgentMessage], on_error: OnError | None = None) -> list[Message]:
    """What is sent of `messages`, in order: user, assistant and toolResult as the same objects, the rest as user text.

    Unknown roles are dropped. Never raises: a registered `to_llm` that fails drops its message and says so to
    `on_error` in one line.
    """
    sent: list[Message] = []
    for message in messages:
        if isinstance(message, BuiltinMessage):
            if (converted := _builtin_to_llm(message)) is not None:
                sent.append(converted)
            continue
        role = getattr(message, "role", "")
        known = _registered.get(role) if isinstance(role, str) else None
        if known is None:
            continue
        try:
            given = known.to_llm(message)
            items = [] if given is None else [given] if isinstance(given, Message) else list(given)
        except Exception as error:
            if on_error is not None:
                on_error(f"a message of role {role!r} was left out of the request: {type(error).__name__}: {error}")
            continue
        sent.extend(item for item in items if isinstance(item, Message))
    return sent


def block_images(messages: Iterable[Message]) -> list[Message]:
    """The same messages without images: each becomes one short text, neighbours that are the same collapse to one.

    For the setting images.blockImages, asked at every request; history and file keep the images (spec core §3.1).
    """
    return [_without_images(message) for message in messages]


def _without_images(message: Message) -> Message:
    if not isinstance(message, UserMessage | ToolResultMessage) or isinstance(message.content, str):
        return message
    if not any(isinstance(block, ImageContent) for block in message.content):
        return message
    blocks: list[UserBlock] = []
    for block in message.content:
        kept = TextContent(text=IMAGES_OFF) if isinstance(block, ImageContent) else block
        before = blocks[-1] if blocks else None
        twin = isinstance(before, TextContent) and before.text == IMAGES_OFF
        if not (twin and isinstance(kept, TextContent) and kept.text == IMAGES_OFF):
            blocks.append(kept)
    return message.model_copy(update={"content": blocks})
