"""One pass over a session file: where each entry stands and the few facts that tree and list need; it must never write.

Bodies stay in the file. A line that can't be read costs that line alone, and is counted; what can be taken out of it
whole (zero bytes around it, an entry glued to a torn one) is taken (architecture §6, cases S1).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from app.session.entries import RawEntry, as_id, is_header
from app.session.facts import IndexEntry, entry_facts
from app.session.migrate import derived_id, upgraded, version_of

# An entry inside a broken line begins so; in a string its quotes would be escaped.
_ENTRY_START = re.compile(r'\{\s*"type"\s*:\s*"[^"\\]{1,64}"')
_TRIES = 64


@dataclass(slots=True)
class Index:
    """What a file holds. `set_aside` counts the lines that could not be read, `recovered` entries saved out of them.

    `end` is the size in bytes that was read; `torn` is (offset, length) of a last line without its line feed that is
    no sound entry; `ends_with_newline` says whether the next line can be written as it is.
    """

    header: RawEntry | None = None
    version: int = 3
    entries: list[IndexEntry] = field(default_factory=list)
    by_id: dict[str, IndexEntry] = field(default_factory=dict)
    ids_by_line: list[str | None] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    recovered: int = 0
    set_aside: int = 0
    repeated: int = 0
    end: int = 0
    torn: tuple[int, int] | None = None
    ends_with_newline: bool = True


def parse_line(data: bytes) -> Any:
    """The JSON value of a line; raises ValueError for anything that is none (RecursionError is turned into it)."""
    try:
        return json.loads(data.decode("utf-8"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def salvage(data: bytes) -> Iterator[tuple[RawEntry, int, int]]:
    """Entries that stand whole inside a line that as a whole can't be read, with their (offset, length) in it."""
    # latin-1 keeps byte offsets; each candidate is decoded as what it is
    text = data.decode("latin-1")
    done = 0
    for number, match in enumerate(_ENTRY_START.finditer(text)):
        if number >= _TRIES:
            return
        start = match.start()
        if start < done:
            continue
        try:
            _, end = json.JSONDecoder().raw_decode(text, start)
            raw = parse_line(data[start:end])
        except (ValueError, RecursionError):
            continue
        rest = data[end : end + 1]
        if rest and rest not in b"{\r\n\0":
            continue
        if is_header(raw) or (
            isinstance(raw, dict) and as_id(raw.get("id")) and "parentId" in raw and "timestamp" in raw
        ):
            done = end
            yield raw, start, end - start


