"""A Responses request out of a context (spec core §1.8); it must never ask the provider to store anything."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from app.ai.adapters.wire import endpoint, json_body, max_output_tokens, merged_headers
from app.ai.handoff import safe_id, transform_messages
from app.ai.http import WireRequest
from app.ai.messages import (
    AssistantMessage,
    Context,
    ImageContent,
    Model,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from app.ai.stream import StreamOptions

# Providers that take item ids of their own back; others get one plain id.
_WITH_ITEM_IDS = frozenset({"openai", "openai-codex", "opencode", "azure-openai-responses"})
_ID_CHARS = 64
Wire = dict[str, Any]


def build_request(model: Model, context: Context, options: StreamOptions) -> WireRequest:
    """The POST for this context. Raises ModelError when the model has no address."""
    payload: Wire = {
        "model": model.id,
        "input": response_items(model, context),
        "stream": True,
        "store": False,
        "max_output_tokens": max_output_tokens(model, options),
    }
    if options.temperature is not None:
        payload["temperature"] = options.temperature
    if context.tools:
        payload["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "strict": False,
            }
            for tool in context.tools
        ]
    if model.reasoning:
        payload.update(_reasoning(model, options))
    compat = model.compat or {}
    session_headers: dict[str, str] = {}
    if options.session_id and options.cache_retention != "none":
        payload["prompt_cache_key"] = options.session_id
        if options.cache_retention == "long" and compat.get("supportsLongCacheRetention", True):
            payload["prompt_cache_retention"] = "24h"
        session_headers["x-client-request-id"] = options.session_id
        if compat.get("sendSessionIdHeader", True):
            session_headers["session_id"] = options.session_id
    key = (options.api_key or "").strip()
    headers = merged_headers(
        {"content-type": "application/json", "accept": "text/event-stream"},
        {"authorization": f"Bearer {key}"} if key else None,
        session_headers,
        model.headers,
        options.headers,
    )
    return WireRequest(endpoint(model, "/responses"), headers, json_body(payload), (key,))


def _reasoning(model: Model, options: StreamOptions) -> Wire:
    levels = model.thinking_level_map or {}
    level = options.reasoning or "off"
    if level != "off":
        effort = levels.get(level) or level
        return {
            "reasoning": {"effort": effort, "summary": "auto"},
            "include": ["reasoning.encrypted_content"],
        }
    if model.provider == "github-copilot" or ("off" in levels and levels["off"] is None):
        return {}
    return {"reasoning": {"effort": levels.get("off") or "none"}}


def _normaliser(model: Model) -> Any:
    def normalise(call_id: str, message: AssistantMessage) -> str:
        if model.provider not in _WITH_ITEM_IDS or "|" not in call_id:
            return safe_id(call_id, _ID_CHARS)
        first, _, item = call_id.partition("|")
        if message.provider != model.provider or message.api != model.api:
            item = sha256(item.encode("utf-8", "replace")).hexdigest()[:20]
        item = safe_id(item, _ID_CHARS)
        if not item.startswith("fc_"):
            item = f"fc_{item}"
        return f"{safe_id(first, _ID_CHARS)}|{item[:_ID_CHARS].rstrip('_')}"

    return normalise


def response_items(model: Model, context: Context) -> list[Wire]:
    """The `input` member: system prompt, then the history as items."""
    result: list[Wire] = []
    if context.system_prompt:
        result.append({"role": "developer" if model.reasoning else "system", "content": context.system_prompt})
    call_ids: dict[str, str] = {}
    used: set[str] = set()
    for message in transform_messages(context.messages, model, _normaliser(model), max_id_chars=4 * _ID_CHARS):
        if isinstance(message, UserMessage):
            content = _user_content(message)
            if content:
                result.append({"role": "user", "content": content})
        elif isinstance(message, AssistantMessage):
            for call in message.tool_calls():
                call_ids[call.id] = _unused(call.id.partition("|")[0], used)
            result += _assistant(message, model, call_ids, len(result))
        else:
            call_id = call_ids[message.tool_call_id]
            result.append({"type": "function_call_output", "call_id": call_id, "output": _output(message)})
    return result


def _unused(call_id: str, used: set[str]) -> str:
    """The id, or a variant of it: some hosts give the same call id in every turn."""
    wanted = call_id[:_ID_CHARS] or "call"
    candidate, number = wanted, 1
    while candidate in used:
        number += 1
        candidate = f"{wanted[: _ID_CHARS - 6]}_{number}"
    used.add(candidate)
    return candidate


def _image(block: ImageContent) -> Wire:
    return {"type": "input_image", "detail": "auto", "image_url": f"data:{block.mime_type};base64,{block.data}"}


def _user_content(message: UserMessage) -> list[Wire]:
    blocks = [TextContent(text=message.content)] if isinstance(message.content, str) else message.content
    return [
        _image(block) if isinstance(block, ImageContent) else {"type": "input_text", "text": block.text}
        for block in blocks
        if isinstance(block, ImageContent) or block.text
    ]


def _output(message: ToolResultMessage) -> str | list[Wire]:
    text = message.text()
    images = [_image(block) for block in message.content if isinstance(block, ImageContent)]
    if not images:
        return text
    return [{"type": "input_text", "text": text}, *images] if text else images


def _assistant(message: AssistantMessage, model: Model, call_ids: dict[str, str], position: int) -> list[Wire]:
    items: list[Wire] = []
    for block in message.content:
        if isinstance(block, ThinkingContent):
            item = _object(block.thinking_signature)
            if item.get("type") == "reasoning":
                items.append(item)
        elif isinstance(block, TextContent):
            if block.text.strip():
                items.append(_message(block, position + len(items)))
        else:
            items.append(_call(block, message, model, call_ids[block.id]))
    # A reasoning item without what it led to is refused.
    while items and items[-1].get("type") == "reasoning":
        items.pop()
    return items


def _message(block: TextContent, position: int) -> Wire:
    signature = _object(block.text_signature)
    item_id = signature.get("id") or block.text_signature or f"msg_{position}"
    if not isinstance(item_id, str) or len(item_id) > _ID_CHARS:
        item_id = "msg_" + sha256(str(item_id).encode("utf-8", "replace")).hexdigest()[:20]
    item: Wire = {
        "type": "message",
        "role": "assistant",
        "id": item_id,
        "status": "completed",
        "content": [{"type": "output_text", "text": block.text, "annotations": []}],
    }
    if signature.get("phase"):
        item["phase"] = signature["phase"]
    return item


def _call(block: ToolCall, message: AssistantMessage, model: Model, call_id: str) -> Wire:
    item: Wire = {
        "type": "function_call",
        "call_id": call_id,
        "name": block.name,
        "arguments": json.dumps(block.arguments, ensure_ascii=False),
    }
    item_id = block.id.partition("|")[2]
    # The id of another model's item would have to come with that model's reasoning.
    is_kin = message.provider == model.provider and message.api == model.api and message.model != model.id
    if item_id and not (is_kin and item_id.startswith("fc_")):
        item["id"] = item_id
    return item


def _object(text: str | None) -> Wire:
    try:
        value = json.loads(text) if text and text.startswith("{") else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
