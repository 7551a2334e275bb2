"""Tool arguments as they stream: JSON that may be cut or malformed; it must never pass a cut call off as sound.

`ArgumentsStream` reads the growing text again only when it has grown by an eighth (at least 64 characters), so a
whole call costs a fixed multiple of its length; strings, which are nearly all of it, are read by the C decoder.
"""

from __future__ import annotations

import json
import math
import re
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from app.ai.schema import problems_of, with_coercions
from app.errors import ToolError

_MAX_DEPTH = 100
# The model needs to see what it sent, not a whole file that it tried to write.
_MAX_RECEIVED = 4000
_MAX_BULLETS = 20
_ESCAPES = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)')
_STRINGS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*\\?"?', re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_BLANK = re.compile(r"[ \t\r\n]*")
_CLOSING = re.compile(r"[\s}\]]*\Z")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def _number(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


_DECODER = json.JSONDecoder(strict=False, parse_constant=lambda _: None, parse_float=_number)


def repair_json(text: str) -> str:
    """The text with bad escapes inside its strings made literal (`\\d` → `\\\\d`); raw control characters may stay."""

    def mend(match: re.Match[str]) -> str:
        return _ESCAPES.sub(lambda escape: escape.group() if escape.group(1) else "\\\\", match.group())

    return _STRINGS.sub(mend, text)


def without_surrogates(value: Any) -> Any:
    """The JSON value with split surrogate pairs joined and lone ones replaced by U+FFFD, so that it can be written."""
    if isinstance(value, str):
        if _SURROGATE.search(value) is None:
            return value
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(part) for key, part in value.items()}
    if isinstance(value, list):
        return [without_surrogates(part) for part in value]
    return value


def load_json(text: str) -> Any:
    """The JSON value, mended where only its strings are at fault. Raises ValueError, also when nested too deep."""
    try:
        return _load(text)
    except ValueError:
        return _load(repair_json(text))


def _load(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def parse_whole(text: str) -> dict[str, Any] | None:
    """The object that the text holds whole; blank and `null` are `{}`; None when it is cut, broken or no object.

    Closing brackets too many are let pass, and an object that was encoded twice is read.
    """
    text = text.strip()
    if not text:
        return {}
    try:
        value = load_json(text)
        if isinstance(value, str):
            value = load_json(value)
    except ValueError:
        value = _with_closing_too_many(text)
    if value is None:
        return {} if text == "null" else None
    if not isinstance(value, dict) or not _is_shallow(text, value):
        return None
    return _clean(text, value)


def _is_shallow(text: str, value: object) -> bool:
    """Whether the value can be written again: pydantic gives up at 256 levels, and no tool needs a hundred."""
    if text.count("[") + text.count("{") <= _MAX_DEPTH:
        return True
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            part
            for one in level
            for part in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
            if isinstance(part, dict | list)
        ]
        if not level:
            return True
    return False


def _with_closing_too_many(text: str) -> Any:
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value if _CLOSING.match(text, end) else None


def _clean(text: str, value: dict[str, Any]) -> dict[str, Any]:
    if "\\u" not in text and text.isascii():
        return value
    cleaned: dict[str, Any] = without_surrogates(value)
    return cleaned


def parse_partial(text: str) -> dict[str, Any]:
    """The object so far: a cut string as far as it goes, a cut number or word left out. Never raises."""
    result = _read_partial(text)
    return result or parse_whole(text) or _read_partial(repair_json(text))


def _read_partial(text: str) -> dict[str, Any]:
    value, _, _ = _partial_value(text, _skip(text, 0), 0)
    return _clean(text, value) if isinstance(value, dict) else {}


class ArgumentsStream:
    """The arguments of one call while its JSON text arrives in pieces."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._next_length = 1

    def append(self, piece: str) -> dict[str, Any] | None:
        """Take a piece; the arguments so far when it is time to read them again, else None."""
        self._parts.append(piece)
        self._length += len(piece)
        if self._length < self._next_length:
            return None
        self._next_length = self._length + max(64, self._length // 8)
        return _read_partial(self.text())

    def text(self) -> str:
        """The JSON text so far."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def is_blank(self) -> bool:
        """Whether nothing but white space has arrived."""
        return not self.text().strip()


# A partial value: the value, where it ends, and whether anything of it could be read.
_Partial = tuple[Any, int, bool]
_NOTHING = (None, -1, False)


