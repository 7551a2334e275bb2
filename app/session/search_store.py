"""The search index's SQLite file: its shape, its connections, its replacement when damaged; it may be lost any time.

Texts are not kept in it, only their words: a hit's text is read from the session file, where its place is known. So it
stays at a fraction of what it indexes, and what a damaged index says is checked against the file (architecture §6).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.config.paths import ensure_private_dir, locked
from app.errors import SessionError

VERSION = 3
BUSY_MS = 5_000
_SCHEMA = f"""
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    done INTEGER NOT NULL,
    tail BLOB NOT NULL,
    cwd TEXT NOT NULL
);
CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    entry_id TEXT NOT NULL,
    role TEXT NOT NULL,
    time_ms INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL
);
CREATE INDEX entries_of_session ON entries (session);
CREATE VIRTUAL TABLE texts USING fts5 (text, content='', tokenize='unicode61 remove_diacritics 0');
PRAGMA user_version = {VERSION};
"""


class SearchError(SessionError):
    """The search index can't be read or written; sessions themselves are not concerned."""


class SearchStore:
    """The file at `path`; every use opens a connection of its own, so that threads and processes share nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def connected(self, stop: Callable[[], bool] | None = None) -> Iterator[sqlite3.Connection]:
        """A connection to a sound index, made new when there is none, it is of another version, or damaged.

        `stop` ends a running statement. Raises SearchError; damage found meanwhile throws the index away.
        """
        connection = self._opened()
        if stop is not None:
            connection.set_progress_handler(lambda: int(stop()), 20_000)
        try:
            yield connection
        except sqlite3.OperationalError as error:
            raise _failed(error) from error
        except sqlite3.DatabaseError as error:
            connection.close()
            self.throw_away()
            raise SearchError("the search index was damaged and is built anew", "Search again in a moment") from error
        finally:
            connection.close()

    def _opened(self) -> sqlite3.Connection:
        for attempt in range(3):
            try:
                return self._open()
            except sqlite3.OperationalError as error:
                raise _failed(error) from error
            except sqlite3.DatabaseError as error:
                if attempt == 2:
                    raise _failed(error) from error
                self.throw_away()
            except OSError as error:
                raise SearchError(f"the search index can't be kept at {self.path}: {error.strerror}") from error
        raise SearchError(f"the search index at {self.path} can't be opened")

    def _open(self) -> sqlite3.Connection:
        ensure_private_dir(self.path.parent)
        if not self.path.exists():
            with suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = sqlite3.connect(self.path, timeout=BUSY_MS / 1000, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            # it may be lost: no entry waits for the disk on its account
            connection.execute("PRAGMA synchronous = OFF")
            if self._version(connection) != VERSION:
                self._make(connection)
            return connection
        except BaseException:
            connection.close()
            raise

    @staticmethod
    def _version(connection: sqlite3.Connection) -> int:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])

    def _make(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        if self._version(connection) != VERSION:  # another process may have been quicker
            names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for name in ("texts", "entries", "sessions"):
                if (name,) in names:
                    connection.execute(f"DROP TABLE {name}")
            for statement in _SCHEMA.split(";\n"):
                if statement.strip():
                    connection.execute(statement)
        connection.execute("COMMIT")

    def throw_away(self) -> None:
        """Remove the file, so that the next use makes a new one. Raises SearchError."""
        try:
            with locked(self.path):
                for ending in ("", "-wal", "-shm"):
                    with suppress(FileNotFoundError):
                        self.path.with_name(self.path.name + ending).unlink()
        except OSError as error:
            raise SearchError(f"the search index at {self.path} can't be replaced: {error.strerror}") from error


def _failed(error: sqlite3.Error) -> SearchError:
    if "interrupted" in str(error):
        return SearchError("the search was stopped")
    return SearchError(f"the search index can't be used now: {error}")
