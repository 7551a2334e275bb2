"""Foreign text for an export: control bytes out, times and sizes for people; it must never make markup."""

from __future__ import annotations

import json
import re

from app.session.entries import RawEntry, as_text, lenient_ms, message_of, ms_to_iso

_SEQUENCE = re.compile(
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]"
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
_MAIN_ARGUMENTS = ("command", "path", "file_path", "pattern", "query", "url", "name")


def plain(text: str) -> str:
    """The text without escape sequences and control bytes; what turns the direction of text is shown as <U+202E>."""
    text = _CONTROL.sub("", _SEQUENCE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    return _TURNING.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def one_line(text: str, limit_chars: int) -> str:
    """The beginning of the text on one line."""
    line = " ".join(plain(text[: 4 * limit_chars]).split())
    return line if len(line) <= limit_chars else line[: limit_chars - 1] + "…"


def blocks_of(raw: RawEntry) -> list[RawEntry]:
    """The content of a message entry as blocks; a string is one block of text, odd ones are left out."""
    content = message_of(raw).get("content") if raw.get("type") == "message" else raw.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    found = []
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            found.append(block)
        elif isinstance(block, str):
            found.append({"type": "text", "text": block})
    return found


def texts_of(raw: RawEntry) -> str:
    """All text blocks, a blank line between them."""
    return "\n\n".join(text for block in blocks_of(raw) if (text := as_text(block.get("text"))))


def main_argument(arguments: object) -> str:
    """What a call is about, on one line: its command, path or pattern, else the first string it has."""
    if not isinstance(arguments, dict):
        return ""
    for name in (*_MAIN_ARGUMENTS, *arguments):
        if isinstance(value := arguments.get(name), str) and value:
            return one_line(value, 120)
    return ""


def pretty(value: object) -> str:
    """A JSON value, indented."""
    try:
        return json.dumps(value, ensure_ascii=False, indent=2)
    except (TypeError, ValueError, RecursionError):
        return str(value)


def when(raw: RawEntry) -> str:
    """An entry's time as `2026-01-31 12:00` (UTC), "" when it has none."""
    ms = lenient_ms(raw.get("timestamp"), -1)
    return ms_to_iso(ms)[:16].replace("T", " ") if ms >= 0 else ""
