"""A tree cut into stretches without forks, the branch that is shown first; it must never recurse or read a body."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.session.facts import IndexEntry
from app.session.tree import Tree


@dataclass(slots=True)
class Segment:
    """Entries in a row. `parent_id` is where it left (None: a root), `depth` how many forks lie above it."""

    parent_id: str | None
    depth: int
    is_main: bool
    entries: list[IndexEntry] = field(default_factory=list)


def segments(tree: Tree, leaf: str | None) -> list[Segment]:
    """All entries of the tree, each once; a segment stands behind the one it left, the path to `leaf` is the first."""
    path = {entry.id for entry in tree.up(leaf)} if leaf is not None else set()
    found: list[Segment] = []
    roots = sorted(tree.roots, key=lambda root: root.id not in path)
    waiting = [(root, 0) for root in reversed(roots)]
    while waiting:
        start, depth = waiting.pop()
        segment = Segment(tree.parent_id(start.id), depth, start.id in path)
        found.append(segment)
        forks: list[tuple[IndexEntry, int]] = []
        node: IndexEntry | None = start
        while node is not None:
            segment.entries.append(node)
            children = tree.children(node.id)
            following = next((child for child in children if child.id in path), None)
            if following is None and children and node.id != leaf:
                following = children[-1]  # the latest try goes on in the row
            forks += [(child, depth + 1) for child in children if child is not following]
            node = following
        waiting += reversed(forks)
    return found
