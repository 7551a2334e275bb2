"""A diff as rows: line numbers, signs, marks on the changed words, gaps; it must never read a file.

Reads the text form of spec core §3.7 (sign, right-aligned number, blank, text; a gap is blanks and "..."), and draws
one from old and new text where no tool has made it yet.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from textual.content import Content, Span

from renderers.rows import Row

DiffKind = Literal["add", "del", "context", "gap"]
_NUMBERED = re.compile(r"([+\- ])( *\d+) (.*)")
_GAP = re.compile(r" +(?:\.\.\.|…)")
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_SIGNS: dict[DiffKind, str] = {"add": "+", "del": "-", "context": " ", "gap": " "}
_LIMIT_PAIRS = 10_000
_LIMIT_WORDS = 160
_LIMIT_MARKED = 200
_LIKENESS = 0.3
_CONTEXT = 4


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a diff; `number` counts from 1 in the old file for "del", in the new one else."""

    kind: DiffKind
    text: str
    number: int | None = None


def parse_diff(diff: str, limit: int | None = None) -> list[DiffLine]:
    """The lines of a diff in our text form, at most `limit` of them. Lines of any other form keep sign and text."""
    lines = diff.strip("\n").split("\n", -1 if limit is None else limit)[:limit]
    return [_parse_line(line.removesuffix("\r")) for line in lines] if diff.strip("\n") else []


def _parse_line(line: str) -> DiffLine:
    if found := _NUMBERED.fullmatch(line):
        sign, number, text = found.groups()
        return DiffLine("add" if sign == "+" else "del" if sign == "-" else "context", text, int(number))
    if _GAP.fullmatch(line) or line.startswith("@@"):
        return DiffLine("gap", "")
    if line[:1] in ("+", "-"):
        return DiffLine("add" if line[0] == "+" else "del", line[1:])
    return DiffLine("context", line[1:] if line.startswith(" ") else line)


def count_changes(diff: str) -> tuple[int, int]:
    """How many lines a diff in text form adds and removes."""
    text = "\n" + diff
    return text.count("\n+"), text.count("\n-")


def diff_texts(old: str, new: str, *, quick: bool = False) -> list[DiffLine]:
    """The diff of two texts, unnumbered, gaps where more than nine lines are the same.

    With `quick`, or where comparing would take long, what is not the same at both ends counts as replaced whole:
    a diff for the eye, drawn anew at each token, must not cost more than a few milliseconds.
    """
    before = old.split("\n") if old else []
    after = new.split("\n") if new else []
    if before and after and before[-1] == after[-1] == "":
        before, after = before[:-1], after[:-1]
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    gone, come = before[head : len(before) - tail], after[head : len(after) - tail]
    lines = _same(before[:head], is_first=True, is_last=not gone and not come)
    if quick or len(gone) * len(come) > _LIMIT_PAIRS:
        lines.extend(DiffLine("del", line) for line in gone)
        lines.extend(DiffLine("add", line) for line in come)
    else:
        lines.extend(_compared(gone, come))
    lines.extend(_same(before[len(before) - tail :], is_first=False, is_last=True) if tail else [])
    return lines


def _common(before: list[str], after: list[str]) -> int:
    """How many lines are the same from the start."""
    for index, (old, new) in enumerate(zip(before, after, strict=False)):
        if old != new:
            return index
    return min(len(before), len(after))


def _compared(before: list[str], after: list[str]) -> list[DiffLine]:
    from difflib import SequenceMatcher

    lines: list[DiffLine] = []
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            lines.extend(_same(before[a:b], is_first=False, is_last=False))
        else:
            lines.extend(DiffLine("del", line) for line in before[a:b])
            lines.extend(DiffLine("add", line) for line in after[c:d])
    return lines


