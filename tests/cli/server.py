"""A provider on 127.0.0.1 for tests: plays the replies it is given, keeps what was asked; it must never sleep."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WAIT_S = 15.0


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `after` is called between `body` and `rest` (to wait for something, or to do it).

    `is_whole` False: the connection is cut after the body, with more promised than came.
    """

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    rest: bytes = b""
    after: Callable[[], object] | None = None
    is_whole: bool = True


class Provider:
    """What a server plays and what it was asked: the last reply is played again for every further request."""

    def __init__(self, server: ThreadingHTTPServer, scheme: str = "http") -> None:
        self.address = f"{scheme}://127.0.0.1:{server.server_address[1]}"
        self.replies: list[Reply] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._changed = threading.Condition()

    def play(self, *replies: Reply) -> None:
        self.replies = list(replies)

    def take(self, headers: dict[str, str], body: bytes) -> Reply:
        with self._changed:
            self.headers.append(headers)
            self.requests.append(json.loads(body))
            self._changed.notify_all()
            return self.replies[min(len(self.requests), len(self.replies)) - 1]

    def wait_for(self, count: int = 1) -> None:
        """Return once so many requests have come."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.requests) >= count, WAIT_S), "no request came"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    provider: Provider

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        reply = self.provider.take({name.lower(): value for name, value in self.headers.items()}, body)
        try:
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.is_whole:
                self.send_header("connection", "close")
            else:
                self.send_header("content-length", str(len(reply.body) + len(reply.rest) + 1000))
            self.end_headers()
            self.wfile.write(reply.body)
            self.wfile.flush()
            if reply.after is not None:
                reply.after()
            self.wfile.write(reply.rest)
        except OSError:
            pass
        self.close_connection = True


@contextmanager
def provider(tls: ssl.SSLContext | None = None) -> Iterator[Provider]:
    """A running server; with `tls` it speaks HTTPS."""

    class Handler(_Handler):
        pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    # A client that refuses the certificate, or leaves in the middle, is what some tests are about.
    server.handle_error = lambda request, client_address: None  # type: ignore[method-assign]
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    made = Provider(server, "https" if tls else "http")
    Handler.provider = made
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
