"""The scripted model: same script, same events."""

from __future__ import annotations

import json

import anyio
import pytest

from app.ai.adapters.scripted import (
    PlayedStream,
    ScriptedModel,
    answer,
    prompt_text,
    scripted_model,
    text,
    thinking,
    tool_call,
)
from app.ai.events import AssistantMessageEvent, StreamDone, StreamError, TextDelta, ToolCallDelta, ToolCallEnd
from app.ai.messages import AssistantMessage, Context, StopReason, Usage, UserMessage
from app.ai.stream import StreamOptions, stream
from app.errors import ErrorKind

ASK = Context("be brief", [UserMessage(content="hello")])


async def play(
    script: ScriptedModel, context: Context = ASK, options: StreamOptions | None = None
) -> tuple[AssistantMessage, list[AssistantMessageEvent]]:
    events: list[AssistantMessageEvent] = []
    opened = script.stream_fn(script.model, context, options or StreamOptions())
    return await opened.run(events.append), events


@pytest.mark.anyio
async def test_blocks_are_played_in_order_between_start_and_done() -> None:
    script = ScriptedModel([answer(thinking("hm"), text("abc"), tool_call("ls", {"path": "."}))])
    message, events = await play(script)
    assert [event.type for event in events] == [
        "start", "thinking_start", "thinking_delta", "thinking_end", "text_start", "text_delta", "text_end",
        "toolcall_start", "toolcall_delta", "toolcall_end", "done",
    ]  # fmt: skip
    assert message.stop_reason == "toolUse"
    assert message.text() == "abc"
    assert message.tool_calls()[0].id == "call-1"
    assert (message.api, message.provider, message.model) == ("pinyon-scripted", "scripted", "scripted-1")


@pytest.mark.anyio
@pytest.mark.parametrize("chunk_tokens", [1, 3, 100])
async def test_deltas_put_together_are_the_text(chunk_tokens: int) -> None:
    whole = "häuser 家 🏠 " * 7
    message, events = await play(ScriptedModel([whole], chunk_tokens=chunk_tokens))
    pieces = [event.delta for event in events if isinstance(event, TextDelta)]
    assert "".join(pieces) == whole == message.text()
    assert max(map(len, pieces)) <= 4 * chunk_tokens


@pytest.mark.anyio
async def test_arguments_arrive_as_json_text_and_are_set_only_at_the_end() -> None:
    arguments = {"path": "a.py", "edits": [{"oldText": "é\n", "newText": "x" * 30}]}
    seen: list[dict[str, object]] = []
    pieces: list[str] = []

    def watch(event: AssistantMessageEvent) -> None:
        if isinstance(event, ToolCallDelta):
            pieces.append(event.delta)
            seen.append(event.partial.tool_calls()[0].arguments)
        if isinstance(event, ToolCallEnd):
            assert event.tool_call.arguments == arguments

    script = ScriptedModel([answer(tool_call("edit", arguments))])
    await script.stream_fn(script.model, ASK, StreamOptions()).run(watch)
    assert len(pieces) > 2
    assert all(value == {} for value in seen)
    assert json.loads("".join(pieces)) == arguments


@pytest.mark.anyio
async def test_the_script_is_not_touched_by_being_played() -> None:
    given = answer(tool_call("ls"))
    await play(ScriptedModel([given]))
    assert given.tool_calls()[0].id == ""
    assert given.usage.total_tokens == 0


@pytest.mark.anyio
@pytest.mark.parametrize("reason", ["error", "aborted"])
async def test_a_response_that_failed_ends_in_an_error_after_its_content(reason: StopReason) -> None:
    given = answer("some", error_message="overloaded", error_kind=ErrorKind.OVERLOADED, retryable=True)
    given.stop_reason = reason
    message, events = await play(ScriptedModel([given]))
    last = events[-1]
    assert isinstance(last, StreamError)
    assert last.reason == message.stop_reason == reason
    assert message.text() == "some"
    assert (message.error_message, message.error_kind, message.retryable) == ("overloaded", "overloaded", True)


