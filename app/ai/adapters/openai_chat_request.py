"""A Chat Completions request out of a context (spec core §1.7); it must never change the context."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from app.ai.adapters.openai_chat_compat import ChatCompat, compat_of
from app.ai.adapters.wire import endpoint, json_body, max_output_tokens, merged_headers
from app.ai.handoff import safe_id, transform_messages
from app.ai.http import WireRequest
from app.ai.messages import (
    AssistantMessage,
    Context,
    ImageContent,
    Message,
    Model,
    TextContent,
    ThinkingContent,
    ToolResultMessage,
    UserMessage,
)
from app.ai.stream import StreamOptions

_REASONING = ("reasoning_content", "reasoning", "reasoning_text")
_ID_CHARS = 40
_SEE_IMAGE = "(see attached image)"
Wire = dict[str, Any]


def build_request(model: Model, context: Context, options: StreamOptions) -> WireRequest:
    """The POST for this context. Raises ModelError when the model has no address."""
    compat = compat_of(model)
    payload: Wire = {"model": model.id, "messages": chat_messages(model, context, compat), "stream": True}
    if compat.supports_usage_in_streaming:
        payload["stream_options"] = {"include_usage": True}
    if compat.supports_store:
        payload["store"] = False
    payload[compat.max_tokens_field] = max_output_tokens(model, options)
    if options.temperature is not None:
        payload["temperature"] = options.temperature
    _add_tools(payload, context, compat)
    if model.reasoning:
        payload.update(_thinking(model, compat, options))
    _add_caching(payload, model, compat, options)
    key = (options.api_key or "").strip()
    headers = merged_headers(
        {"content-type": "application/json", "accept": "text/event-stream"},
        {"authorization": f"Bearer {key}"} if key else None,
        _affinity(compat, options),
        model.headers,
        options.headers,
    )
    return WireRequest(endpoint(model, "/chat/completions"), headers, json_body(payload), (key,))


def _add_tools(payload: Wire, context: Context, compat: ChatCompat) -> None:
    if context.tools:
        strict = {"strict": False} if compat.supports_strict_mode else {}
        payload["tools"] = [
            {
                "type": "function",
                "function": {"name": one.name, "description": one.description, "parameters": one.parameters, **strict},
            }
            for one in context.tools
        ]
        if compat.zai_tool_stream:
            payload["tool_stream"] = True
    elif any(one["role"] == "tool" or "tool_calls" in one for one in payload["messages"]):
        # Proxies in front of Anthropic refuse a history with calls when the request names no tools at all.
        payload["tools"] = []


def _thinking(model: Model, compat: ChatCompat, options: StreamOptions) -> Wire:
    level = options.reasoning or "off"
    levels = model.thinking_level_map or {}
    word = levels.get(level, None if level == "off" else level)
    match compat.thinking_format:
        case "deepseek":
            if level == "off":
                return {"thinking": {"type": "disabled"}}
            return {"thinking": {"type": "enabled"}, **({"reasoning_effort": word} if word else {})}
        case "zai" | "qwen":
            return {"enable_thinking": level != "off"}
        case "qwen-chat-template":
            return {"chat_template_kwargs": {"enable_thinking": level != "off", "preserve_thinking": True}}
        case "openrouter":
            if level == "off" and "off" in levels and levels["off"] is None:
                return {}
            return {"reasoning": {"effort": word or "none"}} if word or level == "off" else {}
        case _:
            return {"reasoning_effort": word} if word and compat.supports_reasoning_effort else {}


def _affinity(compat: ChatCompat, options: StreamOptions) -> dict[str, str] | None:
    if not (compat.send_session_affinity_headers and options.session_id):
        return None
    names = ("session_id", "x-client-request-id", "x-session-affinity")
    return dict.fromkeys(names, options.session_id)


def _add_caching(payload: Wire, model: Model, compat: ChatCompat, options: StreamOptions) -> None:
    is_long = options.cache_retention == "long" and compat.supports_long_cache_retention
    is_openai = "api.openai.com" in model.base_url
    if options.session_id and (is_long or (is_openai and options.cache_retention != "none")):
        payload["prompt_cache_key"] = options.session_id
    if is_long:
        payload["prompt_cache_retention"] = "24h"
    if "openrouter.ai" in model.base_url and compat.open_router_routing:
        payload["provider"] = compat.open_router_routing
    if "ai-gateway.vercel.sh" in model.base_url and compat.vercel_gateway_routing:
        wanted = {
            key: compat.vercel_gateway_routing[key] for key in ("only", "order") if key in compat.vercel_gateway_routing
        }
        payload["providerOptions"] = {"gateway": wanted}
    if compat.cache_control_format == "anthropic" and options.cache_retention != "none":
        _mark_for_cache(payload, {"type": "ephemeral", **({"ttl": "1h"} if is_long else {})})


def _mark_for_cache(payload: Wire, mark: Wire) -> None:
    """Anthropic's cache marks: first system text, last tool, last user or assistant text."""
    messages: list[Wire] = payload["messages"]
    system = next((one for one in messages if one["role"] in ("system", "developer")), None)
    last = next(
        (one for one in reversed(messages) if one["role"] in ("user", "assistant") and one.get("content")), None
    )
    for one in (system, last):
        if one is None:
            continue
        if isinstance(one["content"], str):
            one["content"] = [{"type": "text", "text": one["content"]}]
        texts = [part for part in one["content"] if part["type"] == "text"]
        if texts:
            texts[-1]["cache_control"] = mark
    if payload.get("tools"):
        payload["tools"][-1]["cache_control"] = mark


