"""Two texts as numbered rows of what changed, with bounded work; it must never know colours or widths."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from difflib import SequenceMatcher

from app.tools.text_file import without_surrogates
from app.tools.truncate import split_lines

# Work that SequenceMatcher may do in all, in compared line pairs; past it a stretch counts as replaced whole.
PAIR_BUDGET = 2_000_000
MAX_ROWS = 5_000
Span = tuple[int, int, int, int]


def unified_rows(old: str, new: str, context: int = 4) -> tuple[str, int]:
    """The diff as text, and the number of the first changed line in `new` (1-based, 0 when nothing changed).

    Rows: sign (`+`, `-`, space), line number aligned right, space, text; longer gaps are a row of spaces and `...`.
    Removed and unchanged lines carry the old file's number, added ones the new file's (spec core §3.7).
    Never more than 5,000 rows: what follows is one gap row. A lone surrogate comes out as U+FFFD.
    """
    old_lines, new_lines = _lines(old), _lines(new)
    spans = list(changed_spans(old_lines, new_lines))
    if not spans:
        return "", 0
    width = len(str(max(len(old_lines), len(new_lines))))
    gap = f" {'':>{width}} ..."
    rows: list[str] = []
    shown_to = 0  # in old lines
    for number, (old_start, old_end, new_start, new_end) in enumerate(spans):
        begin = max(shown_to, old_start - context)
        if begin > shown_to:
            rows.append(gap)
        rows.extend(f" {i + 1:>{width}} {old_lines[i]}" for i in range(begin, old_start))
        rows.extend(f"-{i + 1:>{width}} {old_lines[i]}" for i in range(old_start, min(old_end, old_start + MAX_ROWS)))
        rows.extend(f"+{i + 1:>{width}} {new_lines[i]}" for i in range(new_start, min(new_end, new_start + MAX_ROWS)))
        following = spans[number + 1][0] if number + 1 < len(spans) else len(old_lines)
        shown_to = min(old_end + context, following)
        rows.extend(f" {i + 1:>{width}} {old_lines[i]}" for i in range(old_end, shown_to))
        if len(rows) > MAX_ROWS:
            del rows[MAX_ROWS:]
            shown_to = -1
            break
    if shown_to < len(old_lines):
        rows.append(gap)
    return without_surrogates("\n".join(rows)), spans[0][2] + 1


def _lines(text: str) -> list[str]:
    """Lines for showing, without their CR."""
    return [line.removesuffix("\r") for line in split_lines(text)]


def changed_spans(old: list[str], new: list[str]) -> Iterator[Span]:
    """The changed stretches in order as (old start, old end, new start, new end), half open.

    Unique common lines are anchors, the small stretches between them go to difflib: about linear in length.
    """
    budget = [PAIR_BUDGET]
    pending: list[Span] = [(0, len(old), 0, len(new))]
    while pending:
        a0, a1, b0, b1 = pending.pop()
        while a0 < a1 and b0 < b1 and old[a0] == new[b0]:
            a0, b0 = a0 + 1, b0 + 1
        while a0 < a1 and b0 < b1 and old[a1 - 1] == new[b1 - 1]:
            a1, b1 = a1 - 1, b1 - 1
        if a0 == a1 and b0 == b1:
            continue
        if a0 == a1 or b0 == b1:
            yield a0, a1, b0, b1
            continue
        anchors = _anchors(old, new, (a0, a1, b0, b1))
        if anchors:
            pending.extend(reversed(_between(anchors, (a0, a1, b0, b1))))
            continue
        pairs = (a1 - a0) * (b1 - b0)
        if pairs > budget[0]:
            yield a0, a1, b0, b1
            continue
        budget[0] -= pairs
        matcher = SequenceMatcher(None, old[a0:a1], new[b0:b1], autojunk=pairs > 40_000)
        for tag, i0, i1, j0, j1 in matcher.get_opcodes():
            if tag != "equal":
                yield a0 + i0, a0 + i1, b0 + j0, b0 + j1


def _between(anchors: list[tuple[int, int]], span: Span) -> list[Span]:
    """The stretches between matching line pairs."""
    a0, a1, b0, b1 = span
    spans: list[Span] = []
    for a, b in anchors:
        spans.append((a0, a, b0, b))
        a0, b0 = a + 1, b + 1
    spans.append((a0, a1, b0, b1))
    return spans


def _anchors(old: list[str], new: list[str], span: Span) -> list[tuple[int, int]]:
    """Lines that occur once on either side, the longest chain that is in order on both (patience diff)."""
    a0, a1, b0, b1 = span
    seen_old, seen_new = _once(old, a0, a1), _once(new, b0, b1)
    pairs = [(a, seen_new[line]) for line, a in seen_old.items() if a >= 0 and seen_new.get(line, -1) >= 0]
    pairs.sort()
    tails: list[int] = []  # the smallest last b of a chain of each length
    tail_pairs: list[int] = []
    previous = [-1] * len(pairs)
    for index, (_, b) in enumerate(pairs):
        place = bisect_left(tails, b)
        previous[index] = tail_pairs[place - 1] if place else -1
        if place == len(tails):
            tails.append(b)
            tail_pairs.append(index)
        else:
            tails[place] = b
            tail_pairs[place] = index
    chain: list[tuple[int, int]] = []
    index = tail_pairs[-1] if tail_pairs else -1
    while index >= 0:
        chain.append(pairs[index])
        index = previous[index]
    chain.reverse()
    return chain


def _once(lines: list[str], start: int, end: int) -> dict[str, int]:
    """Each line's place, -1 for one that occurs more than once."""
    places: dict[str, int] = {}
    for index in range(start, end):
        line = lines[index]
        places[line] = -1 if line in places else index
    return places
