"""What a session file holds, as one JSON object, for `pinyon sessions inspect`; it must never change a byte."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from app.session.context import build_context
from app.session.file import SessionFile
from app.session.tree import Tree


def inspect(path: Path) -> dict[str, Any]:
    """The figures of a session file: entries, types, leaf, tree figures, context, name, labels, and what was odd.

    `entries` and `types` count the file's sound entries, ours among them; the tree's figures look through `pinyon.*`.
    Raises NotASessionError, and SessionError when it can't be read. Keys: issue Part 3 item 1.
    """
    file = SessionFile.read(path)
    try:
        index = file.index
        tree = Tree(index.entries, file.notes)
        context = build_context(tree, tree.leaf_id, file.body)
        model = context.model
        return {
            "version": index.version,
            "id": file.header.get("id"),
            "cwd": file.header.get("cwd"),
            "entries": len(index.entries),
            "types": dict(Counter(entry.type for entry in index.entries)),
            "leaf": tree.leaf_id,
            "branch_points": len(tree.branch_points),
            "tips": len(tree.tips),
            "roots": len(tree.roots),
            "branch_len": len(tree.branch()),
            "context_messages": len(context.messages),
            "context_roles": ",".join(str(getattr(message, "role", "")) for message in context.messages),
            "model": {"provider": model.provider, "modelId": model.model_id} if model is not None else None,
            "thinkingLevel": context.thinking_level,
            "name": tree.name,
            "labels": {target: label.text for target, label in tree.labels.items()},
            "recovered": index.recovered,
            "set_aside": index.set_aside,
            "notes": file.notes,
        }
    finally:
        file.close()
