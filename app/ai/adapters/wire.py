"""What all adapters that speak HTTP and server-sent events share: one request, one stream, one ending.

It decides when a stream counts as whole (architecture §2) and must never retry. An adapter gives two things: a
request, and a `Reader` that turns events into blocks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from app.ai.adapters.blocks import MessageBuilder, Reason
from app.ai.arguments import load_json
from app.ai.http import WireRequest, post_stream
from app.ai.http_errors import body_fault, fault_error, is_page, model_error, redacted
from app.ai.messages import AssistantMessage, Model
from app.ai.sse import SseEvent, SseParser
from app.ai.stream import Emit, StreamOptions
from app.errors import ErrorKind, ModelError

# How long to wait for what may still come (usage) after the provider's word for the end but before its end mark.
_AFTER_FINISH_S = 5.0
# After the end mark only the end of the body is due; reading it lets the connection be used again.
_AFTER_END_S = 0.1
_ADDRESS = re.compile(
    r"https?://(?:[^\s/@]+@)?(?:[^\s/?#@:\[\]]+|\[[0-9a-fA-F:.%]+\])(?::\d+)?(?:[/?][^\s#]*)?", re.IGNORECASE
)
# As much of a body without events as is needed to say what it is.
_HEAD_BYTES = 64 * 1024


class Reader(Protocol):
    """One wire's reading of events."""

    finished: bool
    """The provider gave its word for the end (finish_reason); an end mark may follow."""
    ended: bool
    """The end mark came: nothing that follows counts."""

    def read(self, event: str, data: dict[str, Any]) -> None:
        """Take one event. Raises ModelError when it is an error."""
        ...

    def mark(self, text: str) -> bool:
        """Whether this data, which is no JSON, is the wire's end mark; takes note of it."""
        ...

    def reason(self) -> Reason:
        """The stop reason of a whole stream. Raises ModelError when the provider's word is an error."""
        ...


MakeRequest = Callable[[], WireRequest]
MakeReader = Callable[[MessageBuilder, str], Reader]


class WireStream:
    """An AssistantStream over HTTP."""

    def __init__(self, model: Model, options: StreamOptions, request: MakeRequest, reader: MakeReader) -> None:
        self._model = model
        self._options = options
        self._request = request
        self._reader = reader

    async def run(self, emit: Emit) -> AssistantMessage:
        """Drive it to its end. Never raises, except on cancellation, which leaves the message fit to keep."""
        builder = MessageBuilder(self._model, emit)
        try:
            request = self._request()
            reading = Reading(builder, self._reader(builder, request.host()), request.host())
            try:
                await post_stream(
                    request,
                    idle_timeout_s=self._options.idle_timeout_s,
                    on_open=reading.open,
                    on_bytes=reading.feed,
                )
            except ModelError:
                # A connection that breaks after the end took nothing from the answer.
                if not reading.is_whole():
                    raise
            reason = reading.finish()
        except ModelError as error:
            error.message = redacted(error.message, _secrets(self._model, self._options))
            return builder.fail(error)
        except Exception as error:
            what = f"Pinyon failed while reading the answer: {type(error).__name__}: {error}"
            return builder.fail(ModelError(ErrorKind.INTERNAL, what, hint="This is a bug: please report it"))
        except BaseException:
            builder.settle()
            raise
        return builder.done(reason)


