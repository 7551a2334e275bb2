"""Search patterns in ripgrep's dialect as Python's `re`, so that both searches give the same; it searches nothing."""

from __future__ import annotations

import re
from functools import lru_cache

from app.errors import ToolError

_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\x0b\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
# General categories that `re` can say; others are refused.
_PROPERTIES = {"L": "[^\\W\\d_]", "Letter": "[^\\W\\d_]", "Alphabetic": "[^\\W\\d_]", "Nd": "\\d", "N": "\\d"}
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(-[a-zA-Z]+)?([:)])")
_CODE = re.compile(r"\\[xuU]\{([0-9A-Fa-f]{1,6})\}")
_PROPERTY = re.compile(r"\\([pP])(?:\{(\^?)([\w=]+)\}|(\w))")
_POSIX_CLASS = re.compile(r"\[:(\^?)([a-z]+):\]")
_BOUNDARY = re.compile(r"\\b\{(start|end|start-half|end-half)\}")


@lru_cache(maxsize=32)
def compile_pattern(pattern: str, *, literal: bool, ignore_case: bool) -> re.Pattern[str]:
    """The compiled pattern. Raises ToolError that says what is wrong and where."""
    flags = re.MULTILINE | (re.IGNORECASE if ignore_case else re.NOFLAG)
    try:
        return re.compile(re.escape(pattern) if literal else to_python(pattern), flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise ToolError(
            f"The pattern is no valid regular expression: {error}. "
            "Escape special characters with a backslash, or set literal to search for the text as it is."
        ) from error


def is_tame(pattern: str, *, literal: bool) -> bool:
    """Whether matching surely takes time linear in the text: no repetition, no anchor of the whole text."""
    return literal or not re.search(r"[*+?{]|\\[AzZ]", pattern)


def to_python(pattern: str) -> str:
    """The pattern as `re` reads it. Raises ToolError for what `re` can't say (`\\p{Greek}`, `(?U)`)."""
    out: list[str] = []
    closers = [0]  # brackets to add where each open group ends
    at = 0
    in_class = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            text, at = _escape(pattern, at, in_class > 0)
            out.append(text)
        elif in_class:
            text, at, in_class = _class_part(pattern, at, in_class)
            out.append(text)
        elif char == "[":
            in_class = 1
            out.append("[")
            at += 1
            if pattern[at : at + 1] == "^":
                out.append("^")
                at += 1
            if pattern[at : at + 1] == "]":
                out.append("\\]")
                at += 1
        elif char == "(":
            text, at = _group(pattern, at, closers)
            out.append(text)
        elif char == ")":
            out.append(")" * (1 + (closers.pop() if len(closers) > 1 else 0)))
            at += 1
        else:
            out.append(char)
            at += 1
    out.append(")" * closers[0])
    return "".join(out)


def _escape(pattern: str, at: int, in_class: bool) -> tuple[str, int]:
    if found := _CODE.match(pattern, at):
        code = int(found[1], 16)
        return (re.escape(chr(code)) if code < 0x110000 else found[0]), found.end()
    if found := _PROPERTY.match(pattern, at):
        name = found[3] or found[4]
        known = _PROPERTIES.get(name)
        if known is None or in_class or found[1] == "P" or found[2]:
            raise ToolError(f"The pattern's {found[0]} needs ripgrep (rg), which is not installed.")
        return known, found.end()
    if found := _BOUNDARY.match(pattern, at):
        is_start = found[1].startswith("start")
        return "\\b(?=\\w)" if is_start else "\\b(?<=\\w)", found.end()
    following = pattern[at + 1 : at + 2]
    words = {"z": "\\Z", "<": "\\b(?=\\w)", ">": "\\b(?<=\\w)"}
    if not in_class and following in words:
        return words[following], at + 2
    return pattern[at : at + 2], at + 2


def _class_part(pattern: str, at: int, depth: int) -> tuple[str, int, int]:
    """One piece of a character class; a bracket in it is a POSIX class or itself."""
    char = pattern[at]
    if char == "[":
        if (found := _POSIX_CLASS.match(pattern, at)) and found[2] in _POSIX and not found[1]:
            return _POSIX[found[2]], found.end(), depth
        return "\\[", at + 1, depth
    if char == "]":
        return "]", at + 1, 0
    if char in "&|~" or (char == "-" and pattern[at + 1 : at + 2] == "-"):
        return f"\\{char}", at + 1, depth
    return char, at + 1, depth


def _group(pattern: str, at: int, closers: list[int]) -> tuple[str, int]:
    """An opening bracket with what belongs to it; flags in the middle hold to the end of their group."""
    if found := _FLAGS.match(pattern, at):
        on = "".join(flag for flag in found[1] if flag not in "uR")
        off = "".join(flag for flag in (found[2] or "") if flag not in "uR-")
        if "U" in on + off:
            raise ToolError("The pattern's flag U (swap greed) needs ripgrep (rg), which is not installed.")
        if found[3] == ":":
            closers.append(0)
        else:
            closers[-1] += 1
        return f"(?{on}{'-' + off if off else ''}:", found.end()
    closers.append(0)
    if pattern.startswith("(?<", at) and pattern[at + 3 : at + 4] not in ("=", "!"):
        return "(?P<", at + 3
    return "(", at + 1
