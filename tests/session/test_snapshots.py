"""Snapshots: what a scan finds, what the store keeps, whoever else is at work and whenever it is killed."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from app.session.snapshots.compare import changes, diff_rows
from app.session.snapshots.model import Manifest, SnapshotError, differences
from app.session.snapshots.prune import size_bytes
from app.session.snapshots.scan import TooManyFilesError
from app.session.snapshots.tracker import Limits, Tracker
from tests.session.snapshot_kit import tracker_of, write

OLD = (1_700_000_000, 1_700_000_000)


def content(tracker: Tracker, manifest: Manifest, path: str) -> bytes:
    return tracker.store.packs.read(manifest.files[path].digest)


def test_a_snapshot_holds_text_binary_modes_and_links_as_links(work: Path) -> None:
    write(work, {"a.txt": "alpha\n", "deep/er/b.bin": b"\0\xff\x00", "run.sh": ("#!/bin/sh\n", 0o755), "l": "-> a.txt"})
    (work.parent / "outside").mkdir()
    (work.parent / "outside" / "secret").write_text("secret")
    (work / "out").symlink_to("../outside")
    tracker = tracker_of(work)
    manifest = tracker.snapshot()
    assert set(manifest.files) == {"a.txt", "deep/er/b.bin", "run.sh", "l", "out"}
    assert content(tracker, manifest, "deep/er/b.bin") == b"\0\xff\x00"
    assert content(tracker, manifest, "out") == b"../outside"
    assert [manifest.files[path].kind for path in ("a.txt", "l", "out")] == ["f", "l", "l"]
    assert manifest.files["run.sh"].mode == 0o755


def test_equal_trees_have_equal_ids_and_a_way_back_is_found(work: Path) -> None:
    tracker = tracker_of(work)
    write(work, {"a": "1", "b": "2"})
    first = tracker.snapshot()
    write(work, {"a": "changed", "c": "3"})
    second = tracker.snapshot()
    write(work, {"a": "1", "c": None})
    third = tracker.snapshot()
    assert first.id == third.id != second.id
    assert [(d.path, d.kind) for d in differences(first, second)] == [("a", "changed"), ("c", "created")]


def test_an_unchanged_tree_costs_no_byte_and_every_kind_of_change_is_found(work: Path) -> None:
    tracker = tracker_of(work)
    write(work, {"a": "1", "d/b": "2", "d/e/c": "3", "t": "-> a"})
    last = tracker.snapshot()
    store = work.parent / "data"
    before = size_bytes(store)
    assert tracker.snapshot().id == last.id
    assert tracker.snapshot(full=True).id == last.id
    assert size_bytes(store) == before

    def check(*expected: str) -> None:
        nonlocal last
        now = tracker.snapshot()
        assert [f"{d.kind} {d.path}" for d in differences(last, now)] == list(expected)
        assert now.id == tracker.snapshot(full=True).id
        last = now

    (work / "a").chmod(0o600)
    check("changed a")
    write(work, {"d/b": "X"})  # same size
    check("changed d/b")
    status = os.stat(work / "d/b")
    write(work, {"d/b": "Y"})
    os.utime(work / "d/b", ns=(status.st_atime_ns, status.st_mtime_ns))  # same size, same mtime
    check("changed d/b")
    (work / "d/e").rename(work / "d/f")
    check("deleted d/e/c", "created d/f/c")
    write(work, {"d/f/c": "after the move"})
    check("changed d/f/c")
    write(work, {"d/f": None})
    write(work, {"d/f": "a file now"})
    check("created d/f", "deleted d/f/c")
    write(work, {"t": "-> d"})
    check("changed t")
    write(work, {"new/a/b/c": "deep"})
    check("created new/a/b/c")
    write(work, {"new/a/b/c": "deep again"})
    check("changed new/a/b/c")


def test_a_change_within_the_clocks_grain_is_found(work: Path) -> None:
    tracker = tracker_of(work)
    for number in range(30):
        write(work, {"a": f"{number:03}"})
        manifest = tracker.snapshot(full=bool(number % 2))
        assert content(tracker, manifest, "a") == f"{number:03}".encode()


def test_what_git_ignores_is_not_looked_at_and_a_new_rule_counts_at_once(work: Path) -> None:
    write(work, {".gitignore": "*.log\nbuild/\n", "a.py": "", "x.log": "", "build/o": "", "sub/.gitignore": "!x.log\n"})
    write(work, {"sub/x.log": "", ".git/config": "", "sub/.git/HEAD": ""})
    tracker = tracker_of(work)
    assert set(tracker.snapshot().files) == {".gitignore", "a.py", "sub/.gitignore", "sub/x.log"}
    write(work, {".gitignore": "*.py\n"})
    assert set(tracker.snapshot().files) == {".gitignore", "x.log", "build/o", "sub/.gitignore", "sub/x.log"}
    write(work, {".gitignore": None})
    assert "a.py" in tracker.snapshot().files
    write(work, {".git/info/exclude": "a.py\n"})
    assert "a.py" not in tracker.snapshot(full=True).files


def test_a_repositorys_rules_hold_in_a_folder_of_it(work: Path) -> None:
    write(work, {".git/config": "", ".gitignore": "*.log\n", "part/a": "", "part/b.log": ""})
    tracker = tracker_of(work / "part")
    assert set(tracker.snapshot().files) == {"a"}
    write(work, {".gitignore": ""})
    assert set(tracker.snapshot(full=True).files) == {"a", "b.log"}


def test_what_is_too_large_or_unreadable_is_told_and_not_kept(work: Path) -> None:
    write(work, {"small": "x", "large": b"x" * 2000})
    os.mkfifo(work / "pipe")
    tracker = tracker_of(work, Limits(max_file_bytes=1000))
    manifest = tracker.snapshot()
    assert {path: (state.kind, state.digest) for path, state in manifest.files.items() if state.kind == "x"} == {
        "large": ("x", "large")
    }
    assert set(manifest.files) == {"small", "large"}
    write(work, {"large": b"y" * 3000})
    assert tracker.snapshot().id == manifest.id


def test_a_tree_that_would_fill_the_store_leaves_out_its_largest_files(work: Path) -> None:
    write(work, {f"f{size}": os.urandom(size) for size in (100, 200, 5000)})
    manifest = tracker_of(work, Limits(max_total_bytes=2000)).snapshot()
    assert [path for path, state in manifest.files.items() if not state.is_covered] == ["f5000"]


def test_home_the_root_and_huge_trees_are_refused(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(work))
    for folder in (work, work.parent, Path("/")):
        with pytest.raises(SnapshotError, match="no snapshots are taken"):
            tracker_of(folder)
    monkeypatch.setenv("HOME", str(work.parent / "home"))
    write(work, {f"f{number}": "" for number in range(12)})
    with pytest.raises(TooManyFilesError, match="more than 10 files"):
        tracker_of(work, Limits(max_files=10)).snapshot()


def test_our_own_data_in_the_tree_is_not_looked_at(work: Path) -> None:
    tracker = Tracker(work, work / "data" / "snapshots")
    write(work, {"a": "1"})
    tracker.snapshot()
    assert set(tracker.snapshot(full=True).files) == {"a"}


def test_the_store_is_private_and_beside_the_tree(work: Path) -> None:
    write(work, {"a": "1"})
    tracker_of(work).snapshot()
    for inner, names, files in os.walk(work.parent / "data"):
        for name in names:
            assert stat.S_IMODE(os.stat(os.path.join(inner, name)).st_mode) == 0o700
        for name in files:
            assert stat.S_IMODE(os.stat(os.path.join(inner, name)).st_mode) == 0o600
    assert os.listdir(work) == ["a"]


def test_a_new_process_reads_only_what_changed(work: Path) -> None:
    write(work, {"a": "1", "b": "2"})
    tracker = tracker_of(work)
    first = tracker.snapshot()
    tracker.close()
    write(work, {"b": "3"})
    again = tracker_of(work)
    second = again.snapshot()
    assert [d.path for d in differences(again.store.load(first.id), second)] == ["b"]
    assert content(again, second, "a") == b"1"


def test_a_long_chain_of_changes_loads_again(work: Path) -> None:
    write(work, {f"f{number}": str(number) for number in range(40)})
    tracker = tracker_of(work)
    ids = []
    for number in range(90):
        write(work, {"f0": f"turn {number}"})
        ids.append(tracker.snapshot().id)
    fresh = tracker_of(work)
    for number in (0, 30, 89):
        manifest = fresh.store.load(ids[number])
        assert fresh.store.packs.read(manifest.files["f0"].digest) == f"turn {number}".encode()


def test_the_oldest_go_when_the_total_is_reached_and_the_newest_stays_whole(work: Path) -> None:
    limit = 60_000
    write(work, {"keep": "always", "big": b""})
    tracker = tracker_of(work, Limits(max_total_bytes=limit))
    ids = []
    for _ in range(30):
        write(work, {"big": os.urandom(8_000)})
        tracker._pruned_at_bytes = None  # else only every 16 MiB
        ids.append(tracker.snapshot().id)
        assert size_bytes(work.parent / "data") < limit + 20_000
    fresh = tracker_of(work)
    newest = fresh.store.load(ids[-1])
    assert fresh.store.packs.read(newest.files["keep"].digest) == b"always"
    assert fresh.store.packs.read(newest.files["big"].digest) == (work / "big").read_bytes()
    with pytest.raises(SnapshotError, match="no longer kept"):
        fresh.store.load(ids[0])


def test_what_another_process_pruned_is_kept_again(work: Path) -> None:
    write(work, {"a": "1", "b": "2"})
    tracker = tracker_of(work)
    manifest = tracker.snapshot()
    for path in [*tracker.store.packs.folder.iterdir(), tracker.store.folder / "manifests" / manifest.id]:
        path.unlink()
    assert tracker.snapshot().id == manifest.id
    fresh = tracker_of(work)
    fresh.store.packs.refresh()
    assert content(fresh, fresh.store.load(manifest.id), "b") == b"2"


def test_a_damaged_pack_or_manifest_is_told_never_believed(work: Path) -> None:
    write(work, {"a": "alpha"})
    tracker = tracker_of(work)
    manifest = tracker.snapshot()
    pack = next(tracker.store.packs.folder.glob("*.pack"))
    data = bytearray(pack.read_bytes())
    data[8] ^= 0xFF
    pack.write_bytes(data)
    with pytest.raises(SnapshotError, match="damaged"):
        content(tracker, manifest, "a")
    (tracker.store.folder / "manifests" / manifest.id).write_bytes(b"nonsense")
    with pytest.raises(SnapshotError):
        tracker_of(work).store.load(manifest.id)
    with pytest.raises(SnapshotError, match="no snapshot id"):
        tracker.store.load("../../etc/passwd")


CHILD = """
import os, sys
from pathlib import Path
from app.session.snapshots.tracker import Tracker
work, data, name = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
tracker = Tracker(work, data)
for number in range(25):
    (work / name).write_text(f"{name} {number}")
    manifest = tracker.snapshot()
    print(manifest.id, flush=True)
