"""A branch as a session file of its own: header, then one entry after the other; it must never lose a member."""

from __future__ import annotations

from collections.abc import Iterator

from app.session.entries import VERSION, RawEntry, new_entry_id
from app.session.lines import encode
from app.session.view import SessionView


def chain(view: SessionView, leaf: str | None) -> Iterator[str]:
    """The lines of a session that holds the path to `leaf` alone, ids and labels kept, parents in a row."""
    yield _line({**view.header, "version": VERSION})
    parent_id: str | None = None
    ids: set[str] = set()
    for entry in view.tree.branch(leaf) if leaf is not None else ():
        if entry.type != "label":
            yield _line({**view.file.body(entry), "parentId": parent_id})
            parent_id = entry.id
            ids.add(entry.id)
    taken = set(ids)
    for target, label in view.tree.labels.items():
        if target in ids:
            entry_id = new_entry_id(taken)
            taken.add(entry_id)
            mark: RawEntry = {"type": "label", "id": entry_id, "parentId": parent_id, "timestamp": label.timestamp}
            yield _line({**mark, "targetId": target, "label": label.text})
            parent_id = entry_id


def _line(raw: RawEntry) -> str:
    return encode(raw).decode("utf-8")
