"""How well a typed query fits a name: a prefix beats a word's start, that a substring, that letters in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

ItemT = TypeVar("ItemT")

_BREAKS = " /\\-_.:@([{"
EXACT, PREFIX, WORD_START, SUBSTRING, SUBSEQUENCE = 10_000, 8_000, 6_000, 4_000, 2_000


@dataclass(frozen=True, slots=True)
class Match:
    """A hit: the higher the score the better; `positions` are the matched characters of the text."""

    score: int
    positions: tuple[int, ...] = ()


def fit(query: str, text: str) -> Match | None:
    """Return how the query fits the text, or None. Blanks part the query: each part must fit, in any order.

    Case counts for nothing, except among equals; a shorter text is better among equals.
    """
    parts = query.split()
    if not parts:
        return Match(0)
    folded = _fold(text)
    score, positions = 0, set[int]()
    for part in parts:
        found = _fit_part(part, text, folded)
        if found is None:
            return None
        score += found.score
        positions.update(found.positions)
    return Match(score // len(parts) - min(len(text), 500), tuple(sorted(positions)))


def rank(
    query: str, items: Iterable[ItemT], text_of: Callable[[ItemT], str | tuple[str, str]], limit: int
) -> list[tuple[ItemT, Match]]:
    """Return the best `limit` items with their match, best first; equals keep their order, an empty query keeps all.

    A text of two parts is a name and what is said of it: a hit in the name alone beats every other.
    """
    hits = [(item, found) for item in items if (found := _fit_parts(query, text_of(item))) is not None]
    if query.strip():
        hits.sort(key=lambda hit: -hit[1].score)
    return hits[:limit]


def _fit_parts(query: str, text: str | tuple[str, str]) -> Match | None:
    if isinstance(text, str):
        return fit(query, text)
    name, more = text
    if found := fit(query, name):
        return Match(found.score + 2 * EXACT, found.positions)
    return fit(query, f"{name} {more}")


def _fold(text: str) -> str:
    folded = text.lower()
    return folded if len(folded) == len(text) else "".join(character.lower()[:1] for character in text)


def _fit_part(part: str, text: str, folded: str) -> Match | None:
    wanted = _fold(part)
    at = folded.find(wanted)
    if at < 0:
        return _subsequence(wanted, folded)
    same_case = 5 if part in text else 0
    if folded == wanted:
        return Match(EXACT + same_case, tuple(range(len(text))))
    if at == 0:
        return Match(PREFIX + same_case, tuple(range(len(wanted))))
    start = at
    while start >= 0:
        if folded[start - 1] in _BREAKS or (text[start].isupper() and text[start - 1].islower()):
            # The name of a file counts more than the folders before it.
            last = 500 if "/" not in folded[start:].rstrip("/") else 0
            return Match(WORD_START + last + same_case, tuple(range(start, start + len(wanted))))
        start = folded.find(wanted, start + 1)
    return Match(SUBSTRING + same_case, tuple(range(at, at + len(wanted))))


def _subsequence(wanted: str, folded: str) -> Match | None:
    positions: list[int] = []
    at = -1
    for character in wanted:
        at = folded.find(character, at + 1)
        if at < 0:
            return None
        positions.append(at)
    gaps = positions[-1] - positions[0] + 1 - len(wanted)
    return Match(SUBSEQUENCE - min(gaps, 1_000), tuple(positions))
