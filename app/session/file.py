"""One session file as it is written: locked, leased, lines appended at its end; it must never change a line.

Everything here blocks: `app.session.session` calls it in a thread, one call at a time (architecture §6).
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import Self

from app.config.paths import ensure_private_dir
from app.errors import SessionError
from app.session import lease
from app.session.entries import VERSION, RawEntry
from app.session.facts import IndexEntry, entry_facts
from app.session.index import parse_line
from app.session.lines import (
    PartialWriteError,
    encode,
    sync,
    sync_folder,
    take_back,
    write_all,
    write_failed,
    write_file,
)
from app.session.log import SessionLog, open_regular
from app.session.naming import aside_path

# What makes a file worth its place: something was said (architecture §6, overrules spec core §4.5).
_FIRST_LINES = frozenset({"message", "custom_message", "compaction", "branch_summary"})
# Endings that tell kept files of old versions apart.
_MORE = tuple(f"-{number}" for number in range(2, 100))
_NO_WRITING = (errno.EACCES, errno.EPERM, errno.EROFS)


class SessionFile(SessionLog):
    """A session's log that can grow: at `path` once something is said in it, or in memory (`path` None)."""

    def __init__(self, path: Path | None, header: RawEntry) -> None:
        super().__init__(path, header)
        self._writable = False
        self._locked = False
        self._half_line = False
        self._has_company = False
        self._pending: list[IndexEntry] = []

    @classmethod
    def open(cls, path: Path) -> Self:
        """A session to go on with: locked and leased, nothing written to it.

        Raises NotASessionError, SessionError, and SessionBusyError when another process writes it. Where writing is
        not allowed the session opens all the same, with a note; the first append then fails.
        """
        if path.is_symlink():
            path = path.resolve()  # a migrated file takes the place of the real one, not of the link
        for _ in range(8):
            try:
                descriptor = open_regular(path, os.O_RDWR | os.O_APPEND)
            except SessionError as error:
                if not isinstance(error.__cause__, OSError) or error.__cause__.errno not in _NO_WRITING:
                    raise
                file = cls.read(path)
                file.read_only = False
                file.notes.append("this session's file may not be written")
                return file
            try:
                locked = lease.lock(descriptor, path)
                if os.fstat(descriptor).st_ino != path.stat().st_ino:
                    os.close(descriptor)  # the holder put a migrated file in its place while we waited
                    continue
            except BaseException:
                os.close(descriptor)
                raise
            file = cls._loaded(path, descriptor)
            file._locked, file._writable = locked, True
            try:
                file.notes += lease.take(path, locked)
            except BaseException:
                os.close(descriptor)
                raise
            return file
        raise lease.busy(path, lease.read_holder(path))

    def close(self) -> None:
        """Let go of file, lock and lease. Never raises; twice is once."""
        if self._descriptor is not None and self._writable and self.path is not None:
            lease.release(self.path)
        self._writable = False
        super().close()

    def append(self, raws: list[RawEntry], *, durable: bool) -> tuple[list[IndexEntry], list[IndexEntry]]:
        """Write entries as lines in one go; gives them, and those that another program wrote here meanwhile.

        Until something is said, they wait in memory and no file exists. `durable` waits for the disk.
        Raises WriteFailedError: then none of them counts as saved, and the same call may be made again.
        """
        if self.read_only:
            raise SessionError("this session was opened to look at, not to write")
        entries = [self._facts(raw, place) for place, raw in enumerate(raws, len(self.index.ids_by_line))]
        strangers: list[IndexEntry] = []
        if self.path is not None and (self.is_stored or any(raw.get("type") in _FIRST_LINES for raw in raws)):
            try:
                strangers = self._store(raws, entries, durable)
            except ValueError as error:
                raise write_failed(self.path, str(error)) from error
            except OSError as error:
                raise write_failed(self.path, error) from error
        else:
            for entry, raw in zip(entries, raws, strict=True):
                self._memory[entry.id] = raw
            self._pending += entries
        for entry, raw in zip(entries, raws, strict=True):
            entry.place = len(self.index.ids_by_line)
            self.index.ids_by_line.append(entry.id)
            self.index.entries.append(entry)
            self.index.by_id[entry.id] = entry
            if entry.offset >= 0:
                self._cache(entry, raw)
        return entries, strangers

    @staticmethod
    def _facts(raw: RawEntry, place: int) -> IndexEntry:
        parent_id = raw.get("parentId")
        return entry_facts(raw, str(raw["id"]), parent_id if isinstance(parent_id, str) else None, place)

    def _store(self, raws: list[RawEntry], entries: list[IndexEntry], durable: bool) -> list[IndexEntry]:
        lines = [encode(raw) for raw in raws]
        if not self.is_stored:
            self._create(lines, entries)
            return []
        strangers = self._look_for_strangers()
        if self.index.version < VERSION:
            self._migrate()
        self._keep_torn_bytes()
        lead = b"\n" if self._half_line or not self.index.ends_with_newline else b""
        descriptor = self._writer()
        data = lead + b"".join(lines)
        try:
            end = write_all(descriptor, data)
        except PartialWriteError:
            self._half_line = True
            raise
        if durable:
            try:
                sync(descriptor)
            except OSError:
                take_back(descriptor, end, len(data))  # else the same entry would stand there twice after the next try
                raise
        if not self._half_line:
            # between our look and our write another program may have been quicker
            strangers += self._take_in(end - len(data))
        self._half_line, self.index.ends_with_newline, self.index.end = False, True, end
        _set_offsets(entries, lines, end)
        return strangers

    def _writer(self) -> int:
        """The descriptor to append to. Raises OSError when writing is not allowed or the file has lost its name."""
        descriptor = self._descriptor
        if descriptor is None or not self._writable:
            raise OSError(errno.EACCES, "permission denied")
        if os.fstat(descriptor).st_nlink == 0:
            raise OSError(errno.ENOENT, "deleted")
        return descriptor

    def _create(self, lines: list[bytes], entries: list[IndexEntry]) -> None:
        """Make the file with its header, what waited, and these lines; on failure there is no file."""
        path = self.path
        assert path is not None
        ensure_private_dir(path.parent)
        first = [encode(self.header), *(encode(self._memory[entry.id]) for entry in self._pending)]
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            self._locked = lease.lock(descriptor, path)
            end = write_all(descriptor, b"".join([*first, *lines]))
            sync(descriptor)
        except BaseException:
            os.close(descriptor)
            with suppress(OSError):
                path.unlink()
            raise
        sync_folder(path.parent)
        self.notes += lease.take(path, self._locked)
        self._descriptor, self._writable = descriptor, True
        self.index.end = end
        _set_offsets([*self._pending, *entries], [*first[1:], *lines], end)
        for entry in self._pending:
            self._memory.pop(entry.id, None)
        self._pending = []

    def _migrate(self) -> None:
        """Put the file in today's format under its name; the old one stays beside it as `.v1` or `.v2`."""
        path = self.path
        assert path is not None
        self._writer()
        names = (path.with_name(f"{path.name}.v{self.index.version}{more}") for more in ("", *_MORE))
        old = next(name for name in names if not name.exists())
        write_file(old, [self._pread(0, self.index.end)])
        lines = list(self.lines())
        write_file(path, lines, replace=True)
        self._adopt(path, lines)
        self.notes.append(f"the file was brought to version {VERSION}; the old one is kept as {old.name}")

    def move_to(self, path: Path) -> None:
        """Go on in a new file at `path` with everything sound, for a place that fails. Raises WriteFailedError."""
        lines = list(self.lines())
        try:
            write_file(path, lines)
            if self._writable and self.path is not None:
                lease.release(self.path)
            self._adopt(path, lines)
            self.notes += lease.take(path, self._locked)
        except OSError as error:
            raise write_failed(path, error) from error

    def _adopt(self, path: Path, lines: list[bytes]) -> None:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        try:
            self._locked = lease.lock(descriptor, path)
        except BaseException:
            os.close(descriptor)
            raise
        index = self.index
        with self._switch:
            if self._descriptor is not None:
                os.close(self._descriptor)
            self.path, self._descriptor, self._writable, self._half_line = path, descriptor, True, False
            self.header = index.header = parse_line(lines[0])
            index.version, index.torn, index.ends_with_newline = VERSION, None, True
            index.end = sum(map(len, lines))
            _set_offsets(index.entries, lines[1:], index.end)
            for entry in index.entries:
                entry.altered = False
        self._memory.clear()
        self._pending = []

    def _look_for_strangers(self) -> list[IndexEntry]:
        """Take in what another program (one that knows no lock of ours) appended since we last looked."""
        index = self.index
        size = os.fstat(self._writer()).st_size
        if size <= index.end or self._half_line:
            if size < index.end:
                self.notes.append("another program cut this session's file shorter")
                index.end, index.ends_with_newline = size, False
            return []
        # a line that crosses a page may be seen half: its end comes before our own write, and is taken in then
        whole = index.end + self._pread(index.end, size - index.end).rfind(b"\n") + 1
        found = self._take_in(whole)
        if whole < size:
            index.ends_with_newline = False
        return found

    def _take_in(self, end: int) -> list[IndexEntry]:
        """Index what another program wrote up to `end`; the first time, a note tells of it."""
        index = self.index
        known = len(index.entries)
        if end > index.end:
            self._indexer.feed(_split(self._pread(index.end, end - index.end)), index.end)
        found = index.entries[known:]
        if found and not self._has_company:
            self._has_company = True
            count = "an entry" if len(found) == 1 else f"{len(found)} entries"
            self.notes.append(f"another program wrote {count} to this session's file")
        return found

    def _keep_torn_bytes(self) -> None:
        torn, self.index.torn = self.index.torn, None
        if torn is None or self.path is None:
            return
        try:
            descriptor = os.open(aside_path(self.path), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                write_all(descriptor, self._pread(*torn) + b"\n")
            finally:
                os.close(descriptor)
        except OSError:
            self.notes.append("the torn end of the file could not be copied; it stays in the file itself")


def _split(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    return [*(line + b"\n" for line in lines[:-1]), *lines[-1:]] if lines[-1] else [line + b"\n" for line in lines[:-1]]


def _set_offsets(entries: list[IndexEntry], lines: list[bytes], end: int) -> None:
    offset = end - sum(map(len, lines))
    for entry, line in zip(entries, lines, strict=True):
        entry.offset, entry.length = offset, len(line) - 1
        offset += len(line)
