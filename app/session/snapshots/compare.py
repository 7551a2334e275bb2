"""Two manifests side by side: what changed, by how many lines, one file's diff; it must never read the tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.session.snapshots.model import ChangeKind, Difference, FileState, Manifest, SnapshotError, differences
from app.session.snapshots.packs import Packs
from app.tools.diff import changed_spans, unified_rows


@dataclass(frozen=True, slots=True)
class FileChange:
    """One path that differs. Line counts are 0 for a binary file, a link, or content that is no longer kept.

    `note` says in words what the counts can't: "binary", "link", "mode 644 → 755", "not kept: …". Paths are foreign.
    """

    path: str
    kind: ChangeKind
    added: int = 0
    removed: int = 0
    is_binary: bool = False
    note: str = ""


def content_of(packs: Packs, state: FileState | None) -> bytes:
    """The kept content; empty for a path that is not there. Raises SnapshotError for what is not covered or gone."""
    if state is None:
        return b""
    if not state.is_covered:
        raise SnapshotError("the content was not kept")
    return packs.read(state.digest)


def as_text(content: bytes) -> str | None:
    """The content as text; None when it is binary (a NUL byte, or no UTF-8)."""
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def describe(packs: Packs, found: Iterable[Difference], made: Mapping[str, bytes] | None = None) -> list[FileChange]:
    """Each difference with its line counts. Reads the contents: call it in a thread. Never raises for lost ones.

    `made` has new contents by path that no snapshot holds yet (what a merge would write).
    """
    return [_describe(packs, one, (made or {}).get(one.path)) for one in found]


def changes(packs: Packs, old: Manifest, new: Manifest) -> list[FileChange]:
    """What differs between two trees, ordered by path, with line counts. Call it in a thread."""
    return describe(packs, differences(old, new))


def diff_rows(packs: Packs, old: FileState | None, new: FileState | None) -> str:
    """The diff of one file as rows (app.tools.diff.unified_rows), or one sentence where there are no lines to show.

    Foreign text: to be sanitised before it is shown. Raises nothing.
    """
    try:
        before, after = content_of(packs, old), content_of(packs, new)
    except SnapshotError as error:
        return str(error)
    rows = content_rows(before, after)
    note = _note(old, new)
    return "\n".join(part for part in (note, rows) if part)


def content_rows(before: bytes, after: bytes) -> str:
    """The diff of two contents as rows, one sentence when they are binary; foreign text."""
    old_text, new_text = as_text(before), as_text(after)
    if old_text is None or new_text is None:
        return f"binary file, {len(before):,} → {len(after):,} bytes"
    return unified_rows(old_text, new_text)[0]


def _describe(packs: Packs, one: Difference, made: bytes | None) -> FileChange:
    note = _note(one.old, one.new)
    if one.old is not None and one.new is not None and one.old.digest == one.new.digest:
        return FileChange(one.path, one.kind, note=note)
    try:
        before = content_of(packs, one.old)
        after = made if made is not None else content_of(packs, one.new)
    except SnapshotError as error:
        return FileChange(one.path, one.kind, note=f"not kept: {error}")
    old_text, new_text = as_text(before), as_text(after)
    if old_text is None or new_text is None:
        return FileChange(one.path, one.kind, is_binary=True, note="binary")
    added = removed = 0
    for old_start, old_end, new_start, new_end in changed_spans(lines_of(old_text), lines_of(new_text)):
        added += new_end - new_start
        removed += old_end - old_start
    return FileChange(one.path, one.kind, added, removed, note=note)


def lines_of(text: str) -> list[str]:
    """Lines with their line feeds: joined they give the text again."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    return [*lines, last] if last else lines


def _note(old: FileState | None, new: FileState | None) -> str:
    if "l" in (old.kind if old else "", new.kind if new else ""):
        return "link"
    if old is not None and new is not None and old.kind == new.kind == "f" and old.mode != new.mode:
        return f"mode {old.mode:o} → {new.mode:o}"
    return ""
