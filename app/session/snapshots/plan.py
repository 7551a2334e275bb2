"""What a restore or a take would do, exactly, before anything is done; it must never write."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from app.session.snapshots.model import REASONS, ChangeKind, Difference, FileState, Manifest, differences, parents_of
from app.session.snapshots.placing import is_folder, status_of
from app.session.snapshots.tracker import Tracker
from app.tools.ignore import IgnoreRules, is_ignored

FOREIGN = "changed by someone else since the last snapshot"


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One path that will be created, changed (content, kind or mode) or deleted (`new` is None).

    `content` is given for what a merge made; else the store has it.
    """

    path: str
    old: FileState | None
    new: FileState | None
    content: bytes | None = field(default=None, repr=False)
    is_merged: bool = False

    @property
    def kind(self) -> ChangeKind:
        """What will happen."""
        return Difference(self.path, self.old, self.new).kind


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """A path that the plan doesn't touch although it differs, and why. `is_foreign`: someone else changed it."""

    path: str
    reason: str
    is_foreign: bool = False
    is_conflict: bool = False


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """Exactly what `apply` will do. `before` is the tree as it is now (already kept), `target` where it goes.

    `skipped` differs but is left alone; `not_covered` is there but in no snapshot; `limits` says in sentences what no
    snapshot covers. Paths are relative, with slashes, and foreign text.
    """

    root: str
    purpose: str
    before: Manifest
    target: Manifest | None
    files: tuple[PlannedFile, ...]
    skipped: tuple[LeftAlone, ...] = ()
    not_covered: tuple[LeftAlone, ...] = ()
    limits: tuple[str, ...] = ()

    @property
    def created(self) -> tuple[PlannedFile, ...]:
        """Files that will be made."""
        return tuple(file for file in self.files if file.kind == "created")

    @property
    def changed(self) -> tuple[PlannedFile, ...]:
        """Files whose content, kind or mode will be another."""
        return tuple(file for file in self.files if file.kind == "changed")

    @property
    def deleted(self) -> tuple[PlannedFile, ...]:
        """Files that will go."""
        return tuple(file for file in self.files if file.kind == "deleted")

    @property
    def conflicts(self) -> tuple[LeftAlone, ...]:
        """What a take could not bring together; part of `skipped`."""
        return tuple(file for file in self.skipped if file.is_conflict)

    @property
    def is_empty(self) -> bool:
        """Whether nothing will be done."""
        return not self.files


def plan_restore(
    tracker: Tracker,
    now: Manifest,
    target: Manifest,
    last_known: Manifest | None,
    *,
    foreign: Collection[str] = (),
    overwrite: Collection[str] = (),
) -> RestorePlan:
    """From the tree as it is (`now`, fresh from `tracker`) to `target`. Blocking.

    What differs between `last_known` (the session's newest snapshot) and `now`, and what `foreign` names, was changed
    by someone else: skipped, unless `overwrite` names the path. Raises OSError for a store that can't be read.
    """
    tracker.store.packs.refresh()
    planned: list[PlannedFile] = []
    skipped: list[LeftAlone] = []
    then_ignored = _rules_then(tracker, now, target)
    others = set(foreign)
    if last_known is not None:
        others.update(one.path for one in differences(last_known, now))
    for path, old, new in differences(now, target):
        reason = _hindrance(tracker, path, old, new)
        if reason is None and new is None and then_ignored.leave_out(path):
            reason = "was ignored then, so it may have been there"
        if reason is not None:
            skipped.append(LeftAlone(path, reason))
        elif path in others and path not in overwrite:
            skipped.append(LeftAlone(path, FOREIGN, is_foreign=True))
        else:
            planned.append(PlannedFile(path, old, new))
    planned, blocked = settle_places(tracker.root, planned)
    return RestorePlan(
        tracker.root,
        "restore",
        now,
        target,
        tuple(planned),
        tuple(sorted([*skipped, *blocked], key=lambda one: one.path)),
        uncovered(now, target),
        limits_of(tracker),
    )


