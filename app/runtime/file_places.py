"""Which snapshot belongs to which entry: reads and writes the `pinyon.snapshot` entries; it must never touch files.

Such an entry hangs at the entry whose files it tells. Where nothing changed there is none, and the nearest above
holds. A restore or take at an entry counts for what follows it there, not for what the entry itself had left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.session.facts import IndexEntry

if TYPE_CHECKING:
    from app.session.session import Session

SNAPSHOT_TYPE = "pinyon.snapshot"
NO_FILES = "no snapshot tells which files were there"


@dataclass(frozen=True, slots=True)
class Place:
    """One snapshot entry: `parent_entry` is where it hangs, `order` its place in the file.

    `phase`: before, after (a turn or `!` command), restore, take. `previous_id` is the snapshot taken before it in this
    session; `undo_id` the files before a restore; `counts` what changed since `previous_id`.
    """

    entry_id: str
    parent_entry: str | None
    order: int
    phase: str
    manifest_id: str
    previous_id: str | None = None
    undo_id: str | None = None
    counts: Mapping[str, int] | None = None
    timestamp: str = ""

    def was_there_for(self, child: IndexEntry) -> bool:
        """Whether it was taken before the entry was appended to its parent.

        A branch that was copied into another file has all snapshots of an entry before the next entry; there the time
        tells whether a restore came later.
        """
        if self.order > child.place:
            return False
        return self.phase in ("before", "after") or self.timestamp <= child.timestamp

    @staticmethod
    def data(
        phase: str, manifest_id: str, previous_id: str | None, counts: Mapping[str, int] | None, undo_id: str | None
    ) -> dict[str, object]:
        """The entry's data object."""
        data: dict[str, object] = {"phase": phase, "manifest": manifest_id, "parent": previous_id}
        if counts is not None:
            data["changed"] = dict(counts)
        if undo_id is not None:
            data["undo"] = undo_id
        return data


class FilePlaces:
    """The snapshot entries of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._read_to = 0
        self._source: list[IndexEntry] | None = None
        self._places: dict[str, Place] = {}
        self._at: dict[str | None, list[Place]] = {}

    def follow(self, session: Session) -> None:
        """Look at another session from now on."""
        if session is not self._session:
            self.__init__(session)  # type: ignore[misc]  # nothing of the old one may stay

    async def add(self, data: dict[str, object]) -> None:
        """Store a snapshot entry at the leaf. Raises WriteFailedError."""
        await self._session.append_custom(SNAPSHOT_TYPE, data)

    def all(self) -> list[Place]:
        """Every snapshot entry in the order they were written."""
        return list(self._read().values())

    def last(self) -> Place | None:
        """The newest snapshot of the session, on whatever branch."""
        places = self._read()
        return next(reversed(places.values())) if places else None

    def last_undoable(self) -> Place | None:
        """The newest restore or take."""
        return next((place for place in reversed(self._read().values()) if place.undo_id is not None), None)

    def at(self, entry_id: str | None) -> Place | None:
        """The snapshot that tells the files at an entry (None: before the first entry). Raises UnknownEntryError.

        The nearest on the path; before the first one of the session's path, the first that was taken below, since no
        tool had changed anything until then.
        """
        here = self._here(entry_id)
        after = [place for place in here if place.phase == "after"]
        if after:
            return after[0]
        if entry_id is not None and self._session.tree.get(entry_id).calls:
            # the one before its own calls; elsewhere a `before` tells what a later command found, not what this left
            before = next((place for place in here if place.phase == "before"), None)
            if before is not None:
                return before
        return (self._above(entry_id) if entry_id is not None else None) or self._first_below(entry_id)

    def at_leaf(self) -> Place | None:
        """The snapshot that holds for what is appended now; a restore at the leaf counts. None: no snapshot above."""
        leaf = self._session.leaf_id
        here = self._here(leaf)
        return here[-1] if here else self._above(leaf) if leaf is not None else None

    def base_of(self, tip: str, fork: str | None) -> Place | None:
        """The files from which the branch below `fork` to `tip` set out. Raises UnknownEntryError.

        Its first `before` tells them best: the tree may not have been restored when the branch was begun.
        """
        path = [entry.id for entry in self._session.tree.branch(tip)]
        below = path[path.index(fork) + 1 :] if fork in path else path
        if not below:
            return self.at(tip)
        first = next((here[0] for entry_id in below if (here := self._here(entry_id))), None)
        if first is not None and first.phase == "before":
            return first
        return self._above(below[0]) or self.at(fork)

    def _here(self, entry_id: str | None) -> list[Place]:
        """The snapshots at one entry in the order they were written."""
        self._read()
        return self._at.get(entry_id, [])

    def _above(self, entry_id: str) -> Place | None:
        """What held when the entry was appended: the newest earlier snapshot at the nearest entry above."""
        self._read()
        tree = self._session.tree
        child, node = tree.get(entry_id), tree.parent_id(entry_id)
        while True:
            here = [place for place in self._at.get(node, ()) if place.was_there_for(child)]
            if here:
                return here[-1]
            if node is None or not self._at:
                return None
            child, node = tree.get(node), tree.parent_id(node)

    def outside_changes(self, since: int) -> list[tuple[str, str]]:
        """(older, newer) manifest ids around each change that no turn made, after the file position `since`."""
        return [
            (place.previous_id, place.manifest_id)
            for place in self._read().values()
            if place.phase == "before" and place.order > since and place.previous_id not in (None, place.manifest_id)
            if place.previous_id is not None
        ]

    def _first_below(self, entry_id: str | None) -> Place | None:
        """The first `before` at the entry or below it; each entry is looked at once."""
        tree = self._session.tree
        seen: set[str] = set()
        for place in self._read().values():
            if place.phase != "before":
                continue
            if entry_id is None:
                return place
            node = place.parent_entry
            while node is not None and node not in seen:
                if node == entry_id:
                    return place
                seen.add(node)
                node = tree.parent_id(node)
        return None

    def _read(self) -> dict[str, Place]:
        entries = self._session.file.index.entries
        if entries is not self._source:
            self._source, self._read_to = entries, 0
            self._places.clear()
            self._at.clear()
        for entry in entries[self._read_to :]:
            if entry.own and entry.fact == SNAPSHOT_TYPE and entry.id in self._session.tree:
                place = self._parse(entry)
                if place is not None:
                    self._places[entry.id] = place
                    self._at.setdefault(place.parent_entry, []).append(place)
        self._read_to = len(entries)
        return self._places

    def _parse(self, entry: IndexEntry) -> Place | None:
        data = self._session.read(entry.id).get("data")
        if not isinstance(data, dict) or not isinstance(data.get("manifest"), str):
            return None
        counts = data.get("changed")
        previous, undo = data.get("parent"), data.get("undo")
        return Place(
            entry.id,
            self._session.tree.parent_id(entry.id),
            entry.place,
            str(data.get("phase", "")),
            data["manifest"],
            previous if isinstance(previous, str) else None,
            undo if isinstance(undo, str) else None,
            {str(k): v for k, v in counts.items() if isinstance(v, int)} if isinstance(counts, dict) else None,
            entry.timestamp,
        )
