"""Keeps all projects' snapshots under a total size, the least recently used first; it must never break a kept one."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from app.session.snapshots.model import SnapshotError
from app.session.snapshots.packs import Packs, PackWriter
from app.session.snapshots.store import SnapshotStore, lock

STRAY_AFTER_S = 24 * 3600


def size_bytes(folder: Path) -> int:
    """The bytes of all files below a folder; what goes meanwhile is passed over."""
    total = 0
    for inner, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(inner, name)).st_size
    return total


def prune(snapshots: Path, most_bytes: int, keep: set[str]) -> bool:
    """Drop old snapshots of any project until all of them take at most `most_bytes`; whether any went.

    Those in `keep` stay, whatever it takes. A store that another process is saving to is left for the next time.
    Raises OSError.
    """
    sizes = {store: size_bytes(store) for store in snapshots.iterdir() if store.is_dir()}
    any_gone = False
    blocked: set[Path] = set()
    while sum(sizes.values()) > most_bytes:
        oldest: tuple[int, Path] | None = None
        for store in sizes.keys() - blocked:
            ages = [age for age, name in _manifests(store) if name not in keep]
            if ages and (oldest is None or ages[0] < oldest[0]):
                oldest = (ages[0], store)
        if oldest is None:
            break
        store = oldest[1]
        if not _drop_oldest(store, keep):
            blocked.add(store)
            continue
        any_gone = True
        sizes[store] = size_bytes(store)
    return any_gone


def _manifests(store: Path) -> list[tuple[int, str]]:
    """(last use in ns, id), the oldest first."""
    found: list[tuple[int, str]] = []
    with suppress(OSError), os.scandir(store / "manifests") as scan:
        for entry in scan:
            if len(entry.name) == 64:
                with suppress(OSError):
                    found.append((entry.stat().st_mtime_ns, entry.name))
    return sorted(found)


def _drop_oldest(folder: Path, keep: set[str]) -> bool:
    """Drop a quarter of a store's manifests, and the contents that only they had. False: nothing could be done."""
    with lock(folder, exclusive=True) as is_held:
        if not is_held:
            return False
        droppable = [name for _, name in _manifests(folder) if name not in keep]
        going = set(droppable[: max(1, len(droppable) // 4)])
        if not going:
            return False
        store = SnapshotStore(folder, folder)
        live: set[str] = set()
        staying = [name for _, name in _manifests(folder) if name not in going]
        for name in staying:
            try:
                # whole before its base goes; a kept one that can't be loaded is of no use to anybody
                manifest = store.load(name)
                live.update(state.digest for state in manifest.files.values() if state.is_covered)
                if store.record(name).get("base") in going:
                    store.rewrite_whole(manifest)
            except SnapshotError:
                going.add(name)
        for name in going:
            (folder / "manifests" / name).unlink(missing_ok=True)
        _repack(folder / "packs", live)
        _remove_strays(folder)
        return True


def _repack(folder: Path, live: set[str]) -> None:
    """Drop packs without a live content, write those anew that hold mostly dead ones."""
    packs = Packs(folder)
    packs.refresh()
    by_pack: dict[str, list[str]] = {name: [] for name in os.listdir(folder) if name.endswith(".pack")}
    for digest, place in packs.places.items():
        if digest in live:
            by_pack.setdefault(place.pack, []).append(digest)
    writer = PackWriter(folder)
    dead: list[str] = []
    try:
        for name, digests in by_pack.items():
            kept = sum(packs.places[digest].length for digest in digests)
            if not digests or kept * 2 < os.path.getsize(folder / name):
                for digest in digests:
                    writer.add_packed(digest, packs.read_packed(packs.places[digest]))
                dead.append(name)
        writer.finish()
    finally:
        writer.discard()
    for name in dead:
        (folder / name).unlink(missing_ok=True)


def _remove_strays(folder: Path) -> None:
    """Drafts that a killed process left, once they are a day old."""
    limit_s = time.time() - STRAY_AFTER_S
    for inner in (folder, folder / "packs", folder / "manifests"):
        with suppress(OSError):
            for path in inner.glob("*.tmp"):
                with suppress(OSError):
                    if path.stat().st_mtime < limit_s:
                        path.unlink()