def _skip(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _partial_value(text: str, position: int, depth: int) -> _Partial:
    """The value at `position`; its end is -1 when the text ends (or goes wrong) inside it."""
    if position >= len(text) or depth > _MAX_DEPTH:
        return _NOTHING
    match text[position]:
        case "{":
            return _partial_object(text, position + 1, depth)
        case "[":
            return _partial_array(text, position + 1, depth)
        case '"':
            return _partial_string(text, position)
        case _:
            return _partial_scalar(text, position)


def _partial_string(text: str, position: int) -> _Partial:
    try:
        value, end = _DECODER.raw_decode(text, position)
        return value, end, True
    except ValueError:
        pass
    tail = text[position:]
    match = _STRINGS.match(tail)
    if match is None or match.end() != len(tail):
        return _NOTHING
    # A cut escape is at most `\ud83d\ude0`: try again without its last characters.
    for cut in range(0, 12):
        candidate = tail[: len(tail) - cut]
        if not candidate:
            break
        try:
            return _DECODER.decode(candidate + '"'), -1, True
        except ValueError:
            continue
    return _NOTHING


def _partial_scalar(text: str, position: int) -> _Partial:
    for word, value in (("true", True), ("false", False), ("null", None)):
        if text.startswith(word, position):
            return value, position + len(word), True
    match = _NUMBER.match(text, position)
    if match is None or match.end() == len(text) or match.end() - position > 4000:
        return _NOTHING
    number = match.group()
    return (_number(number) if any(mark in number for mark in ".eE") else int(number)), match.end(), True


def _partial_object(text: str, position: int, depth: int) -> _Partial:
    result: dict[str, Any] = {}
    while True:
        position = _skip(text, position)
        if position < len(text) and text[position] == "}":
            return result, position + 1, True
        if position >= len(text) or text[position] != '"':
            return result, -1, True
        key, position, _ = _partial_string(text, position)
        if position < 0:
            return result, -1, True
        position = _skip(text, position)
        if position >= len(text) or text[position] != ":":
            return result, -1, True
        value, position, known = _partial_value(text, _skip(text, position + 1), depth + 1)
        if known:
            result[key] = value
        if position < 0:
            return result, -1, True
        position = _skip(text, position)
        if position < len(text) and text[position] == ",":
            position += 1


def _partial_array(text: str, position: int, depth: int) -> _Partial:
    result: list[Any] = []
    while True:
        position = _skip(text, position)
        if position < len(text) and text[position] == "]":
            return result, position + 1, True
        value, position, known = _partial_value(text, position, depth + 1)
        if known:
            result.append(value)
        if position < 0:
            return result, -1, True
        position = _skip(text, position)
        if position < len(text) and text[position] == ",":
            position += 1


def validate_tool_arguments(name: str, parameters: type[BaseModel] | dict[str, Any], args: dict[str, Any]) -> Any:
    """The arguments, coerced and valid: an object of a pydantic model, or a dict for a JSON schema given as a dict.

    `args` is left as it was. Raises ToolError that names the tool, lists one bullet for each fault and ends with the
    arguments received (spec core §1.3).
    """
    if isinstance(parameters, dict):
        coerced = with_coercions(parameters, args)
        problems = problems_of(parameters, coerced)
        if problems:
            raise _bad_arguments(name, problems, args)
        return coerced
    try:
        return parameters.model_validate(with_coercions(_schema_of(parameters), args))
    except ValidationError as error:
        faults = [(".".join(map(str, fault["loc"])), fault["msg"]) for fault in error.errors(include_url=False)]
        raise _bad_arguments(name, faults, args) from error


@cache
def _schema_of(parameters: type[BaseModel]) -> dict[str, Any]:
    return parameters.model_json_schema()


def _bad_arguments(name: str, problems: list[tuple[str, str]], args: dict[str, Any]) -> ToolError:
    bullets = "\n".join(f"  - {path or 'root'}: {problem}" for path, problem in problems[:_MAX_BULLETS])
    received = json.dumps(args, indent=2, ensure_ascii=False, default=str)
    if len(received) > _MAX_RECEIVED:
        received = received[:_MAX_RECEIVED] + f"\n… ({len(received)} characters in all)"
    return ToolError(f'Validation failed for tool "{name}":\n{bullets}\n\nReceived arguments:\n{received}')