def chat_messages(model: Model, context: Context, compat: ChatCompat) -> list[Wire]:
    """The `messages` member: system prompt, then the history as this model may see it."""

    def chat_id(call_id: str, _: AssistantMessage) -> str:
        if "|" in call_id:
            return safe_id(call_id.split("|")[0], _ID_CHARS)
        return call_id[:_ID_CHARS] if model.provider == "openai" else call_id

    result: list[Wire] = []
    if context.system_prompt:
        role = "developer" if model.reasoning and compat.supports_developer_role else "system"
        result.append({"role": role, "content": context.system_prompt})
    images: list[Wire] = []
    messages = transform_messages(context.messages, model, chat_id, _ID_CHARS)
    for position, message in enumerate(messages):
        if isinstance(message, ToolResultMessage):
            result.append(_tool(message, compat))
            images += [_image(block) for block in message.content if isinstance(block, ImageContent)]
            following = messages[position + 1] if position + 1 < len(messages) else None
            if not isinstance(following, ToolResultMessage):
                _end_results(result, images, following, compat)
                images = []
            continue
        wire = _user(message) if isinstance(message, UserMessage) else _assistant(message, model, compat)
        if wire is not None:
            result.append(wire)
    return result


def _end_results(result: list[Wire], images: list[Wire], following: Message | None, compat: ChatCompat) -> None:
    """After a run of results: their images in one user message, since a tool message holds text only."""
    if compat.requires_assistant_after_tool_result and (images or isinstance(following, UserMessage)):
        result.append({"role": "assistant", "content": "I have the tool results."})
    if images:
        intro = {"type": "text", "text": "Images that the tools returned:"}
        result.append({"role": "user", "content": [intro, *images]})


def _image(block: ImageContent) -> Wire:
    return {"type": "image_url", "image_url": {"url": f"data:{block.mime_type};base64,{block.data}"}}


def _user(message: UserMessage) -> Wire | None:
    if isinstance(message.content, str):
        return {"role": "user", "content": message.content}
    parts = [
        _image(block) if isinstance(block, ImageContent) else {"type": "text", "text": block.text}
        for block in message.content
        if isinstance(block, ImageContent) or block.text
    ]
    return {"role": "user", "content": parts} if parts else None


def _tool(message: ToolResultMessage, compat: ChatCompat) -> Wire:
    wire: Wire = {"role": "tool", "tool_call_id": message.tool_call_id, "content": _result_text(message.content)}
    if compat.requires_tool_result_name:
        wire["name"] = message.tool_name
    return wire


def _result_text(content: Sequence[TextContent | ImageContent]) -> str:
    text = "\n".join(block.text for block in content if isinstance(block, TextContent))
    if not text and any(isinstance(block, ImageContent) for block in content):
        return _SEE_IMAGE
    return text


def _assistant(message: AssistantMessage, model: Model, compat: ChatCompat) -> Wire | None:
    wire: Wire = {"role": "assistant", "content": "" if compat.requires_assistant_after_tool_result else None}
    text = "".join(block.text for block in message.content if isinstance(block, TextContent) and block.text.strip())
    thinking = [block for block in message.content if isinstance(block, ThinkingContent) and block.thinking.strip()]
    if thinking and compat.requires_thinking_as_text:
        joined = "\n\n".join(block.thinking for block in thinking)
        wire["content"] = [{"type": "text", "text": part} for part in (joined, text) if part]
    elif text:
        wire["content"] = text
    if thinking and not compat.requires_thinking_as_text and thinking[0].thinking_signature in _REASONING:
        wire[thinking[0].thinking_signature] = "\n".join(block.thinking for block in thinking)
    calls = message.tool_calls()
    if calls:
        wire["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
            }
            for call in calls
        ]
        details = [detail for call in calls if (detail := _detail(call.thought_signature)) is not None]
        if details:
            wire["reasoning_details"] = details
    if not wire["content"] and not calls:
        return None
    if compat.requires_reasoning_content_on_assistant_messages and model.reasoning:
        wire.setdefault("reasoning_content", "")
    return wire


def _detail(signature: str | None) -> object | None:
    try:
        detail: object = json.loads(signature) if signature else None
    except ValueError:
        return None
    return detail
