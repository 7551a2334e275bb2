"""The Gemini wire: what is sent for a context, and how odd streams are read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.ai.adapters.blocks import MessageBuilder
from app.ai.adapters.google import GoogleReader
from app.ai.adapters.google_request import build_request
from app.ai.adapters.wire import Reading
from app.ai.messages import (
    AssistantMessage,
    Context,
    ImageContent,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    UserMessage,
)
from app.ai.stream import StreamOptions
from app.errors import ModelError
from tests.ai.wire_data import model_of

MODEL = model_of("gemini", "http://host", id="gemini-3-pro")
TOOL = ToolSpec("read", "Reads.", {"type": "object", "properties": {}})
IMAGE = ImageContent(data="AAAA", mime_type="image/png")
PICTURE = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}


def read(*parts: dict[str, Any], finish: str = "STOP") -> AssistantMessage:
    builder = MessageBuilder(MODEL, lambda _: None)
    builder.message.timestamp = 7
    reading = Reading(builder, GoogleReader(builder, "host"), "host")
    chunks: list[dict[str, Any]] = [{"candidates": [{"content": {"parts": [part]}}]} for part in parts]
    chunks.append({"candidates": [{"finishReason": finish, "finishMessage": "because"}]})
    try:
        for chunk in chunks:
            reading.feed(b"data: " + json.dumps(chunk).encode() + b"\r\n\r\n")
        return builder.done(reading.finish())
    except ModelError as error:
        return builder.fail(error)


def call(name: str, **members: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, **members}}


def test_a_signature_alone_makes_no_thought_and_the_latest_one_is_kept() -> None:
    message = read({"text": "a", "thoughtSignature": "c2ln"}, {"text": "b"}, {"text": "", "thoughtSignature": "bmV3"})
    assert message.content == [TextContent(text="ab", text_signature="bmV3")]


def test_a_change_between_thought_and_text_opens_a_new_block() -> None:
    parts = (
        {"text": "t", "thought": True},
        {"text": "a"},
        {"text": "u", "thought": True},
        {"text": "", "thought": True},
    )
    assert read(*parts).content == [
        ThinkingContent(thinking="t"),
        TextContent(text="a"),
        ThinkingContent(thinking="u"),
    ]


def test_calls_get_ids_of_their_own_when_they_have_none_or_the_same() -> None:
    message = read(call("a"), call("a", args={"x": 1}), call("b", id="1"), call("b", id="1"))
    assert [(one.id, one.arguments) for one in message.tool_calls()] == [
        ("a_7_1", {}),
        ("a_7_2", {"x": 1}),
        ("1", {}),
        ("b_7_4", {}),
    ]
    assert message.stop_reason == "toolUse"


@pytest.mark.parametrize(
    ("word", "reason", "kind", "retryable"),
    [
        ("STOP", "stop", None, None),
        ("MAX_TOKENS", "length", None, None),
        ("SAFETY", "error", "refused", False),
        ("MALFORMED_FUNCTION_CALL", "error", "garbage", True),
        ("OTHER", "error", "server", True),
        ("FINISH_REASON_UNSPECIFIED", "error", "cut", True),
    ],
)
def test_each_word_for_the_end_has_its_reason(word: str, reason: str, kind: str | None, retryable: bool | None) -> None:
    message = read({"text": "hi"}, finish=word)
    assert (message.stop_reason, message.error_kind, message.retryable) == (reason, kind, retryable)
    assert message.text() == "hi"


def test_nothing_odd_makes_the_reader_raise() -> None:
    odd: list[Any] = [None, 1, "x", [], {}, [None], [3], [{"content": 3}], [{"content": {"parts": [None, 3, {}]}}]]
    for key in ("candidates", "usageMetadata", "promptFeedback", "responseId", "modelVersion"):
        for value in odd:
            GoogleReader(MessageBuilder(MODEL, lambda _: None), "host").read("message", {key: value})


# What is sent


def payload(
    messages: list[Message], model: Any = MODEL, tools: tuple[ToolSpec, ...] = (), **options: Any
) -> dict[str, Any]:
    context = Context("Be kind.", messages, list(tools))
    found: dict[str, Any] = json.loads(build_request(model, context, StreamOptions(**options)).body)
    return found


def said(*blocks: Any, **members: Any) -> AssistantMessage:
    return AssistantMessage(
        content=list(blocks), **{"api": MODEL.api, "provider": "wire", "model": MODEL.id, **members}
    )


def test_a_plain_request_has_the_documented_members() -> None:
    request = build_request(
        MODEL, Context("Be kind.", [UserMessage(content="hi")], [TOOL]), StreamOptions(api_key="k", reasoning="low")
    )
    assert request.url == "http://host/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse"
    assert request.headers["x-goog-api-key"] == "k"
    assert json.loads(request.body) == {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "systemInstruction": {"parts": [{"text": "Be kind."}]},
        "generationConfig": {
            "maxOutputTokens": 8000,
            "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"},
        },
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "read", "description": "Reads.", "parametersJsonSchema": TOOL.parameters}
                ]
            }
        ],
    }


def history() -> list[Message]:
    answer = said(
        ThinkingContent(thinking="hm", thinking_signature="c2ln"),
        ThinkingContent(thinking=" "),
        TextContent(text="a", text_signature="not base64!"),
        ToolCall(id="1", name="read", arguments={"p": 1}, thought_signature="c2ln"),
        ToolCall(id="2", name="read"),
    )
    return [
        UserMessage(content=[TextContent(text="see"), IMAGE]),
        answer,
        ToolResultMessage(tool_call_id="1", tool_name="read", content=[TextContent(text="x")], is_error=True),
        ToolResultMessage(tool_call_id="2", tool_name="read", content=[IMAGE]),
    ]


def test_a_conversation_with_tools_images_and_thinking_is_mapped() -> None:
    assert payload(history())["contents"] == [
        {"role": "user", "parts": [{"text": "see"}, PICTURE]},
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True, "thoughtSignature": "c2ln"},
                {"text": "a"},
                {"functionCall": {"name": "read", "args": {"p": 1}}, "thoughtSignature": "c2ln"},
                {"functionCall": {"name": "read", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "read", "response": {"error": "x"}}},
                {
                    "functionResponse": {
                        "name": "read",
                        "response": {"output": "(see attached image)"},
                        "parts": [PICTURE],
                    }
                },
            ],
        },
    ]


def test_older_models_get_the_images_of_results_in_a_turn_of_their_own() -> None:
    contents = payload(history(), model_of("gemini", "http://host", id="gemini-2.5-pro"))["contents"]
    assert [one["role"] for one in contents] == ["user", "model", "user", "user"]
    assert contents[3]["parts"][1:] == [PICTURE]
    assert "thoughtSignature" not in json.dumps(contents)


def test_models_that_are_no_gemini_get_ids() -> None:
    contents = payload(history(), model_of("gemini", "http://host", id="claude-x"))["contents"]
    assert contents[1]["parts"][-1]["functionCall"]["id"] == "2"
    assert contents[2]["parts"][-1]["functionResponse"]["id"] == "2"


@pytest.mark.parametrize(
    ("name", "level", "expected"),
    [
        ("gemini-3-pro", "medium", {"includeThoughts": True, "thinkingLevel": "HIGH"}),
        ("gemini-3.1-pro", "off", {"thinkingLevel": "LOW"}),
        ("gemini-3-flash", "minimal", {"includeThoughts": True, "thinkingLevel": "MINIMAL"}),
        ("gemma-4-27b", "high", {"includeThoughts": True, "thinkingLevel": "HIGH"}),
        ("gemini-2.5-pro", "high", {"includeThoughts": True, "thinkingBudget": 32_768}),
        ("gemini-2.5-flash-lite", "minimal", {"includeThoughts": True, "thinkingBudget": 512}),
        ("gemini-2.5-flash", "xhigh", {"includeThoughts": True, "thinkingBudget": 24_576}),
        ("gemini-2.5-flash", None, {"thinkingBudget": 0}),
        ("other", "low", {"includeThoughts": True, "thinkingBudget": -1}),
    ],
)
def test_thinking_is_asked_for_in_the_familys_own_form(name: str, level: Any, expected: dict[str, Any]) -> None:
    sent = payload([], model_of("gemini", "http://host", id=name), reasoning=level)
    assert sent["generationConfig"]["thinkingConfig"] == expected


def test_a_budget_of_the_user_wins() -> None:
    model = model_of("gemini", "http://host", id="gemini-2.5-pro")
    sent = payload([], model, reasoning="low", thinking_budgets={"low": 5})
    assert sent["generationConfig"]["thinkingConfig"]["thinkingBudget"] == 5
