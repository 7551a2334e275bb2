"""A project's snapshots in the data folder: manifests over packs; it must never lie inside the user's repository.

Several processes may save at once: saving holds a shared lock, pruning an exclusive one. A manifest is written after
the pack with its contents, so that what is there is whole. Folders 0700, files 0600.
"""

from __future__ import annotations

import fcntl
import json
import os
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from app.config.paths import ensure_private_dir
from app.session.snapshots.model import FileState, Manifest, SnapshotError
from app.session.snapshots.packs import LEVEL, Packs, PackWriter, open_private, publish

MAX_CHAIN = 64
_WHOLE: dict[str, object] = {"base": None, "depth": 0}
KEPT_IN_MEMORY = 6


def project_store(snapshots: Path, root: Path) -> Path:
    """The folder of a project's store, not created; `root` is the project's real path."""
    return snapshots / sha256(os.fsencode(root)).hexdigest()[:24]


class SnapshotStore:
    """The store in `folder`. Made when first written to."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder = folder
        self._root = root
        self._manifests = folder / "manifests"
        self.packs = Packs(folder / "packs")
        self._depths: dict[str, int] = {}
        self._cache: OrderedDict[str, Manifest] = OrderedDict()
        self.written_bytes = 0

    @contextmanager
    def saving(self) -> Iterator[Saving]:
        """What is added inside becomes known at the end, if the block ends well. Raises OSError."""
        for folder in (self.folder, self._manifests, self.packs.folder):
            ensure_private_dir(folder)
        name = self.folder / "project"
        if not name.exists():
            write_whole(name, os.fsencode(self._root))
        with lock(self.folder):
            self.packs.refresh()
            writer = PackWriter(self.packs.folder)
            try:
                yield Saving(self, writer)
                self._finish(writer)
            finally:
                writer.discard()

    def _finish(self, writer: PackWriter) -> None:
        self.written_bytes += writer.finish()
        self.packs.note(writer)

    def has_manifest(self, manifest_id: str) -> bool:
        """Whether it is kept."""
        return self._path(manifest_id).exists()

    def save_manifest(self, manifest: Manifest, base: Manifest | None, changes: Mapping[str, FileState | None]) -> None:
        """Write the manifest unless it is there: as `changes` over `base`, or whole. Call it inside `saving`."""
        self._remember(manifest)
        path = self._path(manifest.id)
        if path.exists():
            os.utime(path)  # pruned by age of last use
            return
        depth = 0
        if base is not None and len(changes) * 4 <= len(manifest.files) and self.has_manifest(base.id):
            depth = self._depth(base.id) + 1
        if base is not None and 0 < depth <= MAX_CHAIN:
            head: Mapping[str, object] = {
                "base": base.id,
                "depth": depth,
                "gone": [name for name, new in changes.items() if new is None],
            }
            put: Mapping[str, FileState] = {name: new for name, new in changes.items() if new is not None}
        else:
            depth, head, put = 0, _WHOLE, manifest.files
        self._depths[manifest.id] = depth
        self.written_bytes += write_record(path, head, put)

    def rewrite_whole(self, manifest: Manifest) -> None:
        """Store a kept manifest without its base, its age as it was. Raises OSError."""
        path = self._path(manifest.id)
        status = path.stat()
        write_record(path, _WHOLE, manifest.files)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def load(self, manifest_id: str) -> Manifest:
        """The manifest. Raises SnapshotError when it was pruned or is damaged."""
        found = self._cache.get(manifest_id)
        if found is not None:
            self._cache.move_to_end(manifest_id)
            return found
        chain: list[dict[str, object]] = []
        wanted: object = manifest_id
        files: dict[str, FileState] = {}
        while isinstance(wanted, str) and len(chain) <= MAX_CHAIN + 1:
            if wanted in self._cache:
                files = dict(self._cache[wanted].files)
                break
            record = self.record(wanted)
            chain.append(record)
            wanted = record.get("base")
        for record in reversed(chain):
            gone, put = record.get("gone", []), record["set"]
            if isinstance(gone, list):
                for path in gone:
                    files.pop(path, None)
            if isinstance(put, dict):
                try:
                    files.update((path, FileState(*state)) for path, state in put.items())
                except TypeError as error:
                    raise SnapshotError("the snapshot is damaged: a file has no sound state") from error
        manifest = Manifest.of(files)
        if manifest.id != manifest_id:
            raise SnapshotError("the snapshot is damaged: its files don't add up")
        self._remember(manifest)
        return manifest

    def record(self, manifest_id: str) -> dict[str, object]:
        """A manifest as stored. Raises SnapshotError."""
        try:
            head, items = read_record(self._path(manifest_id))
        except FileNotFoundError as error:
            raise SnapshotError("the snapshot is no longer kept (old ones are pruned)") from error
        except (OSError, ValueError, zlib.error) as error:
            raise SnapshotError(f"the snapshot can't be read: {error}") from error
        return {**head, "set": items}

    def forget(self) -> None:
        """Forget what is remembered of the disk (after pruning)."""
        self._cache.clear()
        self._depths.clear()

    def _remember(self, manifest: Manifest) -> None:
        self._cache[manifest.id] = manifest
        self._cache.move_to_end(manifest.id)
        while len(self._cache) > KEPT_IN_MEMORY:
            self._cache.popitem(last=False)

    def _depth(self, manifest_id: str) -> int:
        depth = self._depths.get(manifest_id)
        if depth is None:
            stored = self.record(manifest_id).get("depth")
            depth = self._depths[manifest_id] = stored if isinstance(stored, int) else MAX_CHAIN
        return depth

    def _path(self, manifest_id: str) -> Path:
        if len(manifest_id) != 64 or not manifest_id.isalnum():  # ids come from session files: foreign
            raise SnapshotError(f"{manifest_id[:80]!r} is no snapshot id")
        return self._manifests / manifest_id


class Saving:
    """Contents on their way into the store."""

    def __init__(self, store: SnapshotStore, writer: PackWriter) -> None:
        self._store = store
        self._writer = writer

    def has(self, digest: str) -> bool:
        """Whether the content is kept already."""
        return digest in self._store.packs.places or digest in self._writer.places

    def add(self, content: bytes) -> str:
        """Keep a content; gives its digest. Raises OSError."""
        digest = sha256(content).hexdigest()
        if not self.has(digest):
            self._writer.add(digest, content)
        return digest

    def manifest(self, manifest: Manifest, base: Manifest | None, changes: Mapping[str, FileState | None]) -> None:
        """Keep a manifest, once its contents are on the disk. Raises OSError."""
        self._store._finish(self._writer)
        self._store.save_manifest(manifest, base, changes)


@contextmanager
def lock(folder: Path, *, exclusive: bool = False) -> Iterator[bool]:
    """Hold the store's lock; False when it was wanted exclusive and others are at work. Raises OSError."""
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB if exclusive else fcntl.LOCK_SH)
        except BlockingIOError:
            yield False
            return
        except OSError:
            # a file system without locks: saving is safe by renames alone, pruning is not
            yield not exclusive
            return
        yield True
    finally:
        os.close(descriptor)


