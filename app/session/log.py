"""One session file as it is read: its index, bodies on demand, lines for a copy; it must never write.

Everything here blocks; call it in a thread where much is read (architecture §6).
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

from app.errors import NotASessionError, SessionError
from app.session.entries import VERSION, RawEntry
from app.session.facts import IndexEntry
from app.session.index import Index, Indexer, parse_line
from app.session.lines import encode
from app.session.migrate import upgraded

# Enough for a screen of bodies and then some; larger ones than this are read again each time.
_CACHED_BODIES = 256
_CACHED_BYTES = 256 * 1024


class SessionLog:
    """A session's entries. `path` None: in memory only. `notes` say, each in one sentence, what was odd about it."""

    def __init__(self, path: Path | None, header: RawEntry) -> None:
        self.path = path
        self.header = header
        self.read_only = False
        self.notes: list[str] = []
        self._indexer = Indexer(self._pread)
        self.index.header = header
        self._descriptor: int | None = None
        self._memory: dict[str, RawEntry] = {}
        self._bodies: OrderedDict[str, RawEntry] = OrderedDict()
        # a face may read a body while the writer's thread puts a migrated file in the old one's place
        self._switch = threading.Lock()

    @property
    def index(self) -> Index:
        """Where the entries stand; it grows by what is appended."""
        return self._indexer.index

    @property
    def is_stored(self) -> bool:
        """Whether there is a file yet."""
        return self._descriptor is not None

    @classmethod
    def read(cls, path: Path) -> Self:
        """A session to look at. Raises NotASessionError, and SessionError when the file can't be read."""
        descriptor = open_regular(path, os.O_RDONLY)
        file = cls._loaded(path, descriptor)
        file.read_only = True
        return file

    @classmethod
    def _loaded(cls, path: Path, descriptor: int) -> Self:
        file = cls(path, {})
        file.index.header = None
        file._descriptor = descriptor
        try:
            os.lseek(descriptor, 0, os.SEEK_SET)
            with os.fdopen(descriptor, "rb", buffering=1 << 20, closefd=False) as stream:
                file._indexer.feed(stream)
            index = file._indexer.finish()
            if index.header is None:
                raise NotASessionError(f"{path}: not a session", "Its first line is no session header")
        except OSError as error:
            os.close(descriptor)
            raise SessionError(f"{path}: can't be read: {error.strerror}") from error
        except BaseException:
            os.close(descriptor)
            raise
        file.header = index.header
        file.notes = list(index.notes)
        return file

    def close(self) -> None:
        """Let go of the file. Never raises; twice is once."""
        descriptor, self._descriptor, self.read_only = self._descriptor, None, True
        if descriptor is not None:
            with suppress(OSError):
                os.close(descriptor)

    def _pread(self, offset: int, length: int) -> bytes:
        if self._descriptor is None:
            return b""
        parts: list[bytes] = []
        while length > 0 and (part := os.pread(self._descriptor, length, offset)):
            parts.append(part)
            offset += len(part)
            length -= len(part)
        return b"".join(parts)

    def body(self, entry: IndexEntry) -> RawEntry:
        """The entry's whole object in today's shape; treat it as read-only.

        Never raises: what can't be read any more (someone cut the file, or it was closed) has only type, id, parent.
        """
        if (known := self._memory.get(entry.id)) is not None:
            return known
        if (known := self._bodies.get(entry.id)) is not None:
            return known
        try:
            with self._switch:
                data = self._pread(entry.offset, entry.length)
            raw = parse_line(data)
        except (ValueError, OSError):
            raw = None
        if not isinstance(raw, dict):
            return {"type": entry.type, "id": entry.id, "parentId": entry.parent_id, "timestamp": entry.timestamp}
        body: RawEntry = upgraded(raw, self.index.version, self.index.ids_by_line)
        if entry.altered:
            body = {**body, "id": entry.id, "parentId": entry.parent_id}
        self._cache(entry, body)
        return body

    def _cache(self, entry: IndexEntry, raw: RawEntry) -> None:
        if entry.length > _CACHED_BYTES:
            return
        self._bodies[entry.id] = raw
        while len(self._bodies) > _CACHED_BODIES:
            with suppress(KeyError):  # a reader in another thread may have been quicker
                self._bodies.popitem(last=False)

    def line(self, entry: IndexEntry) -> bytes:
        """The entry as a line for another file: the very bytes it has here, unless it was mended or upgraded."""
        if entry.altered or entry.offset < 0:
            return encode(self.body(entry))
        return self._pread(entry.offset, entry.length).rstrip(b"\r\n") + b"\n"

    def lines(self) -> Iterator[bytes]:
        """Header and all sound entries, for a copy."""
        yield encode({**self.header, "version": max(self.index.version, VERSION)})
        for entry in self.index.entries:
            yield self.line(entry)


def open_regular(path: Path, flags: int) -> int:
    """A descriptor of a regular file. Raises NotASessionError for what is none, SessionError when it won't open."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise NotASessionError(f"{path}: not a session", "It is no file")
        return os.open(path, flags | os.O_CLOEXEC)
    except OSError as error:
        reason = "there is no such file" if error.errno == errno.ENOENT else error.strerror or str(error)
        raise SessionError(f"{path}: can't be opened: {reason}") from error
