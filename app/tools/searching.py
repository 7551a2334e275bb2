"""Lines that match in files, without ripgrep: plain functions that can also run in a process of their own."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from app.tools.patterns import compile_pattern, is_tame
from app.tools.threads import StopFlag
from app.tools.truncate import truncate_line

PIECE_BYTES = 1024 * 1024
# A longer line is searched in its first part only.
MAX_LINE_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched: `pattern` in ripgrep's dialect, `context` lines around each match."""

    pattern: str
    literal: bool = False
    ignore_case: bool = False
    context: int = 0

    def compiled(self) -> re.Pattern[str]:
        """The pattern for `re`. Raises ToolError."""
        return compile_pattern(self.pattern, literal=self.literal, ignore_case=self.ignore_case)

    @property
    def is_tame(self) -> bool:
        """Whether it may run where it can't be stopped."""
        return is_tame(self.pattern, literal=self.literal)


@dataclass(frozen=True, slots=True)
class Place:
    """Where is searched: everything below `folder`, or only its entry `file`."""

    folder: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a result, cut to 500 characters."""

    number: int
    text: str
    is_match: bool
    is_cut: bool = False

    @classmethod
    def of(cls, number: int, line: str, *, is_match: bool) -> Row:
        """The row for a line of any length."""
        text, is_cut = truncate_line(line)
        return cls(number, text, is_match, is_cut)


@dataclass(slots=True)
class FileHits:
    """What one file gave."""

    path: str
    rows: list[Row] = field(default_factory=list)
    matches: int = 0
    is_binary: bool = False
    error: str = ""


def search_files(paths: Sequence[str], query: Query, limit: int, stop: StopFlag | None = None) -> list[FileHits]:
    """The hits of the files that have any, in order; it stops with the file that reaches `limit` matches in all."""
    found: list[FileHits] = []
    for path in paths:
        hits = search_file(path, query, limit, stop)
        if hits.matches or hits.error or hits.is_binary:
            found.append(hits)
        limit -= hits.matches
        if limit <= 0:
            break
    return found


def search_file(path: str, query: Query, limit: int, stop: StopFlag | None = None) -> FileHits:
    """At most `limit` matching lines of one file with their context. A file with a NUL before that has none."""
    hits = FileHits(path)
    search = _Search(query, hits, limit)
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            open_line = b""
            while piece := file.read(PIECE_BYTES):
                if stop is not None:
                    stop.check()
                if b"\0" in piece:
                    return FileHits(path, is_binary=True)
                end = piece.rfind(b"\n") + 1
                if not end:
                    open_line += piece[: max(0, MAX_LINE_BYTES - len(open_line))]
                    continue
                if search.take(open_line + piece[:end]):
                    return hits
                open_line = piece[end:]
            search.take(open_line)
    except OSError as error:
        hits.error = error.strerror or str(error)
    return hits


class _Search:
    """The lines of one file as they come."""

    def __init__(self, query: Query, hits: FileHits, limit: int) -> None:
        self._pattern = query.compiled()
        self._is_tame = query.is_tame
        self._context = query.context
        self._hits = hits
        self._limit = limit
        self._number = 0  # lines taken
        self._before: deque[tuple[int, str]] = deque(maxlen=query.context)
        self._after = 0  # context lines still wanted

    def take(self, data: bytes) -> bool:
        """Look at whole lines; True when nothing more is wanted of this file."""
        if not data:
            return False
        text = data.decode("utf-8", "replace")
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        if self._number == 0:
            text = text.removeprefix("\ufeff")
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        at = 0
        for index in self._matching(text, lines):
            if self._hits.matches == self._limit:
                break
            self._pass(lines, at, index)
            self._match(lines[index], self._number + index + 1)
            at = index + 1
        self._pass(lines, at, len(lines))
        self._number += len(lines)
        return self._hits.matches >= self._limit and self._after == 0

    def _matching(self, text: str, lines: list[str]) -> Iterator[int]:
        """Indexes of matching lines."""
        search = self._pattern.search
        if not self._is_tame:
            yield from (index for index, line in enumerate(lines) if search(line))
            return
        # One search over many lines is far faster than one for each, but a hit must hold within its line.
        position = index = start = 0
        while found := search(text, position):
            while start + len(lines[index]) < found.start():
                start += len(lines[index]) + 1
                index += 1
                if index == len(lines):
                    return
            if search(lines[index]):
                yield index
                position = start + len(lines[index]) + 1
            else:
                position = found.start() + 1
            if position > len(text):
                return

    def _match(self, line: str, number: int) -> None:
        rows = self._hits.rows
        rows.extend(Row.of(place, text, is_match=False) for place, text in self._before)
        self._before.clear()
        rows.append(Row.of(number, line, is_match=True))
        self._hits.matches += 1
        self._after = self._context

    def _pass(self, lines: list[str], start: int, end: int) -> None:
        """Lines without a match: those that follow one are shown, the last ones are kept for the next match."""
        shown = min(self._after, end - start)
        self._after -= shown
        for index in range(start, start + shown):
            self._hits.rows.append(Row.of(self._number + index + 1, lines[index], is_match=False))
        for index in range(max(start + shown, end - self._context), end):
            self._before.append((self._number + index + 1, lines[index]))
