"""What is wrong with a session file, line by line, and a repaired copy of it; it must never change the file itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from app.errors import NotASessionError, SessionError
from app.session.entries import VERSION, as_id, is_header, is_own, lenient_ms
from app.session.index import parse_line, salvage
from app.session.lines import encode, write_file
from app.session.log import SessionLog
from app.session.migrate import version_of
from app.session.naming import lease_path
from app.session.tree import Tree

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something odd; `line` counts from 1, 0 stands for the file as a whole. `is_harm`: something was lost by it."""

    line: int
    text: str
    is_harm: bool = False


@dataclass(slots=True)
class _Seen:
    # line, a digest of the content, whether it is ours: a file may be larger than the memory
    first: dict[str, tuple[int, bytes, bool]] = field(default_factory=dict)
    parents: list[tuple[int, str, str]] = field(default_factory=list)
    version: int = VERSION
    has_header: bool = False


def examine(path: Path) -> list[Finding]:
    """Everything that is wrong with the file, in order of lines; [] for a sound one. Blocks.

    Raises NotASessionError, and SessionError when the file can't be read.
    """
    log = SessionLog.read(path)
    try:
        mended = Tree(log.index.entries)
        roots = {entry.id for entry in mended.roots}
    finally:
        log.close()
    seen = _Seen()
    found: list[Finding] = []
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                found += _line(line, number, seen)
    except OSError as error:
        raise SessionError(f"{path}: can't be read: {error.strerror}") from error
    for number, entry_id, parent_id in seen.parents:
        if parent_id not in seen.first:
            found.append(
                Finding(number, f"entry {entry_id}: its parent {parent_id} is not in the file: shown as a root")
            )
        elif entry_id in roots and not seen.first[parent_id][2]:
            found.append(Finding(number, f"entry {entry_id} stands in a ring of parents, which is cut here"))
        elif seen.first[parent_id][0] > number:
            found.append(Finding(number, f"entry {entry_id} stands before its parent {parent_id}"))
    if seen.version < VERSION:
        found.append(Finding(0, f"written in version {seen.version}; today's is {VERSION} (read all the same)"))
    if lease_path(path).exists():
        from app.session.lease import read_holder

        holder = read_holder(path)
        if holder is None or not holder.is_alive():
            found.append(Finding(0, "the process that wrote it ended without closing it"))
    found.sort(key=lambda finding: finding.line)
    return found


def _line(line: bytes, number: int, seen: _Seen) -> Iterator[Finding]:
    if number == 1 and line.startswith(_BOM):
        yield Finding(1, "begins with a byte order mark")
        line = line[len(_BOM) :]
    if not line.strip():
        return
    if not line.endswith(b"\n"):
        try:
            parse_line(line)
            yield Finding(number, "the last line has no line feed")
        except ValueError:
            yield Finding(number, f"torn: the line ends after {len(line):,} bytes without a line feed", True)
            yield from _saved(line, number, seen)
            return
    try:
        raw = parse_line(line)
    except ValueError as error:
        yield Finding(number, _why(line, error), True)
        yield from _saved(line, number, seen)
        return
    yield from _value(raw, number, seen)


def _why(line: bytes, error: ValueError) -> str:
    if line.strip(b"\0 \t\r\n") == b"":
        return f"{len(line.strip()):,} zero bytes"
    if b"\0" in line:
        return "zero bytes in the line"
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 at byte {error.start + 1} of the line"
    where = getattr(error, "colno", 0)
    reason = getattr(error, "msg", str(error))
    return f"no JSON: {reason}" + (f" at character {where}" if where else "")


def _saved(line: bytes, number: int, seen: _Seen) -> Iterator[Finding]:
    bare = line.strip(b"\0 \t\r\n")
    try:
        values = [parse_line(bare)]
    except ValueError:
        values = [raw for raw, _, _ in salvage(line)]
    for raw in values:
        if isinstance(raw, dict) and not is_header(raw):
            yield Finding(
                number, f"an entry inside it is sound: {raw.get('type')} {as_id(raw.get('id')) or ''}".rstrip()
            )
        yield from _value(raw, number, seen)


def _value(raw: object, number: int, seen: _Seen) -> Iterator[Finding]:
    if is_header(raw):
        assert isinstance(raw, dict)
        if seen.has_header:
            yield Finding(number, "a second session header", True)
            return
        seen.has_header = True
        seen.version = version_of(raw)
        if number != 1:
            yield Finding(number, "the session's header stands here, not in the first line")
        return
    if not isinstance(raw, dict) or not isinstance(raw.get("type"), str) or raw["type"] == "session":
        yield Finding(
            number, "no entry: " + (f"a {type(raw).__name__}" if not isinstance(raw, dict) else "no type"), True
        )
        return
    entry_id = as_id(raw.get("id"))
    if entry_id is None:
        if seen.version > 1:
            yield Finding(number, f"a {raw['type']} entry without an id")
        return
    digest = _digest(raw)
    if entry_id in seen.first:
        line, content, _ = seen.first[entry_id]
        other = "" if content == digest else ", with other content"
        yield Finding(number, f"entry {entry_id} stands in line {line} already{other}")
        return
    seen.first[entry_id] = number, digest, is_own(raw)
    if (parent_id := as_id(raw.get("parentId"))) is not None:
        seen.parents.append((number, entry_id, parent_id))
    if seen.version > 1 and lenient_ms(raw.get("timestamp"), -1) < 0:
        yield Finding(number, f"entry {entry_id} has no readable time")


def _digest(raw: object) -> bytes:
    try:
        return hashlib.sha256(json.dumps(raw, sort_keys=True).encode("ascii")).digest()
    except RecursionError:
        return b""


def repair(path: Path, out: Path | None = None) -> Path:
    """Write a copy with everything that is sound (default: `NAME.repaired.jsonl` beside it); gives where it is.

    In it every line is sound, every parent is there, no id stands twice. Raises NotASessionError, SessionError, and
    WriteFailedError (also when `out` exists). Blocks.
    """
    target = out if out is not None else path.with_name(f"{path.stem}.repaired.jsonl")
    if target.exists() and target.samefile(path):
        raise SessionError(f"{target} is the damaged session itself", "Choose another name")
    log = SessionLog.read(path)
    try:
        write_file(target, _sound_lines(log))
    finally:
        log.close()
    return target


def _sound_lines(log: SessionLog) -> Iterator[bytes]:
    index = log.index
    if index.header is None:
        raise NotASessionError(f"{log.path}: not a session")
    tree = Tree(index.entries)
    yield encode({**log.header, "version": max(index.version, VERSION)})
    for entry in index.entries:
        is_cut = entry.parent_id is not None and not entry.own and tree.parent_id(entry.id) is None
        is_cut = is_cut and not _leads_to_root(entry.parent_id, log)
        yield encode({**log.body(entry), "parentId": None}) if is_cut else log.line(entry)


def _leads_to_root(parent_id: str | None, log: SessionLog) -> bool:
    """Whether an entry of ours stands between it and the root: then its parent is sound, only looked through."""
    entry = log.index.by_id.get(parent_id or "")
    return entry is not None and entry.own
