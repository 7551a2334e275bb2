"""File name patterns as models write them, for find and grep; it must never look at the disk."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

PathTest = Callable[[str, bool], bool]  # (path from the start, whether it is a folder)


def find_test(pattern: str, start: str) -> PathTest:
    """The test for find: a pattern without a slash is for names, one with a slash for the end of the path.

    `./a/*.ts`, `a/*.ts` and the absolute form below `start` mean the same (cases G1). A final slash means folders.
    """
    text = _below(pattern, start)
    only_folders = text.endswith("/")
    text = text.rstrip("/")
    if "/" not in text and text != "**":
        name = _compiled(text)
        return lambda path, is_folder: (
            (is_folder or not only_folders) and name.fullmatch(path.rpartition("/")[2]) is not None
        )
    if text != "**" and not text.startswith(("/", "**/")):
        text = f"**/{text}"
    whole = _compiled(text)
    return lambda path, is_folder: (is_folder or not only_folders) and whole.fullmatch(path) is not None


def grep_test(glob: str, start: str) -> Callable[[str], bool]:
    """The test for grep's files: relative to `start` when there is a slash in it, else for names (cases G3).

    `!` in front turns it round, and then also leaves out everything below a folder of that name. `dir/` is `dir/**`.
    """
    is_excluding = glob.startswith("!")
    text = _below(glob.removeprefix("!"), start)
    is_anchored = "/" in text.rstrip("/")
    text = text.lstrip("/")
    if is_excluding:
        core = _compiled(text.rstrip("/"))
        return lambda path: not any(core.fullmatch(part) for part in _ancestry(path, is_anchored))
    if text.endswith("/"):
        whole = _compiled(f"{'' if is_anchored else '**/'}{text}**")
        return lambda path: whole.fullmatch(path) is not None
    one = _compiled(text)
    if is_anchored:
        return lambda path: one.fullmatch(path) is not None
    return lambda path: one.fullmatch(path.rpartition("/")[2]) is not None


def _ancestry(path: str, is_anchored: bool) -> list[str]:
    """The path and the folders above it: whole from the start, or the bare names."""
    parts = path.split("/")
    return ["/".join(parts[: count + 1]) for count in range(len(parts))] if is_anchored else parts


def _below(pattern: str, start: str) -> str:
    """The pattern relative to the start: `./` and the start's own absolute path taken off."""
    while pattern.startswith("./"):
        pattern = pattern[2:].lstrip("/")
    for base in (start, os.path.realpath(start)):
        prefix = os.path.join(base, "")
        if pattern.startswith(prefix):
            return pattern[len(prefix) :]
    return pattern


def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(glob_to_regex(glob), re.DOTALL)


def glob_to_regex(glob: str) -> str:
    """The regular expression of a glob: `*` and `?` stop at slashes, `**` as a whole part goes over folders,
    `[a-z]`, `[!a]`, `{a,b}` and a backslash as usual. Brackets that don't close stand for themselves."""
    out: list[str] = []
    at = 0
    depth = 0
    closing = _closing_braces(glob)
    while at < len(glob):
        char = glob[at]
        at += 1
        if char == "*":
            stars = at - 1
            while at < len(glob) and glob[at] == "*":
                at += 1
            is_part = at - stars > 1 and glob[stars - 1 : stars] in ("", "/", "{", ",")
            if is_part and glob[at : at + 1] == "/":
                at += 1
                out.append("(?:.*/)?")
            elif is_part and at == len(glob):
                out.append(".+")
            else:
                out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
        elif char == "[" and (end := _class_end(glob, at)) > 0:
            out.append(_class(glob[at:end]))
            at = end + 1
        elif char == "{" and at - 1 in closing:
            depth += 1
            out.append("(?:")
        elif char == "}" and depth:
            depth -= 1
            out.append(")")
        elif char == "," and depth:
            out.append("|")
        elif char == "\\" and at < len(glob):
            out.append(re.escape(glob[at]))
            at += 1
        else:
            out.append(re.escape(char))
    return "".join(out)


def _closing_braces(glob: str) -> set[int]:
    """The places of opening braces that are closed."""
    closed: set[int] = set()
    opened: list[int] = []
    at = 0
    while at < len(glob):
        char = glob[at]
        if char == "\\":
            at += 1
        elif char == "[" and (end := _class_end(glob, at + 1)) > 0:
            at = end
        elif char == "{":
            opened.append(at)
        elif char == "}" and opened:
            closed.add(opened.pop())
        at += 1
    return closed


def _class_end(glob: str, at: int) -> int:
    """The place of the bracket that closes a class beginning at `at`; -1 when none does."""
    at += glob[at : at + 1] in ("!", "^")
    return glob.find("]", at + 1)


def _class(body: str) -> str:
    negated = body[:1] in ("!", "^")
    inner = body[1:] if negated else body
    escaped = re.sub(r"([\[\]\\&~|^])", r"\\\1", inner)
    # A range the wrong way round is an error to `re`: it matches nothing.
    escaped = re.sub(r"([^\\])-([^\\])", lambda m: m[0] if m[1] <= m[2] else "\\-", escaped)
    return f"(?![/])[{'^' if negated else ''}{escaped}]"
