"""Chat Completions: what is sent for a context, and how the odd habits of its imitators are read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.ai.adapters.blocks import MessageBuilder
from app.ai.adapters.openai_chat import ChatReader
from app.ai.adapters.openai_chat_request import build_request
from app.ai.adapters.wire import Reading
from app.ai.events import AssistantMessageEvent
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

MODEL = model_of("chat", "http://host")
TOOL = ToolSpec("read", "Reads.", {"type": "object", "properties": {}})
IMAGE = ImageContent(data="AAAA", mime_type="image/png")


def read(*deltas: dict[str, Any], finish: str | None = "stop") -> AssistantMessage:
    """The message of a stream of these deltas."""
    message, _ = told(*deltas, finish=finish)
    return message


def told(*deltas: dict[str, Any], finish: str | None = "stop") -> tuple[AssistantMessage, list[AssistantMessageEvent]]:
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    if finish:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    events: list[AssistantMessageEvent] = []
    builder = MessageBuilder(MODEL, events.append)
    reading = Reading(builder, ChatReader(builder, "host"), "host")
    try:
        for chunk in chunks:
            reading.feed(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        reading.feed(b"data: [DONE]\n\n")
        return builder.done(reading.finish()), events
    except ModelError as error:
        return builder.fail(error), events


def piece(name: str | None = None, arguments: Any = None, **members: Any) -> dict[str, Any]:
    return {"tool_calls": [{"type": "function", "function": {"name": name, "arguments": arguments}, **members}]}


def calls(*deltas: dict[str, Any], finish: str = "tool_calls") -> list[tuple[str, str, dict[str, Any]]]:
    return [(one.id, one.name, one.arguments) for one in read(*deltas, finish=finish).tool_calls()]


def test_calls_without_an_index_are_told_apart_by_id() -> None:
    assert calls(piece("a", '{"x":', id="1"), piece(None, "1}", id="1"), piece("b", "{}", id="2")) == [
        ("1", "a", {"x": 1}),
        ("2", "b", {}),
    ]


def test_calls_without_index_and_id_are_told_apart_by_a_name_after_a_whole_call() -> None:
    assert calls(piece("a", '{"x":'), piece(None, "1}"), piece("b", '{"y":'), piece("b", "2}")) == [
        ("", "a", {"x": 1}),
        ("", "b", {"y": 2}),
    ]


def test_parallel_calls_that_all_carry_index_0_are_told_apart_by_id() -> None:
    assert calls(piece("a", '{"x":1}', index=0, id="1"), piece("b", '{"y":2}', index=0, id="2")) == [
        ("1", "a", {"x": 1}),
        ("2", "b", {"y": 2}),
    ]


def test_a_fresh_id_with_each_piece_does_not_begin_a_new_call() -> None:
    assert calls(piece("a", '{"x":', index=0, id="1"), piece("", "1}", index=0, id="2")) == [("1", "a", {"x": 1})]
    assert calls(piece("a", '{"x":', index=0, id="1"), piece("a", "1}", index=0, id="2")) == [("1", "a", {"x": 1})]


def test_arguments_may_be_an_object_and_the_old_single_call_is_read() -> None:
    assert calls(piece("a", {"x": 1}, index=0, id="1")) == [("1", "a", {"x": 1})]
    old = ({"function_call": {"name": "a", "arguments": '{"x"'}}, {"function_call": {"arguments": ": 1}"}})
    assert calls(*old, finish="function_call") == [("", "a", {"x": 1})]


def test_sound_calls_make_the_reason_tool_use_and_a_cut_one_keeps_length() -> None:
    sound = piece("a", '{"x":1}', index=0, id="1")
    assert read(sound, finish="stop").stop_reason == "toolUse"
    assert read(sound, finish="length").stop_reason == "toolUse"
    for arguments in ('{"y":', None):
        message = read(sound, piece("b", arguments, index=1, id="2"), finish="length")
        assert message.stop_reason == "length"
        assert [one.cut for one in message.tool_calls()] == [None, True]
    broken = read(piece("b", '{"y":', index=0, id="2"), finish="tool_calls")
    assert (broken.stop_reason, broken.tool_calls()[0].cut) == ("toolUse", True)


@pytest.mark.parametrize(
    ("word", "reason", "kind"),
    [
        ("stop", "stop", None),
        ("end", "stop", None),
        ("eos", "stop", None),
        ("STOP", "stop", None),
        (None, "stop", None),
        ("length", "length", None),
        ("tool_calls", "stop", None),
        ("content_filter", "error", "refused"),
        ("network_error", "error", "server"),
        ("mystery", "error", "internal"),
    ],
)
def test_each_word_for_the_end_has_its_reason(word: str | None, reason: str, kind: str | None) -> None:
    message = read({"content": "hi"}, finish=word)
    assert (message.stop_reason, message.error_kind) == (reason, kind)
    assert message.text() == "hi"
    if kind:
        assert f"Provider finish_reason: {word}" in (message.error_message or "")


def test_the_name_of_the_thinking_field_is_kept_for_replay_and_only_one_of_them_is_read() -> None:
    message = read({"reasoning": "a", "reasoning_text": "a"}, {"reasoning_content": "", "reasoning": "b"})
    assert message.content == [ThinkingContent(thinking="ab", thinking_signature="reasoning")]


def test_encrypted_reasoning_goes_to_the_call_with_its_id() -> None:
    detail = {"type": "reasoning.encrypted", "id": "1", "data": "zzz"}
    message = read({"reasoning_details": [detail]}, piece("a", "{}", index=0, id="1"), finish="tool_calls")
    assert json.loads(message.tool_calls()[0].thought_signature or "") == detail


def test_a_pair_of_surrogates_cut_between_two_chunks_is_one_character() -> None:
    message, events = told({"content": "a\ud83c"}, {"content": "\udf32"}, {"content": "b\ud83c"})
    assert message.text() == "a🌲b\ufffd"
    deltas = "".join(event.delta for event in events if event.type == "text_delta")
    assert deltas == "a🌲b"
    message.model_dump_json().encode("utf-8")


def test_half_a_character_in_any_member_leaves_a_message_that_can_be_written() -> None:
    half = "x\ud83c"
    for place in ("id", "model"):
        builder = MessageBuilder(MODEL, lambda _: None)
        ChatReader(builder, "host").read("message", {place: half})
        builder.message.model_dump_json().encode("utf-8")
    detail = {"type": "reasoning.encrypted", "id": half, "data": half}
    message, events = told(
        {"reasoning": half, "reasoning_details": [detail]},
        piece(half, '{"a": "' + half, index=0, id=half),
        piece(None, '\udf32"}', index=0, id=half),
        finish="tool_calls",
    )
    assert message.tool_calls()[0].arguments == {"a": "x🌲"}
    message.model_dump_json().encode("utf-8")
    for event in events:
        getattr(event, "delta", "").encode("utf-8")


def test_nothing_odd_makes_the_reader_raise() -> None:
    odd: list[Any] = [None, 1, "x", [], {}, [None], [[]], [{}], {"x": None}, [{"function": 3}], [{"index": {}}], True]
    for key in ("content", "tool_calls", "function_call", "refusal", "reasoning", "reasoning_details"):
        for value in odd:
            assert read({key: value}).stop_reason in ("stop", "toolUse"), (key, value)
    builder = MessageBuilder(MODEL, lambda _: None)
    reader = ChatReader(builder, "host")
    for key in ("choices", "usage", "id", "model"):
        for value in odd:
            reader.read("message", {key: value})
    for value in odd:
        reader.read("message", {"choices": [{"delta": value, "finish_reason": value, "usage": value}]})
        reader.read("message", {"usage": {"prompt_tokens": value, "prompt_tokens_details": value}})


def test_the_message_is_current_at_every_event_while_it_is_short_and_costs_stay_linear_when_long() -> None:
    seen: list[bool] = []
    text = ""

    def emit(event: AssistantMessageEvent) -> None:
        nonlocal text
        if event.type == "text_delta":
            text += event.delta
            seen.append(event.partial.text() == text)

    builder = MessageBuilder(MODEL, emit)
    index = builder.open_text()
    for _ in range(3000):
        builder.grow(index, "abcd ")
    assert all(seen)
    for _ in range(5000):
        builder.grow(index, "abcd ")
    assert not all(seen)
    builder.sync()
    assert builder.message.text() == text


# What is sent


def payload(
    messages: list[Message], model: Any = MODEL, tools: tuple[ToolSpec, ...] = (), **options: Any
) -> dict[str, Any]:
    context = Context("Be kind.", messages, list(tools))
    found: dict[str, Any] = json.loads(build_request(model, context, StreamOptions(**options)).body)
    return found


def said(*blocks: Any, **members: Any) -> AssistantMessage:
    return AssistantMessage(content=list(blocks), api=MODEL.api, provider="wire", model="m", **members)


def test_a_plain_request_has_the_documented_members() -> None:
    request = build_request(
        MODEL, Context("Be kind.", [UserMessage(content="hi")], [TOOL]), StreamOptions(api_key=" k ")
    )
    assert request.url == "http://host/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer k"
    assert json.loads(request.body) == {
        "model": "m",
        "messages": [{"role": "developer", "content": "Be kind."}, {"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "store": False,
        "max_completion_tokens": 8000,
        "tools": [
            {
                "type": "function",
                "function": {"name": "read", "description": "Reads.", "parameters": TOOL.parameters, "strict": False},
            }
        ],
    }
    assert "authorization" not in build_request(MODEL, Context(), StreamOptions()).headers


def test_a_conversation_with_tools_images_and_thinking_is_mapped() -> None:
    first = said(
        ThinkingContent(thinking="hm", thinking_signature="reasoning_content"),
        TextContent(text="a"),
        TextContent(text=" "),
        TextContent(text="b"),
        ToolCall(id="1", name="read", arguments={"p": "é"}),
        ToolCall(id="2", name="read"),
    )
    results: list[Message] = [
        ToolResultMessage(tool_call_id=one, tool_name="read", content=content)
        for one, content in (("1", [TextContent(text="x"), TextContent(text="y"), IMAGE]), ("2", [IMAGE]))
    ]
    messages = payload([UserMessage(content=[TextContent(text="see"), IMAGE]), first, *results])["messages"][1:]
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    assert messages[0] == {"role": "user", "content": [{"type": "text", "text": "see"}, picture]}
    assert messages[1]["content"] == "ab"
    assert messages[1]["reasoning_content"] == "hm"
    assert [one["function"]["arguments"] for one in messages[1]["tool_calls"]] == ['{"p": "é"}', "{}"]
    assert messages[2] == {"role": "tool", "tool_call_id": "1", "content": "x\ny"}
    assert messages[3] == {"role": "tool", "tool_call_id": "2", "content": "(see attached image)"}
    assert [one["role"] for one in messages] == ["user", "assistant", "tool", "tool", "user"]
    assert messages[4]["content"][1:] == [picture, picture]


def test_empty_messages_are_left_out_and_lone_surrogates_removed() -> None:
    messages = payload([UserMessage(content=[]), said(TextContent(text=" ")), UserMessage(content="a\ud800b🌲")])
    assert [one["content"] for one in messages["messages"]] == ["Be kind.", "ab🌲"]


def test_a_history_with_calls_names_tools_even_when_there_are_none() -> None:
    history: list[Message] = [said(ToolCall(id="1", name="read"))]
    assert payload(history)["tools"] == []
    assert "tools" not in payload([UserMessage(content="x")])


def test_foreign_ids_are_cut_to_what_the_server_takes() -> None:
    foreign = said(ToolCall(id="call_1|" + "fc_é" * 100, name="read"), ToolCall(id="x" * 80, name="read"))
    foreign.provider = "other"
    messages = payload([foreign], model_of("chat", "http://host", provider="openai"))["messages"]
    assert [one["id"] for one in messages[1]["tool_calls"]] == ["call_1", "x" * 40]
    assert [one["tool_call_id"] for one in messages[2:]] == ["call_1", "x" * 40]


@pytest.mark.parametrize(
    ("compat", "level", "expected"),
    [
        ({}, "high", {"reasoning_effort": "high"}),
        ({}, None, {}),
        ({"supportsReasoningEffort": False}, "high", {}),
        ({"thinkingFormat": "openrouter"}, "low", {"reasoning": {"effort": "low"}}),
        ({"thinkingFormat": "openrouter"}, "off", {"reasoning": {"effort": "none"}}),
        ({"thinkingFormat": "deepseek"}, "high", {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
        ({"thinkingFormat": "deepseek"}, "off", {"thinking": {"type": "disabled"}}),
        ({"thinkingFormat": "zai"}, "low", {"enable_thinking": True}),
        ({"thinkingFormat": "qwen"}, "off", {"enable_thinking": False}),
        (
            {"thinkingFormat": "qwen-chat-template"},
            "low",
            {"chat_template_kwargs": {"enable_thinking": True, "preserve_thinking": True}},
        ),
    ],
)
def test_thinking_is_asked_for_in_the_servers_own_form(compat: dict[str, Any], level: Any, expected: Any) -> None:
    sent = payload([], model_of("chat", "http://host", compat=compat), reasoning=level)
    names = ("reasoning_effort", "reasoning", "thinking", "enable_thinking", "chat_template_kwargs")
    assert {name: sent[name] for name in names if name in sent} == expected
    assert "reasoning_effort" not in payload(
        [], model_of("chat", reasoning=False, base_url="http://h"), reasoning="high"
    )


def test_a_level_is_sent_under_the_models_own_name() -> None:
    model = model_of("chat", "http://host", thinking_level_map={"high": "default", "low": None, "off": "none"})
    assert payload([], model, reasoning="high")["reasoning_effort"] == "default"
    assert payload([], model, reasoning="off")["reasoning_effort"] == "none"
    assert "reasoning_effort" not in payload([], model, reasoning="low")


def test_flags_are_told_by_provider_and_address_and_overridden_one_by_one() -> None:
    moonshot = payload([], model_of("chat", "http://api.moonshot.ai"), (TOOL,))
    assert "max_tokens" in moonshot
    assert "store" not in moonshot
    assert "strict" not in moonshot["tools"][0]["function"]
    assert moonshot["messages"][0]["role"] == "system"
    forced = payload([], model_of("chat", "http://api.moonshot.ai", compat={"supportsStore": True}), (TOOL,))
    assert forced["store"] is False
    assert "max_tokens" in forced


def test_caching_follows_retention() -> None:
    official = model_of("chat", "https://api.openai.com")
    assert payload([], official, session_id="s")["prompt_cache_key"] == "s"
    assert "prompt_cache_key" not in payload([], official, session_id="s", cache_retention="none")
    assert "prompt_cache_key" not in payload([], MODEL, session_id="s")
    long = payload([], MODEL, session_id="s", cache_retention="long")
    assert (long["prompt_cache_key"], long["prompt_cache_retention"]) == ("s", "24h")
    router = model_of("chat", "https://openrouter.ai", provider="openrouter", id="anthropic/x")
    marked = payload([UserMessage(content="hi")], router, (TOOL,))
    mark = {"type": "ephemeral"}
    assert [one["content"][-1]["cache_control"] for one in marked["messages"]] == [mark, mark]
    assert marked["tools"][-1]["cache_control"] == mark


def test_flags_for_strict_servers_shape_the_history() -> None:
    flags = {
        "requiresToolResultName": True,
        "requiresAssistantAfterToolResult": True,
        "requiresThinkingAsText": True,
        "sendSessionAffinityHeaders": True,
    }
    model = model_of("chat", "http://host", compat=flags)
    answer = said(ThinkingContent(thinking="hm", thinking_signature="reasoning"), ToolCall(id="1", name="read"))
    result = ToolResultMessage(tool_call_id="1", tool_name="read", content=[TextContent(text="x")])
    messages = payload([answer, result, UserMessage(content="hi")], model)["messages"][1:]
    assert [one["role"] for one in messages] == ["assistant", "tool", "assistant", "user"]
    assert messages[0]["content"] == [{"type": "text", "text": "hm"}]
    assert messages[1]["name"] == "read"
    assert build_request(model, Context(), StreamOptions(session_id="s")).headers["session_id"] == "s"


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://h/v1/", "http://h/v1/chat/completions"),
        ("http://h/v1/chat/completions", "http://h/v1/chat/completions"),
        ("http://h/x?api-version=1", "http://h/x/chat/completions?api-version=1"),
        ("HTTPS://u:p@h:8/v1", "HTTPS://u:p@h:8/v1/chat/completions"),
        ("http://[::1]:8080", "http://[::1]:8080/chat/completions"),
    ],
)
def test_a_base_url_may_be_written_in_many_ways(base: str, url: str) -> None:
    model = MODEL.model_copy(update={"base_url": base})
    assert build_request(model, Context(), StreamOptions()).url == url


def test_headers_of_the_model_and_of_the_call_win() -> None:
    model = model_of("chat", "http://host", headers={"Authorization": "mine", "X-A": "1"})
    headers = build_request(model, Context(), StreamOptions(api_key="k", headers={"x-a": "2"})).headers
    assert (headers["authorization"], headers["x-a"]) == ("mine", "2")
