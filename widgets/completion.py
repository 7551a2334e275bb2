"""What could be completed at the cursor, and how a choice is written into the text; pure functions of the text."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

TokenKind = Literal["command", "argument", "file", "path"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A choice: `text` is what it stands for, `label` what is shown (else the text), `detail` what is said of it.

    `is_open` marks a folder or a command that takes arguments: completion goes on behind it.
    """

    text: str
    label: str = ""
    detail: str = ""
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class CompletionToken:
    """The piece of one line, columns [start, end), that a choice would replace; `query` is what was typed of it."""

    kind: TokenKind
    row: int
    start: int
    end: int
    query: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class Providers:
    """Where candidates come from, given by the screen; None = no such completion.

    `commands` answers at once with all of them; the others are asked with what was typed, off the path of a key, and
    may answer late: an answer to a token that is gone is dropped. They may return more than fits, in any order.
    """

    commands: Callable[[], Sequence[Candidate]] | None = None
    arguments: Callable[[str, str], Awaitable[Sequence[Candidate]]] | None = None
    files: Callable[[str], Awaitable[Sequence[Candidate]]] | None = None
    paths: Callable[[str], Awaitable[Sequence[Candidate]]] | None = None


_COMMAND = re.compile(r"/([^\s/]*)$")
_ARGUMENT = re.compile(r"/([^\s/]+)[ ]+(.*)$")
# A mention begins a word: an address such as mail@host.com is none.
_MENTION = re.compile(r"""(?:^|(?<=[\s(\[{<"'`]))@(?:"([^"]*)|((?:\\.|[^\s"\\@])*))$""")
_WORD = re.compile(r"""(?:^|(?<=\s))(?:"([^"]*)|((?:\\.|[^\s"\\])*))$""")
_ESCAPED = re.compile(r"\\(.)")
_NEEDS_QUOTES = re.compile(r"""[\s()\[\]{}<>,;:!?'`|&$*\\]""")


def token_at(line: str, row: int, column: int, *, is_asked: bool = False) -> CompletionToken | None:
    """Return what could be completed before the cursor; a plain path only when asked for (tab)."""
    before = line[:column]
    if row == 0 and (found := _COMMAND.match(before)):
        return CompletionToken("command", row, 0, column, found[1])
    if found := _MENTION.search(before):
        return _path_token("file", found, line, row, column)
    if row == 0 and (found := _ARGUMENT.match(before)):
        return CompletionToken("argument", row, found.start(2), column, found[2], found[1])
    if is_asked and (found := _WORD.search(before)) and found[0]:
        return _path_token("path", found, line, row, column)
    return None


def _path_token(kind: TokenKind, found: re.Match[str], line: str, row: int, column: int) -> CompletionToken:
    quoted, bare = found[1], found[2]
    query = quoted if quoted is not None else _ESCAPED.sub(r"\1", bare)
    # A closing quote behind the cursor belongs to the token: it would stay behind otherwise.
    end = column + 1 if quoted is not None and line[column : column + 1] == '"' else column
    return CompletionToken(kind, row, found.start(), end, query)


def replacement(token: CompletionToken, candidate: Candidate) -> str:
    """Return what replaces the token: names with blanks or brackets in quotes, an open one without its end."""
    if token.kind == "command":
        return f"/{candidate.text} " if candidate.is_open else f"/{candidate.text}"
    if token.kind == "argument":
        return candidate.text
    at = "@" if token.kind == "file" else ""
    name = candidate.text
    if '"' in name:
        name = re.sub(r'([\s"\\])', r"\\\1", name)
        return at + name if candidate.is_open else f"{at}{name} "
    if _NEEDS_QUOTES.search(name):
        return f'{at}"{name}' if candidate.is_open else f'{at}"{name}" '
    return at + name if candidate.is_open else f"{at}{name} "


def is_typed_in_full(token: CompletionToken, candidates: Sequence[Candidate]) -> bool:
    """True if what stands there is a name as it is, or nothing at all: enter then sends the text, it picks nothing."""
    return not token.query or any(candidate.text == token.query for candidate in candidates)
