"""An Anthropic Messages request out of a context (spec core §1.6); it must never change the context."""

from __future__ import annotations

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
    ToolResultMessage,
    UserMessage,
)
from app.ai.stream import StreamOptions

_VERSION = "2023-06-01"
_BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16_384}
# Below this the API refuses a thinking budget.
_MIN_BUDGET = 1024
_ADAPTIVE = ("opus-4-6", "opus-4.6", "opus-4-7", "opus-4.7", "sonnet-4-6", "sonnet-4.6")
_EFFORTS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high"}
_MARKABLE = frozenset({"text", "image", "tool_result"})
Wire = dict[str, Any]


def build_request(model: Model, context: Context, options: StreamOptions) -> WireRequest:
    """The POST for this context. Raises ModelError when the model has no address."""
    mark = _cache_mark(model, options)
    max_tokens = max_output_tokens(model, options)
    thinking, max_tokens = _thinking(model, options, max_tokens)
    payload: Wire = {
        "model": model.id,
        "max_tokens": max_tokens,
        "messages": anthropic_messages(model, context),
        "stream": True,
        **thinking,
    }
    if context.system_prompt:
        payload["system"] = [{"type": "text", "text": context.system_prompt, **_marked(mark)}]
    if context.tools:
        payload["tools"] = _tools(model, context)
        payload["tools"][-1].update(_marked(mark))
    if options.temperature is not None and thinking.get("thinking", {}).get("type") in (None, "disabled"):
        payload["temperature"] = options.temperature
    if mark is not None:
        _mark_last(payload["messages"], mark)
    key = (options.api_key or "").strip()
    return WireRequest(
        endpoint(model, "/messages", "/v1"), _headers(model, context, options, key), json_body(payload), (key,)
    )


def _headers(model: Model, context: Context, options: StreamOptions, key: str) -> dict[str, str]:
    betas: list[str] = []
    if context.tools and not _compat(model, "supportsEagerToolInputStreaming", _is_official(model)):
        betas.append("fine-grained-tool-streaming-2025-05-14")
    if model.reasoning and not _is_adaptive(model):
        betas.append("interleaved-thinking-2025-05-14")
    if not key:
        access = {}
    elif "sk-ant-oat" in key:
        betas.insert(0, "oauth-2025-04-20")
        access = {"authorization": f"Bearer {key}"}
    elif model.provider == "github-copilot":
        access = {"authorization": f"Bearer {key}"}
    elif model.provider == "cloudflare-ai-gateway":
        access = {"cf-aig-authorization": f"Bearer {key}"}
    else:
        access = {"x-api-key": key}
    return merged_headers(
        {"content-type": "application/json", "accept": "application/json", "anthropic-version": _VERSION},
        {"anthropic-beta": ",".join(betas)} if betas else None,
        access,
        model.headers,
        options.headers,
    )


def _is_official(model: Model) -> bool:
    return "api.anthropic.com" in model.base_url


def _compat(model: Model, name: str, default: bool) -> bool:
    value = (model.compat or {}).get(name)
    return value if isinstance(value, bool) else default


def _is_adaptive(model: Model) -> bool:
    """Whether the model takes an effort and decides itself how long to think."""
    return _compat(model, "adaptiveThinking", any(mark in model.id for mark in _ADAPTIVE))


def _thinking(model: Model, options: StreamOptions, max_tokens: int) -> tuple[Wire, int]:
    """The members that ask for thinking, and max_tokens with room for it."""
    if not model.reasoning:
        return {}, max_tokens
    level = options.reasoning
    if level is None or level == "off":
        return {"thinking": {"type": "disabled"}}, max_tokens
    if _is_adaptive(model):
        effort = (model.thinking_level_map or {}).get(level) or _EFFORTS.get(level, "high")
        return {
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": effort},
        }, max_tokens
    name = "high" if level == "xhigh" else level
    budget = options.thinking_budgets.get(name, _BUDGETS[name])
    max_tokens = min(max_tokens + budget, model.max_tokens)
    if max_tokens <= budget:
        budget = max(0, max_tokens - 1024)
    if budget < _MIN_BUDGET:
        return {"thinking": {"type": "disabled"}}, max_tokens
    return {"thinking": {"type": "enabled", "budget_tokens": budget, "display": "summarized"}}, max_tokens


