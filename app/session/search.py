"""Search over every session and branch, tool output included; it must never change a session or keep the loop waiting.

Everything here blocks: a face calls it in a thread. `update` takes in what is new, file by file, newest first; `search`
finds in what is taken in so far. Several threads and processes may do both at once.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from app.config.paths import cache_dir
from app.session.index import parse_line
from app.session.listing import same_folder, session_files
from app.session.naming import default_root
from app.session.search_query import Matcher, Query, Span, parse_query, snippet
from app.session.search_regex import BoundedRegex, PatternError
from app.session.search_store import SearchError, SearchStore
from app.session.search_text import searchable
from app.session.search_update import forget, known_files, take_in

__all__ = ["Hit", "SearchError", "SearchIndex", "SearchResult"]

_ROWS_LOOKED_AT = 20_000
_SCANNED = 4_000
_BATCH = 16
SCAN_S = 2.0

Stop = Callable[[], bool]
Progress = Callable[[int, int], None]


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that was found. `role` is who speaks, a tool's name for its result; `time_ms` since 1970.

    `snippet` is one line round the first hit, without control characters but foreign, `marks` where hits stand in it.
    """

    path: Path
    entry_id: str
    role: str
    time_ms: int
    snippet: str
    marks: tuple[Span, ...] = ()


@dataclass(slots=True)
class SearchResult:
    """Hits, newest first, a few a session; `counts` says how many entries of each session were found in all.

    `is_whole` is False when older entries were not looked at; `error` says why a query can't be answered.
    """

    hits: list[Hit] = field(default_factory=list)
    counts: dict[Path, int] = field(default_factory=dict)
    is_whole: bool = True
    error: str = ""


