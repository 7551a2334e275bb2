"""Trees on the disk for tests of snapshots: written from a dict, read back as one."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from app.session.snapshots.tracker import Limits, Tracker

Tree = dict[str, str | bytes | tuple[str | bytes, int] | None]
Seen = dict[str, tuple[str, bytes, int]]


def write(root: Path, tree: Tree) -> None:
    """Files by relative path: text, bytes, (content, mode), `-> target` for a link; None deletes."""
    for path, given in tree.items():
        target = root / path
        if given is None:
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            else:
                target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        content, mode = given if isinstance(given, tuple) else (given, None)
        if isinstance(content, str) and content.startswith("-> "):
            target.unlink(missing_ok=True)
            target.symlink_to(content[3:])
            continue
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        if mode is not None:
            target.chmod(mode)


def read(root: Path) -> Seen:
    """Everything below the root but .git and ignored trees: kind, content, mode. Folders are told by their files."""
    seen: Seen = {}
    for inner, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        links = [name for name in folders if os.path.islink(os.path.join(inner, name))]
        for name in [*names, *links]:
            path = os.path.join(inner, name)
            relative = os.path.relpath(path, root)
            if os.path.islink(path):
                seen[relative] = ("l", os.fsencode(os.readlink(path)), 0)
            else:
                seen[relative] = ("f", Path(path).read_bytes(), stat.S_IMODE(os.stat(path).st_mode))
    return seen


def folders(root: Path) -> set[str]:
    """All folders below the root."""
    return {os.path.relpath(os.path.join(inner, name), root) for inner, names, _ in os.walk(root) for name in names}


def tracker_of(work: Path, limits: Limits | None = None) -> Tracker:
    """A tracker whose store lies beside the working folder."""
    return Tracker(work, work.parent / "data" / "snapshots", limits)
