"""How a Chat Completions server differs from OpenAI's own: told by provider name, then by address, then by the user."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

from pydantic.alias_generators import to_snake

from app.ai.messages import Model

_NON_STANDARD = ("cerebras", "xai", "x.ai", "chutes", "deepseek", "zai", "z.ai", "moonshot", "opencode", "cloudflare")


@dataclass(frozen=True, slots=True)
class ChatCompat:
    """The flags of spec core §1.7; `model.compat` (camelCase) overrides them one by one."""

    supports_store: bool = True
    supports_developer_role: bool = True
    supports_reasoning_effort: bool = True
    supports_usage_in_streaming: bool = True
    max_tokens_field: str = "max_completion_tokens"
    requires_tool_result_name: bool = False
    requires_assistant_after_tool_result: bool = False
    requires_thinking_as_text: bool = False
    requires_reasoning_content_on_assistant_messages: bool = False
    thinking_format: str = "openai"
    open_router_routing: dict[str, Any] = field(default_factory=dict)
    vercel_gateway_routing: dict[str, Any] = field(default_factory=dict)
    zai_tool_stream: bool = False
    supports_strict_mode: bool = True
    cache_control_format: str | None = None
    send_session_affinity_headers: bool = False
    supports_long_cache_retention: bool = True


_FIELDS = {one.name for one in fields(ChatCompat)}


def compat_of(model: Model) -> ChatCompat:
    """The flags for this model."""
    found = _detected(model)
    wanted = {to_snake(name): value for name, value in (model.compat or {}).items() if value is not None}
    return replace(found, **{name: value for name, value in wanted.items() if name in _FIELDS})


def _detected(model: Model) -> ChatCompat:
    where = f"{model.provider} {model.base_url}".lower()

    def is_at(*marks: str) -> bool:
        return any(mark in where for mark in marks)

    standard = not is_at(*_NON_STANDARD)
    thinking = "openai"
    for name, marks in (("deepseek", ("deepseek",)), ("zai", ("zai", "z.ai")), ("openrouter", ("openrouter",))):
        if is_at(*marks):
            thinking = name
            break
    return ChatCompat(
        supports_store=standard,
        supports_developer_role=standard,
        supports_reasoning_effort=not is_at(
            "xai", "x.ai", "zai", "z.ai", "moonshot", "gateway.ai.cloudflare", "cloudflare-ai-gateway"
        ),
        max_tokens_field="max_tokens"
        if is_at("chutes", "moonshot", "gateway.ai.cloudflare", "cloudflare-ai-gateway")
        else "max_completion_tokens",
        requires_reasoning_content_on_assistant_messages=is_at("deepseek"),
        thinking_format=thinking,
        supports_strict_mode=not is_at("moonshot", "gateway.ai.cloudflare", "cloudflare-ai-gateway"),
        cache_control_format="anthropic"
        if model.provider == "openrouter" and model.id.startswith("anthropic/")
        else None,
        supports_long_cache_retention=not is_at("cloudflare"),
    )
