"""Anthropic Messages: what is sent for a context, and how odd streams are read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.ai.adapters.anthropic import AnthropicReader
from app.ai.adapters.anthropic_request import build_request
from app.ai.adapters.blocks import MessageBuilder
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

MODEL = model_of("anthropic", "http://host")
TOOL = ToolSpec("read", "Reads.", {"type": "object", "properties": {"p": {"type": "string"}}, "required": ["p"]})
IMAGE = ImageContent(data="AAAA", mime_type="image/png")
START = {"type": "message_start", "message": {"id": "i", "usage": {"input_tokens": 5, "output_tokens": 1}}}
STOP = {"type": "message_stop"}


def read(*events: dict[str, Any]) -> AssistantMessage:
    builder = MessageBuilder(MODEL, lambda _: None)
    reading = Reading(builder, AnthropicReader(builder, "host"), "host")
    try:
        for event in events:
            reading.feed(b"event: x\ndata: " + json.dumps(event).encode() + b"\n\n")
        return builder.done(reading.finish())
    except ModelError as error:
        return builder.fail(error)


def begin(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, **members: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": members}


def end(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def word(reason: str) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}


CALL = begin(3, type="tool_use", id="1", name="read", input={})


def test_blocks_are_found_by_the_providers_index_even_when_they_interleave() -> None:
    message = read(
        START,
        begin(7, type="text", text=""),
        CALL,
        delta(7, type="text_delta", text="a"),
        delta(3, type="input_json_delta", partial_json='{"p": "x"}'),
        delta(7, type="text_delta", text="b"),
        end(3),
        end(7),
        word("tool_use"),
        STOP,
    )
    assert message.content == [TextContent(text="ab"), ToolCall(id="1", name="read", arguments={"p": "x"})]
    assert (message.usage.input, message.usage.output, message.response_id) == (5, 9, "i")
    assert message.usage.cost.total == pytest.approx((5 + 18) / 1e6)


def test_a_whole_input_at_the_start_of_a_call_counts_when_no_pieces_follow() -> None:
    whole = begin(0, type="tool_use", id="1", name="read", input={"p": "x"})
    assert read(START, whole, end(0), word("tool_use"), STOP).tool_calls()[0].arguments == {"p": "x"}
    pieces = delta(0, type="input_json_delta", partial_json='{"p": "y"}')
    assert read(START, whole, pieces, end(0), word("tool_use"), STOP).tool_calls()[0].arguments == {"p": "y"}


@pytest.mark.parametrize("piece", ["", '{"p": "x'])
def test_a_call_cut_at_the_output_limit_is_marked_and_not_sound(piece: str) -> None:
    message = read(START, CALL, delta(3, type="input_json_delta", partial_json=piece), end(3), word("max_tokens"), STOP)
    assert message.stop_reason == "length"
    assert [one.cut for one in message.tool_calls()] == [True]


@pytest.mark.parametrize(
    ("reason", "stop", "kind"),
    [
        ("end_turn", "stop", None),
        ("pause_turn", "stop", None),
        ("stop_sequence", "stop", None),
        ("max_tokens", "length", None),
        ("model_context_window_exceeded", "length", None),
        ("refusal", "error", "refused"),
        ("mystery", "error", "internal"),
    ],
)
def test_each_stop_reason_has_its_word(reason: str, stop: str, kind: str | None) -> None:
    text = (begin(0, type="text", text="hi"), end(0))
    message = read(START, *text, word(reason), STOP)
    assert (message.stop_reason, message.error_kind, message.text()) == (stop, kind, "hi")


def test_a_stream_without_message_stop_is_cut_even_after_a_stop_reason() -> None:
    message = read(START, begin(0, type="text", text="hi"), end(0), word("end_turn"))
    assert (message.stop_reason, message.error_kind, message.retryable) == ("error", "cut", True)
    assert message.text() == "hi"


def test_thinking_keeps_its_signature_and_redacted_thinking_its_payload() -> None:
    message = read(
        START,
        begin(0, type="thinking", thinking="", signature=""),
        delta(0, type="thinking_delta", thinking="hm"),
        delta(0, type="signature_delta", signature="s"),
        end(0),
        begin(1, type="redacted_thinking", data="zzz"),
        end(1),
        word("end_turn"),
        STOP,
    )
    assert message.content == [
        ThinkingContent(thinking="hm", thinking_signature="s"),
        ThinkingContent(thinking="[Reasoning redacted]", thinking_signature="zzz", redacted=True),
    ]


def test_nothing_odd_makes_the_reader_raise() -> None:
    builder = MessageBuilder(MODEL, lambda _: None)
    reader = AnthropicReader(builder, "host")
    odd: list[Any] = [None, 1, "x", [], {}, [None], {"type": None}, {"type": "text"}, {"type": "tool_use", "input": 3}]
    kinds = ("message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", None)
    for kind in kinds:
        for value in odd:
            for key in ("message", "content_block", "delta", "usage", "index"):
                reader.read("x", {"type": kind, key: value})
    builder.close_all()


# What is sent


def payload(
    messages: list[Message], model: Any = MODEL, tools: tuple[ToolSpec, ...] = (), **options: Any
) -> dict[str, Any]:
    context = Context("Be kind.", messages, list(tools))
    found: dict[str, Any] = json.loads(build_request(model, context, StreamOptions(**options)).body)
    return found


def said(*blocks: Any) -> AssistantMessage:
    return AssistantMessage(content=list(blocks), api=MODEL.api, provider="wire", model="m")


def test_a_plain_request_has_the_documented_members() -> None:
    context = Context("Be kind.", [UserMessage(content="hi")], [TOOL])
    request = build_request(MODEL, context, StreamOptions(api_key="k"))
    mark = {"type": "ephemeral"}
    assert request.url == "http://host/v1/messages"
    assert request.headers["x-api-key"] == "k"
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert json.loads(request.body) == {
        "model": "m",
        "max_tokens": 8000,
        "stream": True,
        "thinking": {"type": "disabled"},
        "system": [{"type": "text", "text": "Be kind.", "cache_control": mark}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": mark}]}],
        "tools": [{"name": "read", "description": "Reads.", "input_schema": TOOL.parameters, "cache_control": mark}],
    }


@pytest.mark.parametrize("base", ["http://host", "http://host/", "http://host/v1", "http://host/v1/messages"])
def test_the_address_is_the_same_however_the_base_is_written(base: str) -> None:
    assert build_request(model_of("anthropic", base), Context(), StreamOptions()).url == "http://host/v1/messages"


def test_a_conversation_with_tools_images_and_thinking_is_mapped() -> None:
    answer = said(
        ThinkingContent(thinking="hm", thinking_signature="s"),
        ThinkingContent(thinking="x", thinking_signature="zzz", redacted=True),
        ThinkingContent(thinking="unsigned"),
        TextContent(text=" "),
        TextContent(text="a"),
        ToolCall(id="1", name="read", arguments={"p": "x"}),
        ToolCall(id="2", name="read"),
    )
    first = ToolResultMessage(
        tool_call_id="1", tool_name="read", content=[TextContent(text="x"), TextContent(text="y")]
    )
    second = ToolResultMessage(tool_call_id="2", tool_name="read", content=[IMAGE], is_error=True)
    history: list[Message] = [UserMessage(content=[TextContent(text=" "), IMAGE]), answer, first, second]
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    sent = payload(history, cache_retention="none")["messages"]
    assert sent[0] == {"role": "user", "content": [picture]}
    assert sent[1]["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "zzz"},
        {"type": "text", "text": "unsigned"},
        {"type": "text", "text": "a"},
        {"type": "tool_use", "id": "1", "name": "read", "input": {"p": "x"}},
        {"type": "tool_use", "id": "2", "name": "read", "input": {}},
    ]
    assert sent[2] == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "1", "content": "x\ny", "is_error": False},
            {
                "type": "tool_result",
                "tool_use_id": "2",
                "content": [{"type": "text", "text": "(see attached image)"}, picture],
                "is_error": True,
            },
        ],
    }


def test_empty_messages_are_left_out_and_foreign_ids_made_legal() -> None:
    foreign = said(ToolCall(id="call|é" + "x" * 400, name="read"))
    foreign.provider = "other"
    sent = payload([UserMessage(content=" "), UserMessage(content=[]), said(TextContent(text="")), foreign])["messages"]
    assert [one["role"] for one in sent] == ["assistant", "user"]
    [used] = sent[0]["content"]
    assert used["id"] == sent[1]["content"][0]["tool_use_id"] == "call__" + "x" * 58


def test_retention_none_marks_nothing_and_long_asks_for_an_hour() -> None:
    assert "cache_control" not in json.dumps(
        payload([UserMessage(content="hi")], tools=(TOOL,), cache_retention="none")
    )
    long = payload([UserMessage(content="hi")], cache_retention="long")
    hour = {"type": "ephemeral", "ttl": "1h"}
    assert long["system"][0]["cache_control"] == hour
    assert long["messages"][0]["content"][0]["cache_control"] == hour


@pytest.mark.parametrize(
    ("model", "options", "thinking", "max_tokens"),
    [
        ({"max_tokens": 64_000}, {"reasoning": "low"}, 2048, 34_048),
        ({"max_tokens": 64_000}, {"reasoning": "xhigh"}, 16_384, 48_384),
        ({"max_tokens": 8000}, {"reasoning": "high"}, 6976, 8000),
        ({"max_tokens": 1500}, {"reasoning": "high"}, None, 1500),
        ({"max_tokens": 64_000}, {"reasoning": "low", "thinking_budgets": {"low": 5000}}, 5000, 37_000),
        ({"max_tokens": 64_000}, {"reasoning": "low", "max_tokens": 100}, 2048, 2148),
    ],
)
def test_a_thinking_budget_leaves_room_for_the_answer(
    model: dict[str, Any], options: dict[str, Any], thinking: int | None, max_tokens: int
) -> None:
    sent = payload([], model_of("anthropic", "http://host", **model), temperature=0.5, **options)
    assert sent["max_tokens"] == max_tokens
    assert sent["thinking"].get("budget_tokens") == thinking
    assert ("temperature" in sent) is (thinking is None)


def test_adaptive_models_are_told_an_effort() -> None:
    for name, level, effort in (("claude-opus-4-6", "minimal", "low"), ("claude-sonnet-4-6", "xhigh", "high")):
        sent = payload([], model_of("anthropic", "http://host", id=name), reasoning=level)
        assert sent["thinking"] == {"type": "adaptive", "display": "summarized"}
        assert sent["output_config"] == {"effort": effort}
    mapped = model_of("anthropic", "http://host", id="claude-opus-4-6", thinking_level_map={"xhigh": "max"})
    assert payload([], mapped, reasoning="xhigh")["output_config"] == {"effort": "max"}


def test_a_model_without_reasoning_gets_no_thinking_member() -> None:
    assert "thinking" not in payload([], model_of("anthropic", "http://host", reasoning=False), reasoning="high")


def test_tokens_and_gateways_have_their_own_headers() -> None:
    def headers(key: str = "k", **changes: Any) -> dict[str, str]:
        model = model_of("anthropic", changes.pop("base", "http://host"), **changes)
        return build_request(model, Context(None, [], [TOOL]), StreamOptions(api_key=key)).headers

    assert "x-api-key" not in headers("")
    assert headers("sk-ant-oat-1")["authorization"] == "Bearer sk-ant-oat-1"
    assert headers(provider="cloudflare-ai-gateway")["cf-aig-authorization"] == "Bearer k"
    assert "fine-grained-tool-streaming-2025-05-14" in headers()["anthropic-beta"]
    official = headers(base="https://api.anthropic.com")["anthropic-beta"]
    assert official == "interleaved-thinking-2025-05-14"
    assert "anthropic-beta" not in headers(base="https://api.anthropic.com", id="claude-opus-4-6")
