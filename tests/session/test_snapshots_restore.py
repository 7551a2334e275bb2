"""Restoring: the plan is exact, what it does is what it said, and nothing of anybody else's is touched."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.session.snapshots import placing
from app.session.snapshots.model import Manifest
from app.session.snapshots.plan import RestorePlan, plan_restore
from app.session.snapshots.restore import Restored, apply
from app.session.snapshots.tracker import Limits, Tracker
from tests.session.snapshot_kit import Tree, folders, read, tracker_of, write


def plan_to(tracker: Tracker, target: Manifest, known: Manifest | None = None, **options: list[str]) -> RestorePlan:
    now = tracker.snapshot(full=True)
    return plan_restore(tracker, now, target, known or now, **options)


def restore(tracker: Tracker, target: Manifest) -> Restored:
    return apply(tracker, plan_to(tracker, target))


def told(plan: RestorePlan) -> dict[str, str]:
    return {file.path: file.kind for file in plan.files}


def test_a_preview_says_exactly_what_restoring_does_and_undo_is_another(work: Path) -> None:
    write(work, {"a": "1", "b": ("2", 0o644), "gone/deep/c": "3", "l": "-> a", "same": "s"})
    tracker = tracker_of(work)
    then, seen_then = tracker.snapshot(), read(work)
    write(work, {"a": "changed", "gone": None, "new/x/y": "n", "l": "-> b"})
    (work / "b").chmod(0o755)
    seen_now = read(work)
    plan = plan_to(tracker, then)
    assert read(work) == seen_now, "a preview changes nothing"
    assert told(plan) == {
        "a": "changed",
        "b": "changed",
        "gone/deep/c": "created",
        "l": "changed",
        "new/x/y": "deleted",
    }
    assert [f.path for f in (*plan.created, *plan.changed, *plan.deleted)] == ["gone/deep/c", "a", "b", "l", "new/x/y"]
    done = apply(tracker, plan)
    assert sorted(done.done) == sorted(told(plan))
    assert not done.failed
    assert read(work) == seen_then
    assert done.after.id == then.id
    assert folders(work) == {"gone", "gone/deep"}, "folders that it made empty are gone"
    apply(tracker, plan_to(tracker, done.before))
    assert read(work) == seen_now


def test_what_someone_else_changed_since_is_skipped_and_listed(work: Path) -> None:
    write(work, {"agent": "1", "user": "1", "both": "1"})
    tracker = tracker_of(work)
    then = tracker.snapshot()
    write(work, {"agent": "2", "both": "2"})
    known = tracker.snapshot()
    write(work, {"user": "mine", "both": "mine too", "extra": "mine"})
    plan = plan_to(tracker, then, known)
    assert told(plan) == {"agent": "changed"}
    assert [(one.path, one.is_foreign) for one in plan.skipped] == [("both", True), ("extra", True), ("user", True)]
    apply(tracker, plan)
    assert [(work / name).read_text() for name in ("agent", "user", "both", "extra")] == [
        "1",
        "mine",
        "mine too",
        "mine",
    ]
    assert told(plan_to(tracker, then, known, overwrite=["both"])) == {"both": "changed"}


def test_a_file_changed_while_the_preview_was_open_is_left_alone(work: Path) -> None:
    write(work, {"a": "1", "b": "1"})
    tracker = tracker_of(work)
    then = tracker.snapshot()
    write(work, {"a": "2", "b": "2"})
    plan = plan_to(tracker, then)
    write(work, {"a": "typed meanwhile"})
    done = apply(tracker, plan)
    assert done.done == ("b",)
    assert [one.path for one in done.failed] == ["a"]
    assert (work / "a").read_text() == "typed meanwhile"
    assert "a (changed while the preview was open)" in done.summary


def test_nothing_is_written_through_a_link(work: Path) -> None:
    outside = work.parent / "outside"
    outside.mkdir()
    (outside / "f").write_text("theirs")
    write(work, {"d/f": "ours", "g": "ours"})
    tracker = tracker_of(work)
    then = tracker.snapshot()
    write(work, {"d": None, "g": None})
    (work / "d").symlink_to(outside)
    (work / "g").symlink_to(outside / "f")
    plan = plan_to(tracker, then)
    done = apply(tracker, plan)
    assert not done.failed
    assert (outside / "f").read_text() == "theirs"
    assert not (work / "d").is_symlink()
    assert [(work / name).read_text() for name in ("d/f", "g")] == ["ours", "ours"]


def test_a_link_that_comes_in_between_is_not_followed(work: Path) -> None:
    outside = work.parent / "outside"
    outside.mkdir()
    (work / "d").symlink_to(outside)
    state = Manifest.of({}).files
    assert state == {}
    with pytest.raises(OSError, match="d"):
        placing.take_away(str(work), "d/f")
    for path in ("../f", "/etc/f", "a//b", "a/../../f", ""):
        with pytest.raises(ValueError, match="no path inside"):
            placing.take_away(str(work), path)


def test_files_and_folders_change_places(work: Path) -> None:
    write(work, {"x": "a file", "y/1": "in a folder", "y/z/2": "deeper"})
    tracker = tracker_of(work)
    then, seen = tracker.snapshot(), read(work)
    write(work, {"x": None, "y": None})
    write(work, {"x/1/2": "a folder now", "y": "a file now"})
    now, seen_now = tracker.snapshot(), read(work)
    assert restore(tracker, then).after.id == then.id
    assert read(work) == seen
    restore(tracker, now)
    assert read(work) == seen_now


def test_what_no_snapshot_holds_is_never_overwritten_or_deleted(work: Path) -> None:
    tracker = tracker_of(work, Limits(max_file_bytes=100))
    write(work, {".gitignore": "*.log\n", "grows": "small", "shrinks": b"x" * 200, "log.txt": "t", "d": "file"})
    then = tracker.snapshot()
    write(work, {"grows": b"y" * 200, "shrinks": "small", ".gitignore": "*.txt\n", "old.log": "was ignored", "d": None})
    write(work, {"d/note.txt": "ignored, in the way"})
    tracker.snapshot()
    plan = plan_to(tracker, then)
    assert told(plan) == {".gitignore": "changed"}
    reasons = {one.path: one.reason for one in plan.skipped}
    assert set(reasons) == {"d", "grows", "log.txt", "old.log", "shrinks"}
    assert "too large" in reasons["grows"]
    assert "ignored then" in reasons["old.log"]
    assert "ignored or special now" in reasons["log.txt"]
    assert "in the way" in reasons["d"]
    assert {one.path for one in plan.not_covered} == {"grows", "shrinks"}
    assert any(".gitignore" in sentence for sentence in plan.limits)
    before = read(work)
    apply(tracker, plan)
    after = read(work)
    assert {path for path in after if after[path] != before.get(path)} == {".gitignore"}


def test_what_can_not_be_written_is_told_and_the_rest_is_done(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(work, {"a": "1", "b": "1"})
    tracker = tracker_of(work)
    then = tracker.snapshot()
    write(work, {"a": "2", "b": "2"})
    plan = plan_to(tracker, then)
    real = os.fsync

    def full(descriptor: int) -> None:
        if os.readlink(f"/proc/self/fd/{descriptor}").startswith(f"{work}/.pinyon-") and not (work / "full").exists():
            (work / "full").touch()
            raise OSError(28, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    done = apply(tracker, plan)
    assert [(one.path, one.reason) for one in done.failed] == [("a", "No space left on device")]
    assert done.done == ("b",)
    assert [(work / name).read_text() for name in ("a", "b")] == ["2", "1"]
    assert sorted(os.listdir(work)) == ["a", "b", "full"], "no draft is left"


def test_a_folder_keeps_its_mode_when_its_only_file_is_exchanged(work: Path) -> None:
    write(work, {"d/a": "1"})
    (work / "d").chmod(0o700)
    tracker = tracker_of(work)
    then = tracker.snapshot()
    write(work, {"d/a": None, "d/b": "2"})
    restore(tracker, then)
    assert (work / "d").stat().st_mode & 0o777 == 0o700
    assert os.listdir(work / "d") == ["a"]


def test_an_empty_folder_of_the_users_stays(work: Path) -> None:
    write(work, {"a": "1"})
    (work / "empty").mkdir()
    tracker = tracker_of(work)
    then = tracker.snapshot()
    write(work, {"d/b": "2"})
    restore(tracker, then)
    assert folders(work) == {"empty"}


NAMES = st.sampled_from(["a", "b", "d/a", "d/b", "d/e/a", "d/e/f/a", "g/é ü", "h"])
CONTENTS = st.one_of(st.binary(max_size=8), st.sampled_from(["-> a", "-> d", "-> ../outside", "-> nowhere"]))
TREES = st.dictionaries(NAMES, st.tuples(CONTENTS, st.sampled_from([0o644, 0o755, 0o600])), max_size=8)
ROOT_NAMES = {"a": "d", "b": "h"}


def fill(root: Path, tree: dict[str, tuple[str | bytes, int]], *, swap: bool) -> None:
    """Empty the root and write the tree; `swap` makes files of folders and the other way round."""
    for name in os.listdir(root):
        target = root / name
        shutil.rmtree(target) if target.is_dir() and not target.is_symlink() else target.unlink()
    entries: Tree = {}
    for path, (content, mode) in tree.items():
        head, _, rest = path.partition("/")
        name = "/".join(part for part in ({"d": "a", "a": "d"}.get(head, head) if swap else head, rest) if part)
        if not any(
            other != name and (other.startswith(name + "/") or name.startswith(other + "/")) for other in entries
        ):
            entries[name] = content if isinstance(content, str) else (content, mode)
    write(root, entries)


@settings(max_examples=30, deadline=None)
@given(steps=st.lists(st.tuples(TREES, st.booleans()), min_size=2, max_size=5), data=st.data())
def test_restoring_any_tree_from_any_other_gives_it_exactly(
    steps: list[tuple[dict[str, tuple[str | bytes, int]], bool]], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve() / "work"
        root.mkdir()
        (root.parent / "outside").mkdir()
        tracker = tracker_of(root)
        manifests, seen = [], []
        for tree, swap in steps:
            fill(root, tree, swap=swap)
            manifests.append(tracker.snapshot())
            assert tracker.snapshot(full=True).id == manifests[-1].id
            seen.append(read(root))
        for index in data.draw(st.lists(st.integers(0, len(steps) - 1), min_size=1, max_size=4)):
            plan = plan_to(tracker, manifests[index])
            assert not plan.skipped
            done = apply(tracker, plan)
            assert not done.failed
            assert set(done.done) == {file.path for file in plan.files}
            assert read(root) == seen[index]
            assert done.after.id == manifests[index].id
        assert os.listdir(root.parent / "outside") == []
        tracker.close()