def settle_places(root: str, planned: list[PlannedFile]) -> tuple[list[PlannedFile], list[LeftAlone]]:
    """What can be placed, and what can't because something that stays is in its way."""
    deleted = {file.path for file in planned if file.new is None}
    replaced_links = {file.path for file in planned if file.new is not None}
    fine: list[PlannedFile] = []
    blocked: list[LeftAlone] = []
    for file in planned:
        obstacle = None
        if file.new is not None:
            if is_folder(root, file.path) and (stays := _staying(root, file.path, deleted)):
                obstacle = f"a folder of that name is in the way ({stays} stays)"
            for parent in parents_of(file.path):
                status = status_of(root, parent)
                if parent in replaced_links:
                    obstacle = f"{parent} is in the way"
                elif status is not None and not is_folder(root, parent) and parent not in deleted:
                    obstacle = f"{parent} is in the way: it is no folder"
        if obstacle is None:
            fine.append(file)
        else:
            blocked.append(LeftAlone(file.path, obstacle))
    return fine, blocked


def uncovered(*trees: Manifest) -> tuple[LeftAlone, ...]:
    """The paths that one of the trees has but no snapshot keeps, with the reason."""
    found: dict[str, str] = {}
    for tree in trees:
        for path, state in tree.files.items():
            if not state.is_covered:
                found[path] = REASONS.get(state.digest, state.digest)
    return tuple(LeftAlone(path, reason) for path, reason in sorted(found.items()))


def limits_of(tracker: Tracker) -> tuple[str, ...]:
    """What no snapshot of this project covers, in sentences."""
    limits = tracker.limits
    said = [
        f"Never kept: files outside {tracker.root}, over {limits.max_file_bytes / 1024 / 1024:g} MiB or left out by "
        ".gitignore; .git, empty folders, sockets, pipes, devices; owners, times, extended attributes."
    ]
    said += [f"The folder {folder or '.'} can't be read." for folder in tracker.unreadable]
    return tuple(said)


def _hindrance(tracker: Tracker, path: str, old: FileState | None, new: FileState | None) -> str | None:
    for state, when in ((old, "now"), (new, "then")):
        if state is not None and not state.is_covered:
            return f"{when}: {REASONS.get(state.digest, state.digest)}"
    if old is None and not tracker.knows(path):
        status = status_of(tracker.root, path)
        if status is not None and not is_folder(tracker.root, path):
            return "is there, but ignored or special now: it could not be brought back"
    if new is not None and new.digest not in tracker.store.packs.places:
        return "its content is no longer kept"
    return None


def _staying(root: str, folder: str, deleted: Iterable[str]) -> str | None:
    """Something below the folder that no planned deletion takes away."""
    gone = set(deleted)
    top = os.path.join(root, folder)
    for inner, folders, names in os.walk(top):
        relative = os.path.relpath(inner, root).replace(os.sep, "/")
        links = [name for name in folders if os.path.islink(os.path.join(inner, name))]
        for name in [*names, *links]:
            if f"{relative}/{name}" not in gone:
                return f"{relative}/{name}"
        if not names and not folders:
            return relative  # an empty folder is not ours to remove
    return None


class _RulesThen:
    """The ignore rules that a tree held, for paths that are not in it."""

    def __init__(self, root: str, rules: dict[str, IgnoreRules]) -> None:
        self._root = root
        self._rules = rules

    def leave_out(self, path: str) -> bool:
        if not self._rules:
            return False
        parts = list(reversed(list(parents_of(path))))
        for step in [*parts, path]:
            nearest: IgnoreRules | None = None
            for folder in ["", *reversed(list(parents_of(step)))]:
                given = self._rules.get(folder)
                if given is not None:
                    nearest = IgnoreRules(given.base, given.spec, nearest)
            if is_ignored(nearest, os.path.join(self._root, step), is_folder=step != path):
                return True
        return False


def _rules_then(tracker: Tracker, now: Manifest, target: Manifest) -> _RulesThen:
    """Nothing when the ignore files are the same now: then what is seen now would have been seen then."""
    from pathspec import GitIgnoreSpec

    def files(tree: Manifest) -> dict[str, FileState]:
        return {p: s for p, s in tree.files.items() if p == ".gitignore" or p.endswith("/.gitignore")}

    then = files(target)
    if then == files(now):
        return _RulesThen(tracker.root, {})
    rules: dict[str, IgnoreRules] = {}
    for path, state in then.items():
        if not state.is_covered or state.digest not in tracker.store.packs.places:
            continue
        folder = path.rpartition("/")[0]
        lines = tracker.store.packs.read(state.digest).decode("utf-8", "surrogateescape").split("\n")
        try:
            spec = GitIgnoreSpec.from_lines(line.rstrip("\r") for line in lines)
        except ValueError:
            continue
        rules[folder] = IgnoreRules(
            os.path.join(tracker.root, folder, "") if folder else tracker.root + "/", spec, None
        )
    return _RulesThen(tracker.root, rules)
