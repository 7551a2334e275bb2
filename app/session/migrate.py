"""Entries of older format versions in today's shape, in memory; it must never write.

Ids given to a version 1 file follow from the session's id and the place in it, so that two readings agree.
Source: spec core §4.4.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from app.session.entries import VERSION, RawEntry


def version_of(header: RawEntry) -> int:
    """The format version of a header; a missing or unreadable one is 1."""
    version = header.get("version")
    return version if isinstance(version, int) and not isinstance(version, bool) and version > 0 else 1


def derived_id(session_id: str, place: int, salt: int = 0) -> str:
    """Eight hex digits for the entry at `place` (its line's number) in the session; `salt` gives another choice."""
    return hashlib.sha256(f"{session_id}\0{place}\0{salt}".encode("utf-8", "surrogatepass")).hexdigest()[:8]


def upgraded(raw: RawEntry, version: int, ids_by_line: Sequence[str | None]) -> RawEntry:
    """The entry in today's shape: the same object when nothing changes, else a copy.

    `ids_by_line` has the id of each parsed line of the file, None for the header: version 1 counted kept lines so.
    """
    if version >= VERSION:
        return raw
    message = raw.get("message")
    if isinstance(message, dict) and message.get("role") == "hookMessage":
        raw = {**raw, "message": {**message, "role": "custom"}}
    if raw.get("type") == "compaction" and "firstKeptEntryIndex" in raw:
        index = raw["firstKeptEntryIndex"]
        raw = {name: value for name, value in raw.items() if name != "firstKeptEntryIndex"}
        if isinstance(index, int) and 0 <= index < len(ids_by_line) and ids_by_line[index] is not None:
            raw["firstKeptEntryId"] = ids_by_line[index]
    return raw
