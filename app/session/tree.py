"""The tree of a session over its index: parents, branches, tips, labels, the leaf; it must never read or write a file.

It looks through our own bookkeeping (`pinyon.*` entries), mends orphans and cycles by making them roots, and never
recurses, for a branch may be 100,000 entries deep. Source: spec core §4.7, architecture §6.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.errors import SessionError
from app.session.facts import IndexEntry


@dataclass(frozen=True, slots=True)
class Label:
    """A bookmark: its text and the ISO time it was set."""

    text: str
    timestamp: str


class UnknownEntryError(SessionError):
    """An entry id that is not in the session."""

    def __init__(self, entry_id: str) -> None:
        super().__init__(f"there is no entry {entry_id!r} in this session")
        self.entry_id = entry_id


class Tree:
    """All entries in file order, those of ours left out; `leaf_id` is where the next entry goes (None: a new root).

    `version` grows with every change, for views that keep what they worked out. `tips` and `branch_points` take time
    in proportion to the whole tree, the rest to what it gives.
    """

    def __init__(self, entries: Iterable[IndexEntry] = (), notes: list[str] | None = None) -> None:
        self.entries: list[IndexEntry] = []
        self.leaf_id: str | None = None
        self.version = 0
        self.name: str | None = None
        self.labels: dict[str, Label] = {}
        self._all: dict[str, IndexEntry] = {}
        self._parent: dict[str, str | None] = {}
        self._children: dict[str | None, list[IndexEntry]] = {}
        self._own: dict[str | None, list[IndexEntry]] = {}
        loaded = list(entries)
        for entry in loaded:
            self._all[entry.id] = entry
        orphans = self._link(loaded)
        for entry in loaded:
            self._place(entry)
        if loaded:
            last = loaded[-1]
            self.leaf_id = self._parent[last.id] if last.own else last.id
        if notes is not None and orphans:
            notes.append(
                f"{orphans} {'entry has' if orphans == 1 else 'entries have'} no parent in the file: shown as roots"
            )

    def _link(self, loaded: list[IndexEntry]) -> int:
        """Fill `_parent`; gives how many entries lost theirs (missing, itself, or a ring)."""
        cut: set[str] = set()
        forward = False
        for entry in loaded:
            parent_id = entry.parent_id
            if parent_id is None:
                continue
            parent = self._all.get(parent_id)
            if parent is None or parent is entry:
                cut.add(entry.id)
            elif parent.place >= entry.place:
                forward = True
        if forward:
            self._cut_rings(loaded, cut)
        for entry in loaded:
            self._parent[entry.id] = self._resolve(entry, cut)
        return len(cut)

    def _cut_rings(self, loaded: list[IndexEntry], cut: set[str]) -> None:
        # a parent after its child is no fault by itself (swapped lines); a walk that meets itself is
        settled: set[str] = set()
        for start in loaded:
            walk: list[str] = []
            on_walk: set[str] = set()
            node: IndexEntry | None = start
            while node is not None and node.id not in settled:
                if node.id in on_walk:
                    ring = walk[walk.index(node.id) :]
                    cut.add(min(ring, key=lambda entry_id: self._all[entry_id].place))
                    break
                walk.append(node.id)
                on_walk.add(node.id)
                node = self._all.get(node.parent_id) if node.parent_id and node.id not in cut else None
            settled.update(walk)

    def _resolve(self, entry: IndexEntry, cut: set[str]) -> str | None:
        """The parent as the tree sees it: the nearest ancestor that is not ours."""
        node = entry
        while node.id not in cut and node.parent_id is not None:
            parent = self._all.get(node.parent_id)
            if parent is None:
                return None
            if not parent.own:
                return parent.id
            node = parent
        return None

    def _place(self, entry: IndexEntry) -> None:
        if entry.own:
            self._own.setdefault(self._parent[entry.id], []).append(entry)
            return
        self.entries.append(entry)
        self._children.setdefault(self._parent[entry.id], []).append(entry)
        if entry.type == "label" and entry.target is not None:
            # a label moves to the end when it is set again, so that the dict is ordered by time of setting
            self.labels.pop(entry.target, None)
            if entry.fact and not entry.fact.isspace():
                self.labels[entry.target] = Label(entry.fact, entry.timestamp)
        elif entry.type == "session_info":
            self.name = entry.fact or None

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._all

    def get(self, entry_id: str) -> IndexEntry:
        """The entry. Raises UnknownEntryError."""
        entry = self._all.get(entry_id)
        if entry is None:
            raise UnknownEntryError(entry_id)
        return entry

    def add(self, entry: IndexEntry, *, move_leaf: bool = True) -> None:
        """Take in an entry that was written; the leaf goes to it, or for one of ours to its target."""
        self.version += 1
        self._all[entry.id] = entry
        self._parent[entry.id] = self._resolve(entry, set())
        self._place(entry)
        if move_leaf:
            self.leaf_id = self._parent[entry.id] if entry.own else entry.id

    def parent_id(self, entry_id: str) -> str | None:
        """The parent as the tree sees it; None for a root. Raises UnknownEntryError."""
        self.get(entry_id)
        return self._parent[entry_id]

    def children(self, entry_id: str | None) -> list[IndexEntry]:
        """Direct children in file order; those of None are the roots."""
        return list(self._children.get(entry_id, ()))

    def own_at(self, entry_id: str | None) -> list[IndexEntry]:
        """Our own entries (`pinyon.*`; `fact` is the type) that stand at an entry, in file order."""
        return list(self._own.get(entry_id, ()))

    @property
    def roots(self) -> list[IndexEntry]:
        """Entries without a parent, orphans and cut rings among them."""
        return self.children(None)

    @property
    def tips(self) -> list[IndexEntry]:
        """Entries without children, in file order."""
        return [entry for entry in self.entries if entry.id not in self._children]

    @property
    def branch_points(self) -> list[str | None]:
        """Ids of entries with more than one child; None stands for the place before several roots."""
        return [entry_id for entry_id, children in self._children.items() if len(children) > 1]

    def siblings(self, entry_id: str) -> list[IndexEntry]:
        """The children of the entry's parent, itself among them, in file order. Raises UnknownEntryError."""
        return self.children(self.parent_id(entry_id))

    def up(self, entry_id: str | None) -> Iterator[IndexEntry]:
        """From the entry to its root. Raises UnknownEntryError."""
        node = entry_id
        while node is not None:
            yield self.get(node)
            node = self._parent[node]

    def branch(self, entry_id: str | None = None) -> list[IndexEntry]:
        """The path from the root to the entry (to the leaf when None is given). Raises UnknownEntryError."""
        path = list(self.up(self.leaf_id if entry_id is None else entry_id))
        path.reverse()
        return path

    def common_ancestor(self, one: str | None, other: str | None) -> str | None:
        """The deepest entry on both paths; None when they share none."""
        seen = {entry.id for entry in self.up(one)}
        return next((entry.id for entry in self.up(other) if entry.id in seen), None)

    def newest_tip(self, entry_id: str) -> str:
        """The tip below the entry that is last in the file, or the entry itself. Raises UnknownEntryError."""
        self.get(entry_id)
        best: IndexEntry | None = None
        stack = [self._all[entry_id]]
        while stack:
            node = stack.pop()
            below = self._children.get(node.id)
            if below:
                stack.extend(below)
            elif best is None or node.place > best.place:
                best = node
        return best.id if best is not None else entry_id
