"""The recorded bodies of tests/data/wire, a server that plays them, and a check of a message against `expected`."""

from __future__ import annotations

import http.server
import json
import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.ai.events import AssistantMessageEvent
from app.ai.messages import AssistantMessage, Context, Model, ModelCost, ThinkingContent, UserMessage
from app.ai.stream import AssistantStream, StreamOptions, stream

FOLDER = Path(__file__).parent.parent / "data" / "wire"
APIS = {
    "anthropic": "anthropic-messages",
    "chat": "openai-completions",
    "responses": "openai-responses",
    "gemini": "google-generative-ai",
}
BASES = {"anthropic": "", "chat": "/v1", "responses": "/v1", "gemini": "/v1beta"}
KEY = "sk-test-0123456789abcdef"


@dataclass
class Case:
    """One recorded body and what its meta file says of it."""

    meta: dict[str, Any]
    body: bytes

    @property
    def id(self) -> str:
        return str(self.meta["id"])

    @property
    def api(self) -> str:
        return str(self.meta["api"])

    @property
    def status(self) -> int:
        return int(self.meta["status"])

    @property
    def expected(self) -> dict[str, Any]:
        found: dict[str, Any] = self.meta["expected"]
        return found


def cases(*families: str) -> list[Case]:
    """Every case of these families."""
    found = []
    for path in sorted(FOLDER.glob("*.meta.json")):
        meta = json.loads(path.read_text("utf-8"))
        if meta["api"] in families:
            found.append(Case(meta, (FOLDER / meta["body"]).read_bytes()))
    assert found
    return found


def model_of(family: str, base_url: str = "http://127.0.0.1:1", **changes: Any) -> Model:
    """A model of that wire with prices of 1, 2, 3 and 4 dollars."""
    members: dict[str, Any] = {
        "id": "m",
        "api": APIS[family],
        "provider": "wire",
        "base_url": base_url + BASES[family],
        "reasoning": True,
        "input": ["text", "image"],
        "cost": ModelCost(input=1, output=2, cache_read=3, cache_write=4),
        "context_window": 200_000,
        "max_tokens": 8000,
    }
    return Model(**{**members, **changes})


def hello(family: str, base_url: str, **options: Any) -> AssistantStream:
    """A stream that says hello to a server."""
    context = Context("Be kind.", [UserMessage(content="hello")])
    return stream(model_of(family, base_url), context, StreamOptions(api_key=KEY, **options))


@dataclass
class Server:
    """A local server: what it answers, and what it was asked."""

    url: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    step: int = 7
    hold: threading.Event | None = None
    breaks: bool = False
    tls: ssl.SSLContext | None = None
    reached: threading.Event = field(default_factory=threading.Event)
    gone: threading.Event = field(default_factory=threading.Event)
    asked: list[dict[str, Any]] = field(default_factory=list)
    asked_headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    connections: int = 0