@pytest.mark.anyio
async def test_without_a_response_left_the_stream_fails_before_its_start() -> None:
    message, events = await play(ScriptedModel())
    assert [event.type for event in events] == ["error"]
    assert "no more responses" in (message.error_message or "")
    assert message.retryable is False


@pytest.mark.anyio
async def test_functions_see_the_request_and_may_be_awaited_or_raise() -> None:
    async def later(context: Context, _: StreamOptions) -> AssistantMessage:
        await anyio.lowlevel.checkpoint()
        return answer(f"{len(context.messages)} message")

    def broken(context: Context, _: StreamOptions) -> AssistantMessage:
        raise ValueError("no such thing")

    script = ScriptedModel([later, lambda _, options: answer(f"key {options.api_key}")])
    script.append(broken)
    assert script.pending == 3
    assert (await play(script))[0].text() == "1 message"
    assert (await play(script, options=StreamOptions(api_key="k")))[0].text() == "key k"
    failed, events = await play(script)
    assert [event.type for event in events] == ["error"]
    assert "no such thing" in (failed.error_message or "")
    assert [call.system_prompt for call in script.calls] == ["be brief"] * 3
    assert script.options[1].api_key == "k"


@pytest.mark.anyio
async def test_usage_is_estimated_unless_given() -> None:
    given = Usage(input=190_000, output=5, total_tokens=190_005)
    script = ScriptedModel(["x" * 8, answer("y", usage=given)])
    first = (await play(script))[0].usage
    assert first.input == -(-len(prompt_text(ASK)) // 4)
    assert first.total_tokens == first.input + first.output > 0
    assert (await play(script))[0].usage == given


@pytest.mark.anyio
async def test_a_session_reads_the_common_beginning_from_the_cache() -> None:
    script = ScriptedModel(["a", "b"])
    options = StreamOptions(session_id="s")
    first = (await play(script, options=options))[0].usage
    longer = Context("be brief", [*ASK.messages, UserMessage(content="more")])
    second = (await play(script, longer, options))[0].usage
    assert (first.cache_read, first.input) == (0, 0)
    assert second.cache_read > 0
    assert second.cache_write > 0


@pytest.mark.anyio
async def test_cancelling_passes_through_and_leaves_what_had_arrived() -> None:
    reached = anyio.Event()

    async def hold(message: AssistantMessage) -> None:
        if message.text():
            reached.set()
            await anyio.sleep_forever()

    events: list[AssistantMessageEvent] = []
    script = ScriptedModel(["x" * 100], chunk_tokens=1, gate=hold)
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(script.stream_fn(script.model, ASK, StreamOptions()).run, events.append)
            await reached.wait()
            scope.cancel()
    assert scope.cancelled_caught
    assert not any(isinstance(event, StreamDone | StreamError) for event in events)
    assert isinstance(events[-1], TextDelta)
    assert events[-1].partial.text() == "xxxx"


@pytest.mark.anyio
async def test_a_speed_is_kept_by_the_clock() -> None:
    started = anyio.current_time()
    await play(ScriptedModel(["x" * 400], tokens_per_second=1000, chunk_tokens=10))
    assert anyio.current_time() - started >= 0.09


@pytest.mark.anyio
async def test_the_dispatch_by_api_finds_the_living_script() -> None:
    script = ScriptedModel(["found"], model=scripted_model("by-api", reasoning=True))
    message = await stream(script.model, ASK, StreamOptions()).run(lambda _: None)
    assert message.text() == "found"
    missing = await stream(scripted_model("nobody"), ASK, StreamOptions()).run(lambda _: None)
    assert missing.stop_reason == "error"


@pytest.mark.anyio
async def test_a_cut_call_stays_cut() -> None:
    call = tool_call("write", {"path": "x"}, "c1")
    call.cut = True
    played = PlayedStream(answer(call, stop_reason="length"), scripted_model(), ScriptedModel().pace)
    message = await played.run(lambda _: None)
    assert message.tool_calls()[0].cut is True
    assert message.stop_reason == "length"
