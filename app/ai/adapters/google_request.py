"""A Gemini request out of a context (spec core §1.9); it must never replay a signature that is not this model's."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from app.ai.adapters.wire import endpoint, json_body, max_output_tokens, merged_headers
from app.ai.handoff import is_same_model, safe_id, transform_messages
from app.ai.http import WireRequest
from app.ai.messages import (
    AssistantMessage,
    Context,
    ImageContent,
    Model,
    TextContent,
    ThinkingContent,
    ThinkingLevel,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from app.ai.stream import StreamOptions

_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_WITH_IDS = ("claude-", "gpt-oss-")
# Levels and budgets by model family, in the order minimal, low, medium, high, off; the first mark that fits counts.
_LEVELS: tuple[tuple[re.Pattern[str], tuple[str, str, str, str, str]], ...] = (
    (re.compile(r"gemini-3(?:\.\d+)?-pro"), ("LOW", "LOW", "HIGH", "HIGH", "LOW")),
    (re.compile(r"gemini-3(?:\.\d+)?-flash"), ("MINIMAL", "LOW", "MEDIUM", "HIGH", "MINIMAL")),
    (re.compile(r"gemma-?4"), ("MINIMAL", "MINIMAL", "HIGH", "HIGH", "MINIMAL")),
)
_BUDGETS: tuple[tuple[str, tuple[int, int, int, int]], ...] = (
    ("2.5-pro", (128, 2048, 8192, 32_768)),
    ("2.5-flash-lite", (512, 2048, 8192, 24_576)),
    ("2.5-flash", (128, 2048, 8192, 24_576)),
)
_ORDER = ("minimal", "low", "medium", "high", "off")
Wire = dict[str, Any]


def build_request(model: Model, context: Context, options: StreamOptions) -> WireRequest:
    """The POST for this context. Raises ModelError when the model has no address."""
    generation: Wire = {"maxOutputTokens": max_output_tokens(model, options)}
    if options.temperature is not None:
        generation["temperature"] = options.temperature
    if model.reasoning:
        generation["thinkingConfig"] = _thinking(model, options)
    payload: Wire = {"contents": google_contents(model, context), "generationConfig": generation}
    if context.system_prompt:
        payload["systemInstruction"] = {"parts": [{"text": context.system_prompt}]}
    if context.tools:
        payload["tools"] = [
            {
                "functionDeclarations": [
                    {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}
                    for tool in context.tools
                ]
            }
        ]
    key = (options.api_key or "").strip()
    headers = merged_headers(
        {"content-type": "application/json", "accept": "text/event-stream"},
        {"x-goog-api-key": key} if key else None,
        model.headers,
        options.headers,
    )
    name = quote(model.id.removeprefix("models/"), safe="/.:@-_")
    url = endpoint(model, f"/models/{name}:streamGenerateContent")
    url += ("&" if "?" in url else "?") + "alt=sse"
    return WireRequest(url, headers, json_body(payload), (key,))


def _thinking(model: Model, options: StreamOptions) -> Wire:
    level: ThinkingLevel = options.reasoning or "off"
    place = _ORDER.index("high" if level == "xhigh" else level)
    shown = {"includeThoughts": True} if level != "off" else {}
    for pattern, levels in _LEVELS:
        if pattern.search(model.id):
            return {**shown, "thinkingLevel": levels[place]}
    if level == "off":
        return {"thinkingBudget": 0}
    wanted = options.thinking_budgets.get(_ORDER[place])
    budgets = next((budgets for mark, budgets in _BUDGETS if mark in model.id), (-1, -1, -1, -1))
    return {**shown, "thinkingBudget": budgets[place] if wanted is None else wanted}


def google_contents(model: Model, context: Context) -> list[Wire]:
    """The `contents` member: the history as turns of user and model, results of one answer in one turn."""

    def google_id(call_id: str, _: AssistantMessage) -> str:
        return safe_id(call_id) if model.id.startswith(_WITH_IDS) else call_id

    result: list[Wire] = []
    responses: Wire | None = None
    late_images: list[Wire] = []
    messages = transform_messages(context.messages, model, google_id)
    for position, message in enumerate(messages):
        if isinstance(message, ToolResultMessage):
            if responses is None:
                responses = {"role": "user", "parts": []}
                result.append(responses)
            responses["parts"].append(_response(message, model))
            if not _nests_images(model):
                late_images += _images(message)
            if position + 1 == len(messages) or not isinstance(messages[position + 1], ToolResultMessage):
                if late_images:
                    result.append(
                        {"role": "user", "parts": [{"text": "Images that the tools returned:"}, *late_images]}
                    )
                responses, late_images = None, []
            continue
        is_user = isinstance(message, UserMessage)
        parts = _user(message) if isinstance(message, UserMessage) else _assistant(message, model)
        if parts:
            result.append({"role": "user" if is_user else "model", "parts": parts})
    return result


def _nests_images(model: Model) -> bool:
    """Whether a function response may hold images itself: Gemini from 3 on, and models that are no Gemini."""
    found = re.search(r"gemini-(\d+)", model.id)
    return found is None or int(found.group(1)) >= 3


def _image(block: ImageContent) -> Wire:
    return {"inlineData": {"mimeType": block.mime_type, "data": block.data}}


def _images(message: ToolResultMessage) -> list[Wire]:
    return [_image(block) for block in message.content if isinstance(block, ImageContent)]


def _user(message: UserMessage) -> list[Wire]:
    if isinstance(message.content, str):
        return [{"text": message.content}] if message.content.strip() else []
    return [
        _image(block) if isinstance(block, ImageContent) else {"text": block.text}
        for block in message.content
        if isinstance(block, ImageContent) or block.text.strip()
    ]


def _assistant(message: AssistantMessage, model: Model) -> list[Wire]:
    same = is_same_model(message, model)
    parts: list[Wire] = []
    for block in message.content:
        if isinstance(block, TextContent):
            if block.text.strip():
                parts.append({"text": block.text, **_signed(block.text_signature, same)})
        elif isinstance(block, ThinkingContent):
            if block.thinking.strip():
                parts.append({"text": block.thinking, "thought": True, **_signed(block.thinking_signature, same)})
        else:
            parts.append(_call(block, model, same))
    return parts


def _call(block: ToolCall, model: Model, same: bool) -> Wire:
    call: Wire = {"name": block.name, "args": block.arguments}
    if model.id.startswith(_WITH_IDS):
        call["id"] = block.id
    return {"functionCall": call, **_signed(block.thought_signature, same)}


def _signed(signature: str | None, same: bool) -> Wire:
    """The signature as a member, if it is this model's own and could be one."""
    if not signature or not same or not _BASE64.fullmatch(signature):
        return {}
    return {"thoughtSignature": signature}


def _response(message: ToolResultMessage, model: Model) -> Wire:
    text = message.text()
    images = _images(message)
    if images and not text:
        text = "(see attached image)"
    response: Wire = {
        "name": message.tool_name,
        "response": {"error": text} if message.is_error else {"output": text},
    }
    if images and _nests_images(model):
        response["parts"] = images
    if model.id.startswith(_WITH_IDS):
        response["id"] = message.tool_call_id
    return {"functionResponse": response}
