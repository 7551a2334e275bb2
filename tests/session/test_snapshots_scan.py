"""Scans that ask the kernel's watch see what a walk of the whole tree sees, whatever was moved where."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.session.snapshots import scan
from app.session.snapshots.model import Manifest
from app.session.snapshots.tracker import Tracker
from app.session.snapshots.watch import Watch
from tests.session.snapshot_kit import read, tracker_of, write


def expect(root: Path) -> dict[str, tuple[str, int, str]]:
    return {path: (kind, mode, sha256(content).hexdigest()) for path, (kind, content, mode) in read(root).items()}


def got(manifest: Manifest) -> dict[str, tuple[str, int, str]]:
    return {path: (state.kind, state.mode, state.digest) for path, state in manifest.files.items()}


def some_folder(root: Path, chance: random.Random) -> Path:
    return chance.choice(
        [root]
        + [
            Path(inner) / name
            for inner, names, _ in os.walk(root)
            for name in names
            if not (Path(inner) / name).is_symlink()
        ]
    )


def disturb(root: Path, chance: random.Random) -> None:
    """One random change: write, mkdir, rename, delete, chmod, link; an impossible one does nothing."""
    path = some_folder(root, chance) / chance.choice("abcde")
    is_folder = path.is_dir() and not path.is_symlink()
    try:
        match chance.choice("wwwmmrrxcl"):
            case "w" if not is_folder and not path.is_symlink():
                # contents of unlike length: the stamps of an older kernel are too coarse for the others
                path.write_bytes(chance.choice([b"x", b"yy", b"zzz"]))
            case "m":
                path.mkdir()
            case "r":
                path.rename(some_folder(root, chance) / chance.choice("abcde"))
            case "x":
                shutil.rmtree(path) if is_folder else path.unlink()
            case "c" if path.is_file() and not path.is_symlink():
                path.chmod(chance.choice([0o600, 0o644]))
            case "l":
                path.symlink_to(chance.choice("abcde"))
    except OSError:
        return


@pytest.mark.parametrize("trusted", [True, False], ids=["stamps trusted at once", "young stamps read again"])
def test_a_watched_tree_is_known_after_any_mixture_of_changes(trusted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if trusted:
        if Watch.start(tempfile.gettempdir()) is None:
            pytest.skip("no watch here")
        monkeypatch.setattr(scan, "SETTLED_AFTER_NS", -(10**15))

    @settings(max_examples=25, deadline=None)
    @given(seed=st.integers(0, 2**32))
    def check(seed: int) -> None:
        chance = random.Random(seed)
        with tempfile.TemporaryDirectory() as name:
            root = Path(name).resolve() / "work"
            root.mkdir()
            tracker = tracker_of(root)
            for _ in range(12):
                for _ in range(chance.randint(0, 6)):
                    disturb(root, chance)
                manifest = tracker.snapshot()
                assert got(manifest) == expect(root)
                assert tracker._scanner.count == len(manifest.files)
            tracker.close()

    check()


def test_folders_that_exchange_places_are_told_apart(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "SETTLED_AFTER_NS", -(10**15))
    write(work, {"a/c/x": "1", "b/c/x": "22", "b/c/y": "3"})
    tracker = tracker_of(work)
    tracker.snapshot()
    for one, other in (("a", "t"), ("b", "a"), ("t", "b")):
        (work / one).rename(work / other)
    assert got(tracker.snapshot()) == expect(work)
    write(work, {"b/c/x": "4444", "a/c/y": "55555"})
    assert got(tracker.snapshot()) == expect(work)
    tracker.close()


def test_a_lost_event_is_made_good_by_a_full_scan(work: Path) -> None:
    write(work, {"a": "1", "d/b": "2"})
    tracker: Tracker = tracker_of(work)
    tracker.snapshot()
    watch = tracker._scanner._watch
    if watch is not None:
        watch.close()
    write(work, {"d/b": "changed", "d/c": "new"})
    assert got(tracker.snapshot()) == expect(work)
    write(work, {"d/b": "changed again"})
    assert got(tracker.snapshot()) == expect(work)
    tracker.close()
