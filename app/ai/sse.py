"""Server-sent events out of raw bytes, split anywhere; it must never look inside an event's data.

Line ends are CR, LF and CRLF only (WHATWG "Server-sent events"): U+2028, U+0085 and the like are text, which is why
the splitting happens on bytes, before decoding.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.errors import ErrorKind, ModelError

LIMIT_BYTES = 64 * 1024 * 1024
_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event: its name ("message" when none was given) and its data lines joined by line feeds."""

    event: str
    data: str


class SseParser:
    """Turns bytes into events; holds at most `limit_bytes` of one unfinished event."""

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._parts: list[bytes] = []
        self._held_bytes = 0
        self._after_cr = False
        self._first_line = True
        self._event = ""
        self._data: list[str] = []

    def feed(self, data: bytes) -> list[SseEvent]:
        """The events that `data` completes. Raises ModelError (GARBAGE) when one event outgrows the limit."""
        if self._after_cr and data:
            self._after_cr = False
            if data[0] == 0x0A:
                data = data[1:]
        events: list[SseEvent] = []
        position = 0
        for match in _LINE_END.finditer(data):
            line = data[position : match.start()]
            position = match.end()
            if self._parts:
                self._parts.append(line)
                line = b"".join(self._parts)
                self._parts.clear()
            self._line(line, events)
        if position < len(data):
            self._parts.append(data[position:])
            self._hold(len(data) - position)
        self._after_cr = data.endswith(b"\r")
        return events

    def flush(self) -> list[SseEvent]:
        """The event that the end of the body completes, if any: its blank line, even its line end, may be missing."""
        events: list[SseEvent] = []
        if self._parts:
            line = b"".join(self._parts)
            self._parts.clear()
            self._line(line, events)
        self._line(b"", events)
        return events

    def _hold(self, count: int) -> None:
        self._held_bytes += count
        if self._held_bytes > self._limit_bytes:
            raise ModelError(
                ErrorKind.GARBAGE,
                f"The answer holds an event of more than {self._limit_bytes // (1024 * 1024)} MiB",
                retryable=False,
            )

    def _line(self, line: bytes, events: list[SseEvent]) -> None:
        if self._first_line:
            self._first_line = False
            line = line.removeprefix(_BOM)
        if not line:
            if self._data:
                events.append(SseEvent(self._event or "message", "\n".join(self._data)))
                self._data.clear()
            self._event = ""
            self._held_bytes = 0
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._hold(len(value))
            self._data.append(value.decode("utf-8", "replace"))
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
