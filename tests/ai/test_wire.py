"""Every recorded body, over a real connection and in process split everywhere, gives the message its meta expects."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from app.ai.adapters.anthropic import AnthropicReader
from app.ai.adapters.blocks import MessageBuilder
from app.ai.adapters.google import GoogleReader
from app.ai.adapters.openai_chat import ChatReader
from app.ai.adapters.openai_responses import ResponsesReader
from app.ai.adapters.wire import Reader, Reading
from app.ai.events import AssistantMessageEvent
from app.ai.http import close_client
from app.ai.messages import AssistantMessage
from app.errors import ModelError
from tests.ai.wire_data import KEY, Case, cases, hello, ill_told, mismatches, model_of, serve

pytestmark = pytest.mark.anyio
FAMILIES = ("anthropic", "chat", "responses", "gemini")
ALL = cases(*FAMILIES)
STREAMS = [case for case in ALL if case.status == 200]


@pytest.fixture(autouse=True)
async def _closed_client() -> AsyncIterator[None]:
    yield
    await close_client()


def reader_of(case: Case, builder: MessageBuilder) -> Reader:
    match case.api:
        case "anthropic":
            return AnthropicReader(builder, "host")
        case "responses":
            return ResponsesReader(builder, "host")
        case "gemini":
            return GoogleReader(builder, "host")
        case _:
            return ChatReader(builder, "host")


def read(case: Case, pieces: list[bytes]) -> tuple[AssistantMessage, list[AssistantMessageEvent]]:
    """The message of a body that arrives in these pieces, without a network."""
    events: list[AssistantMessageEvent] = []
    builder = MessageBuilder(model_of(case.api), events.append)
    builder.message.timestamp = 0
    reading = Reading(builder, reader_of(case, builder), "host")
    reading.open({})
    try:
        for piece in pieces:
            reading.feed(piece)
        return builder.done(reading.finish()), events
    except ModelError as error:
        return builder.fail(error), events


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.id)
async def test_a_body_over_a_connection_gives_what_its_meta_expects(case: Case) -> None:
    events: list[AssistantMessageEvent] = []
    with serve(body=case.body, status=case.status, headers=case.meta.get("headers") or {}, step=997) as server:
        message = await hello(case.api, server.url).run(events.append)
    assert mismatches(case, message) == []
    assert ill_told(events) == []
    assert len(server.asked) == 1
    assert (message.api, message.provider, message.model) == (model_of(case.api).api, "wire", "m")
    assert KEY not in (message.error_message or "")


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case.id)
async def test_a_body_in_small_pieces_gives_the_same_message(case: Case, size: int) -> None:
    pieces = [case.body[start : start + size] for start in range(0, len(case.body), size)]
    message, events = read(case, pieces)
    whole, _ = read(case, [case.body])
    assert mismatches(case, message) == []
    assert ill_told(events) == []
    assert message == whole


@pytest.mark.parametrize("case", [case for case in STREAMS if len(case.body) < 2500], ids=lambda case: case.id)
async def test_a_body_cut_in_two_at_any_byte_gives_the_same_message(case: Case) -> None:
    whole, _ = read(case, [case.body])
    for at in range(len(case.body)):
        assert read(case, [case.body[:at], case.body[at:]])[0] == whole, at


@pytest.mark.parametrize("case", [case for case in STREAMS if "CRLF" not in case.body.decode()], ids=lambda c: c.id)
async def test_line_ends_of_another_kind_give_the_same_message(case: Case) -> None:
    whole, _ = read(case, [case.body])
    for end in (b"\r\n", b"\r"):
        if b"\r" in case.body:
            continue
        body = b"\xef\xbb\xbf: comment" + end + case.body.replace(b"\n", end)
        assert read(case, [body])[0] == whole
        assert read(case, [body[start : start + 1] for start in range(len(body))])[0] == whole


@pytest.mark.parametrize(
    "case", [case for case in STREAMS if case.expected["complete"] and not case.expected["error"]], ids=lambda c: c.id
)
async def test_a_body_that_stops_anywhere_is_an_error_until_its_end_came(case: Case) -> None:
    whole, _ = read(case, [case.body])
    ended = False
    for at in range(0, len(case.body), max(1, len(case.body) // 200)):
        message, events = read(case, [case.body[:at]])
        assert ill_told(events) == []
        if message.stop_reason != "error":
            ended = True
            assert message.text() == whole.text()
            assert message.tool_calls() == whole.tool_calls()
            continue
        assert not ended, "an error after the end"
        assert message.retryable is True
        assert message.error_kind in ("cut", "empty", "garbage")
        assert whole.text().startswith(message.text())