def write_record(path: Path, head: Mapping[str, object], items: Mapping[str, Sequence[object]]) -> int:
    """Write a head and items as compressed lines of JSON at one stroke; gives the bytes. Raises OSError.

    In lines of 500 items, since json holds the interpreter until it is done: 45 ms for 20,000 at once.
    """
    lines = [json.dumps(head)]
    rows = iter(items.items())
    while part := dict(islice(rows, 500)):
        lines.append(json.dumps(part, separators=(",", ":")))
    data = zlib.compress("\n".join(lines).encode(), LEVEL)
    write_whole(path, data)
    return len(data)


def read_record(path: Path) -> tuple[dict[str, object], dict[str, list[Any]]]:
    """What `write_record` wrote. Raises OSError, ValueError, zlib.error."""
    head, *parts = (json.loads(line) for line in zlib.decompress(path.read_bytes()).split(b"\n"))
    if not isinstance(head, dict) or not all(isinstance(part, dict) for part in parts):
        raise ValueError("it is damaged")
    items: dict[str, list[Any]] = {}
    for part in parts:
        items.update(part)
    return head, items


def write_whole(path: Path, data: bytes) -> None:
    """Replace `path` by `data` (mode 0600) at one stroke, synced. Raises OSError."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    stream = open_private(draft)
    try:
        stream.write(data)
        publish(stream, draft, path)
    except BaseException:
        stream.close()
        draft.unlink(missing_ok=True)
        raise
