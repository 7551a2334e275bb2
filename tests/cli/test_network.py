"""A provider that fails: one line says what failed and what to do, the session keeps everything, the exit code is 1."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.cli.server import Provider, Reply, provider
from tests.cli.wires import ANTHROPIC, CHAT, cut, head, says, text_parts

PAGE = b"<html><head><title>Welcome</title></head><body>Log in</body></html>"
JSON = {"content-type": "application/json"}
FAILURES = {
    "401": (Reply(b'{"error":{"message":"bad key","type":"authentication_error"}}', 401, JSON), "API key", 1),
    "404": (Reply(b'{"error":{"message":"no such model"}}', 404, JSON), "Check the model", 1),
    "413": (Reply(b"", 413), "longer than the model can read", 1),
    "429": (Reply(b'{"error":{"message":"slow down"}}', 429, JSON), "Wait a little", 2),
    "500": (Reply(b"", 500), "Try again", 2),
    "529": (
        Reply(b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', 529, JSON),
        "again",
        2,
    ),
    "html": (Reply(PAGE, 200, {"content-type": "text/html"}), "web page", 2),
    "garbage": (Reply(b"data: {]\n\ndata: more\n\n"), "no JSON", 2),
    "noise": (Reply(bytes(range(256)) * 20), "", 2),
    "cut": (cut("half an answ"), "broke before", 2),
    "empty": (Reply(b""), "nothing", 2),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_one_line_and_nothing_is_lost(name: str, pinyon: Program, asked: Provider) -> None:
    reply, said, requests = FAILURES[name]
    asked.play(reply)
    ended = pinyon.run("-p", "hello")
    assert ended.code == 1
    assert said in ended.complaint()
    assert len(asked.requests) == requests
    user, *failed = pinyon.messages()
    assert user["content"][0]["text"] == "hello"
    assert [message["stopReason"] for message in failed] == ["error"] * requests
    assert all(message["errorMessage"] for message in failed)


def test_what_came_before_a_cut_is_printed_and_kept(pinyon: Program, asked: Provider) -> None:
    asked.play(cut("half an answ"))
    ended = pinyon.run("-p", "hello")
    assert ended.out == "half an answ\n"
    assert pinyon.messages()[-1]["content"][0]["text"] == "half an answ"


def test_a_refused_connection_says_that_nothing_listens(pinyon: Program) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound and not listening: nobody else can take it
        pinyon.use(f"http://127.0.0.1:{held.getsockname()[1]}", CHAT)
        ended = pinyon.run("-p", "hello")
    assert (ended.code, ended.out) == (1, "")
    assert "nothing listens there" in ended.complaint()
    assert pinyon.messages()[0]["role"] == "user"


def test_a_server_without_tls_behind_an_https_address_is_named(pinyon: Program, wire: Provider) -> None:
    pinyon.use(wire.address.replace("http:", "https:"), CHAT)
    ended = pinyon.run("-p", "hello")
    assert ended.code == 1
    assert "No secure connection to 127.0.0.1" in ended.complaint()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
def test_a_certificate_that_nobody_vouches_for_is_refused_at_once(pinyon: Program, tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run([*make, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    with provider(tls) as secure:
        pinyon.use(secure.address, CHAT)
        ended = pinyon.run("-p", "hello")
    assert ended.code == 1
    assert "can't be trusted" in ended.complaint()
    assert "SSL_CERT_FILE" in ended.err
    assert len(pinyon.messages()) == 2, "no second attempt"


@pytest.mark.parametrize("family", [CHAT, ANTHROPIC])
def test_a_silent_server_is_given_up_after_the_idle_timeout(
    family: str, pinyon: Program, wire: Provider, release: threading.Event
) -> None:
    pinyon.use(wire.address, family, httpIdleTimeoutMs=200, retry={"enabled": False})
    wire.play(Reply(head(family) + text_parts(family, "some text")[0], after=release.wait))
    ended = pinyon.run("-p", "hello")
    assert (ended.code, ended.out) == (1, "some text\n")
    assert "sent nothing for 0.2 s" in ended.complaint()


def test_a_server_that_never_answers_is_given_up_as_well(
    pinyon: Program, wire: Provider, release: threading.Event
) -> None:
    pinyon.use(wire.address, CHAT, httpIdleTimeoutMs=200, retry={"enabled": False})
    wire.play(Reply(after=release.wait))
    assert "sent nothing for 0.2 s" in pinyon.run("-p", "hello").complaint()


@pytest.mark.parametrize("family", [CHAT, ANTHROPIC])
def test_a_body_that_stays_open_behind_its_end_mark_is_a_whole_answer(
    family: str, pinyon: Program, wire: Provider, release: threading.Event
) -> None:
    pinyon.use(wire.address, family)
    whole = says("all of it", family)
    wire.play(Reply(whole.body, after=release.wait))
    ended = pinyon.run("-p", "hello")
    assert (ended.code, ended.out, ended.err) == (0, "all of it\n", "")


@pytest.mark.parametrize("value", ["-5", "abc", "Mon, 01 Jan 2001 00:00:00 GMT"])
def test_an_odd_retry_after_falls_back_to_the_own_wait(value: str, pinyon: Program, asked: Provider) -> None:
    asked.play(Reply(b"", 429, {"retry-after": value}), says("now"))
    ended = pinyon.run("--mode", "json", "-p", "hello")
    assert ended.code == 0
    (wait,) = (event for event in ended.events() if event["type"] == "auto_retry_start")
    assert wait["delayMs"] == 1


@pytest.mark.parametrize("value", ["1000000000", format_datetime(datetime.now(UTC) + timedelta(hours=2), usegmt=True)])
def test_a_provider_that_asks_for_hours_is_not_waited_for(value: str, pinyon: Program, asked: Provider) -> None:
    asked.play(Reply(b"", 429, {"retry-after": value}))
    ended = pinyon.run("-p", "hello")
    assert ended.code == 1
    assert "429" in ended.complaint()
    assert len(asked.requests) == 1


def test_a_failure_is_sent_again_and_the_answer_counts(pinyon: Program, asked: Provider) -> None:
    asked.play(Reply(b"", 500), says("fine"))
    ended = pinyon.run("-p", "hello")
    assert (ended.code, ended.out, ended.err) == (0, "fine\n", "")
    assert [message.get("stopReason") for message in pinyon.messages()] == [None, "error", "stop"]
    assert len(asked.requests[1]["messages"]) == len(asked.requests[0]["messages"])


def test_an_answer_cut_at_the_output_limit_is_printed_and_told(pinyon: Program, asked: Provider) -> None:
    asked.play(says("the first half", reason="length"))
    ended = pinyon.run("-p", "hello")
    assert (ended.code, ended.out) == (1, "the first half\n")
    assert "output limit" in ended.complaint()
    assert pinyon.run("--mode", "json", "-p", "hello").code == 1


@pytest.mark.parametrize("address", ["not an address", "http://[::1"])
def test_an_address_that_leads_nowhere_is_named(address: str, pinyon: Program) -> None:
    pinyon.use(address, CHAT, retry={"enabled": False})
    ended = pinyon.run("-p", "hello")
    assert ended.code == 1
    assert address.removeprefix("http://") in ended.complaint()