class SearchIndex:
    """The index in `path` (default: the cache folder's search.sqlite) of the sessions under `root` (default: ours)."""

    def __init__(self, path: Path | None = None, root: Path | None = None) -> None:
        self._store = SearchStore(path or cache_dir() / "search.sqlite")
        self._root = root or default_root()

    # -- taking in

    def update(self, progress: Progress | None = None, stop: Stop = _never) -> bool:
        """Take in what changed since the last time; True when it came to the end, False when `stop` said so.

        `progress(done, total)` counts files that changed. Raises SearchError.
        """
        with self._store.connected() as connection:
            files = self._files()
            known = known_files(connection)
            forget(connection, [path for path in known if path not in files and self._is_ours(path)])
            changed = [
                path for path, status in files.items() if path not in known or not known[path].is_current(status)
            ]
            for number, path in enumerate(changed):
                if stop():
                    return False
                if progress is not None:
                    progress(number, len(changed))
                if not take_in(connection, Path(path), stop):
                    return False
            if progress is not None:
                progress(len(changed), len(changed))
            return True

    def _files(self) -> dict[str, os.stat_result]:
        found: list[tuple[str, os.stat_result]] = []
        for item in session_files(self._root):
            try:
                item.path.encode("utf-8")  # SQLite takes no other names
                found.append((item.path, item.stat()))
            except (OSError, UnicodeEncodeError):
                continue
        found.sort(key=lambda pair: pair[1].st_mtime_ns, reverse=True)
        return dict(found)

    def _is_ours(self, path: str) -> bool:
        return Path(path).is_relative_to(self._root)

    # -- finding

    def search(
        self, text: str, cwd: str | None = None, limit: int = 100, *, per_session: int = 3, stop: Stop = _never
    ) -> SearchResult:
        """What a query finds, in at most `limit` sessions; with `cwd` only in sessions of that folder.

        A query is words, "phrases" and at its end `re:pattern`; all must stand in one entry. Raises SearchError.
        """
        query = parse_query(text)
        result = SearchResult()
        if not query or query.regex == "":
            return result
        try:
            with self._store.connected(stop) as connection:
                if query.regex is None and query.fts:
                    self._look_up(connection, query, cwd, limit, per_session, stop, result)
                else:
                    self._scan(connection, query, cwd, limit, per_session, stop, result)
        except PatternError as error:
            result.error = str(error)
            result.is_whole = False
        return result

    def _look_up(
        self,
        connection: sqlite3.Connection,
        query: Query,
        cwd: str | None,
        limit: int,
        per_session: int,
        stop: Stop,
        out: SearchResult,
    ) -> None:
        matcher = Matcher(query)
        shown: dict[Path, int] = {}
        for number, candidate in enumerate(_candidates(connection, query, cwd)):
            if number >= _ROWS_LOOKED_AT or stop():
                out.is_whole = False
                return
            path = candidate.path
            if shown.get(path, 0) < per_session:
                if path not in shown and len(shown) >= limit:
                    out.is_whole = False
                    continue
                text = candidate.text()
                spans = matcher.spans(text) if text is not None else None
                if text is None or spans is None:
                    continue
                shown[path] = shown.get(path, 0) + 1
                out.hits.append(candidate.hit(text, spans))
            out.counts[path] = out.counts.get(path, 0) + 1

    def _scan(
        self,
        connection: sqlite3.Connection,
        query: Query,
        cwd: str | None,
        limit: int,
        per_session: int,
        stop: Stop,
        out: SearchResult,
    ) -> None:
        """Where the index can't help: read the newest entries themselves, for a while."""
        matcher = Matcher(query)
        deadline = time.monotonic() + SCAN_S
        with BoundedRegex(query.regex or "") as regex:
            for number, batch in enumerate(_batches(_candidates(connection, query, cwd))):
                if stop() or number * _BATCH >= _SCANNED or time.monotonic() > deadline:
                    out.is_whole = False
                    return
                found = [(candidate, text) for candidate in batch if (text := candidate.text()) is not None]
                if query.regex is not None:
                    places = regex.spans([text for _, text in found], deadline + 1)
                else:
                    places = [[] for _ in found]
                for (candidate, text), spans in zip(found, places, strict=True):
                    words = matcher.spans(text)
                    if words is None or (query.regex is not None and not spans):
                        continue
                    path = candidate.path
                    out.counts[path] = out.counts.get(path, 0) + 1
                    if out.counts[path] <= per_session and len(out.counts) <= limit:
                        out.hits.append(candidate.hit(text, sorted(words + spans)))


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An entry that the index names; its text is read from the session file."""

    path: Path
    entry_id: str
    role: str
    time_ms: int
    offset: int
    length: int

    def text(self) -> str | None:
        """The entry's text; None when the file is gone or no longer says it there."""
        try:
            with open(self.path, "rb", buffering=0) as stream:
                raw = parse_line(os.pread(stream.fileno(), self.length, self.offset))
        except (OSError, ValueError):
            return None
        found = searchable(raw) if isinstance(raw, dict) else None
        return found[1] if found is not None else None

    def hit(self, text: str, spans: list[Span]) -> Hit:
        line, marks = snippet(text, spans)
        return Hit(self.path, self.entry_id, self.role, self.time_ms, line, marks)


def _candidates(connection: sqlite3.Connection, query: Query, cwd: str | None) -> Iterator[_Candidate]:
    """Entries that may hold the query, newest first (a row's number is its time)."""
    what = "s.path, e.entry_id, e.role, e.time_ms, e.offset, e.length, s.cwd"
    if query.fts:
        rows = connection.execute(
            f"SELECT {what} FROM texts t JOIN entries e ON e.id = t.rowid JOIN sessions s ON s.id = e.session"
            " WHERE texts MATCH ? ORDER BY t.rowid DESC",
            (query.fts,),
        )
    else:
        rows = connection.execute(
            f"SELECT {what} FROM entries e JOIN sessions s ON s.id = e.session ORDER BY e.id DESC"
        )
    seen: set[tuple[str, str]] = set()
    for path, entry_id, role, time_ms, offset, length, folder in rows:
        if (cwd is None or same_folder(str(folder), cwd)) and (path, entry_id) not in seen:
            seen.add((path, entry_id))
            yield _Candidate(Path(path), entry_id, role, time_ms, offset, length)


def _batches(candidates: Iterator[_Candidate]) -> Iterator[list[_Candidate]]:
    batch: list[_Candidate] = []
    for candidate in candidates:
        batch.append(candidate)
        if len(batch) >= _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
