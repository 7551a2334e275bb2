"""What a search asks for: words, "phrases", re:pattern; and where a text holds it; it must never open a file.

A word is found at the beginning of words (exact, case apart), a phrase with any white space between its words, and all
of them in one entry. Source: ui.md §4.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.session.search_text import spread

MARKS = 64
BEFORE_CHARS = 48
SNIPPET_CHARS = 240
_REGEX = re.compile(r"(?:^|\s)re:")
_PHRASE = re.compile(r'"([^"]*)"')
_SIGN = re.compile(r"\w", re.UNICODE)
_DROPPED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Query:
    """`terms` are words and phrases, `regex` what stood behind `re:` (None: nothing did)."""

    terms: tuple[str, ...] = ()
    regex: str | None = None

    def __bool__(self) -> bool:
        return bool(self.terms) or self.regex is not None

    @property
    def fts(self) -> str:
        """The query for FTS5; "" when no term holds a letter or digit, so that the index can't help."""
        known = [term for term in self.terms if _SIGN.search(term)]
        return " AND ".join('"' + spread(term).replace('"', '""') + '"*' for term in known)


def parse_query(text: str) -> Query:
    """The query that a user typed; a quotation mark without its partner is a character like any other."""
    regex = None
    if found := _REGEX.search(text):
        regex = text[found.end() :].strip()
        text = text[: found.start()]
    terms: list[str] = []
    at = 0
    for phrase in _PHRASE.finditer(text):
        terms += text[at : phrase.start()].split()
        if words := " ".join(phrase[1].split()):
            terms.append(words)
        at = phrase.end()
    terms += text[at:].split()
    return Query(tuple(dict.fromkeys(terms)), regex)


class Matcher:
    """Finds a query's terms in texts; a regular expression is not its business (search_regex)."""

    def __init__(self, query: Query) -> None:
        self._patterns = [
            re.compile(r"\s+".join(re.escape(word) for word in term.split()), re.IGNORECASE) for term in query.terms
        ]

    def spans(self, text: str) -> list[Span] | None:
        """Where the terms stand, in order of place; None unless every one of them does."""
        found: list[Span] = []
        for pattern in self._patterns:
            before = len(found)
            for match in pattern.finditer(text):
                found.append(match.span())
                if len(found) - before >= MARKS:
                    break
            if len(found) == before:
                return None
        return sorted(found)


def snippet(text: str, spans: list[Span]) -> tuple[str, tuple[Span, ...]]:
    """One line of the text around its first hit, and where the hits stand in that line; no control characters."""
    first = spans[0][0] if spans else 0
    start = max(0, first - BEFORE_CHARS)
    if start:  # begin at a word, unless the word is endless
        blank = re.search(r"\s", text[start:first])
        start += blank.end() if blank else 0
    pieces: list[str] = ["…"] if start else []
    places: dict[int, int] = {}
    size = len(pieces)
    blank_last = True
    for at in range(start, min(len(text), start + 2 * SNIPPET_CHARS)):
        char = text[at]
        places[at] = size
        if char.isspace():
            char = "" if blank_last else " "
        elif _DROPPED.match(char):
            char = ""
        if char:
            pieces.append(char)
            size += 1
            blank_last = char == " "
        if size >= SNIPPET_CHARS:
            break
    line = "".join(pieces).rstrip()
    marks = []
    for begin, end in spans:
        if begin in places:
            one, other = places[begin], min(places.get(end, size), len(line))
            if one < other:
                marks.append((one, other))
    return line, tuple(marks)
