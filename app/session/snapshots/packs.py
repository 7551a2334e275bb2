"""Contents by their SHA-256, many to a file (a pack); it must never show a pack that is not whole.

A pack: magic, compressed contents, a compressed JSON index, its length in 8 bytes, magic. Written beside its place,
synced, then renamed: a kill at any point leaves a stray `.tmp` and nothing else.
"""

from __future__ import annotations

import json
import os
import zlib
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from app.session.snapshots.model import SnapshotError

MAGIC = b"PNYP1\n"
TAIL = 8 + len(MAGIC)
# level 1: twice as fast as 6 and nearly as small for source text (measured in scripts/snapshot_cost.py)
LEVEL = 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where a content lies: the pack's name, offset and length in bytes."""

    pack: str
    offset: int
    length: int


def open_private(path: Path) -> BinaryIO:
    """A new file of mode 0600 to write to. Raises OSError, also when it exists."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    return os.fdopen(descriptor, "wb", buffering=1 << 20)


def publish(stream: BinaryIO, draft: Path, target: Path) -> None:
    """Sync and close the draft, then give it its name at one stroke. Raises OSError."""
    stream.flush()
    os.fsync(stream.fileno())
    stream.close()
    draft.replace(target)


class PackWriter:
    """A pack that grows in a `.tmp` file. `finish` makes it known; without it `discard` leaves nothing."""

    def __init__(self, folder: Path) -> None:
        self.name = f"{os.urandom(12).hex()}.pack"
        self.places: dict[str, Place] = {}
        self._folder = folder
        self._draft = folder / f"{self.name}.{os.getpid()}.tmp"
        self._stream: BinaryIO | None = None
        self._offset = 0

    def add(self, digest: str, content: bytes) -> None:
        """Add a content unless it is in this pack already. Raises OSError."""
        if digest not in self.places:
            self.add_packed(digest, zlib.compress(content, LEVEL))

    def add_packed(self, digest: str, packed: bytes) -> None:
        """Add what another pack held, as it lay there. Raises OSError."""
        if self._stream is None:
            self._stream = open_private(self._draft)
            self._stream.write(MAGIC)
            self._offset = len(MAGIC)
        self._stream.write(packed)
        self.places[digest] = Place(self.name, self._offset, len(packed))
        self._offset += len(packed)

    def finish(self) -> int:
        """Write the index and publish; gives the pack's bytes, 0 when there is nothing to write. Raises OSError."""
        if self._stream is None:
            return 0
        rows = [[digest, place.offset, place.length] for digest, place in self.places.items()]
        index = zlib.compress(json.dumps(rows).encode(), LEVEL)
        self._stream.write(index + len(index).to_bytes(8) + MAGIC)
        publish(self._stream, self._draft, self._folder / self.name)
        self._stream = None
        return self._offset + len(index) + TAIL

    def discard(self) -> None:
        """Give up what was not finished. Never raises."""
        if self._stream is not None:
            with suppress(OSError):
                self._stream.close()
            with suppress(OSError):
                self._draft.unlink()
            self._stream = None


class Packs:
    """All packs of a folder; `places` says where each content is. Other processes may add and drop packs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.places: dict[str, Place] = {}
        self._loaded: dict[str, list[str]] = {}

    def refresh(self) -> None:
        """Learn of packs that came and went. Cheap when none did. Raises OSError."""
        present = {name for name in os.listdir(self.folder) if name.endswith(".pack")}
        gone = self._loaded.keys() - present
        fresh = present - self._loaded.keys()
        if gone:
            for name in gone:
                del self._loaded[name]
            self.places = {digest: place for digest, place in self.places.items() if place.pack not in gone}
            fresh = present  # a content may also lie in a pack that we know
        for name in fresh:
            rows = read_index(self.folder / name)
            self._loaded[name] = [digest for digest, _, _ in rows]
            for digest, offset, length in rows:
                self.places.setdefault(digest, Place(name, offset, length))

    def note(self, writer: PackWriter) -> None:
        """Take in a pack that this process has finished."""
        if writer.places:
            self._loaded[writer.name] = list(writer.places)
            self.places.update(writer.places)

    def read(self, digest: str) -> bytes:
        """The content. Raises SnapshotError when it is gone (pruned) or damaged."""
        for attempt in range(2):
            place = self.places.get(digest)
            if place is not None:
                try:
                    content = zlib.decompress(self.read_packed(place))
                except FileNotFoundError:
                    pass
                except (OSError, zlib.error) as error:
                    raise SnapshotError(f"the snapshot pack {place.pack} is damaged: {error}") from error
                else:
                    if sha256(content).hexdigest() == digest:
                        return content
                    raise SnapshotError(f"the snapshot pack {place.pack} is damaged")
            if attempt == 0:
                self.refresh()
        raise SnapshotError("the content is no longer kept (old snapshots are pruned, snapshots.maxTotalBytes)")

    def read_packed(self, place: Place) -> bytes:
        """The compressed bytes. Raises OSError."""
        with open(self.folder / place.pack, "rb") as stream:
            stream.seek(place.offset)
            return stream.read(place.length)


def read_index(path: Path) -> list[tuple[str, int, int]]:
    """(digest, offset, length) of each content; nothing for a pack that is not whole or just went. Never raises."""
    try:
        with open(path, "rb") as stream:
            end = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, end - TAIL))
            tail = stream.read()
            size = int.from_bytes(tail[:8])
            if tail[8:] != MAGIC or size > end - TAIL:
                return []
            stream.seek(end - TAIL - size)
            rows = json.loads(zlib.decompress(stream.read(size)))
            return [(str(digest), int(offset), int(length)) for digest, offset, length in rows]
    except (OSError, ValueError, TypeError, zlib.error):
        return []
