"""History that any provider takes: pairs whole and in order, nothing of failed answers, nothing foreign replayed."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.ai.handoff import safe_id, transform_messages
from app.ai.messages import (
    AssistantMessage,
    ImageContent,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from tests.ai.wire_data import model_of

MODEL = model_of("anthropic")
BLIND = MODEL.model_copy(update={"input": ["text"]})
IMAGE = ImageContent(data="AAAA")


def said(*blocks: Any, same: bool = True, **members: Any) -> AssistantMessage:
    provider = "wire" if same else "other"
    return AssistantMessage(content=list(blocks), api=MODEL.api, provider=provider, model="m", **members)


def call(call_id: str, **members: Any) -> ToolCall:
    return ToolCall(id=call_id, name=members.pop("name", "read"), arguments={"path": call_id}, **members)


def result(call_id: str, text: str = "ok", **members: Any) -> ToolResultMessage:
    return ToolResultMessage(tool_call_id=call_id, tool_name="read", content=[TextContent(text=text)], **members)


def user(content: Any = "u") -> UserMessage:
    return UserMessage(content=content)


def shape(messages: list[Message]) -> list[str]:
    found = []
    for message in messages:
        if isinstance(message, ToolResultMessage):
            found.append(f"{message.tool_call_id}={message.text()}{'!' if message.is_error else ''}")
        elif isinstance(message, AssistantMessage):
            found.append("+".join(["a", *(one.id for one in message.tool_calls())]))
        else:
            found.append("u")
    return found


def sent(*messages: Message, model: Any = MODEL, **options: Any) -> list[str]:
    return shape(transform_messages(messages, model, **options))


def test_a_call_without_a_result_gets_one_before_whatever_follows() -> None:
    missing = "=No result provided!"
    assert sent(user(), said(call("x"), call("y")), result("x"), user()) == ["u", "a+x+y", "x=ok", f"y{missing}", "u"]
    assert sent(user(), said(call("x"))) == ["u", "a+x", f"x{missing}"]
    assert sent(said(call("x")), said(call("y")), result("y")) == ["a+x", f"x{missing}", "a+y", "y=ok"]


def test_results_stand_in_call_order_directly_after_their_answer() -> None:
    assert sent(said(call("x"), call("y")), user(), result("y"), result("x")) == ["a+x+y", "x=ok", "y=ok", "u"]


def test_failed_and_aborted_answers_go_with_their_results() -> None:
    for reason in ("error", "aborted"):
        assert sent(user(), said(call("x"), stop_reason=reason), result("x"), user()) == ["u", "u"]
    aborted = said(stop_reason="aborted")
    assert sent(said(call("x")), aborted, result("x"), user()) == ["a+x", "x=ok", "u"]


def test_a_result_without_its_call_and_a_second_one_are_left_out() -> None:
    assert sent(result("x"), user(), said(call("y")), result("y"), result("y", "again"), result("z")) == [
        "u",
        "a+y",
        "y=ok",
    ]


def test_an_id_used_twice_is_made_unique_with_its_results() -> None:
    twice = said(call("x"), call("x"))
    assert sent(twice, result("x", "1"), result("x", "2"), said(call("x")), result("x", "3")) == [
        "a+x+x_2",
        "x=1",
        "x_2=2",
        "a+x_3",
        "x_3=3",
    ]
    long = "x" * 64
    [first, *_, second, _] = transform_messages([said(call(long)), result(long), said(call(long)), result(long)], MODEL)
    ids = [
        one.id for message in (first, second) if isinstance(message, AssistantMessage) for one in message.tool_calls()
    ]
    assert len(set(ids)) == 2
    assert all(len(one) <= 64 for one in ids)


def test_ids_of_other_models_are_normalised_on_both_sides() -> None:
    odd = "call|" + "é" * 400
    messages: list[Message] = [said(call(odd), same=False), result(odd), said(call("a|b")), result("a|b")]
    found = sent(*messages, normalise_id=lambda call_id, _: safe_id(call_id))
    clean = "call_" + "_" * 59
    assert found == [f"a+{clean}", f"{clean}=ok", "a+a|b", "a|b=ok"]


def test_an_empty_id_or_name_is_filled_in() -> None:
    messages = transform_messages([said(ToolCall())], MODEL)
    assert shape(messages) == ["a+call", "call=No result provided!"]
    assert isinstance(messages[0], AssistantMessage)
    assert messages[0].tool_calls()[0].name == "unknown"


def test_a_cut_call_is_never_replayed_as_sound() -> None:
    cut = said(call("x"), call("y", cut=True), call("z", cut=True), stop_reason="length")
    messages = transform_messages([cut, result("x"), result("y", "fine")], MODEL)
    assert shape(messages)[:3] == ["a+x+y+z", "x=ok", "y=fine!"]
    assert "cut off" in shape(messages)[3]
    assert isinstance(messages[0], AssistantMessage)
    assert [one.arguments for one in messages[0].tool_calls()] == [{"path": "x"}, {}, {}]


THOUGHTS = (
    ThinkingContent(thinking="t", thinking_signature="s"),
    ThinkingContent(thinking="", thinking_signature="s"),
    ThinkingContent(thinking="bare"),
    ThinkingContent(thinking=" "),
    ThinkingContent(thinking="hidden", thinking_signature="p", redacted=True),
    TextContent(text="x", text_signature="s"),
    call("c", thought_signature="s"),
)


def test_the_same_model_gets_its_thoughts_and_signatures_back() -> None:
    [message, _] = transform_messages([said(*THOUGHTS)], MODEL)
    assert isinstance(message, AssistantMessage)
    assert message.content == [*THOUGHTS[:3], *THOUGHTS[4:]]


def test_another_model_gets_thoughts_as_text_and_no_signature() -> None:
    [message, _] = transform_messages([said(*THOUGHTS, same=False)], MODEL)
    assert isinstance(message, AssistantMessage)
    assert message.content == [TextContent(text="t"), TextContent(text="bare"), TextContent(text="x"), call("c")]


def test_images_become_a_note_for_a_model_that_sees_none() -> None:
    content = [IMAGE, IMAGE, TextContent(text="a"), IMAGE]
    shown = result("x").model_copy(update={"content": content})
    [first, _, third] = transform_messages([user(content), said(call("x")), shown], BLIND)
    assert isinstance(first, UserMessage)
    assert isinstance(third, ToolResultMessage)
    for message, note in ((first, "(image omitted"), (third, "(tool image omitted")):
        texts = [block.text for block in message.content if isinstance(block, TextContent)]
        assert len(texts) == 3
        assert texts[1] == "a"
        assert texts[0] == texts[2]
        assert texts[0].startswith(note)
    kept = transform_messages([user(content)], MODEL)[0]
    assert isinstance(kept, UserMessage)
    assert kept.content == content


IDS = st.sampled_from(["x", "y", "z", ""])
MESSAGE = st.one_of(
    st.builds(user),
    st.builds(
        lambda ids, reason, same, cut: said(
            *(call(one, cut=cut or None) for one in ids), stop_reason=reason, same=same
        ),
        st.lists(IDS, max_size=3),
        st.sampled_from(["stop", "toolUse", "length", "error", "aborted"]),
        st.booleans(),
        st.booleans(),
    ),
    st.builds(result, IDS),
)


@given(st.lists(MESSAGE, max_size=12))
def test_every_history_comes_out_with_whole_pairs_and_is_left_as_it_was(messages: list[Message]) -> None:
    before = [message.model_dump_json() for message in messages]
    found = transform_messages(messages, MODEL, lambda call_id, _: safe_id(call_id))
    assert [message.model_dump_json() for message in messages] == before
    due: list[str] = []
    seen: set[str] = set()
    for message in found:
        if isinstance(message, ToolResultMessage):
            assert due.pop(0) == message.tool_call_id
            continue
        assert not due
        if isinstance(message, AssistantMessage):
            assert message.stop_reason not in ("error", "aborted")
            due = [one.id for one in message.tool_calls()]
            assert not seen & set(due)
            assert len(set(due)) == len(due)
            seen |= set(due)
    assert not due
