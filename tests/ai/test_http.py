"""What a request that fails says, whether a retry makes sense, and that nothing stays open or leaks."""

from __future__ import annotations

import ssl
import subprocess
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from app.ai.adapters.openai_chat import open_stream
from app.ai.events import AssistantMessageEvent, TextDelta
from app.ai.http import close_client
from app.ai.http_errors import fault_error, retry_after, status_error
from app.ai.messages import AssistantMessage, Context, UserMessage
from app.ai.stream import StreamOptions
from app.errors import ErrorKind
from tests.ai.wire_data import KEY, hello, ill_told, model_of, serve

pytestmark = pytest.mark.anyio
CHUNK = b'data: {"choices":[{"index":0,"delta":{"content":"par"}}]}\n\n'
STOP = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"


@pytest.fixture(autouse=True)
async def _closed_client() -> AsyncIterator[None]:
    yield
    await close_client()


async def answer(family: str = "chat", **server: Any) -> AssistantMessage:
    events: list[AssistantMessageEvent] = []
    with serve(**server) as running:
        message = await hello(family, running.url).run(events.append)
    assert ill_told(events) == []
    return message


def failed(message: AssistantMessage) -> tuple[str | None, bool | None]:
    assert message.stop_reason == "error"
    assert message.error_message
    return message.error_kind, message.retryable


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, "bad_request", False),
        (401, "auth", False),
        (402, "quota", False),
        (403, "auth", False),
        (404, "not_found", False),
        (408, "timeout", True),
        (413, "overflow", False),
        (429, "rate_limit", True),
        (500, "server", True),
        (502, "server", True),
        (503, "overloaded", True),
        (529, "overloaded", True),
        (302, "not_found", False),
    ],
)
async def test_each_status_has_its_kind_and_is_named_even_without_a_body(
    status: int, kind: str, retryable: bool
) -> None:
    message = await answer(status=status)
    assert failed(message) == (kind, retryable)
    assert str(status) in (message.error_message or "")
    assert "127.0.0.1" in (message.error_message or "")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "empty"),
        (b": OPENROUTER PROCESSING\n\n", "empty"),
        (b"data: [DONE]\n\n", "empty"),
        (b"<!doctype html><html><body>data: hello</body></html>", "garbage"),
        (b"what is this", "garbage"),
        (b"\x00\xff\xfe" * 50, "garbage"),
        (b"data: what is this\n\n", "garbage"),
        (CHUNK + b"data: }{\n\n", "garbage"),
        (CHUNK, "cut"),
        (b'{"error": {"message": "model is loading", "code": 503}}', "overloaded"),
        (b'data: {"error": "out of memory"}\n\n', "server"),
        (b'event: error\ndata: {"message": "bad day", "type": "server_error"}\n\n', "server"),
        (b"event: error\ndata: bad day\n\n", "server"),
    ],
)
async def test_a_200_that_is_no_whole_stream_is_an_error(body: bytes, kind: str) -> None:
    message = await answer(body=body)
    assert failed(message) == (kind, True)
    assert "<" not in (message.error_message or "")
    assert message.text() == ("par" if CHUNK in body else "")


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "60"}, 60),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "1000000000"}, 1e9),
        ({"retry-after": "Mon, 30 Nov 2026 12:01:00 GMT"}, 60),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, None),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "abc"}, None),
        ({"retry-after": "10^9"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "1500", "retry-after": "60"}, 1.5),
        ({}, None),
    ],
)
async def test_retry_after_is_read_or_ignored(headers: dict[str, str], expected: float | None) -> None:
    assert retry_after(headers, datetime(2026, 11, 30, 12, 0, tzinfo=UTC)) == expected


async def test_retry_after_reaches_the_message() -> None:
    message = await answer(status=429, headers={"retry-after": "7"})
    assert message.retry_after_s == 7
    assert (await answer(status=429, headers={"retry-after": "abc"})).retry_after_s is None


