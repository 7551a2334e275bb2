"""Reads what a tool call holds, whatever a foreign session put there; it must never raise and never draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import cast

from renderers.registry import Params, ToolOutcome
from renderers.text import one_line, sanitise


@dataclass(frozen=True, slots=True)
class Image:
    """An image of a result: its type and about how many bytes it has."""

    mime_type: str
    size_bytes: int


def _member(value: object, *names: str) -> object:
    for name in names:
        found = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        if found is not None:
            return cast("object", found)
    return None


def raw_text(result: ToolOutcome | None) -> str:
    """The text blocks of the result joined by line feeds, not sanitised: for those who look at a part of it only."""
    content: object = getattr(result, "content", None)
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        return ""
    texts = (_member(block, "text") for block in content)
    return "\n".join(text for text in texts if isinstance(text, str))


def images(result: ToolOutcome | None) -> list[Image]:
    """The image blocks of the result."""
    content: object = getattr(result, "content", None)
    found = []
    for block in content if isinstance(content, list | tuple) else ():
        data = _member(block, "data")
        if isinstance(data, str):
            mime = _member(block, "mime_type", "mimeType")
            found.append(Image(one_line(mime) if isinstance(mime, str) else "image", len(data) * 3 // 4))
    return found


def is_error(result: ToolOutcome | None) -> bool:
    """Whether the call failed. A partial result never has."""
    return _member(result, "is_error", "isError") is True


def duration_s(result: ToolOutcome | None) -> float | None:
    """How long the tool ran, in seconds, when the result says so."""
    value = _member(result, "duration_ms", "durationMs")
    return value / 1000 if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def detail(result: ToolOutcome | None, *path: str) -> object:
    """The member of the result's details at `path`, or None when any step is missing or no object."""
    value: object = getattr(result, "details", None)
    for name in path:
        value = _member(value, name)
    return value


def detail_text(result: ToolOutcome | None, *path: str) -> str:
    """The detail as a string, "" when it is none."""
    value = detail(result, *path)
    return value if isinstance(value, str) else ""


def detail_number(result: ToolOutcome | None, *path: str) -> int | None:
    """The detail as a whole number, None when it is none."""
    value = detail(result, *path)
    if not isinstance(value, int | float) or isinstance(value, bool) or not isfinite(value):
        return None
    return int(value)


def argument(params: Params, *names: str) -> str:
    """The first of these arguments that is there, as sanitised text; odd types are shown as they are (cases S5)."""
    for name in names:
        value = params.get(name)
        if isinstance(value, str):
            return sanitise(value)
        if value is not None:
            return sanitise(as_json(value))
    return ""


def argument_number(params: Params, name: str) -> int | None:
    """The argument as a whole number, also when it came as a string; None when it is none."""
    value = params.get(name)
    if isinstance(value, str) and value.strip().lstrip("-").isdecimal():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def as_json(value: object, *, pretty: bool = False) -> str:
    """The value as JSON text, characters as themselves; what JSON can't hold is shown by its Python name."""
    import json

    try:
        return json.dumps(value, ensure_ascii=False, indent=2 if pretty else None, default=str)
    except (ValueError, RecursionError, TypeError):
        return repr(value)[:2000]


def plural(count: int, one: str, many: str = "") -> str:
    """The count with its noun: "1 line", "2,000 lines"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
