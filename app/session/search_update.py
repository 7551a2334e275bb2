"""Bringing the search index up to date with one session file after the other; it must never change a session.

A file that only grew is read from where the index stands. Work is committed in pieces, so that it can stop and go on at
any time, and another process waits for no longer than one piece takes.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.session.entries import as_text
from app.session.listing import read_header
from app.session.search_reading import OddFileError, Piece, mended_pieces, plain_pieces
from app.session.search_text import spread

_CHUNK_CHARS = 4 * 1024 * 1024
_TAIL_BYTES = 64
_MOST_TIME_MS = 1 << 42  # a time beyond the year 2109 is a mistake, and would not fit into a row's number
_GARBAGE = 20_000
_COLUMNS = "id, size, mtime_ns, inode, done, tail"

Stop = Callable[[], bool]


@dataclass(slots=True)
class _Row:
    """What the index knows of a file; `done` bytes are taken in (-1: no session, -2: mended, so read whole)."""

    id: int
    size: int
    mtime_ns: int
    inode: int
    done: int
    tail: bytes

    def is_current(self, status: os.stat_result) -> bool:
        return (self.size, self.mtime_ns, self.inode) == (status.st_size, status.st_mtime_ns, status.st_ino)


def known_files(connection: sqlite3.Connection) -> dict[str, _Row]:
    """What the index knows, by path."""
    return {str(row[0]): _Row(*row[1:]) for row in connection.execute(f"SELECT path, {_COLUMNS} FROM sessions")}


def forget(connection: sqlite3.Connection, paths: list[str]) -> None:
    """Take sessions out. Their words stay behind and lead nowhere; when those are too many all begins anew."""
    if not paths:
        return
    connection.execute("BEGIN IMMEDIATE")
    for path in paths:
        _drop(connection, path)
    words = connection.execute("SELECT count(*) FROM texts_docsize").fetchone()[0]
    entries = connection.execute("SELECT count(*) FROM entries").fetchone()[0]
    if words > _GARBAGE and words > 2 * entries:
        connection.execute("INSERT INTO texts (texts) VALUES ('delete-all')")
        connection.execute("DELETE FROM sessions")
        connection.execute("DELETE FROM entries")
    connection.execute("COMMIT")


def _drop(connection: sqlite3.Connection, path: str) -> None:
    connection.execute("DELETE FROM entries WHERE session IN (SELECT id FROM sessions WHERE path = ?)", (path,))
    connection.execute("DELETE FROM sessions WHERE path = ?", (path,))


def take_in(connection: sqlite3.Connection, path: Path, stop: Stop) -> bool:
    """Bring one session up to date, in pieces that each stand for themselves; False when stopped before its end."""
    while True:
        if stop():
            return False
        connection.execute("BEGIN IMMEDIATE")
        try:
            is_done = _take_chunk(connection, path, stop)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        if is_done:
            return True


def _take_chunk(connection: sqlite3.Connection, path: Path, stop: Stop) -> bool:
    """Go on where the index stands, which another process may have moved; True at the end of the file."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM sessions WHERE path = ?", (str(path),)).fetchone()
    known = _Row(*row) if row is not None else None
    try:
        with open(path, "rb", buffering=1 << 20) as stream:
            status = os.fstat(stream.fileno())
            if known is not None and known.is_current(status):
                return True
            if known is not None and not _has_grown(known, status, stream.fileno()):
                _drop(connection, str(path))
                known = None
            if known is None:
                known = _begin(connection, path, status)
            last_ms = connection.execute("SELECT max(id) FROM entries WHERE session = ?", (known.id,)).fetchone()[0]
            writer = _Writer(connection, known.id, (last_ms or 0) >> 20)
            try:
                for piece, end in plain_pieces(stream, known.done):
                    if piece is not None:
                        writer.add(piece)
                    known.done = end
                    if writer.chars >= _CHUNK_CHARS or stop():
                        _note(connection, known, stream.fileno(), None)
                        return False
            except OddFileError:
                return _take_whole(connection, path, status)
            _note(connection, known, stream.fileno(), status)
            return True
    except OSError:
        _drop(connection, str(path))
        return True


def _has_grown(known: _Row, status: os.stat_result, descriptor: int) -> bool:
    """Whether the file is what it was, with more at its end."""
    if known.done <= 0 or known.inode != status.st_ino or status.st_size < known.done:
        return False
    return os.pread(descriptor, len(known.tail), known.done - len(known.tail)) == known.tail


def _begin(connection: sqlite3.Connection, path: Path, status: os.stat_result) -> _Row:
    header = read_header(path) or {}
    cursor = connection.execute(
        "INSERT INTO sessions (path, size, mtime_ns, inode, done, tail, cwd) VALUES (?, -1, 0, ?, 0, ?, ?)",
        (str(path), status.st_ino, b"", _sound(as_text(header.get("cwd")) or "")),
    )
    return _Row(int(cursor.lastrowid or 0), -1, 0, status.st_ino, 0, b"")


def _note(connection: sqlite3.Connection, row: _Row, descriptor: int, status: os.stat_result | None) -> None:
    """Keep how far the file was read; with `status` to its present end."""
    length = min(_TAIL_BYTES, row.done)
    tail = os.pread(descriptor, length, row.done - length) if row.done > 0 else b""
    size, mtime_ns = (status.st_size, status.st_mtime_ns) if status is not None else (-1, 0)
    connection.execute(
        "UPDATE sessions SET size = ?, mtime_ns = ?, done = ?, tail = ? WHERE id = ?",
        (size, mtime_ns, row.done, tail, row.id),
    )


def _take_whole(connection: sqlite3.Connection, path: Path, status: os.stat_result) -> bool:
    _drop(connection, str(path))
    row = _begin(connection, path, status)
    pieces, end = mended_pieces(path)
    writer = _Writer(connection, row.id, 0)
    for piece in pieces:
        writer.add(piece)
    connection.execute(
        "UPDATE sessions SET size = ?, mtime_ns = ?, done = ? WHERE id = ?",
        (status.st_size, status.st_mtime_ns, -1 if end < 0 else -2, row.id),
    )
    return True


def _sound(text: str) -> str:
    """SQLite takes UTF-8 only; a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


class _Writer:
    """Adds pieces of one session; a row's number is its time and its session, so that the newest come first."""

    def __init__(self, connection: sqlite3.Connection, session: int, last_ms: int) -> None:
        self._connection = connection
        self._session = session
        self._last_ms = last_ms
        self.chars = 0

    def add(self, piece: Piece) -> None:
        self._last_ms = max(min(max(piece.time_ms, 0), _MOST_TIME_MS), self._last_ms + 1)
        row_id = self._last_ms << 20 | self._session & 0xFFFFF
        self._connection.execute(
            "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                row_id,
                self._session,
                _sound(piece.entry_id),
                _sound(piece.role),
                piece.time_ms,
                piece.offset,
                piece.length,
            ),
        )
        self._connection.execute("INSERT INTO texts (rowid, text) VALUES (?, ?)", (row_id, spread(piece.text)))
        self.chars += len(piece.text)
