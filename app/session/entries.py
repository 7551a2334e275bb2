"""Entries of a session file as raw JSON objects: facts, builders, ids, times; it must never drop a member.

It knows no message model, so that an index, a tree or a list of sessions is read without pydantic (architecture §7).
"""

from __future__ import annotations

import os
import time
from collections.abc import Container
from datetime import UTC, datetime
from typing import Any

RawEntry = dict[str, Any]

VERSION = 3
HEADER_TYPE = "session"
OWN_PREFIX = "pinyon."
LEAF_TYPE = "pinyon.leaf"


def iso_now() -> str:
    """The present time as `YYYY-MM-DDTHH:MM:SS.mmmZ` (UTC)."""
    return ms_to_iso(int(time.time() * 1000))


def ms_to_iso(ms: int) -> str:
    """Milliseconds since 1970 as `YYYY-MM-DDTHH:MM:SS.mmmZ`; an impossible number gives the start of 1970."""
    try:
        moment = datetime.fromtimestamp(ms // 1000, UTC)
    except (OverflowError, ValueError, OSError):
        moment, ms = datetime.fromtimestamp(0, UTC), 0
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"


def iso_to_ms(iso: str) -> int:
    """Milliseconds since 1970 of an ISO time; without a zone it is UTC.

    Raises TypeError for anything but a string (entries carry ISO strings, messages carry milliseconds: a number here
    is a mix-up of the two) and ValueError for a string that is no time. Source: spec core §3.1.
    """
    if not isinstance(iso, str):
        raise TypeError(
            f"the timestamp must be an ISO string such as 2026-01-31T12:00:00.000Z, not {iso!r}: "
            "session entries carry ISO strings, only messages carry milliseconds"
        )
    moment = datetime.fromisoformat(iso)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)


def lenient_ms(iso: object, default: int = 0) -> int:
    """`iso_to_ms` for foreign data: `default` where there is no time to be read."""
    try:
        return iso_to_ms(iso) if isinstance(iso, str) else default
    except (ValueError, OverflowError):
        return default


def new_entry_id(taken: Container[str]) -> str:
    """Eight random hex digits that are not in `taken`; 32 digits should a hundred tries collide."""
    for _ in range(100):
        candidate = os.urandom(4).hex()
        if candidate not in taken:
            return candidate
    return os.urandom(16).hex()


def new_session_id() -> str:
    """A UUID of version 7: sortable by its time in milliseconds, the rest random. Source: RFC 9562 §5.7."""
    value = (int(time.time() * 1000) & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10))
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    text = f"{value:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def new_header(session_id: str, cwd: str, parent_session: str | None = None) -> RawEntry:
    """The first line of a session file."""
    header: RawEntry = {"type": HEADER_TYPE, "version": VERSION, "id": session_id, "timestamp": iso_now(), "cwd": cwd}
    if parent_session is not None:
        header["parentSession"] = parent_session
    return header


def new_entry(kind: str, entry_id: str, parent_id: str | None, **members: object) -> RawEntry:
    """An entry of now; members that are None are left out, except those that mean something as null."""
    entry: RawEntry = {"type": kind, "id": entry_id, "parentId": parent_id, "timestamp": iso_now()}
    entry.update({name: value for name, value in members.items() if value is not None})
    return entry


def as_text(value: object) -> str | None:
    """The value if it is a string, else None."""
    return value if isinstance(value, str) else None


def as_id(value: object) -> str | None:
    """An id as text; a foreign file's number becomes its digits, anything else is no id."""
    if isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def is_header(raw: object) -> bool:
    """Whether a parsed line is a session header: type `session` and an id that is a string."""
    return isinstance(raw, dict) and raw.get("type") == HEADER_TYPE and isinstance(raw.get("id"), str)


def is_own(raw: RawEntry) -> bool:
    """Whether an entry is bookkeeping of ours (`pinyon.*`), which tree, tips and leaf look through."""
    return raw.get("type") == "custom" and str(raw.get("customType", "")).startswith(OWN_PREFIX)


def message_of(raw: RawEntry) -> dict[str, Any]:
    """The message object inside a `message` entry; {} when there is none."""
    message = raw.get("message")
    return message if isinstance(message, dict) else {}


def role_of(raw: RawEntry) -> str | None:
    """The role that a `message` entry carries; None for other entries."""
    return as_text(message_of(raw).get("role")) if raw.get("type") == "message" else None


def text_of(content: object, limit: int) -> str:
    """A message content's text, blocks joined by a blank, at most `limit` characters; foreign, not cleaned."""
    if isinstance(content, str):
        return content[:limit]
    found: list[str] = []
    size = 0
    for block in content if isinstance(content, list) else ():
        text = block if isinstance(block, str) else block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str) and text:
            found.append(text[:limit])
            size += len(text) + 1
            if size >= limit:
                break
    return " ".join(found)[:limit]


def tool_calls_of(message: dict[str, Any]) -> list[tuple[str, str]]:
    """(id, name) of each call in a raw assistant message, in order."""
    content = message.get("content")
    return [
        (as_text(block.get("id")) or "", as_text(block.get("name")) or "")
        for block in (content if isinstance(content, list) else ())
        if isinstance(block, dict) and block.get("type") == "toolCall"
    ]
