"""Terminal output as lines: what a terminal would be left showing, from the wanted end only; it must never draw.

Cheap for huge outputs: `tail_lines` and `head_lines` look at as much text as they return, the rest is only counted.
"""

from __future__ import annotations

from dataclasses import dataclass

LINE_LIMIT = 40_000
"""The most characters of one line that are looked at: 2,000 columns times a few rows, whatever the line holds."""


@dataclass(frozen=True, slots=True)
class ConsoleLines:
    """Sanitised lines without tabs or carriage returns; `hidden` lines were left out at the far end."""

    lines: list[str]
    hidden: int


def tail_lines(text: str, limit: int, *, line_limit: int = LINE_LIMIT) -> ConsoleLines:
    """The last `limit` lines. A final line feed ends a line and begins no other (architecture §6)."""
    end = _trimmed_end(text)
    start = end
    for _ in range(limit):
        start = text.rfind("\n", 0, start)
        if start < 0:
            break
    begin = start + 1 if start >= 0 else 0
    if not text:
        return ConsoleLines([], 0)
    hidden = text.count("\n", 0, begin)
    return ConsoleLines([clean_line(line, line_limit, keep_tail=True) for line in text[begin:end].split("\n")], hidden)


def head_lines(text: str, limit: int, *, line_limit: int = LINE_LIMIT) -> ConsoleLines:
    """The first `limit` lines."""
    end = _trimmed_end(text)
    if not text:
        return ConsoleLines([], 0)
    stop = -1
    for _ in range(limit):
        stop = text.find("\n", stop + 1, end)
        if stop < 0:
            break
    last = stop if stop >= 0 else end
    hidden = text.count("\n", last, end)
    return ConsoleLines([clean_line(line, line_limit) for line in text[:last].split("\n")], hidden)


def _trimmed_end(text: str) -> int:
    """Where the text ends without its last line feed."""
    end = len(text)
    if end and text[end - 1] == "\n":
        end -= 1
        if end and text[end - 1] == "\r":
            end -= 1
    return end


def clean_line(line: str, limit: int = LINE_LIMIT, *, keep_tail: bool = False) -> str:
    """One line as a terminal would be left showing it, at most `limit` characters of one end, cut between clusters."""
    from renderers.text import expand_tabs, sanitise

    line = line.removesuffix("\r")
    if "\r" in line:
        line = _overwritten(line, limit)
    if len(line) > limit:
        edge = cluster_edge(line, len(line) - limit if keep_tail else limit, after=keep_tail)
        line = line[edge:] if keep_tail else line[:edge]
    return expand_tabs(sanitise(line).replace("\n", " "))


def _overwritten(line: str, limit: int) -> str:
    """What carriage returns leave: each part overwrites the one before from the left. The last 64 parts count."""
    shown = ""
    for part in reversed(line[-(limit * 4) :].rsplit("\r", 64)[-64:]):
        shown += part[len(shown) :]
    return shown


def cluster_edge(text: str, index: int, *, after: bool = False) -> int:
    """The last cluster boundary at or before `index`, or the first at or after it. Only the vicinity is looked at."""
    from renderers.text import clusters

    if index >= len(text):
        return len(text)
    begin = max(0, index - 64)
    edges = [begin + start for start, _, _ in clusters(text[begin : index + 64])]
    if after:
        return min((edge for edge in edges if edge >= index), default=len(text))
    return max((edge for edge in edges if edge <= index), default=index)