class Indexer:
    """Builds an Index line by line. `feed` takes lines in file order; `finish` gives the index with its notes.

    `read(offset, length)` gives bytes of the file again: two entries of one id are compared whole.
    """

    def __init__(self, read: Callable[[int, int], bytes]) -> None:
        self.index = Index()
        self._read = read
        self._held: list[tuple[RawEntry, int, int]] = []
        self._line = 0
        self._header_line = 0
        self._foreign = False
        self._renamed = 0
        self._nameless = 0
        self._is_live = False

    def feed(self, lines: Iterable[bytes], offset: int = 0) -> None:
        """Take lines (each with its line feed, but for the last) that begin at `offset` bytes."""
        index = self.index
        for line in lines:
            self._line += 1
            if line.strip(b" \t\r\n"):
                self._take(line, offset)
            offset += len(line)
            index.ends_with_newline = line.endswith(b"\n")
        index.end = offset

    def _take(self, line: bytes, offset: int) -> None:
        if offset == 0 and line.startswith(b"\xef\xbb\xbf"):
            line, offset = line[3:], 3
        try:
            raw = parse_line(line)
        except ValueError:
            self._take_broken(line, offset)
            return
        if is_header(raw):
            self._take_header(raw)
        elif isinstance(raw, dict) and isinstance(raw.get("type"), str) and raw["type"] != "session":
            self._take_entry(raw, offset, len(line.rstrip(b"\r\n")))
        else:
            self.index.set_aside += 1
            # when the first thing that can be read is no part of a session, the file is none
            self._foreign = self._foreign or (self.index.header is None and not self._held)

    def _take_broken(self, line: bytes, offset: int) -> None:
        index = self.index
        lead = len(line) - len(line.lstrip(b"\0 \t\r\n"))
        bare = line.strip(b"\0 \t\r\n")
        found: list[tuple[RawEntry, int, int]]
        try:
            raw = parse_line(bare)
            found = [(raw, lead, len(bare))] if isinstance(raw, dict) and isinstance(raw.get("type"), str) else []
            whole = bool(found)
        except ValueError:
            found, whole = list(salvage(line)), False
        for raw, start, length in found:
            if is_header(raw):
                self._take_header(raw)
            else:
                index.recovered += 1
                self._take_entry(raw, offset + start, length)
        if not whole:
            index.set_aside += 1
        if not line.endswith(b"\n") and not found:
            index.torn = (offset, len(line))

    def _take_header(self, raw: RawEntry) -> None:
        index = self.index
        if index.header is not None:
            index.set_aside += 1
            return
        index.header = raw
        index.version = version_of(raw)
        self._header_line = self._line
        index.ids_by_line.append(None)
        held, self._held = self._held, []
        for entry, offset, length in held:
            self._take_entry(entry, offset, length)

    def _take_entry(self, raw: RawEntry, offset: int, length: int) -> None:
        index = self.index
        if index.header is None:
            self._held.append((raw, offset, length))
            return
        place = len(index.ids_by_line)
        last = index.entries[-1].id if index.entries else None
        given = as_id(raw.get("id"))
        entry_id = given
        if entry_id is None:
            entry_id = self._fresh_id(place)
            self._nameless += index.version > 1
        parent_id = as_id(raw.get("parentId"))
        if index.version < 2 or (given is None and "parentId" not in raw):
            parent_id = last
        if parent_id is not None and (parent := index.by_id.get(parent_id)) is not None:
            parent_id = parent.id  # one string for both, not two
        altered = given is None or index.version < 3
        twin = index.by_id.get(entry_id)
        if twin is not None:
            if self._same(twin, raw):
                index.repeated += 1
                index.ids_by_line.append(entry_id)
                return
            self._renamed += 1
            if self._is_live:
                entry_id, altered = self._fresh_id(place), True
            else:
                # the reference lets the later one have the id; a tree that stands can't follow that
                twin.id, twin.altered = self._fresh_id(twin.place), True
                index.ids_by_line[twin.place] = twin.id
                index.by_id[twin.id] = twin
                parent_id = twin.id if parent_id == entry_id else parent_id
        index.ids_by_line.append(entry_id)
        entry = entry_facts(upgraded(raw, index.version, index.ids_by_line), entry_id, parent_id, place)
        entry.offset, entry.length, entry.altered = offset, length, altered
        index.entries.append(entry)
        index.by_id[entry_id] = entry

    def _same(self, twin: IndexEntry, raw: RawEntry) -> bool:
        try:
            return bool(parse_line(self._read(twin.offset, twin.length)) == raw)
        except (ValueError, OSError):
            return False

    def _fresh_id(self, place: int) -> str:
        header = self.index.header or {}
        salt = 0
        while (candidate := derived_id(str(header.get("id")), place, salt)) in self.index.by_id:
            salt += 1
        return candidate

    def finish(self) -> Index:
        """The index with its notes, each one sentence for a person."""
        index = self.index
        self._is_live = True
        if self._foreign:
            index.header = None
        notes = index.notes
        if index.header is not None and self._header_line != 1:
            notes.append(f"the session's header stands in line {self._header_line}, not in the first")
        if index.set_aside:
            stay = "stays as it is" if index.set_aside == 1 else "stay as they are"
            notes.append(f"{_count(index.set_aside, 'line')} could not be read and {stay} in the file")
        if index.recovered:
            notes.append(f"{_count(index.recovered, 'entry', 'entries')} recovered from damaged lines")
        if index.repeated:
            stand = (
                "stands twice in the file and counts" if index.repeated == 1 else "stand twice in the file and count"
            )
            notes.append(f"{_count(index.repeated, 'line')} {stand} once")
        if self._renamed:
            notes.append(f"{_count(self._renamed, 'entry', 'entries')} had the id of another and got a new one")
        if self._nameless:
            notes.append(f"{_count(self._nameless, 'entry', 'entries')} had no id and got one")
        return index


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one}" if number == 1 else f"{number} {many or one + 's'}"