async def test_a_server_may_say_itself_whether_to_retry() -> None:
    assert failed(await answer(status=400, headers={"x-should-retry": "true"}))[1] is True
    assert failed(await answer(status=500, headers={"x-should-retry": "false"}))[1] is False


async def test_an_echoed_key_is_never_shown() -> None:
    echo = b'{"error": {"message": "bad key ' + KEY.encode() + b'"}}'
    for body, status in ((echo, 401), (KEY.encode(), 500), (b"data: " + echo + b"\n\n", 200), (echo, 200)):
        message = await answer(body=body, status=status)
        assert "[key]" in (message.error_message or "")
        assert KEY not in message.model_dump_json()


async def test_a_long_body_is_shortened_and_a_page_is_only_named() -> None:
    assert len((await answer(status=500, body=b"x" * 500_000, step=65_536)).error_message or "") < 1500
    page = b"<html><head><title>502  Bad\nGateway</title></head>" + b"<p>x</p>" * 1000
    message = await answer(status=502, body=page, step=65_536)
    assert "a web page (502 Bad Gateway)" in (message.error_message or "")
    assert "<p>" not in (message.error_message or "")


async def test_the_true_text_behind_a_router_is_shown_on_a_new_line() -> None:
    fault = {"code": 429, "message": "Provider returned error", "metadata": {"raw": "slow down"}}
    error = fault_error("host", fault)
    assert error.message == "host answered 429: Provider returned error\nslow down"
    assert error.kind is ErrorKind.RATE_LIMIT


@pytest.mark.parametrize(
    "text",
    ['{"error": {"type": "billing_error", "message": "x"}}', "Your credit balance is too low", "insufficient_quota"],
)
async def test_an_empty_account_is_not_retried_whatever_the_status(text: str) -> None:
    for status in (400, 403, 429):
        error = status_error("host", status, {}, text.encode())
        assert (error.kind, error.retryable) == (ErrorKind.QUOTA, False)


async def test_google_says_in_the_body_how_long_to_wait() -> None:
    details = b'[{"retryDelay": "17s"}]'
    body = b'{"error": {"status": "RESOURCE_EXHAUSTED", "message": "quota", "details": ' + details + b"}}"
    error = status_error("host", 429, {}, body)
    assert (error.kind, error.retry_after_s) == (ErrorKind.RATE_LIMIT, 17)


async def test_a_refused_connection_names_the_host() -> None:
    with serve() as server:
        url = server.url
    message = await hello("chat", url).run(lambda _: None)
    assert failed(message) == ("network", True)
    assert f"{url.removeprefix('http://')} refused the connection" in (message.error_message or "")


async def test_an_unknown_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    message = await hello("chat", "http://no-such-host.invalid").run(lambda _: None)
    assert failed(message) == ("network", True)
    assert "no-such-host.invalid can't be found" in (message.error_message or "")


@pytest.mark.parametrize("url", ["", "no-scheme", "ftp://x", "http://[", "http://a b", "http://"])
async def test_an_unusable_address_is_told(url: str) -> None:
    options = StreamOptions()
    model = model_of("chat").model_copy(update={"base_url": url})
    message = await open_stream(model, Context(None, [UserMessage(content="x")]), options).run(lambda _: None)
    assert failed(message) == ("bad_request", False)


@pytest.mark.parametrize("key", ["schlüssel", "a\nb", "a\x00b"])
async def test_a_key_that_can_not_be_sent_is_told_without_showing_it(key: str) -> None:
    with serve() as server:
        context = Context(None, [UserMessage(content="x")])
        stream = open_stream(model_of("chat", server.url), context, StreamOptions(api_key=key))
        message = await stream.run(lambda _: None)
    assert message.stop_reason == "error"
    assert message.retryable is False
    assert message.error_kind in ("auth", "bad_request")
    assert key not in (message.error_message or "")


