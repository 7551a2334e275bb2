"""Carries a plan out, file by file at one stroke each; it must never touch what changed since the plan was made."""

from __future__ import annotations

from dataclasses import dataclass

from app.session.snapshots import placing
from app.session.snapshots.model import Manifest, SnapshotError, parents_of
from app.session.snapshots.plan import LeftAlone, PlannedFile, RestorePlan
from app.session.snapshots.tracker import Tracker


@dataclass(frozen=True, slots=True)
class Restored:
    """What was done. With `failed` the rest was done all the same; `before` brings everything back."""

    done: tuple[str, ...]
    failed: tuple[LeftAlone, ...]
    before: Manifest
    after: Manifest

    @property
    def summary(self) -> str:
        """One sentence for the user."""
        text = f"{len(self.done)} {'file' if len(self.done) == 1 else 'files'} written or deleted"
        if self.failed:
            first = self.failed[0]
            text += f"; {len(self.failed)} could not be: {first.path} ({first.reason})"
            text += ", …" if len(self.failed) > 1 else ""
        return text


def apply(tracker: Tracker, plan: RestorePlan) -> Restored:
    """Do what the plan says. A file that is not as it was when the plan was made is left alone and listed.

    Deletions first, then what is written. The trees before and after are kept. Blocking. Raises SnapshotError and
    OSError when the tree can't be looked at or kept; then nothing was touched, or it says so.
    """
    with tracker.lock:
        before = tracker.snapshot(full=True)
        done: list[str] = []
        failed: list[LeftAlone] = []
        emptied: set[str] = set()

        def attempt(file: PlannedFile) -> bool:
            if before.files.get(file.path) != file.old:
                failed.append(LeftAlone(file.path, "changed while the preview was open", is_foreign=True))
                return False
            try:
                _place(tracker, file, emptied)
            except (OSError, ValueError, SnapshotError) as error:
                failed.append(LeftAlone(file.path, getattr(error, "strerror", None) or str(error)))
                return False
            done.append(file.path)
            return True

        for file in plan.deleted:
            if attempt(file):
                emptied.update(parents_of(file.path))
        for file in plan.files:
            if file.new is not None:
                attempt(file)
        # last, so that a folder that gets another file keeps its mode
        _remove_folders(tracker.root, emptied)
        try:
            after = tracker.snapshot(full=True)
        except (OSError, SnapshotError):
            # what was done stays told and can be undone; only this last look could not be kept
            made = set(done)
            after = before.with_changes({file.path: file.new for file in plan.files if file.path in made})
        return Restored(tuple(done), tuple(failed), before, after)


def _place(tracker: Tracker, file: PlannedFile, emptied: set[str]) -> None:
    root, old, new = tracker.root, file.old, file.new
    if new is None:
        placing.take_away(root, file.path)
        return
    if old is not None and old.kind == new.kind == "f" and old.digest == new.digest:
        placing.set_mode(root, file.path, new.mode)
        return
    content = file.content if file.content is not None else tracker.store.packs.read(new.digest)
    if file.path in emptied:  # a folder gives way to a file
        below = file.path + "/"
        _remove_folders(root, {folder for folder in emptied if folder == file.path or folder.startswith(below)})
    placing.put(root, file.path, new, content)


def _remove_folders(root: str, folders: set[str]) -> None:
    """Remove those that are empty, the deepest first."""
    for folder in sorted(folders, key=lambda name: name.count("/"), reverse=True):
        placing.remove_if_empty(root, folder)