class Reading:
    """The state of reading one body."""

    def __init__(self, builder: MessageBuilder, reader: Reader, host: str) -> None:
        self._builder = builder
        self._reader = reader
        self._host = host
        self._parser = SseParser()
        self._head = bytearray()
        self._events = 0
        self._content_type = ""
        self._is_faulty = False

    def open(self, headers: Mapping[str, str]) -> None:
        """The provider took the request."""
        self._content_type = headers.get("content-type", "")
        self._builder.start()

    def feed(self, piece: bytes) -> float | None:
        """Take bytes; how long to wait for more (see http.OnBytes). Raises ModelError for an error in the stream."""
        if self._reader.ended:
            return 0
        if not self._events and len(self._head) < _HEAD_BYTES:
            self._head += piece[:_HEAD_BYTES]
        try:
            for event in self._parser.feed(piece):
                self._take(event, is_last=False)
        except ModelError:
            self._is_faulty = True
            raise
        self._builder.sync()
        if self._reader.ended:
            return _AFTER_END_S
        return _AFTER_FINISH_S if self._reader.finished else None

    def is_whole(self) -> bool:
        """Whether the provider gave its word for the end and took nothing back: no part of the answer is missing."""
        return not self._is_faulty and (self._reader.finished or self._reader.ended)

    def finish(self) -> Reason:
        """The body ended: the stop reason, or ModelError when the stream is not whole."""
        for event in self._parser.flush():
            self._take(event, is_last=True)
        if self._events == 0:
            raise self._no_stream()
        if not self.is_whole():
            raise model_error(ErrorKind.CUT, f"The answer of {self._host} ended before it was whole")
        if not self._builder.message.content and not self._reader.finished:
            raise model_error(ErrorKind.EMPTY, f"{self._host} sent an empty answer")
        return self._reader.reason()

    def _take(self, event: SseEvent, *, is_last: bool) -> None:
        self._events += 1
        if self._reader.ended:
            return
        text = event.data
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            if not text.strip() or self._reader.mark(text.strip()):
                return
            data = self._mended(event, is_last=is_last)
        if event.event == "error" and not (isinstance(data, dict) and "error" in data):
            raise fault_error(self._host, data)
        if isinstance(data, dict):
            self._reader.read(event.event, data)

    def _mended(self, event: SseEvent, *, is_last: bool) -> object:
        try:
            value: object = load_json(event.data)
            return value
        except ValueError:
            pass
        if event.event == "error":
            return event.data
        if is_last and self.is_whole():
            # Only bookkeeping (usage) can follow the provider's word for the end.
            return None
        if is_last:
            raise model_error(ErrorKind.CUT, f"The answer of {self._host} ended in the middle of an event")
        raise model_error(ErrorKind.GARBAGE, f"{self._host} sent something that is no JSON in its answer")

    def _no_stream(self) -> ModelError:
        text = bytes(self._head).decode("utf-8", "replace").strip()
        if not text or all(line.startswith(":") for line in text.replace("\r", "\n").split("\n") if line):
            return model_error(ErrorKind.EMPTY, f"{self._host} answered with nothing")
        if is_page(text, self._content_type):
            return model_error(ErrorKind.GARBAGE, f"{self._host} answered with a web page instead of a stream")
        fault = body_fault(text)
        if fault is not None:
            return fault_error(self._host, fault)
        return model_error(ErrorKind.GARBAGE, f"{self._host} answered with something that is no stream of events")


def _secrets(model: Model, options: StreamOptions) -> tuple[str, ...]:
    """What no error text may show: the key, and headers that carry one."""
    found = [options.api_key or ""]
    for name, value in (*(model.headers or {}).items(), *options.headers.items()):
        if any(mark in name.lower() for mark in ("auth", "key", "token", "secret", "cookie")):
            found += [value, value.removeprefix("Bearer ").strip()]
    return tuple(found)


def json_body(payload: dict[str, Any]) -> bytes:
    """The payload as UTF-8 JSON. Lone surrogates, which no provider takes, are removed; pairs are joined."""
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"), default=str)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
        return joined.encode("utf-8", "ignore")


def endpoint(model: Model, path: str, version: str = "") -> str:
    """The address for `path` below the model's base URL; `version` is put in between unless the base ends in it.

    Raises ModelError when the model has no base URL, or one that is no web address.
    """
    base = model.base_url.strip().rstrip("/")
    if not base:
        raise ModelError(
            ErrorKind.BAD_REQUEST,
            f"No address is known for the provider {model.provider!r}",
            hint="Set its baseUrl in models.json",
        )
    if not _ADDRESS.fullmatch(base):
        raise ModelError(
            ErrorKind.BAD_REQUEST,
            f"The baseUrl {base!r} of the provider {model.provider!r} is no web address",
            hint="Correct it in models.json; it begins with http:// or https://",
        )
    base, mark, query = base.partition("?")
    base = base.rstrip("/")
    if not base.endswith(path):
        base += (version if not base.endswith(version) else "") + path
    return base + mark + query


def merged_headers(*layers: Mapping[str, str] | None) -> dict[str, str]:
    """The header layers in order, later ones win, names compared without case."""
    result: dict[str, str] = {}
    for layer in layers:
        for name, value in (layer or {}).items():
            result[name.lower()] = value
    return result


# Models that could write 100,000 tokens seldom should; spec core §1.3.
_MAX_OUTPUT_TOKENS = 32_000


def max_output_tokens(model: Model, options: StreamOptions) -> int:
    """How many tokens the answer may have: the caller's wish, else the model's limit up to 32,000."""
    return options.max_tokens or min(model.max_tokens, _MAX_OUTPUT_TOKENS)
