"""Two or more successful read-only calls in a row as one line; it must never be asked to hide a failure (ui.md §1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.visual import Visual

from renderers import outcome
from renderers.header import META_STYLE, Header
from renderers.registry import ToolOutcome

READ_ONLY = frozenset({"read", "grep", "find", "ls"})


def is_foldable(name: str, result: ToolOutcome | None) -> bool:
    """Whether a call may stand in a folded line: read-only, ended, and not failed."""
    return name in READ_ONLY and result is not None and not outcome.is_error(result)


def fold_label(calls: Sequence[tuple[str, Mapping[str, object]]]) -> str:
    """What the calls (name, arguments) did, in words: "read 4 files, 2 searches, 1 listing". Never empty."""
    paths = {outcome.argument(params, "path", "file_path") or str(index) for index, (name, params) in enumerate(calls)
             if name == "read"}  # fmt: skip
    searches = sum(name in ("grep", "find") for name, _ in calls)
    listings = sum(name == "ls" for name, _ in calls)
    others = sum(name not in READ_ONLY for name, _ in calls)
    parts = [
        f"read {outcome.plural(len(paths), 'file')}" if paths else "",
        outcome.plural(searches, "search", "searches") if searches else "",
        outcome.plural(listings, "listing") if listings else "",
        outcome.plural(others, "call") if others else "",
    ]
    return ", ".join(filter(None, parts)) or "0 calls"


def folded_visual(
    calls: Sequence[tuple[str, Mapping[str, object]]], *, expanded: bool = False, plain: bool = False
) -> Visual:
    """One row for all of them: "✓ read 4 files, 2 searches ▸"."""
    return Header("complete", subject=fold_label(calls), subject_style=META_STYLE, expanded=expanded, plain=plain)