tracker.close()
"""
KILLED = """
import os, sys
from pathlib import Path
from app.session.snapshots.store import SnapshotStore
from app.session.snapshots.tracker import Tracker
tracker = Tracker(Path(sys.argv[1]), Path(sys.argv[2]))
def die(*_):
    os.kill(os.getpid(), 9)
if sys.argv[3] == "before the pack":
    from app.session.snapshots import packs
    packs.publish = die
else:
    SnapshotStore.save_manifest = die
tracker.snapshot()
"""


def child(code: str, *argv: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code, *argv], stdout=subprocess.PIPE, text=True)


def test_two_processes_keep_the_same_project_at_once(work: Path) -> None:
    data = work.parent / "data" / "snapshots"
    write(work, {"shared": "s"})
    children = [child(CHILD, str(work), str(data), name) for name in ("one", "two")]
    ids = [line for process in children for line in process.communicate(timeout=15)[0].split()]
    assert [process.returncode for process in children] == [0, 0]
    assert len(ids) == 50
    fresh = tracker_of(work)
    fresh.store.packs.refresh()
    for manifest_id in ids:
        for state in fresh.store.load(manifest_id).files.values():
            fresh.store.packs.read(state.digest)
    assert not list(data.rglob("*.tmp"))


@pytest.mark.parametrize("moment", ["before the pack", "before the manifest"])
def test_a_kill_between_content_and_manifest_leaves_a_sound_store(work: Path, moment: str) -> None:
    write(work, {"a": "1"})
    first = tracker_of(work).snapshot()
    write(work, {"a": "2", "b": "3"})
    process = child(KILLED, str(work), str(work.parent / "data" / "snapshots"), moment)
    process.communicate(timeout=15)
    assert process.returncode == -signal.SIGKILL
    tracker = tracker_of(work)
    second = tracker.snapshot()
    assert content(tracker, second, "a") == b"2"
    assert content(tracker, tracker.store.load(first.id), "a") == b"1"


def test_a_stopped_scan_forgets_nothing(work: Path) -> None:
    class StopError(Exception):
        pass

    def stop() -> None:
        raise StopError

    write(work, {"a": "1", "d/b": "2"})
    tracker = tracker_of(work)
    tracker.snapshot()
    write(work, {"d": None, "c": "3"})
    with pytest.raises(StopError):
        tracker.snapshot(stop)
    assert set(tracker.snapshot().files) == {"a", "c"}


def test_changes_are_counted_by_line_and_shown_as_rows(work: Path) -> None:
    write(work, {"a": "1\n2\n3\n", "bin": b"\0\1", "m": ("x", 0o644), "gone": "bye\n"})
    tracker = tracker_of(work)
    old = tracker.snapshot()
    write(work, {"a": "1\ntwo\n3\n4\n", "bin": b"\0\2", "m": ("x", 0o755), "gone": None, "new": "n\nn"})
    new = tracker.snapshot()
    found = {c.path: (c.kind, c.added, c.removed, c.note) for c in changes(tracker.store.packs, old, new)}
    assert found == {
        "a": ("changed", 2, 1, ""),
        "bin": ("changed", 0, 0, "binary"),
        "gone": ("deleted", 0, 1, ""),
        "m": ("changed", 0, 0, "mode 644 → 755"),
        "new": ("created", 2, 0, ""),
    }
    rows = diff_rows(tracker.store.packs, old.files["a"], new.files["a"])
    assert rows.split("\n")[:4] == [" 1 1", "-2 2", "+2 two", " 3 3"]
    assert diff_rows(tracker.store.packs, old.files["bin"], new.files["bin"]).startswith("binary file")


def test_names_that_are_no_utf8_survive(work: Path) -> None:
    name = os.fsdecode(b"caf\xe9\n.txt")
    write(work, {name: "x"})
    manifest = tracker_of(work).snapshot()
    fresh = tracker_of(work)
    assert set(fresh.store.load(manifest.id).files) == {name}