async def test_an_untrusted_certificate_is_told_and_not_retried(tmp_path: Path) -> None:
    made = await anyio.to_thread.run_sync(
        lambda: subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-days",
                "1",
                "-subj",
                "/CN=localhost",
                "-keyout",
                tmp_path / "key.pem",
                "-out",
                tmp_path / "cert.pem",
            ],
            capture_output=True,
            check=False,
        )
    )
    if made.returncode:
        pytest.skip("openssl is not here")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    with serve(tls=context) as server:
        message = await hello("chat", server.url).run(lambda _: None)
    assert failed(message) == ("network", False)
    assert "certificate of 127.0.0.1" in (message.error_message or "")


async def test_silence_ends_by_the_idle_timeout_and_keeps_the_text() -> None:
    with serve(body=CHUNK, hold=threading.Event()) as server:
        message = await hello("chat", server.url, idle_timeout_s=0.2).run(lambda _: None)
    assert failed(message) == ("timeout", True)
    assert "sent nothing for 0.2 s" in (message.error_message or "")
    assert message.text() == "par"


async def test_a_body_left_open_after_its_end_does_not_keep_the_answer() -> None:
    with serve(body=CHUNK + STOP + DONE, hold=threading.Event()) as server:
        with anyio.fail_after(4):
            message = await hello("chat", server.url).run(lambda _: None)
        assert (message.stop_reason, message.text()) == ("stop", "par")
        assert await anyio.to_thread.run_sync(server.gone.wait, 5)


async def test_cancelling_closes_the_connection_and_leaves_a_message_fit_to_keep() -> None:
    function = b'{"name":"x","arguments":"{\\"p\\""}'
    call = b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":' + function + b"}]}}]}\n\n"
    events: list[AssistantMessageEvent] = []
    with serve(body=CHUNK + call, hold=threading.Event()) as server:
        async with anyio.create_task_group() as group:

            async def run() -> None:
                await hello("chat", server.url).run(events.append)

            group.start_soon(run)
            with anyio.fail_after(5):
                while not any(event.type == "toolcall_delta" for event in events):
                    await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(server.gone.wait, 5)
    kinds = [event.type for event in events]
    assert "done" not in kinds
    assert "error" not in kinds
    [delta] = [event for event in events if isinstance(event, TextDelta)]
    assert delta.partial.text() == "par"
    assert [one.cut for one in delta.partial.tool_calls()] == [True]


async def test_two_requests_share_a_connection() -> None:
    with serve(body=CHUNK + STOP + DONE, step=4096) as server:
        for _ in range(2):
            assert (await hello("chat", server.url).run(lambda _: None)).stop_reason == "stop"
    assert len(server.asked) == 2
    assert server.connections == 1


async def test_a_connection_that_breaks_is_cut_and_one_that_breaks_after_the_end_is_whole() -> None:
    with serve(body=CHUNK, breaks=True) as server:
        message = await hello("chat", server.url).run(lambda _: None)
    assert failed(message) == ("cut", True)
    with serve(body=CHUNK + STOP, breaks=True) as server:
        message = await hello("chat", server.url).run(lambda _: None)
    assert (message.stop_reason, message.text()) == ("stop", "par")


async def test_a_listener_that_raises_gives_an_error_message_and_not_an_exception() -> None:
    seen: list[str] = []

    def emit(event: AssistantMessageEvent) -> None:
        seen.append(event.type)
        if event.type == "text_delta":
            raise RuntimeError("listener")

    with serve(body=CHUNK + STOP) as server:
        message = await hello("chat", server.url).run(emit)
    assert failed(message) == ("internal", False)
    assert seen[-1] == "error"


async def test_a_broken_proxy_variable_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "socks9://nowhere")
    message = await hello("chat", "http://example.invalid").run(lambda _: None)
    assert failed(message) == ("network", False)
    assert "proxy" in (message.error_message or "")


async def test_a_proxy_from_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(body=CHUNK + STOP + DONE) as server:
        monkeypatch.setenv("HTTP_PROXY", server.url)
        message = await hello("chat", "http://example.invalid").run(lambda _: None)
    assert message.text() == "par"
    assert server.paths == ["http://example.invalid/v1/chat/completions"]