def _tools(model: Model, context: Context) -> list[Wire]:
    eager = (
        {"eager_input_streaming": True}
        if _compat(model, "supportsEagerToolInputStreaming", _is_official(model))
        else {}
    )
    return [
        {
            "name": tool.name,
            "description": tool.description,
            **eager,
            "input_schema": {"properties": {}, **tool.parameters, "type": "object"},
        }
        for tool in context.tools
    ]


def _cache_mark(model: Model, options: StreamOptions) -> Wire | None:
    if options.cache_retention == "none":
        return None
    is_long = options.cache_retention == "long" and _compat(model, "supportsLongCacheRetention", True)
    return {"type": "ephemeral", **({"ttl": "1h"} if is_long else {})}


def _marked(mark: Wire | None) -> Wire:
    return {"cache_control": mark} if mark else {}


def _mark_last(messages: list[Wire], mark: Wire) -> None:
    if not messages or messages[-1]["role"] != "user":
        return
    content = messages[-1]["content"]
    if isinstance(content, str):
        content = messages[-1]["content"] = [{"type": "text", "text": content}]
    if content[-1]["type"] in _MARKABLE:
        content[-1]["cache_control"] = mark


def anthropic_messages(model: Model, context: Context) -> list[Wire]:
    """The `messages` member: the history as this model may see it, results of one answer in one user message."""
    result: list[Wire] = []
    results: Wire | None = None
    for message in transform_messages(context.messages, model, lambda call_id, _: safe_id(call_id)):
        if isinstance(message, ToolResultMessage):
            if results is None:
                results = {"role": "user", "content": []}
                result.append(results)
            results["content"].append(_result(message))
            continue
        results = None
        content = _user(message) if isinstance(message, UserMessage) else _assistant(message)
        if content:
            result.append({"role": message.role, "content": content})
    return result


def _image(block: ImageContent) -> Wire:
    return {"type": "image", "source": {"type": "base64", "media_type": block.mime_type, "data": block.data}}


def _user(message: UserMessage) -> str | list[Wire]:
    if isinstance(message.content, str):
        return message.content if message.content.strip() else ""
    return [
        _image(block) if isinstance(block, ImageContent) else {"type": "text", "text": block.text}
        for block in message.content
        if isinstance(block, ImageContent) or block.text.strip()
    ]


def _assistant(message: AssistantMessage) -> list[Wire]:
    content: list[Wire] = []
    for block in message.content:
        if isinstance(block, TextContent):
            if block.text.strip():
                content.append({"type": "text", "text": block.text})
        elif isinstance(block, ThinkingContent):
            content += _thought(block)
        else:
            content.append({"type": "tool_use", "id": block.id, "name": block.name, "input": block.arguments})
    return content


def _thought(block: ThinkingContent) -> list[Wire]:
    if block.redacted:
        return [{"type": "redacted_thinking", "data": block.thinking_signature or ""}]
    if not block.thinking.strip():
        return []
    if not block.thinking_signature:
        return [{"type": "text", "text": block.thinking}]
    return [{"type": "thinking", "thinking": block.thinking, "signature": block.thinking_signature}]


def _result(message: ToolResultMessage) -> Wire:
    texts = [block.text for block in message.content if isinstance(block, TextContent) and block.text]
    images = [_image(block) for block in message.content if isinstance(block, ImageContent)]
    content: str | list[Wire] = "\n".join(texts)
    if images:
        parts: list[Wire] = [
            _image(block) if isinstance(block, ImageContent) else {"type": "text", "text": block.text}
            for block in message.content
            if isinstance(block, ImageContent) or block.text.strip()
        ]
        content = parts if texts else [{"type": "text", "text": "(see attached image)"}, *parts]
    return {
        "type": "tool_result",
        "tool_use_id": message.tool_call_id,
        "content": content,
        "is_error": message.is_error,
    }
