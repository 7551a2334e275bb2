"""History made fit to be sent, whoever wrote it (spec core §1.4, §1.5); it must never change the messages it is given.

What it promises to adapters: every call is followed at once by exactly one result, in call order; there is no result
without its call; ids are unique; failed and aborted answers are gone; images are gone where the model sees none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from app.ai.messages import (
    AssistantMessage,
    ImageContent,
    Message,
    Model,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

NormaliseId = Callable[[str, AssistantMessage], str]
_NO_RESULT = "No result provided"
_CUT_RESULT = "The arguments of this call were cut off before they were whole, so it was not run. Ask again."
_USER_IMAGE = "(image omitted: model does not support images)"
_TOOL_IMAGE = "(tool image omitted: model does not support images)"
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_-]")


def safe_id(call_id: str, limit_chars: int = 64) -> str:
    """The id with what is no ASCII letter, digit, `_` or `-` made `_`, cut to the limit."""
    return _NOT_IN_IDS.sub("_", call_id)[:limit_chars]


def is_same_model(message: AssistantMessage, model: Model) -> bool:
    """Whether the answer came from this very model, so that signatures may be replayed."""
    return message.provider == model.provider and message.api == model.api and message.model == model.id


def transform_messages(
    messages: Sequence[Message], model: Model, normalise_id: NormaliseId | None = None, max_id_chars: int = 64
) -> list[Message]:
    """The messages as this model may be sent them; see the module's promise.

    `normalise_id(id, message)` is asked for calls of other models only.
    """
    sees_images = "image" in model.input
    used_ids: set[str] = set()
    result: list[Message] = []
    for position, message in enumerate(messages):
        if isinstance(message, UserMessage):
            result.append(message if sees_images else _without_user_images(message))
        elif isinstance(message, AssistantMessage) and message.stop_reason not in ("error", "aborted"):
            answers = _answers(messages, position)
            ids = _new_ids(message, model, normalise_id, used_ids, max_id_chars)
            result.append(_replayed(message, model, ids))
            for call, new_id in zip(message.tool_calls(), ids, strict=True):
                given = answers.get(call.id)
                answer = _answer(call, new_id, given.pop(0) if given else None, message.timestamp)
                result.append(answer if sees_images else _without_tool_images(answer))
    return result


def _answers(messages: Sequence[Message], position: int) -> dict[str, list[ToolResultMessage]]:
    """The results that follow the answer at `position`, up to the next answer, by call id."""
    found: dict[str, list[ToolResultMessage]] = {}
    for message in messages[position + 1 :]:
        if isinstance(message, AssistantMessage):
            # An aborted answer may stand between a call and its results: it is not replayed.
            if message.stop_reason in ("error", "aborted") and not message.tool_calls():
                continue
            break
        if isinstance(message, ToolResultMessage):
            found.setdefault(message.tool_call_id, []).append(message)
    return found


def _new_ids(
    message: AssistantMessage, model: Model, normalise: NormaliseId | None, used: set[str], limit_chars: int
) -> list[str]:
    ids: list[str] = []
    foreign = not is_same_model(message, model)
    for call in message.tool_calls():
        wanted = normalise(call.id, message) if normalise and foreign and call.id else call.id
        wanted = wanted or "call"
        candidate, number = wanted, 1
        while candidate in used:
            number += 1
            ending = f"_{number}"
            candidate = wanted[: max(0, limit_chars - len(ending))] + ending
        used.add(candidate)
        ids.append(candidate)
    return ids


def _replayed(message: AssistantMessage, model: Model, ids: Sequence[str]) -> AssistantMessage:
    same = is_same_model(message, model)
    content: list[TextContent | ThinkingContent | ToolCall] = []
    remaining = iter(ids)
    for block in message.content:
        if isinstance(block, ToolCall):
            changes: dict[str, object] = {"id": next(remaining), "name": block.name or "unknown"}
            if not same:
                changes["thought_signature"] = None
            if block.cut:
                changes["arguments"] = {}
            content.append(block.model_copy(update=changes))
        elif isinstance(block, ThinkingContent):
            thinking = _thinking(block, same)
            if thinking is not None:
                content.append(thinking)
        else:
            content.append(block if same else TextContent(text=block.text))
    return message.model_copy(update={"content": content})


def _thinking(block: ThinkingContent, same: bool) -> TextContent | ThinkingContent | None:
    if same and (block.redacted or block.thinking_signature or block.thinking.strip()):
        return block
    if same or block.redacted or not block.thinking.strip():
        return None
    return TextContent(text=block.thinking)


def _answer(call: ToolCall, new_id: str, given: ToolResultMessage | None, timestamp: int) -> ToolResultMessage:
    name = call.name or "unknown"
    if given is None:
        text = _CUT_RESULT if call.cut else _NO_RESULT
        return ToolResultMessage(
            tool_call_id=new_id, tool_name=name, content=[TextContent(text=text)], is_error=True, timestamp=timestamp
        )
    if given.tool_call_id == new_id and not call.cut:
        return given
    return given.model_copy(update={"tool_call_id": new_id, "is_error": given.is_error or bool(call.cut)})


def _without_images(blocks: Sequence[TextContent | ImageContent], note: str) -> list[TextContent | ImageContent]:
    """The blocks with each run of images made one note."""
    result: list[TextContent | ImageContent] = []
    for block in blocks:
        if not isinstance(block, ImageContent):
            result.append(block)
        elif not (result and isinstance(result[-1], TextContent) and result[-1].text == note):
            result.append(TextContent(text=note))
    return result


def _without_user_images(message: UserMessage) -> UserMessage:
    if isinstance(message.content, str):
        return message
    return message.model_copy(update={"content": _without_images(message.content, _USER_IMAGE)})


def _without_tool_images(message: ToolResultMessage) -> ToolResultMessage:
    if not any(isinstance(block, ImageContent) for block in message.content):
        return message
    return message.model_copy(update={"content": _without_images(message.content, _TOOL_IMAGE)})
