"""The rows of the sessions list: projects, sessions with their forks below them, hits; pure data, it draws nothing.

Row ids are a session's path, or path and entry for a hit: a list that is built anew keeps the choice (ui.md §4, §5).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from app.config.paths import tilde
from app.session.listing import SessionInfo, same_folder
from app.session.search import Hit, SearchResult
from renderers.text import one_line
from widgets.fuzzy import fit

PINNED = "pinned"
_TITLE_CHARS = 300


@dataclass(frozen=True, slots=True)
class SessionRow:
    """`id` is "" for a project's line, `lead` the threads before a fork, `hits` how many entries were found in it.

    A session's title is worked out when it is drawn (`title_of`): cleaning 2,000 of them takes 25 ms.
    """

    kind: Literal["project", "session", "hit"]
    id: str = ""
    text: str = ""
    lead: str = ""
    info: SessionInfo | None = None
    hit: Hit | None = None
    hits: int = 0
    is_pinned: bool = False


def hit_id(hit: Hit) -> str:
    """The id of a hit's row."""
    return f"{hit.path}\n{hit.entry_id}"


def title_of(info: SessionInfo) -> str:
    """What a session is called: its name, else what was said first; safe, on one line."""
    return one_line(info.name or "", _TITLE_CHARS) or one_line(info.first_message, _TITLE_CHARS) or "(empty)"


@dataclass(slots=True)
class Shelf:
    """Everything known of the sessions, and what of it is asked for; `rows` works out the list."""

    cwd: str
    show_all: bool = False
    query: str = ""
    infos: dict[Path, SessionInfo] = field(default_factory=dict)
    pins: list[str] = field(default_factory=list)
    found: SearchResult | None = None
    _folded: dict[Path, str] = field(default_factory=dict)

    def add(self, infos: Iterable[SessionInfo]) -> None:
        """Take in sessions; one that is known is replaced."""
        for info in infos:
            self.infos[info.path] = info
            self._folded[info.path] = info.first_message.lower()

    @property
    def in_scope(self) -> list[SessionInfo]:
        """Sessions of the folder, or of all, newest first."""
        here = [info for info in self.infos.values() if self.show_all or same_folder(info.cwd, self.cwd)]
        here.sort(key=lambda info: (info.modified_ms, info.id), reverse=True)
        return here

    def rows(self) -> list[SessionRow]:
        """The list: pinned sessions, then projects, each by its newest session; with a query what fits it."""
        infos = self.in_scope
        if self.query.strip():
            infos = [info for info in infos if self._fits(info)]
        pins = set(self.pins)
        pinned = [info for info in infos if info.id in pins]
        rows: list[SessionRow] = []
        if pinned:
            rows.append(SessionRow("project", text=PINNED))
            rows += self._sessions(pinned, pins)
        projects: dict[str, list[SessionInfo]] = {}
        for info in infos:
            if info.id not in pins:
                projects.setdefault(info.cwd, []).append(info)
        for cwd, group in projects.items():
            rows.append(SessionRow("project", text=one_line(tilde(cwd)) or "(no folder)", hits=len(group)))
            rows += self._sessions(group, pins)
        return rows

    def _fits(self, info: SessionInfo) -> bool:
        """Names fit loosely, texts exactly; what is not in the index yet is found by its first words."""
        if self.found is not None and info.path in self.found.counts:
            return True
        query = self.query.strip()
        if "re:" in query:
            return False
        bare = query.replace('"', " ").strip()
        if info.name and fit(bare, info.name) is not None:
            return True
        return bool(bare) and (bare.lower() in self._folded[info.path] or info.id.startswith(bare))

    def _sessions(self, infos: Sequence[SessionInfo], pins: set[str]) -> list[SessionRow]:
        if self.query.strip():
            return self._with_hits(infos, pins)
        return [
            SessionRow("session", str(info.path), "", lead, info, is_pinned=info.id in pins)
            for info, lead in threaded(infos)
        ]

    def _with_hits(self, infos: Sequence[SessionInfo], pins: set[str]) -> list[SessionRow]:
        hits: dict[Path, list[Hit]] = {}
        for hit in self.found.hits if self.found is not None else ():
            hits.setdefault(hit.path, []).append(hit)
        counts: Mapping[Path, int] = self.found.counts if self.found is not None else {}
        rows = []
        for info in infos:
            path = info.path
            rows.append(SessionRow("session", str(path), "", "", info, None, counts.get(path, 0), info.id in pins))
            rows += [SessionRow("hit", hit_id(hit), info=info, hit=hit) for hit in hits.get(path, ())]
        return rows


def threaded(infos: Sequence[SessionInfo]) -> list[tuple[SessionInfo, str]]:
    """Sessions in order, each fork below the one it came from, with the lines that lead to it.

    A parent counts by its file's name (names hold a time and an id), whatever folder it was in. Rings are cut.
    """
    names = [info.path.name for info in infos]
    known = set(names)
    parents = [_base(info.parent_session_path) for info in infos]
    below: dict[str, list[int]] = {}
    roots = []
    for at, (name, parent) in enumerate(zip(names, parents, strict=True)):
        if parent in known and parent != name:
            below.setdefault(parent, []).append(at)
        else:
            roots.append(at)
    if not below:
        return [(info, "") for info in infos]
    found: list[tuple[SessionInfo, str]] = []
    seen: set[int] = set()
    for root in [*roots, *range(len(infos))]:  # what is left after the roots is in a ring
        waiting = [(root, "", "")]
        while waiting:
            at, lead, inner = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            found.append((infos[at], lead))
            children = below.get(names[at], [])
            for number in range(len(children) - 1, -1, -1):
                is_last = number == len(children) - 1
                mark, line = ("└ ", "  ") if is_last else ("├ ", "│ ")
                waiting.append((children[number], inner + mark, inner + line))
    return found


def _base(path: str | None) -> str:
    return path.replace("\\", "/").rpartition("/")[2] if path else ""
