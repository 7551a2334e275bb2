"""Three versions of a text become one: base, ours, theirs, line by line; it must never hide a conflict."""

from __future__ import annotations

from dataclasses import dataclass

from app.session.snapshots.compare import lines_of
from app.tools.diff import changed_spans


@dataclass(frozen=True, slots=True)
class Conflict:
    """Lines that both sides changed differently, 0-based half-open in each version."""

    base: tuple[int, int]
    ours: tuple[int, int]
    theirs: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Merged:
    """The text with both sides' changes; it counts only without conflicts (there it has our side)."""

    text: str
    conflicts: tuple[Conflict, ...]


@dataclass(slots=True)
class _Side:
    """One side's hunks and how far its lines are shifted against the base."""

    lines: list[str]
    hunks: list[tuple[int, int, int, int]]
    at: int = 0
    shift: int = 0

    def begin(self) -> int | None:
        return self.hunks[self.at][0] if self.at < len(self.hunks) else None

    def take_into(self, start: int, end: int) -> int:
        """Use up hunks that touch base lines start..end; gives the end they reach."""
        while self.at < len(self.hunks) and self.hunks[self.at][0] <= end:
            hunk = self.hunks[self.at]
            end = max(end, hunk[1])
            self.shift = hunk[3] - hunk[1]
            self.at += 1
        return end


def merge(base: str, ours: str, theirs: str) -> Merged:
    """Both sides' changes in one text. Changes of the same or touching lines conflict unless they are equal."""
    base_lines = lines_of(base)
    us = _Side(lines_of(ours), [])
    them = _Side(lines_of(theirs), [])
    us.hunks = list(changed_spans(base_lines, us.lines))
    them.hunks = list(changed_spans(base_lines, them.lines))
    out: list[str] = []
    conflicts: list[Conflict] = []
    done = 0  # in base lines
    while (starts := [start for start in (us.begin(), them.begin()) if start is not None]) != []:
        start = end = min(starts)
        our_shift, their_shift = us.shift, them.shift
        reach = -1
        while reach != end:
            reach = end
            end = us.take_into(start, end)
            end = them.take_into(start, end)
        out += base_lines[done:start]
        our_span = (start + our_shift, end + us.shift)
        their_span = (start + their_shift, end + them.shift)
        old, mine, other = base_lines[start:end], us.lines[slice(*our_span)], them.lines[slice(*their_span)]
        if mine in (other, old):
            out += other
        elif other == old:
            out += mine
        else:
            out += mine
            conflicts.append(Conflict((start, end), our_span, their_span))
        done = end
    out += base_lines[done:]
    return Merged("".join(out), tuple(conflicts))
