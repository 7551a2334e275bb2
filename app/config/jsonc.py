"""JSON with `//` comments and trailing commas, read and edited in place; it must never touch a comment of the user's.

Comments become blanks of the same length before parsing, so every position in an error is one of the user's file.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

# possessive: "//////…" after a comma could else be taken for comments in 2ⁿ ways
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"?|//[^\n\r]*|,(?=(?:\s++|//[^\n\r]*+)*+[}\]])', re.DOTALL)
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


class JsoncError(ValueError):
    """The text is no JSON: `reason`, and where (`line` and `column` count from 1)."""

    def __init__(self, reason: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {reason}")
        self.reason = reason
        self.line = line
        self.column = column

    @property
    def place(self) -> str:
        """`line 3, column 7`."""
        return f"line {self.line}, column {self.column}"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a file of the user's that was left out; the rest keeps working.

    `place` is a line and column or a key, and may be empty.
    """

    path: Path
    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}, {self.place}: {self.reason}" if self.place else f"{self.path}: {self.reason}"


def loads(text: str) -> object:
    """The value that `text` holds. Raises JsoncError with the place. A byte order mark is passed over."""
    try:
        value: object = json.loads(_strip(text), parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise JsoncError(error.msg, error.lineno, error.colno) from error
    except (ValueError, RecursionError) as error:
        raise JsoncError(str(error) or "nested too deeply", 1, 1) from error
    return value


def read_object(path: Path) -> tuple[dict[str, object], list[Problem]]:
    """The object in the file `path`, and what is wrong with it; a missing or empty file is an empty object."""
    try:
        text = path.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}, []
    except OSError as error:
        return {}, [Problem(path, "", f"can't be read: {error.strerror or error}")]
    except UnicodeDecodeError as error:
        return {}, [Problem(path, f"byte {error.start}", "is not UTF-8")]
    if not _strip(text).strip():
        return {}, []
    try:
        value = loads(text)
    except JsoncError as error:
        return {}, [Problem(path, error.place, error.reason)]
    if not isinstance(value, dict):
        return {}, [Problem(path, "", f"must hold an object, not {kind(value)}")]
    return value, []


def kind(value: object) -> str:
    """What `value` is, in JSON's words with an article, for messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "a string"
        case int() | float():
            return "a number"
        case list():
            return "an array"
        case _:
            return "an object"


def set_value(text: str, keys: tuple[str, ...], value: object) -> str:
    """`text` with the member at `keys` set to `value`: every other character, comments included, stays as it is.

    Objects on the way are made; a value on the way that is no object is replaced. Raises JsoncError if `text` is no
    object.
    """
    clean = _strip(text)
    if not clean.strip():
        return json.dumps(_nested(keys, value), indent=2, ensure_ascii=False) + "\n"
    if not isinstance(loads(text), dict):
        raise JsoncError("must hold an object", 1, 1)
    start = clean.index("{")
    for depth, key in enumerate(keys):
        members, end = _members(clean, start)
        span = members.get(key)
        rest = keys[depth + 1 :]
        if span is None:
            return _insert(text, clean, start, end, members, key, _nested(rest, value))
        if not rest or clean[span[0]] != "{":
            return text[: span[0]] + _dump(_nested(rest, value), _indent(clean, span[0])) + text[span[1] :]
        start = span[0]
    raise ValueError("no key given")


def _strip(text: str) -> str:
    """`text` with comments, trailing commas and a byte order mark as blanks, each of the same length."""

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        return found if found.startswith('"') else " " * len(found)

    stripped = _TOKEN.sub(blank, text)
    return " " + stripped[1:] if stripped.startswith("\ufeff") else stripped


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _nested(keys: tuple[str, ...], value: object) -> object:
    for key in reversed(keys):
        value = {key: value}
    return value


def _members(clean: str, start: int) -> tuple[dict[str, tuple[int, int]], int]:
    """The spans of the values of the object that opens at `start`, and the index of its closing brace."""
    spans: dict[str, tuple[int, int]] = {}
    at = _skip(clean, start + 1)
    while clean[at] != "}":
        key, at = _DECODER.raw_decode(clean, at)
        at = _skip(clean, _skip(clean, at) + 1)
        _, end = _DECODER.raw_decode(clean, at)
        spans[key] = (at, end)
        at = _skip(clean, end)
        if clean[at] == ",":
            at = _skip(clean, at + 1)
    return spans, at


def _skip(clean: str, at: int) -> int:
    match = _SPACE.match(clean, at)
    return match.end() if match else at


def _insert(
    text: str, clean: str, start: int, end: int, members: dict[str, tuple[int, int]], key: str, value: object
) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    name = json.dumps(key, ensure_ascii=False)
    if not members:
        outer = _indent(clean, start)
        inner = outer + "  "
        # A comment may stand between the braces: the new member goes before it.
        rest = text[start + 1 :].lstrip(" ")
        return f"{text[: start + 1]}{newline}{inner}{name}: {_dump(value, inner)}{newline}{outer}{rest}"
    last = max(members.values(), key=lambda span: span[1])[1]
    inner = _indent(clean, last)
    member = f"{name}: {_dump(value, inner)}"
    line_end = re.compile(r"\r?\n|$").search(text, last)
    stop = line_end.start() if line_end else len(text)
    if "\n" not in clean[start:last] or stop > end:
        return f"{text[:last]}, {member}{text[last:]}"
    tail = text[last:stop]  # perhaps a comma and a comment, which belong to the member before
    comma = "" if tail.lstrip().startswith(",") else ","
    return f"{text[:last]}{comma}{tail}{newline}{inner}{member}{text[stop:]}"


def _indent(clean: str, at: int) -> str:
    """The blanks that begin the line of `at`."""
    line = clean[clean.rfind("\n", 0, at) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _dump(value: object, indent: str) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + indent)
