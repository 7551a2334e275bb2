"""Which sessions there are, whose they are, and finding one; it reads a file's two ends and must never write.

A session belongs to the `cwd` in its header, whatever its folder is called (cases S3). Everything here blocks.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from app.config.paths import expand
from app.errors import SessionError
from app.session.entries import RawEntry, as_text, is_header, lenient_ms, message_of, role_of, text_of
from app.session.index import parse_line
from app.session.naming import default_root, lease_path

_HEAD_BYTES = 16 * 1024
_TAIL_BYTES = 16 * 1024
_HEADER_LIMIT_BYTES = 1024 * 1024
_FIRST_CHARS = 2_000
_NO_MESSAGES = "(no messages)"
_USER = re.compile(rb'"role"\s*:\s*"user"')
_MESSAGE = re.compile(rb'"type"\s*:\s*"message"')
_FIRST_TEXT = re.compile(r'"(?:text|content)"\s*:\s*"((?:[^"\\]|\\.)*)')


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session in a list. Times in ms since 1970; `first_message` and `name` are foreign text, not cleaned.

    Large files are read at both ends only: there `message_count` is None, and a name given in the middle is not seen.
    `has_lease` says that a process writes it, or died writing it.
    """

    path: Path
    id: str
    cwd: str
    name: str | None
    parent_session_path: str | None
    created_ms: int
    modified_ms: int
    message_count: int | None
    first_message: str
    size_bytes: int
    has_lease: bool


@dataclass(frozen=True, slots=True)
class Found:
    """A session file that was asked for; `is_here` says whether it belongs to the present folder."""

    path: Path
    cwd: str
    is_here: bool
    exists: bool = True


@lru_cache(maxsize=4096)
def _real(folder: str) -> str:
    try:
        return os.path.realpath(folder)
    except ValueError:  # a foreign header may name what no file system can: a NUL, half a surrogate pair
        return folder


def same_folder(one: str, other: str) -> bool:
    """Whether two paths are the same folder, links resolved; a folder that is gone equals its own path."""
    return one == other or bool(one and other and _real(one) == _real(other))


def session_files(root: Path) -> Iterator[os.DirEntry[str]]:
    """Every `*.jsonl` in `root` and in the folders directly in it; what can't be read is passed over."""
    try:
        with os.scandir(root) as items:
            found = list(items)
    except OSError:
        return
    for item in found:
        if item.name.endswith(".jsonl"):
            yield item
        elif item.is_dir(follow_symlinks=True):
            try:
                with os.scandir(item.path) as inner:
                    files = list(inner)
            except OSError:
                continue
            yield from (file for file in files if file.name.endswith(".jsonl"))


def read_header(path: Path | str) -> RawEntry | None:
    """A session's header, however long its line is; None for anything that has none in its first line."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a named pipe would be waited for
        try:
            return _header(_first_line(descriptor, 4096))
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return None


def _first_line(descriptor: int, size: int) -> bytes:
    """At least the first line of a file (up to a megabyte of it), read in pieces of `size` bytes or more."""
    data = os.pread(descriptor, size, 0)
    while b"\n" not in data and len(data) < _HEADER_LIMIT_BYTES:
        more = os.pread(descriptor, 65536, len(data))
        if not more:
            break
        data += more
    return data


def _header(data: bytes) -> RawEntry | None:
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n", 8):
        if line.strip(b"\0 \t\r"):
            try:
                raw = parse_line(line.strip(b"\0 \t\r"))
            except ValueError:
                return None
            return raw if is_header(raw) else None
    return None


def read_info(path: Path) -> SessionInfo | None:
    """What a list shows of a file; None for one that is no session or can't be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            status = os.fstat(descriptor)
            head = _first_line(descriptor, _HEAD_BYTES)
            length = max(0, min(status.st_size - len(head), _TAIL_BYTES))
            tail = os.pread(descriptor, length, status.st_size - length) if length else b""
        finally:
            os.close(descriptor)
    except OSError:
        return None
    header = _header(head)
    if header is None:
        return None
    is_whole = len(head) + len(tail) >= status.st_size
    if is_whole:
        head, tail = head + tail, b""
    lines = head.split(b"\n")
    ends = tail.split(b"\n")[1:] if tail else lines[1:]
    mtime_ms = status.st_mtime_ns // 1_000_000
    return SessionInfo(
        path=path,
        id=header["id"],
        cwd=as_text(header.get("cwd")) or "",
        name=_name(lines[1:], ends),
        parent_session_path=as_text(header.get("parentSession")),
        created_ms=lenient_ms(header.get("timestamp"), mtime_ms),
        modified_ms=_modified_ms(ends, header, is_whole, mtime_ms),
        message_count=sum(_MESSAGE.search(line, 0, 400) is not None for line in lines) if is_whole else None,
        first_message=_first_message(lines, is_whole),
        size_bytes=status.st_size,
        has_lease=lease_path(path).exists(),
    )


