"""Where a text occurs in a file: as it is, with other line endings, or written a little differently.

It must never change the file's text: what is found is a span of the original, so that only matched bytes are replaced.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Protocol

_LOOKALIKES = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " ")
)
_NEWLINE = re.compile(r"\r\n|\r|\n")
# Characters of combining class 0 that NFC may join to the one before (Unicode: NFC_Quick_Check=Maybe).
_JOINING = frozenset(
    "\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dcf\u0ddf\u102e\u1b35"
    "\U0001133e\U00011357\U000114b0\U000114ba\U000114bd\U000115af\U00011930"
)


@dataclass(frozen=True, slots=True)
class Match:
    """A span of the original text."""

    start: int
    end: int


class View(Protocol):
    """A way to look at the original text."""

    def read(self, text: str) -> str:
        """How this view writes the searched text."""
        ...

    def count(self, needle: str) -> int:
        """At how many places `read` text occurs, overlapping ones included."""
        ...

    def span(self, needle: str, before: int, after: int) -> Match | None:
        """The original span of the first occurrence without its first `before` and last `after` characters."""
        ...


def occurrences(text: str, needle: str, most: int = 10_000) -> list[int]:
    """The places of `needle`, overlapping ones included, at most so many."""
    places: list[int] = []
    at = text.find(needle)
    while at >= 0 and len(places) < most:
        places.append(at)
        at = text.find(needle, at + 1)
    return places


class ExactView:
    """The original as it is."""

    def __init__(self, text: str) -> None:
        self._text = text

    def read(self, text: str) -> str:
        """The text itself."""
        return text

    def count(self, needle: str) -> int:
        """Places of exactly that text; one that halves a CRLF is none."""
        return len(self._places(needle))

    def span(self, needle: str, before: int, after: int) -> Match | None:
        """The span of the first place."""
        places = self._places(needle)
        return Match(places[0] + before, places[0] + len(needle) - after) if places else None

    def _places(self, needle: str) -> list[int]:
        places = occurrences(self._text, needle)
        if not needle.startswith("\n") and not needle.endswith("\r"):
            return places
        return [at for at in places if not (self._halves(at) or self._halves(at + len(needle)))]

    def _halves(self, index: int) -> bool:
        return self._text[index - 1 : index + 1] == "\r\n" and index > 0


class NewlineView:
    """The original with every line ending as LF."""

    def __init__(self, text: str) -> None:
        self._text = to_line_feeds(text)
        # Where, in this view, a CRLF became one character.
        self._shrunk = [found.start() - index for index, found in enumerate(re.finditer("\r\n", text))]

    def read(self, text: str) -> str:
        """The text with LF endings."""
        return to_line_feeds(text)

    def count(self, needle: str) -> int:
        """Places of that text when line endings don't matter."""
        return len(occurrences(self._text, needle))

    def span(self, needle: str, before: int, after: int) -> Match | None:
        """The span of the first place; it never halves a CRLF."""
        at = self._text.find(needle)
        if at < 0:
            return None
        return Match(self._original(at + before), self._original(at + len(needle) - after))

    def _original(self, index: int) -> int:
        return index + bisect_left(self._shrunk, index)


class LooseView:
    """The original as a reader sees it: NFKC, plain quotes, dashes and spaces, no blanks at line ends, LF."""

    def __init__(self, text: str) -> None:
        self._original_lines: list[str] = []
        self._starts: list[int] = []
        at = 0
        for ending in _NEWLINE.finditer(text):
            self._original_lines.append(text[at : ending.start()])
            self._starts.append(at)
            at = ending.end()
        self._original_lines.append(text[at:])
        self._starts.append(at)
        self._lines = [loosen(line) for line in self._original_lines]
        self._line_starts: list[int] = []
        place = 0
        for line in self._lines:
            self._line_starts.append(place)
            place += len(line) + 1
        self._text = "\n".join(self._lines)

    def read(self, text: str) -> str:
        """The searched text in the same loose writing; blanks at its very end stay, the line may go on after them."""
        *lines, last = to_line_feeds(text).split("\n")
        return "\n".join([*(loosen(line) for line in lines), plain(last)])

    def count(self, needle: str) -> int:
        """Places that look the same and begin and end between whole characters; 0 for an empty needle."""
        return len(self._places(needle))

    def span(self, needle: str, before: int, after: int) -> Match | None:
        """The original span of the first place."""
        for at in self._places(needle):
            start = self._original(at + before)
            end = self._original(at + len(needle) - after)
            if start is not None and end is not None:
                return Match(start, max(start, end))
        return None

    def _places(self, needle: str) -> list[int]:
        if not needle.strip():
            return []
        return [
            at
            for at in occurrences(self._text, needle)
            if self._original(at) is not None and self._original(at + len(needle)) is not None
        ]

    def _original(self, index: int) -> int | None:
        """The original place of a boundary in this view; None when it falls inside one original character."""
        number = bisect_right(self._line_starts, index) - 1
        column = index - self._line_starts[number]
        if column == 0:
            return self._starts[number]
        original = self._original_lines[number]
        if original.isascii():
            return self._starts[number] + column
        boundaries = _boundaries(original)
        place = boundaries.get(column)
        return None if place is None else self._starts[number] + place


class LooseLinesView(LooseView):
    """The loose view for a text whose last line is whole: blanks at its end don't count either."""

    def read(self, text: str) -> str:
        """The searched text in loose writing to its end."""
        loose = super().read(text)
        stripped = loose.rstrip(" \t")
        return stripped if stripped != loose else ""

    def _places(self, needle: str) -> list[int]:
        ends = len(self._text)
        return [
            at for at in super()._places(needle) if at + len(needle) == ends or self._text[at + len(needle)] == "\n"
        ]


def to_line_feeds(text: str) -> str:
    """The text with CRLF and lone CR as LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def loosen(line: str) -> str:
    """One line in loose writing (spec core §3.7): NFKC, plain quotes, dashes and spaces, no blanks at its end."""
    return plain(line).rstrip()


def plain(text: str) -> str:
    """The text in NFKC with plain quotes, dashes and spaces."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_LOOKALIKES)


def _boundaries(line: str) -> dict[int, int]:
    """Places in the loosened line that lie between original characters → places in the original line."""
    places = {0: 0}
    loose = 0
    start = 0
    for end in range(1, len(line) + 1):
        if end < len(line) and _joins(line[end]):
            continue
        loose += len(unicodedata.normalize("NFKC", line[start:end]))
        places.setdefault(loose, end)
        start = end
    return places


def _joins(char: str) -> bool:
    """Whether NFKC may join the character to what stands before it."""
    if char < "\u0300":
        return False
    first = unicodedata.normalize("NFKC", char)[:1]
    code = ord(first)
    return (
        unicodedata.combining(first) != 0 or first in _JOINING or 0x1161 <= code <= 0x1175 or 0x11A8 <= code <= 0x11C2
    )
