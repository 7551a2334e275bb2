"""One branch's file changes brought into the present files: three versions of each file; it must never half-merge."""

from __future__ import annotations

from collections.abc import Collection
from hashlib import sha256

from app.session.snapshots.compare import as_text, content_of
from app.session.snapshots.merge import merge
from app.session.snapshots.model import REASONS, FileState, Manifest, SnapshotError, differences
from app.session.snapshots.plan import LeftAlone, PlannedFile, RestorePlan, limits_of, settle_places, uncovered
from app.session.snapshots.tracker import Tracker


class _ConflictError(Exception):
    """Both sides changed the file, and there is no one answer; the text says how."""


def plan_take(
    tracker: Tracker, now: Manifest, base: Manifest, theirs: Manifest, paths: Collection[str] | None = None
) -> RestorePlan:
    """Bring what changed from `base` to `theirs` into the tree as it is (`now`, fresh from `tracker`).

    `paths` takes only these. A file that only they changed is taken as it is; what both changed is merged by lines;
    a conflict is listed in `skipped` and its file left alone whole. Reads contents: blocking.
    """
    tracker.store.packs.refresh()
    planned: list[PlannedFile] = []
    skipped: list[LeftAlone] = []
    for path, old, new in differences(base, theirs):
        ours = now.files.get(path)
        if (paths is not None and path not in paths) or ours == new:
            continue
        try:
            planned.append(_one(tracker, path, old, ours, new))
        except _ConflictError as conflict:
            skipped.append(LeftAlone(path, str(conflict), is_conflict=True))
        except SnapshotError as error:
            skipped.append(LeftAlone(path, error.message))
    planned, blocked = settle_places(tracker.root, [file for file in planned if file.old != file.new])
    return RestorePlan(
        tracker.root,
        "take",
        now,
        None,
        tuple(planned),
        tuple(sorted([*skipped, *blocked], key=lambda one: one.path)),
        uncovered(now, theirs),
        limits_of(tracker),
    )


def _one(
    tracker: Tracker, path: str, base: FileState | None, ours: FileState | None, theirs: FileState | None
) -> PlannedFile:
    for state in (base, ours, theirs):
        if state is not None and not state.is_covered:
            raise SnapshotError(REASONS.get(state.digest, state.digest))
    if ours is None and not tracker.knows(path) and _is_hidden(tracker, path):
        raise SnapshotError("is there, but ignored or special now: it could not be brought back")
    packs = tracker.store.packs
    if theirs is not None:
        content_of(packs, theirs)  # gone contents are found now, not in the middle of it
    if ours == base:
        return PlannedFile(path, ours, theirs)
    if theirs is None:
        raise _ConflictError("changed here, deleted there")
    if ours is None:
        raise _ConflictError("deleted here, changed there")
    mode = theirs.mode if base is None or ours.mode == base.mode else ours.mode
    if ours.kind == theirs.kind and ours.digest == theirs.digest:
        return PlannedFile(path, ours, ours._replace(mode=mode))
    if base is None:
        raise _ConflictError("made on both sides, differently")
    if not base.kind == ours.kind == theirs.kind == "f":
        raise _ConflictError("a link on one side")
    if base.digest == theirs.digest:
        return PlannedFile(path, ours, ours._replace(mode=mode))
    if base.digest == ours.digest:
        return PlannedFile(path, ours, theirs._replace(mode=mode))
    texts = [as_text(content_of(packs, state)) for state in (base, ours, theirs)]
    base_text, our_text, their_text = texts
    if base_text is None or our_text is None or their_text is None:
        raise _ConflictError("a binary file that both sides changed")
    merged = merge(base_text, our_text, their_text)
    if merged.conflicts:
        lines = ", ".join(_lines(conflict.ours) for conflict in merged.conflicts[:5])
        raise _ConflictError(f"both sides changed the same lines (here: {lines})")
    content = merged.text.encode("utf-8")
    state = FileState("f", mode, len(content), sha256(content).hexdigest())
    return PlannedFile(path, ours, state, content, is_merged=True)


def _lines(span: tuple[int, int]) -> str:
    start, end = span
    return f"{start + 1}" if end <= start + 1 else f"{start + 1}–{end}"


def _is_hidden(tracker: Tracker, path: str) -> bool:
    from app.session.snapshots.placing import is_folder, status_of

    return status_of(tracker.root, path) is not None and not is_folder(tracker.root, path)
