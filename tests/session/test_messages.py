"""The session's messages: what is sent, what is shown, what odd files give (spec core §3.1, cases S5)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.ai.messages import (
    AssistantMessage,
    ImageContent,
    Message,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    WireModel,
)
from app.session.entries import iso_to_ms, ms_to_iso, new_session_id
from app.session.messages import (
    BashExecutionMessage,
    CustomMessage,
    OpaqueMessage,
    bash_execution_message,
    block_images,
    branch_summary_message,
    compaction_summary_message,
    convert_to_llm,
    custom_message,
    register_message_type,
)
from app.session.parsing import parse_message

ISO = "2026-01-31T12:00:00.123Z"


def sent_text(*messages: Any) -> list[str]:
    texts = []
    for message in convert_to_llm(messages):
        assert isinstance(message, UserMessage)
        assert isinstance(message.content, list)
        (block,) = message.content
        assert isinstance(block, TextContent)
        texts.append(block.text)
    return texts


def test_factories_take_iso_times_and_refuse_numbers() -> None:
    makers: list[Callable[[Any], Any]] = [
        lambda time: bash_execution_message("ls", "", time),
        lambda time: custom_message("t", "x", True, None, time),
        lambda time: branch_summary_message("s", "a", time),
        lambda time: compaction_summary_message("s", 5, time),
    ]
    for make in makers:
        assert make(ISO).timestamp == 1769860800123
        with pytest.raises(TypeError, match="ISO string"):
            make(1769860800123)
    with pytest.raises(ValueError, match="Invalid isoformat"):
        iso_to_ms("yesterday")
    assert ms_to_iso(iso_to_ms(ISO)) == ISO
    assert iso_to_ms("2026-01-31T13:00:00.123+01:00") == iso_to_ms("2026-01-31T12:00:00.123") == iso_to_ms(ISO)


def test_own_messages_are_sent_as_user_text() -> None:
    plain = custom_message("t", "note", False, None, ISO)
    assert sent_text(plain) == ["note"]
    (branch,) = sent_text(branch_summary_message("went wrong", "a", ISO))
    assert branch.endswith("\n\n<summary>\nwent wrong</summary>")
    (compact,) = sent_text(compaction_summary_message("long ago", 5, ISO))
    assert compact.endswith("\n\n<summary>\nlong ago\n</summary>")


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, "Ran `ls`\n```\na\nb\n```"),
        ({"exit_code": 0}, "Ran `ls`\n```\na\nb\n```"),
        ({"exit_code": 2}, "Ran `ls`\n```\na\nb\n```\n\nCommand exited with code 2"),
        ({"cancelled": True, "exit_code": 2}, "Ran `ls`\n```\na\nb\n```\n\n(command cancelled)"),
        ({"truncated": True}, "Ran `ls`\n```\na\nb\n```"),
        (
            {"truncated": True, "full_output_path": "/t/x"},
            "Ran `ls`\n```\na\nb\n```\n\n[Output truncated. Full output: /t/x]",
        ),
    ],
)
def test_a_users_command_is_sent_with_its_outcome(more: dict[str, Any], expected: str) -> None:
    assert sent_text(bash_execution_message("ls", "a\nb", ISO, **more)) == [expected]


def test_an_excluded_command_is_shown_and_not_sent() -> None:
    message = bash_execution_message("ls", "", ISO, exclude_from_context=True)
    assert convert_to_llm([message]) == []
    assert sent_text(bash_execution_message("ls", "", ISO)) == ["Ran `ls`\n(no output)"]


def test_model_messages_pass_as_the_same_objects() -> None:
    messages: list[Message] = [UserMessage(content="x"), AssistantMessage(), ToolResultMessage()]
    sent = convert_to_llm(messages)
    assert all(one is other for one, other in zip(sent, messages, strict=True))


class Mood(WireModel):
    role: Literal["mood"] = "mood"
    text: str = ""


def test_a_registered_type_is_read_sent_and_its_failure_reported() -> None:
    raw = {"role": "mood", "text": "fine", "other": 1}
    assert isinstance(parse_message({"role": "moody"}), OpaqueMessage)
    register_message_type("mood", Mood, lambda mood: UserMessage(content=mood.text))
    mood = parse_message(raw)
    assert isinstance(mood, Mood)
    assert mood.to_wire() == raw
    assert [getattr(message, "content", None) for message in convert_to_llm([mood])] == ["fine"]
    register_message_type("mood", Mood, lambda _: [UserMessage(), AssistantMessage()])
    assert len(convert_to_llm([mood])) == 2
    register_message_type("mood", Mood, lambda mood: mood.nothing)
    said: list[str] = []
    assert convert_to_llm([mood, UserMessage()], said.append) != []
    assert len(said) == 1
    assert "mood" in said[0]
    with pytest.raises(ValueError, match="built in"):
        register_message_type("user", Mood, lambda _: None)


def test_unknown_roles_are_kept_whole_and_not_sent() -> None:
    raw = {"role": "system", "content": "x", "sections": {"a": None}, "timestamp": 5}
    message = parse_message(raw)
    assert convert_to_llm([message]) == []
    assert message.model_dump(by_alias=True) == raw


def test_blocked_images_become_one_text_and_history_keeps_them() -> None:
    image = ImageContent(data="aa")
    user = UserMessage(content=[image, image, TextContent(text="x"), image])
    result = ToolResultMessage(content=[TextContent(text="y"), image])
    plain = UserMessage(content="z")
    out = block_images([user, result, plain])
    assert isinstance(out[0].content, list)
    assert [getattr(block, "text", "?")[:6] for block in out[0].content] == ["[image", "x", "[image"]
    assert len(out[1].content) == 2
    assert out[2] is plain
    assert len(user.content) == 4
    assert isinstance(result.content[1], ImageContent)


@pytest.mark.parametrize(
    "raw",
    [
        {"role": "assistant", "content": [{"type": "toolCall", "id": "a", "name": "read", "arguments": {"path": 5}}]},
        {"role": "assistant", "content": [{"type": "toolCall", "id": "a", "name": "bash", "arguments": None}]},
        {"role": "assistant", "content": [{"type": "toolCall", "id": 7, "name": None, "arguments": ["ls"]}]},
        {"role": "assistant", "content": "a string", "usage": None, "stopReason": "odd"},
        {"role": "assistant", "content": [{"type": "image", "data": 1}, 5, None, {"type": ["x"]}], "errorMessage": 5},
        {"role": "assistant", "content": [{"type": "text", "text": "\ud800", "textSignature": {"v": 1}}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "redacted": "maybe"}]},
        {"role": "toolResult", "content": [{"type": "toolCall"}], "isError": "perhaps", "toolCallId": None},
        {"role": "user", "content": [{"type": "document"}], "timestamp": "yesterday"},
        {"role": "bashExecution", "command": ["ls"], "exitCode": "0", "cancelled": None, "output": None},
        {"role": "custom", "content": {"a": 1}, "display": None},
        {"role": "compactionSummary", "tokensBefore": "many", "summary": None},
        {"role": "compactionSummary", "tokensBefore": float("inf"), "summary": "\udfff"},
        {"role": "user", "content": "x", "timestamp": float("nan")},
    ],
)
def test_odd_members_do_not_cost_the_message(raw: dict[str, Any]) -> None:
    message = parse_message(raw)
    assert getattr(message, "role", None) == raw["role"]
    assert not isinstance(message, OpaqueMessage)
    convert_to_llm([message])
    message.model_dump_json(by_alias=True)


def test_a_fault_in_one_block_costs_that_member_alone() -> None:
    message = parse_message(
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "kept", "textSignature": 5},
                {"type": "toolCall", "id": "c", "name": "ls", "arguments": {"a": 1}, "thoughtSignature": []},
                {"type": "thinking", "thinking": "t", "thinkingSignature": "s"},
            ],
            "stopReason": "whatever",
        }
    )
    assert isinstance(message, AssistantMessage)
    assert message.text() == "kept"
    (call,) = message.tool_calls()
    assert isinstance(call, ToolCall)
    assert (call.id, call.arguments, message.stop_reason) == ("c", {"a": 1}, "stop")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**20) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
BLOCK = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "thinking", "toolCall", "image", "x"]) | JSON},
    optional=dict.fromkeys(("text", "thinking", "id", "name", "arguments", "data", "mimeType", "cut"), JSON),
)
ROLES = ["user", "assistant", "toolResult", "bashExecution", "custom", "branchSummary", "compactionSummary", "x"]


@settings(max_examples=150, deadline=None)
@given(
    st.fixed_dictionaries(
        {"role": st.sampled_from(ROLES) | JSON},
        optional={
            "content": st.lists(BLOCK, max_size=3) | JSON,
            **dict.fromkeys(("timestamp", "usage", "stopReason", "isError", "toolCallId", "exitCode"), JSON),
            **dict.fromkeys(("display", "summary", "tokensBefore", "command", "details", "errorMessage"), JSON),
        },
    )
)
def test_no_message_raises(raw: dict[str, Any]) -> None:
    message = parse_message(json.loads(json.dumps(raw)))
    convert_to_llm([message])
    block_images(convert_to_llm([message]))
    if raw["role"] in ROLES[:-1]:
        assert not isinstance(message, OpaqueMessage)


def test_session_ids_are_uuids_of_version_7_in_order_of_time() -> None:
    import uuid

    ids = [new_session_id() for _ in range(50)]
    assert {uuid.UUID(item).version for item in ids} == {7}
    assert {uuid.UUID(item).variant for item in ids} == {uuid.RFC_4122}
    assert len(set(ids)) == 50
    times = [item[:13] for item in ids]
    assert times == sorted(times)


def test_files_of_ours_read_as_the_types_that_wrote_them() -> None:
    for message in (
        bash_execution_message("ls", "x", ISO, exit_code=1),
        custom_message("t", [TextContent(text="x"), ImageContent(data="aa")], False, {"k": None}, ISO),
    ):
        again = parse_message(json.loads(json.dumps(message.to_wire())))
        assert isinstance(again, BashExecutionMessage | CustomMessage)
        assert again.to_wire() == message.to_wire()
