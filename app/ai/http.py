"""One HTTP client for all adapters, and the one way to ask for a stream; it must never retry.

There is a timeout for connecting and one for silence, none for the whole answer. A proxy comes from the usual
environment variables, as httpx reads them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field

import anyio
from anyio.lowlevel import RunVar

from app.ai.http_errors import model_error, redacted, status_error, transport_error
from app.ai.http_library import httpx
from app.errors import ErrorKind, ModelError

CONNECT_TIMEOUT_S = 15.0
_ERROR_BODY_BYTES = 64 * 1024
_ERROR_BODY_S = 10.0
# What arrives faster than it is read never lets the event loop turn: a key then waited 80 ms behind 64 KiB of events.
_SLICE_S = 0.002
_SLICE_BYTES = 4096

# One client for each event loop: its connections belong to the loop that opened them.
_client: RunVar[httpx.AsyncClient] = RunVar("pinyon_http_client")


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A POST: address, headers, JSON body; `secrets` are kept out of every error text."""

    url: str
    headers: dict[str, str]
    body: bytes
    secrets: tuple[str, ...] = field(default=())

    def host(self) -> str:
        """The host (and port) for error texts; the whole address when it has none."""
        try:
            return httpx.URL(self.url).netloc.decode("ascii", "replace") or self.url
        except (httpx.InvalidURL, ValueError):
            return redacted(self.url, self.secrets)


# Called with each piece of the body; returns how long to wait for the next one: None = the idle timeout,
# a number = that many seconds and then stop without an error, 0 = stop now.
OnBytes = Callable[[bytes], float | None]


async def post_stream(
    request: WireRequest,
    *,
    idle_timeout_s: float,
    on_open: Callable[[httpx.Headers], None],
    on_bytes: OnBytes,
) -> None:
    """Send it and hand on the body as it comes: `on_open` once after a 2xx, then `on_bytes` for each piece.

    Returns at the end of the body. Raises ModelError for every failure of the network or the server. On
    cancellation the connection is closed.
    """
    host = request.host()
    opened = False
    try:
        client = await _get_client()
        timeout = httpx.Timeout(idle_timeout_s, connect=min(CONNECT_TIMEOUT_S, idle_timeout_s))
        async with client.stream(
            "POST", request.url, content=request.body, headers=request.headers, timeout=timeout
        ) as response:
            if not response.is_success:
                body = await _error_body(response)
                raise status_error(host, response.status_code, response.headers, body, request.secrets)
            opened = True
            on_open(response.headers)
            await _pump(response, on_bytes)
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        raise transport_error(host, error, opened=opened, idle_timeout_s=idle_timeout_s) from error
    except UnicodeEncodeError as error:
        raise ModelError(
            ErrorKind.AUTH,
            f"The request to {host} can't be sent: the API key or a header has characters beyond ASCII",
            hint="Check the API key and the headers in models.json",
        ) from None if request.secrets else error
    except OSError as error:
        raise transport_error(host, error, opened=opened, idle_timeout_s=idle_timeout_s) from error


async def _pump(response: httpx.Response, on_bytes: OnBytes) -> None:
    wait_s: float | None = None
    turned = time.monotonic()
    async with aclosing(response.aiter_bytes()) as pieces:  # type: ignore[type-var]
        while wait_s != 0:
            piece = None
            with anyio.move_on_after(wait_s):
                piece = await anext(pieces, None)
            if piece is None:
                return
            for start in range(0, len(piece), _SLICE_BYTES):
                wait_s = on_bytes(piece[start : start + _SLICE_BYTES])
                if wait_s == 0:
                    break
                if time.monotonic() - turned > _SLICE_S:
                    await anyio.lowlevel.checkpoint()
                    turned = time.monotonic()


async def _error_body(response: httpx.Response) -> bytes:
    """The first 64 KiB of it; what arrived before a failure or within ten seconds is enough."""
    body = bytearray()
    with anyio.move_on_after(_ERROR_BODY_S):
        try:
            async with aclosing(response.aiter_bytes()) as pieces:  # type: ignore[type-var]
                async for piece in pieces:
                    body += piece
                    if len(body) >= _ERROR_BODY_BYTES:
                        break
        except httpx.HTTPError:
            pass
    return bytes(body[:_ERROR_BODY_BYTES])


async def prepare_client() -> None:
    """Make the client of this event loop before it is needed. Raises ModelError when it can't be made."""
    await _get_client()


async def _get_client() -> httpx.AsyncClient:
    client = _client.get(None)
    if client is None or client.is_closed:
        # In a thread: reading the certificates takes about 50 ms.
        built = await anyio.to_thread.run_sync(_build_client)
        client = _client.get(None)
        if client is None or client.is_closed:
            client = built
            _client.set(client)
    return client


def _build_client() -> httpx.AsyncClient:
    try:
        return httpx.AsyncClient(
            headers={"user-agent": "pinyon"},
            limits=httpx.Limits(max_connections=100, max_keepalive_connections=10, keepalive_expiry=60),
        )
    except (ImportError, ValueError, httpx.InvalidURL, OSError) as error:
        kind = "SSL_CERT_FILE or SSL_CERT_DIR" if isinstance(error, OSError) else "a proxy variable of the environment"
        raise ModelError(
            ErrorKind.NETWORK,
            f"The HTTP client can't start because of {kind}: {error}",
            hint="Check HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE",
            retryable=False,
        ) from error


async def close_client() -> None:
    """Close the client of the running event loop, with its connections. The next request makes a new one."""
    client = _client.get(None)
    if client is not None:
        with anyio.CancelScope(shield=True, deadline=anyio.current_time() + 2):
            await client.aclose()


__all__ = ["CONNECT_TIMEOUT_S", "WireRequest", "close_client", "model_error", "post_stream", "prepare_client"]
