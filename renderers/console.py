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
    if end == 0:
        return ConsoleLines([], 0)
    hidden = text.count("\n", 0, begin)
    return ConsoleLines([clean_line(line, line_limit, keep_tail=True) for line in text[begin:end].split("\n")], hidden)


def head_lines(text: str, limit: int, *, line_limit: int = LINE_LIMIT) -> ConsoleLines:
    """The first `limit` lines."""
    end = _trimmed_end(text)
    if end == 0:
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
        line = _whole_clusters(line[-limit:]) if keep_tail else line[: _cluster_edge(line, limit)]
    return expand_tabs(sanitise(line).replace("\n", " "))


def _overwritten(line: str, limit: int) -> str:
    """What carriage returns leave: each part overwrites the one before from the left. The last 64 parts count."""
    shown = ""
    for part in reversed(line[-(limit * 4) :].rsplit("\r", 64)[-64:]):
        shown += part[len(shown) :]
    return shown


def _is_joined(character: str) -> bool:
    import unicodedata

    return character in "\u200d\ufe0e\ufe0f" or unicodedata.category(character).startswith("M")


def _whole_clusters(text: str) -> str:
    """The text from its first whole cluster on: it was cut at an arbitrary place."""
    start = 0
    while start < len(text) - 1 and start < 64 and _is_joined(text[start]):
        start += 2 if text[start] == "\u200d" else 1
    return text[start:]


def _cluster_edge(text: str, index: int) -> int:
    """The last cluster boundary at or before `index`."""
    edge = index
    while 0 < edge < len(text) and index - edge < 64 and (_is_joined(text[edge]) or text[edge - 1] == "\u200d"):
        edge -= 1
    return edge