def _entry(line: bytes) -> RawEntry:
    """The entry in a line; {} when there is no sound one."""
    try:
        raw = parse_line(line)
    except ValueError:
        return {}
    return raw if isinstance(raw, dict) and not is_header(raw) else {}


def _name(*pieces: list[bytes]) -> str | None:
    """The name given last. Lines are parsed only where they may be what is looked for: a list has 2,000 files."""
    for lines in reversed(pieces):
        for line in reversed(lines):
            if b"session_info" in line and (raw := _entry(line)).get("type") == "session_info":
                return (as_text(raw.get("name")) or "").strip() or None
    return None


def _modified_ms(ends: list[bytes], header: RawEntry, is_whole: bool, mtime_ms: int) -> int:
    for line in reversed(ends):
        if line and (raw := _entry(line)):
            return lenient_ms(raw.get("timestamp"), mtime_ms)
    return lenient_ms(header.get("timestamp"), mtime_ms) if is_whole else mtime_ms


def _first_message(lines: list[bytes], is_whole: bool) -> str:
    for line in lines:
        if not _USER.search(line):
            continue
        raw = _entry(line)
        if role_of(raw) == "user" and (text := text_of(message_of(raw).get("content"), _FIRST_CHARS)):
            return text
    # a first message larger than the piece that was read: its beginning is enough
    if not is_whole and _USER.search(lines[-1]):
        match = _FIRST_TEXT.search(lines[-1].decode("utf-8", "ignore"))
        if match is not None:
            try:
                return str(json.loads(f'"{match[1][:_FIRST_CHARS]}"'))
            except ValueError:
                return match[1][:_FIRST_CHARS]
    return _NO_MESSAGES


def list_sessions(cwd: str | None = None, root: Path | None = None) -> list[SessionInfo]:
    """Sessions under `root` (the default: all of ours), newest first; with `cwd` those whose header names it."""
    found: list[SessionInfo] = []
    for item in session_files(root if root is not None else default_root()):
        info = read_info(Path(item.path))
        if info is not None and (cwd is None or same_folder(info.cwd, cwd)):
            found.append(info)
    found.sort(key=lambda info: (info.modified_ms, info.path.name), reverse=True)
    return found


def most_recent(cwd: str, root: Path | None = None) -> Path | None:
    """The session of `cwd` that was written last (`--continue`); None when it has none."""
    for path in _newest_first(root):
        header = read_header(path)
        if header is not None and same_folder(as_text(header.get("cwd")) or "", cwd):
            return path
    return None


def _newest_first(root: Path | None) -> list[Path]:
    ranked: list[tuple[int, str, str]] = []
    for item in session_files(root if root is not None else default_root()):
        try:
            ranked.append((item.stat().st_mtime_ns, item.name, item.path))
        except OSError:
            continue
    return [Path(path) for _, _, path in sorted(ranked, reverse=True)]


def find_session(reference: str, cwd: str, root: Path | None = None) -> Found:
    """The session that `reference` means: a path (it holds a slash, ends in .jsonl or is a file), else an id's start.

    Ids are looked for in this folder's sessions first, then in all. A path that does not exist is given back with
    `exists` False. Raises SessionError when there is none or more than one.
    """
    path = expand(reference, Path(cwd))
    if "/" in reference or "\\" in reference or reference.endswith(".jsonl") or path.is_file():
        header = read_header(path)
        owner = (as_text(header.get("cwd")) or "") if header is not None else cwd
        return Found(path, owner, same_folder(owner, cwd), path.exists())
    matches: list[Found] = []
    for path in _newest_first(root):
        header = read_header(path)
        if header is not None and reference and header["id"].startswith(reference):
            owner = as_text(header.get("cwd")) or ""
            matches.append(Found(path, owner, same_folder(owner, cwd)))
    here = [found for found in matches if found.is_here]
    candidates = here or matches
    if not candidates:
        raise SessionError(f"no session's id begins with {reference!r}", "pinyon sessions lists them")
    if len(candidates) > 1:
        names = ", ".join(found.path.name for found in candidates[:4])
        raise SessionError(f"{len(candidates)} sessions' ids begin with {reference!r}: {names}", "Give more of the id")
    return candidates[0]
