"""What a working tree held, as data: file states, manifests, differences; it must never touch a disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, NamedTuple

from app.errors import SessionError

ChangeKind = Literal["created", "changed", "deleted"]
_MODULUS = 1 << 256

WHY_LARGE = "large"
WHY_TOTAL = "total"
WHY_UNREADABLE = "unreadable"
REASONS = {
    WHY_LARGE: "too large to be kept (snapshots.maxFileBytes)",
    WHY_TOTAL: "left out to stay under the total size (snapshots.maxTotalBytes)",
    WHY_UNREADABLE: "can't be read",
}


class SnapshotError(SessionError):
    """A snapshot can't be taken, found or restored."""


class FileState(NamedTuple):
    """One path: kind `f` (file), `l` (link, its target is the content) or `x` (there, but not covered).

    `mode` is the nine permission bits, `digest` the content's SHA-256 in hex; for `x` the digest is the reason.
    """

    kind: str
    mode: int
    size: int
    digest: str

    @property
    def is_covered(self) -> bool:
        """Whether the content was kept."""
        return self.kind != "x"


def not_covered(reason: str) -> FileState:
    """The state of a path that is there but not kept. It doesn't change while the file grows."""
    return FileState("x", 0, 0, reason)


@dataclass(frozen=True, slots=True, eq=False)
class Manifest:
    """All paths (relative, with slashes) of a tree at a moment. Equal trees have equal ids."""

    id: str
    files: Mapping[str, FileState]

    @classmethod
    def of(cls, files: Mapping[str, FileState]) -> Manifest:
        """The manifest of these files; takes time in proportion to their number."""
        return cls(_hex(sum(_number(path, state) for path, state in files.items())), files)

    def with_changes(self, changes: Mapping[str, FileState | None]) -> Manifest:
        """This manifest with some paths replaced (None: gone); the id costs time by the number of changes only."""
        total = int(self.id, 16)
        files = dict(self.files)
        for path, new in changes.items():
            old = files.pop(path, None)
            if old is not None:
                total -= _number(path, old)
            if new is not None:
                files[path] = new
                total += _number(path, new)
        return Manifest(_hex(total), files)


class Difference(NamedTuple):
    """One path that differs; None where it is not there."""

    path: str
    old: FileState | None
    new: FileState | None

    @property
    def kind(self) -> ChangeKind:
        """What happened to it."""
        return "created" if self.old is None else "deleted" if self.new is None else "changed"


def differences(old: Manifest, new: Manifest) -> list[Difference]:
    """What differs, ordered by path; nothing for equal ids."""
    if old.id == new.id:
        return []
    before, after = old.files, new.files
    found = [Difference(path, before.get(path), state) for path, state in after.items() if before.get(path) != state]
    found += [Difference(path, state, None) for path, state in before.items() if path not in after]
    return sorted(found)


def count_kinds(found: Iterable[Difference]) -> dict[str, int]:
    """How many were created, changed, deleted."""
    counts: dict[str, int] = {"created": 0, "changed": 0, "deleted": 0}
    for one in found:
        counts[one.kind] += 1
    return counts


def parents_of(path: str) -> Iterator[str]:
    """The folders above a relative path, the nearest first, the root left out."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _number(path: str, state: FileState) -> int:
    # A sum of hashes: order-free and updated in place. Trees are the user's own, so nobody forges collisions.
    text = f"{path}\0{state.kind}{state.mode}\0{state.digest}"
    return int.from_bytes(sha256(text.encode("utf-8", "surrogateescape")).digest())


def _hex(total: int) -> str:
    return f"{total % _MODULUS:064x}"
