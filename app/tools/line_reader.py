"""Lines out of a file of any size: it reads in pieces, keeps only what is asked for, and can be stopped at any time."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from app.errors import ToolError
from app.tools.paths import os_failure, shown
from app.tools.text_file import BOM, regular_status
from app.tools.threads import StopFlag
from app.tools.truncate import MAX_BYTES, MAX_LINES

PIECE_BYTES = 256 * 1024
# After the lines asked for, the rest is read only to count its lines: up to here, then the count is "more than".
MAX_COUNT_BYTES = 256 * 1024 * 1024
BINARY_PROBE_BYTES = 8 * 1024
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Lines:
    """The start of the lines asked for (a little over the limits at most) and what is known of the whole file."""

    text: str
    total_lines: int
    total_bytes: int
    selected: int  # lines asked for that exist
    remaining: int  # lines after those asked for
    counted_all: bool
    replaced: bool  # U+FFFD stands for bytes that are not UTF-8
    first_line_bytes: int | None  # set when the first line alone is over the limit


def open_regular(path: Path) -> BinaryIO:
    """The regular file, open for reading; it never waits for a pipe's other end. Raises ToolError."""
    regular_status(path, "read")
    try:
        # The file may have become a pipe since: with O_NONBLOCK opening it returns at once.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
        return os.fdopen(descriptor, "rb")
    except OSError as error:
        raise os_failure(error, "read", path) from error


def looks_binary(start: bytes) -> bool:
    """Whether the first bytes of a file are not text: a NUL among them."""
    return b"\0" in start[:BINARY_PROBE_BYTES]


def read_lines(file: BinaryIO, path: Path, first: int, limit: int | None, stop: StopFlag) -> Lines:
    """Lines `first` (1-based) to `first + limit - 1`; a final line feed ends the last line (architecture §6).

    Raises ToolError for a binary file and for a `first` past the end (an empty file has a first line).
    """
    collector = _Collector(first, limit)
    size = os.fstat(file.fileno()).st_size
    try:
        while piece := file.read(PIECE_BYTES):
            stop.check()
            if not collector.bytes_seen:
                _refuse_binary(piece, path)
                piece = piece.removeprefix(BOM)
            collector.feed(piece)
            if collector.is_full and collector.bytes_seen > MAX_COUNT_BYTES:
                collector.counted_all = False
                break
    except OSError as error:
        raise os_failure(error, "read", path) from error
    lines = collector.finish(max(size, collector.bytes_seen))
    if first > max(lines.total_lines, 1):
        count = f"{lines.total_lines} line" + ("" if lines.total_lines == 1 else "s")
        raise ToolError(f"Offset {first} is past the end of {shown(path)}: the file has {count} in total")
    return lines


def _refuse_binary(piece: bytes, path: Path) -> None:
    if piece.startswith(_UTF16_MARKS):
        hint = "it is UTF-16 text; use bash: iconv -f UTF-16 -t UTF-8"
    elif piece.startswith(b"%PDF-"):
        hint = "it is a PDF document; use bash with a converter such as pdftotext"
    elif looks_binary(piece):
        hint = "it is a binary file; use bash with a tool for its format (file, xxd, strings)"
    else:
        return
    raise ToolError(f"Could not read {shown(path)} as text: {hint}")


class _Collector:
    """Counts lines and keeps the bytes of those asked for, up to the limits."""

    def __init__(self, first: int, limit: int | None) -> None:
        self._first = first
        self._end = None if limit is None else first + limit  # the first line not asked for
        self._most = first + MAX_LINES if limit is None else min(first + MAX_LINES, first + limit)
        self._feeds = 0  # line feeds seen
        self._kept = bytearray()
        self._open_line = False
        self._first_line_bytes = 0
        self.bytes_seen = 0
        self.counted_all = True

    @property
    def is_full(self) -> bool:
        """Whether nothing more will be kept."""
        return len(self._kept) > MAX_BYTES or self._feeds + 1 >= self._most

    def feed(self, piece: bytes) -> None:
        self.bytes_seen += len(piece)
        at = 0
        while self._feeds + 1 < self._first:
            found = self._skip(piece, at)
            if found < 0:
                self._open_line = not piece.endswith(b"\n")
                return
            at = found
        if self._feeds + 1 == self._first:
            end = piece.find(b"\n", at)
            self._first_line_bytes += (len(piece) if end < 0 else end) - at
        self._keep(piece, at)
        self._feeds += piece.count(b"\n", at)
        self._open_line = not piece.endswith(b"\n")

    def _skip(self, piece: bytes, at: int) -> int:
        """Where the wanted first line begins in the piece; -1 when it is further on."""
        missing = self._first - 1 - self._feeds
        feeds = piece.count(b"\n", at)
        if feeds < missing:
            self._feeds += feeds
            return -1
        for _ in range(missing):
            at = piece.index(b"\n", at) + 1
        self._feeds += missing
        return at

    def _keep(self, piece: bytes, at: int) -> None:
        """Keep bytes of wanted lines: up to the limit and the rest of that line's beginning."""
        room = MAX_BYTES + 1024 - len(self._kept)
        if room <= 0:
            return
        line = self._feeds + 1
        end = at
        while line < self._most and end < len(piece) and end - at < room:
            found = piece.find(b"\n", end)
            if found < 0:
                end = len(piece)
                break
            end = found + 1
            line += 1
        self._kept += piece[at : min(end, at + room)]

    def finish(self, size: int) -> Lines:
        total = self._feeds + self._open_line
        wanted_to = total if self._end is None else min(self._end - 1, total)
        selected = max(0, wanted_to - self._first + 1)
        raw = bytes(self._kept)
        text = _decoded(raw)
        too_long = selected > 0 and self._first_line_bytes > MAX_BYTES
        return Lines(
            text=text,
            total_lines=total,
            total_bytes=size,
            selected=selected,
            remaining=max(0, total - wanted_to),
            counted_all=self.counted_all,
            replaced="\ufffd" in text and b"\xef\xbf\xbd" not in raw,
            first_line_bytes=self._first_line_bytes if too_long else None,
        )


def _decoded(raw: bytes) -> str:
    """The bytes as text; a character that the byte limit cut at the end is left out, not shown as broken."""
    if len(raw) > MAX_BYTES:
        for back in range(1, 4):
            if raw[-back] & 0xC0 == 0xC0:
                raw = raw[:-back]
                break
            if raw[-back] < 0x80:
                break
    return raw.decode("utf-8", "replace")
