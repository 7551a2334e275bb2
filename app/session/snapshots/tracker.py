"""A project's tree as manifests: scan, read what changed, store it; it must never write into the tree."""

from __future__ import annotations

import os
import stat
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.session.snapshots import model
from app.session.snapshots.model import FileState, Manifest, SnapshotError, not_covered
from app.session.snapshots.prune import prune
from app.session.snapshots.scan import Key, Scan, Scanner, is_settled, key_of
from app.session.snapshots.store import Saving, SnapshotStore, project_store, read_record, write_record

FULL_SCAN_EVERY_S = 300
PRUNE_EVERY_BYTES = 16 * 1024 * 1024
# how many changes make the index of stats worth writing again (it is written on close anyhow)
INDEX_AFTER = 2_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What snapshots may take: bytes of one file, bytes of all snapshots of all projects, files of one tree."""

    enabled: bool = True
    max_file_bytes: int = 5 * 1024 * 1024
    max_total_bytes: int = 1024 * 1024 * 1024
    max_files: int = 100_000

    @classmethod
    def of(cls, raw: Mapping[str, object]) -> Limits:
        """The limits in the settings object (`snapshots.enabled/maxFileBytes/maxTotalBytes`); wrong values: default."""
        group = raw.get("snapshots")
        group = group if isinstance(group, dict) else {}
        default = cls()
        return cls(
            enabled=group.get("enabled") is not False,
            max_file_bytes=_bytes(group.get("maxFileBytes"), default.max_file_bytes),
            max_total_bytes=_bytes(group.get("maxTotalBytes"), default.max_total_bytes),
        )


def _bytes(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else default


def refusal(root: Path) -> str | None:
    """Why no snapshots are taken of a folder; None when they are."""
    real, home = os.path.realpath(root), os.path.realpath(os.path.expanduser("~"))
    if real == os.path.dirname(real):
        return "no snapshots are taken of the whole file system"
    if home == real or home.startswith(os.path.join(real, "")):
        return "no snapshots are taken of the home folder"
    return None


class Tracker:
    """One project's snapshots. Blocking; one thread at a time, others wait. `root` is made a real path."""

    def __init__(self, root: Path, snapshots: Path, limits: Limits | None = None) -> None:
        reason = refusal(root)
        if reason is not None:
            raise SnapshotError(reason, "Start in the project's own folder")
        self.root = os.path.realpath(root)
        self.limits = limits or Limits()
        self.store = SnapshotStore(project_store(snapshots, Path(self.root)), Path(self.root))
        self.lock = threading.RLock()
        self.unreadable: list[str] = []
        self._snapshots = snapshots
        self._scanner = Scanner(
            self.root, skip=frozenset({os.path.realpath(snapshots.parent)}), max_files=self.limits.max_files
        )
        self._known: dict[str, tuple[Key, FileState]] = {}
        self._current: Manifest | None = None
        self._full_at_s = float("-inf")
        self._cap_bytes = self.limits.max_file_bytes
        self._unwritten = 0
        self._pruned_at_bytes: int | None = None

    def snapshot(self, check: Callable[[], None] = lambda: None, *, full: bool = False) -> Manifest:
        """The tree as it is now, stored. Costs a scan when nothing changed, and then writes nothing.

        `full` looks at every file instead of asking the kernel's watch. `check` may raise to end it early. Raises
        SnapshotError (TooManyFilesError), OSError.
        """
        with self.lock:
            now_s = time.monotonic()
            full = full or now_s - self._full_at_s > FULL_SCAN_EVERY_S
            found = self._scanner.scan(check, full=full)
            if full:
                self._full_at_s, self.unreadable = now_s, found.unreadable
            try:
                manifest = self._take_in(found, check)
            except BaseException:
                self._scanner.reset()
                raise
            return manifest

    def knows(self, path: str) -> bool:
        """Whether the last scan saw the path as one that snapshots look at (ignored and special ones are not)."""
        return self._scanner.knows(path)

    def close(self) -> None:
        """Write the index of stats, end the watch. Raises nothing."""
        with self.lock:
            if self._unwritten:
                self._write_index()
            self._scanner.close()

    def _take_in(self, found: Scan, check: Callable[[], None]) -> Manifest:
        current = self._current
        idle = not found.dirty and not found.gone and not found.is_fresh
        if current is not None and idle and self.store.has_manifest(current.id):
            return current
        if found.is_fresh:
            if not self._known:
                self._read_index()
            self._choose_cap(found)
        with self.store.saving() as saving:
            # what another process pruned is written whole, with the contents that went
            kept = current if current is not None and self.store.has_manifest(current.id) else None
            changes: dict[str, FileState | None] = dict.fromkeys(found.gone)
            base = current or Manifest.of({path: state for path, (_, state) in self._known.items()})
            if found.is_fresh:
                seen = {path for path, _ in found.dirty}
                changes = {path: None for path in base.files if path not in seen}
            for path, status in found.dirty:
                check()
                state, key = self._state(path, status, saving)
                self._scanner.settle(path, key)
                if state is None:
                    changes[path] = None
                    continue
                if base.files.get(path) == state:
                    changes.pop(path, None)
                else:
                    changes[path] = state
                if key is None:
                    self._known.pop(path, None)
                else:
                    self._known[path] = (key, state)
            for path, new in changes.items():
                if new is None:
                    self._known.pop(path, None)
            manifest = base.with_changes(changes) if changes else base
            if kept is None:
                manifest = self._with_contents(manifest, saving)
            saving.manifest(manifest, kept, changes)
        self._current = manifest
        self._unwritten += len(changes)
        if self._unwritten >= INDEX_AFTER:
            self._write_index()
        self._prune_sometimes(manifest)
        return manifest

    def _state(self, path: str, status: os.stat_result, saving: Saving) -> tuple[FileState | None, Key | None]:
        """The path's state, its content stored, and the key to know it by (None: look again next time)."""
        known = self._known.get(path)
        key = key_of(status)
        if known is not None and known[0] == key and known[1].size <= self._cap_bytes and saving.has(known[1].digest):
            return known[1], key
        now_ns = time.time_ns()
        mode = stat.S_IMODE(status.st_mode) & 0o777
        target = os.path.join(self.root, path)
        trusted = key if is_settled(status, now_ns) else None
        try:
            if stat.S_ISLNK(status.st_mode):
                content = os.fsencode(os.readlink(target))
                return FileState("l", 0, len(content), saving.add(content)), trusted
            if not stat.S_ISREG(status.st_mode):
                return None, None
            if status.st_size > self._cap_bytes:
                large = status.st_size > self.limits.max_file_bytes
                return not_covered(model.WHY_LARGE if large else model.WHY_TOTAL), trusted
            data, after = read_regular(target, self.limits.max_file_bytes)
        except FileNotFoundError:
            return None, None
        except OSError:
            return not_covered(model.WHY_UNREADABLE), None
        if data is None:
            return not_covered(model.WHY_LARGE), None
        same = key_of(after) == key
        return FileState("f", mode, len(data), saving.add(data)), trusted if same else None

    def _with_contents(self, manifest: Manifest, saving: Saving) -> Manifest:
        """The manifest, its contents all in the store; what another process pruned is read again."""
        mended: dict[str, FileState | None] = {}
        for path, state in manifest.files.items():
            if state.is_covered and not saving.has(state.digest):
                try:
                    status = os.lstat(os.path.join(self.root, path))
                except OSError:
                    mended[path] = None
                    continue
                self._known.pop(path, None)
                mended[path] = self._state(path, status, saving)[0]
        return manifest.with_changes(mended) if mended else manifest

    def _choose_cap(self, found: Scan) -> None:
        """The largest files are left out when the tree would fill more than half of the total by itself."""
        self._cap_bytes = self.limits.max_file_bytes
        sizes = sorted(s.st_size for _, s in found.dirty if s.st_size <= self._cap_bytes)
        room = self.limits.max_total_bytes // 2
        total = 0
        for size in sizes:
            total += size
            if total > room:
                self._cap_bytes = size - 1
                return

    def _prune_sometimes(self, manifest: Manifest) -> None:
        written = self.store.written_bytes
        if self._pruned_at_bytes is None or written - self._pruned_at_bytes > PRUNE_EVERY_BYTES:
            self._pruned_at_bytes = written
            if prune(self._snapshots, self.limits.max_total_bytes, {manifest.id}):
                self.store.forget()

    def _index_path(self) -> Path:
        return self.store.folder / "index"

    def _read_index(self) -> None:
        """Take over what an earlier process knew; a damaged index only costs time."""
        try:
            _, rows = read_record(self._index_path())
            self._known = {path: (Key(*row[:4]), FileState(*row[4:])) for path, row in rows.items()}
        except (OSError, ValueError, TypeError, AttributeError, zlib.error):
            self._known = {}

    def _write_index(self) -> None:
        rows = {path: [*key, *state] for path, (key, state) in self._known.items()}
        try:
            write_record(self._index_path(), {}, rows)
            self._unwritten = 0
        except OSError:
            pass


def read_regular(path: str, most_bytes: int) -> tuple[bytes | None, os.stat_result]:
    """The bytes of a regular file (None: more than `most_bytes`) and its stat after reading. Follows no last link.

    Raises OSError, for anything but a regular file as well; never waits for a pipe.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb", buffering=0) as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(22, "is no regular file", path)
        parts: list[bytes] = []
        left = most_bytes + 1
        while left > 0:
            part = stream.read(min(left, 1 << 20))
            if not part:
                break
            parts.append(part)
            left -= len(part)
        return (b"".join(parts) if left > 0 else None), os.fstat(descriptor)