def _same(lines: list[str], *, is_first: bool, is_last: bool) -> list[DiffLine]:
    head = [] if is_first else lines[:_CONTEXT]
    tail = [] if is_last else lines[-_CONTEXT:]
    if len(lines) <= len(head) + len(tail) + 1:
        return [DiffLine("context", line) for line in lines]
    gap = [DiffLine("gap", "")]
    return [*(DiffLine("context", line) for line in head), *gap, *(DiffLine("context", line) for line in tail)]


def diff_rows(lines: Sequence[DiffLine]) -> list[Row]:
    """The lines as rows, foreign text sanitised; backgrounds lie under text cells only, so that they cost few bytes."""
    from renderers.text import expand_tabs, sanitise

    widest = max((line.number for line in lines if line.number is not None), default=None)
    digits = len(str(widest)) if widest is not None else 0
    texts = [expand_tabs(sanitise(line.text).replace("\n", " ")) for line in lines]
    marks = _word_marks(lines, texts)
    return [_row(line, texts[index], digits, marks.get(index, ())) for index, line in enumerate(lines)]


def _row(line: DiffLine, text: str, digits: int, marks: Sequence[tuple[int, int]]) -> Row:
    if line.kind == "gap":
        return Row(Content.styled("⋯", "$diff-gap"), Content(" " * (digits + 1 if digits else 0)))
    number = f"{line.number if line.number is not None else '':>{digits}} " if digits else ""
    if line.kind == "context":
        return Row(Content(text), Content.assemble((number, "$meta"), "  "))
    ground = f"on $diff-{line.kind}-background"
    colour = f"$diff-{line.kind} {ground}"
    spans = [Span(0, len(text), colour)] if text else []
    spans.extend(Span(start, end, f"bold $diff-{line.kind} on $diff-{line.kind}-word") for start, end in marks)
    return Row(Content(text, spans), Content.assemble((number, f"$meta {ground}"), (f"{_SIGNS[line.kind]} ", colour)))


def _word_marks(lines: Sequence[DiffLine], texts: Sequence[str]) -> dict[int, list[tuple[int, int]]]:
    """Changed stretches of lines that stand for each other: the n-th removed and the n-th added of one change.

    About 200 pairs of a diff are compared: 30 ms; those after them go unmarked.
    """
    marks: dict[int, list[tuple[int, int]]] = {}
    index = 0
    while index < len(lines) and len(marks) < 2 * _LIMIT_MARKED:
        middle = _run_end(lines, index, "del")
        end = _run_end(lines, middle, "add")
        if middle > index and end > middle:
            pairs = zip(range(index, middle), range(middle, end), strict=False)
            for old, new in islice(pairs, _LIMIT_MARKED):
                marks[old], marks[new] = changed_words(texts[old], texts[new])
        index = max(end, index + 1)
    return marks


def _run_end(lines: Sequence[DiffLine], start: int, kind: DiffKind) -> int:
    while start < len(lines) and lines[start].kind == kind:
        start += 1
    return start


def changed_words(old: str, new: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The stretches (start, end) of either line that the other lacks, in words; none when the lines are too unlike.

    Leading blanks are never marked. Bounded: very long lines get no marks.
    """
    if len(old) > 2_000 or len(new) > 2_000:
        return [], []
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if not before or not after or len(before) > _LIMIT_WORDS or len(after) > _LIMIT_WORDS:
        return [], []
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, before, after, autojunk=False)
    opcodes = matcher.get_opcodes()
    same = sum(len("".join(before[a:b]).strip()) for tag, a, b, _, _ in opcodes if tag == "equal")
    if same < _LIKENESS * max(len(old.strip()), len(new.strip())):
        return [], []
    return (
        _stretches(before, [(a, b) for tag, a, b, _, _ in opcodes if tag != "equal" and b > a]),
        _stretches(after, [(c, d) for tag, _, _, c, d in opcodes if tag != "equal" and d > c]),
    )


def _stretches(words: list[str], ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    indent = len(words[0]) if words and words[0].isspace() else 0
    found = ((max(starts[first], indent), starts[last]) for first, last in ranges)
    return [(start, end) for start, end in found if end > start]
