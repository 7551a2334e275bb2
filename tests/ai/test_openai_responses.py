"""The Responses wire: what is sent for a context, and how odd streams are read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.ai.adapters.blocks import MessageBuilder
from app.ai.adapters.openai_responses import ResponsesReader
from app.ai.adapters.openai_responses_request import build_request
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
from tests.ai.wire_data import FOLDER, model_of

MODEL = model_of("responses", "http://host", provider="openai")
TOOL = ToolSpec("read", "Reads.", {"type": "object", "properties": {}})
IMAGE = ImageContent(data="AAAA", mime_type="image/png")
REASONING: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "zzz"}
DONE = {"type": "response.completed", "response": {"status": "completed"}}


def read(*events: dict[str, Any]) -> AssistantMessage:
    return read_bytes(b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events))


def read_bytes(body: bytes) -> AssistantMessage:
    builder = MessageBuilder(MODEL, lambda _: None)
    reading = Reading(builder, ResponsesReader(builder, "host"), "host")
    try:
        reading.feed(body)
        return builder.done(reading.finish())
    except ModelError as error:
        return builder.fail(error)


def item(kind: str, place: int = 0, **members: Any) -> dict[str, Any]:
    return {"type": f"response.output_item.{kind}", "output_index": place, "item": members}


def delta(kind: str, text: str, place: int = 0) -> dict[str, Any]:
    return {"type": f"response.{kind}.delta", "output_index": place, "delta": text}


CALL: dict[str, Any] = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read"}


def test_what_only_the_done_events_hold_is_taken_from_them() -> None:
    message = read(
        item("done", 0, **REASONING, content=[{"type": "reasoning_text", "text": "hm"}]),
        item("done", 1, type="message", id="msg_1", content=[{"type": "output_text", "text": "a"}]),
        item("done", 2, **CALL, arguments='{"p": 1}'),
        DONE,
    )
    thinking, text, call = message.content
    assert isinstance(thinking, ThinkingContent)
    assert isinstance(text, TextContent)
    assert thinking.thinking == "hm"
    assert text.text == "a"
    assert call == ToolCall(id="call_1|fc_1", name="read", arguments={"p": 1})


def test_the_done_event_brings_only_what_the_deltas_did_not() -> None:
    args = {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": '{"p": 1}'}
    pieces = delta("function_call_arguments", '{"p"')
    message = read(item("added", **CALL, arguments=""), pieces, args, item("done", **CALL, arguments='{"p": 1}'), DONE)
    assert message.tool_calls()[0].arguments == {"p": 1}
    assert message.stop_reason == "toolUse"


def test_summary_parts_are_set_apart_by_a_blank_line() -> None:
    part = {"type": "response.reasoning_summary_part.added", "output_index": 0}
    message = read(
        item("added", **REASONING),
        part,
        delta("reasoning_summary_text", "a"),
        part,
        delta("reasoning_summary_text", "b"),
        item("done", **REASONING),
        DONE,
    )
    [block] = message.content
    assert isinstance(block, ThinkingContent)
    assert block.thinking == "a\n\nb"
    assert json.loads(block.thinking_signature or "") == REASONING


def test_a_refusal_is_text_and_unknown_items_are_passed_over() -> None:
    message = read(
        item("added", 0, type="web_search_call", id="ws_1"),
        delta("output_text", "nothing", 0),
        delta("function_call_arguments", "{", 0),
        item("done", 0, type="web_search_call", id="ws_1"),
        item("added", 1, type="message", id="msg_1"),
        delta("refusal", "no", 1),
        DONE,
    )
    assert message.content == [TextContent(text="no")]


def ended(kind: str, why: str = "", **error: Any) -> dict[str, Any]:
    response: dict[str, Any] = {"incomplete_details": {"reason": why}} if why else {}
    return {"type": f"response.{kind}", "response": {**response, **({"error": error} if error else {})}}


@pytest.mark.parametrize(
    ("event", "reason", "kind"),
    [
        (ended("incomplete", "max_output_tokens"), "length", None),
        (ended("incomplete", "content_filter"), "error", "refused"),
        (ended("failed", code="server_error", message="x"), "error", "server"),
        (ended("failed"), "error", "server"),
        (ended("cancelled"), "error", "server"),
        ({"type": "error", "code": "rate_limit_exceeded", "message": "slow"}, "error", "rate_limit"),
        ({"type": "response.output_text.done"}, "error", "cut"),
        (DONE, "stop", None),
    ],
)
def test_each_end_has_its_reason(event: dict[str, Any], reason: str, kind: str | None) -> None:
    message = read(item("added", type="message", id="m"), delta("output_text", "hi"), event)
    assert (message.stop_reason, message.error_kind, message.text()) == (reason, kind, "hi")


def test_a_call_cut_at_the_output_limit_is_marked() -> None:
    end = ended("incomplete", "max_output_tokens")
    for pieces in ([], [delta("function_call_arguments", '{"p')]):
        message = read(item("added", **CALL), *pieces, item("done", **CALL), end)
        assert (message.stop_reason, [one.cut for one in message.tool_calls()]) == ("length", [True])


def test_nothing_odd_makes_the_reader_raise() -> None:
    odd: list[Any] = [None, 1, "x", [], {}, [None], {"type": 3}, {"type": "message"}, {"type": "function_call"}]
    kinds = (
        "response.output_item.added",
        "response.output_item.done",
        "response.created",
        "response.output_text.delta",
    )
    for kind in kinds:
        for value in odd:
            builder = MessageBuilder(MODEL, lambda _: None)
            reader = ResponsesReader(builder, "host")
            for key in ("item", "response", "delta", "output_index", "item_id"):
                reader.read("x", {"type": kind, key: value})
            builder.close_all()


# What is sent


def payload(
    messages: list[Message], model: Any = MODEL, tools: tuple[ToolSpec, ...] = (), **options: Any
) -> dict[str, Any]:
    context = Context("Be kind.", messages, list(tools))
    found: dict[str, Any] = json.loads(build_request(model, context, StreamOptions(**options)).body)
    return found


def said(*blocks: Any, **members: Any) -> AssistantMessage:
    members = {"api": MODEL.api, "provider": "openai", "model": "m", **members}
    return AssistantMessage(content=list(blocks), **members)


def test_a_plain_request_has_the_documented_members() -> None:
    context = Context("Be kind.", [UserMessage(content="hi")], [TOOL])
    request = build_request(MODEL, context, StreamOptions(api_key="k", session_id="s"))
    assert request.url == "http://host/v1/responses"
    assert (request.headers["authorization"], request.headers["session_id"]) == ("Bearer k", "s")
    assert json.loads(request.body) == {
        "model": "m",
        "input": [
            {"role": "developer", "content": "Be kind."},
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        ],
        "stream": True,
        "store": False,
        "max_output_tokens": 8000,
        "tools": [
            {
                "type": "function",
                "name": "read",
                "description": "Reads.",
                "parameters": TOOL.parameters,
                "strict": False,
            }
        ],
        "reasoning": {"effort": "none"},
        "prompt_cache_key": "s",
    }
    none = build_request(MODEL, context, StreamOptions(session_id="s", cache_retention="none"))
    assert "prompt_cache_key" not in json.loads(none.body)
    assert "session_id" not in none.headers


def test_what_a_stream_gave_is_replayed_word_for_word() -> None:
    message = read_bytes((FOLDER / "re-phase-tool.sse").read_bytes())
    message.model = "m"
    result = ToolResultMessage(tool_call_id=message.tool_calls()[0].id, content=[TextContent(text="x"), IMAGE])
    _, reasoning, text, call, output = payload([message, result])["input"]
    assert reasoning["id"] == "rs_0fabc13af1ee0049006a691dfe60b081a1baa444d3cf19afba"
    assert len(reasoning["encrypted_content"]) == 1080
    assert (text["phase"], text["id"][:6], text["status"]) == ("commentary", "msg_0f", "completed")
    assert (call["call_id"], call["id"][:5]) == ("call_LabG58Uhrq9kZvR52BYKjToD", "fc_0f")
    assert output["call_id"] == "call_LabG58Uhrq9kZvR52BYKjToD"
    assert [part["type"] for part in output["output"]] == ["input_text", "input_image"]


def test_a_call_id_used_in_two_turns_still_pairs_by_position() -> None:
    turns: list[Message] = []
    for name in ("re-reused-call-id-2.sse", "re-reused-call-id-2.sse", "re-reused-call-id.sse"):
        message = read_bytes((FOLDER / name).read_bytes())
        turns += [message, ToolResultMessage(tool_call_id=message.tool_calls()[0].id, content=[TextContent(text=name)])]
    items = payload(turns)["input"]
    calls = [one["call_id"] for one in items if one.get("type") == "function_call"]
    assert calls == [one["call_id"] for one in items if one.get("type") == "function_call_output"]
    assert len(set(calls)) == 3


def test_reasoning_without_what_it_led_to_is_left_out() -> None:
    thought = ThinkingContent(thinking="hm", thinking_signature=json.dumps(REASONING))
    assert payload([UserMessage(content="x"), said(thought, stop_reason="length")])["input"][2:] == []
    assert payload([said(thought, TextContent(text="a"))])["input"][1] == REASONING


def test_ids_of_other_models_are_made_legal() -> None:
    odd = "call|é" + "x" * 400
    foreign = payload([said(ToolCall(id=odd, name="read"), provider="other")])["input"]
    assert foreign[1]["id"].startswith("fc_")
    assert len(foreign[1]["id"]) <= 64
    assert foreign[1]["call_id"] == foreign[2]["call_id"] == "call"
    kin = payload([said(ToolCall(id="call|fc_1", name="read"), model="older")])["input"]
    assert "id" not in kin[1]
    plain = payload([said(ToolCall(id=odd, name="read"))], model_of("responses", "http://host"))["input"]
    assert "id" not in plain[1]
    assert len(plain[1]["call_id"]) == 64


@pytest.mark.parametrize(
    ("model", "level", "expected"),
    [
        ({}, "high", {"effort": "high", "summary": "auto"}),
        ({"thinking_level_map": {"xhigh": "max"}}, "xhigh", {"effort": "max", "summary": "auto"}),
        ({"thinking_level_map": {"off": "minimal"}}, "off", {"effort": "minimal"}),
        ({"thinking_level_map": {"off": None}}, None, None),
        ({"provider": "github-copilot"}, None, None),
        ({"reasoning": False}, "high", None),
    ],
)
def test_reasoning_is_asked_for_by_effort(model: dict[str, Any], level: Any, expected: Any) -> None:
    sent = payload([], model_of("responses", "http://host", **model), reasoning=level)
    assert sent.get("reasoning") == expected
    assert ("include" in sent) is (expected is not None and "summary" in expected)
