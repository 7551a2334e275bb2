"""What a session file adds to the search index, from a place in it onwards; it must never change a byte of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from app.errors import SessionError
from app.session.entries import VERSION, RawEntry, as_text, is_header, lenient_ms
from app.session.index import parse_line
from app.session.log import SessionLog
from app.session.search_text import searchable

_KINDS = frozenset(("message", "custom_message", "compaction", "branch_summary"))


class OddFileError(Exception):
    """The file is not plain lines of today's version: it has to be read whole, by the reader that mends."""


@dataclass(frozen=True, slots=True)
class Piece:
    """An entry that can be found: its text, and where its line stands (bytes)."""

    entry_id: str
    role: str
    time_ms: int
    text: str
    offset: int
    length: int


def plain_pieces(stream: BinaryIO, start: int) -> Iterator[tuple[Piece | None, int]]:
    """Each whole line from `start` on: its piece (None: nothing to find), and where it ends.

    A last line without its line feed is left for later. Raises OddFileError at the first line that is not sound.
    """
    stream.seek(start)
    end = start
    for line in stream:
        if not line.endswith(b"\n"):
            return
        begin, end = end, end + len(line)
        if not line.strip():
            yield None, end
            continue
        try:
            raw = parse_line(line)
        except ValueError as error:
            raise OddFileError from error
        if begin == 0:
            if not is_header(raw) or raw.get("version") != VERSION:
                raise OddFileError
            yield None, end
            continue
        if not isinstance(raw, dict) or not as_text(raw.get("type")) or not as_text(raw.get("id")) or is_header(raw):
            raise OddFileError
        yield _piece(raw, raw["id"], begin, len(line)), end


def _piece(raw: RawEntry, entry_id: str, offset: int, length: int) -> Piece | None:
    if raw["type"] not in _KINDS or (found := searchable(raw)) is None:
        return None
    return Piece(entry_id, found[0], lenient_ms(raw.get("timestamp")), found[1], offset, length)


def mended_pieces(path: Path) -> tuple[list[Piece], int]:
    """All pieces of a file of an older version, or with damage, and the bytes read. ([], -1) when it is no session."""
    try:
        log = SessionLog.read(path)
    except SessionError:
        return [], -1
    try:
        pieces = []
        for entry in log.index.entries:
            if entry.type in _KINDS:
                raw = {**log.body(entry), "type": entry.type}
                if (piece := _piece(raw, entry.id, entry.offset, entry.length)) is not None:
                    pieces.append(piece)
        return pieces, log.index.end
    finally:
        log.close()