@contextmanager
def serve(**members: Any) -> Iterator[Server]:
    """A server on a port of its own until the block ends. With `hold` it keeps the body open until that is set."""
    server = Server(**members)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            server.connections += 1
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers.get("content-length") or 0))
            server.asked.append(json.loads(asked))
            server.asked_headers.append({name.lower(): value for name, value in self.headers.items()})
            server.paths.append(self.path)
            self.send_response(server.status)
            for name, value in server.headers.items():
                if name.lower() not in ("content-length", "transfer-encoding", "connection", "content-encoding"):
                    self.send_header(name, value)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            try:
                for start in range(0, len(server.body), server.step):
                    piece = server.body[start : start + server.step]
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                server.reached.set()
                if server.hold is not None:
                    self._wait_for_client()
                    server.hold.wait(10)
                    self.close_connection = True
                    return
                if server.breaks:
                    self.close_connection = True
                    return
                self.wfile.write(b"0\r\n\r\n")
            except OSError:
                server.gone.set()
                self.close_connection = True

        def _wait_for_client(self) -> None:
            self.connection.settimeout(10)
            try:
                if not self.connection.recv(1):
                    server.gone.set()
            except OSError:
                server.gone.set()

    class Threads(socketserver.ThreadingMixIn, http.server.HTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass

    with Threads(("127.0.0.1", 0), Handler) as listener:
        if server.tls is not None:
            listener.socket = server.tls.wrap_socket(listener.socket, server_side=True)
        scheme = "https" if server.tls else "http"
        server.url = f"{scheme}://127.0.0.1:{listener.server_address[1]}"
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            if server.hold is not None:
                server.hold.set()
            listener.shutdown()
            thread.join(5)


def ill_told(events: list[AssistantMessageEvent]) -> list[str]:
    """What is wrong with the order of events: start first, one end, deltas that add up to the blocks."""
    bad = []
    kinds = [event.type for event in events]
    if kinds.count("done") + kinds.count("error") != 1 or kinds[-1] not in ("done", "error"):
        bad.append(f"not exactly one end: {kinds}")
    if len(kinds) > 1 and kinds[0] != "start":
        bad.append("start does not come first")
    if kinds[-1] == "done" and sum(kind.endswith("_start") for kind in kinds) != sum(k.endswith("_end") for k in kinds):
        bad.append("a block was not ended")
    return bad


def mismatches(case: Case, message: AssistantMessage) -> list[str]:
    """How the message differs from what the meta file expects, in words."""
    x = case.expected
    bad = []
    if "text" in x and message.text() != (x.get("refusal") or x["text"]):
        bad.append(f"text {message.text()!r}")
    is_error = case.status != 200 or bool(x.get("must_be_error") or x.get("error"))
    if x.get("retryable") is not None and message.retryable is not x["retryable"]:
        bad.append(f"retryable {message.retryable}")
    if x.get("overflow") is not None and (message.error_kind == "overflow") is not x["overflow"]:
        bad.append(f"overflow: kind {message.error_kind}")
    if is_error and not (message.stop_reason == "error" and message.error_message and message.error_kind):
        bad.append(f"no error: {message.stop_reason}")
    if "text" not in x:
        return bad
    thinking = [block for block in message.content if isinstance(block, ThinkingContent)]
    shown = "".join(block.thinking for block in thinking if not block.redacted)
    wanted = "".join(part if isinstance(part, str) else part["thinking"] for part in x.get("thinking", []))
    if shown.split() != wanted.split():
        bad.append(f"thinking {shown!r}")
    signatures = [part["signature"] for part in x.get("thinking", []) if isinstance(part, dict) and "signature" in part]
    if signatures and [block.thinking_signature for block in thinking if not block.redacted] != signatures:
        bad.append("signatures")
    if [block.thinking_signature for block in thinking if block.redacted] != x.get("redacted", []):
        bad.append("redacted payloads")
    calls = x.get("tool_calls", [])
    sound = [call for call in calls if "__partial__" not in call["arguments"]]
    if [(one.name, one.arguments) for one in message.tool_calls() if not one.cut] != [
        (one["name"], one["arguments"]) for one in sound
    ]:
        bad.append(f"calls {message.tool_calls()}")
    if [one.name for one in message.tool_calls() if one.cut] != [
        one["name"] for one in calls if "__partial__" in one["arguments"]
    ]:
        bad.append("cut calls")
    if case.api in ("anthropic", "chat") and [one.id for one in message.tool_calls()] != [one["id"] for one in calls]:
        bad.append("call ids")
    ours = message.usage.to_wire()
    for name, value in (x.get("usage_norm") or {}).items():
        if value is not None and ours.get(name) != value:
            bad.append(f"usage.{name} {ours.get(name)}")
    wanted_stop = None if is_error else _stop(x, cut=len(sound) < len(calls))
    if wanted_stop and message.stop_reason != wanted_stop:
        bad.append(f"stopReason {message.stop_reason}, not {wanted_stop}")
    return bad


def _stop(x: dict[str, Any], *, cut: bool) -> str | None:
    word = str(x.get("stop_effective") or x.get("stop") or "stop").lower()
    if word in ("max_tokens", "length", "max_output_tokens", "incomplete") and (cut or not x.get("tool_calls")):
        return "length"
    if x.get("tool_calls"):
        return "toolUse"
    return "stop" if word in ("stop", "end_turn", "stop_sequence", "completed") else None
