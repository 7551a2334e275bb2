"""Puts one file or link into a tree, or takes one away; it must never pass through a link or leave a file half written.

Every folder on the way is opened by itself without following links, so that no path can lead out of the root.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from app.session.snapshots.model import FileState
from app.session.snapshots.scan import DRAFT_PREFIX, DRAFT_SUFFIX

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def parent_of(root: str, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """The descriptor of the folder that holds a relative path, and the path's name in it.

    With `make` missing folders are made (0777 less the umask). Raises OSError: NotADirectoryError or ELOOP where a
    link or file is in the way; ValueError for a path that could leave the root.
    """
    *folders, name = path.split("/")
    if any(part in ("", ".", "..") for part in (*folders, name)) or "\0" in path:
        raise ValueError(f"{path!r} is no path inside the folder")
    descriptor = os.open(root, _FOLDER & ~os.O_NOFOLLOW)
    try:
        for part in folders:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=descriptor)
            below = os.open(part, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        yield descriptor, name
    finally:
        os.close(descriptor)


def status_of(root: str, path: str) -> os.stat_result | None:
    """The path's own stat (a link's, not its target's); None when nothing is there or a link is on the way."""
    try:
        with parent_of(root, path) as (folder, name):
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None


def put(root: str, path: str, state: FileState, content: bytes) -> None:
    """Make the path hold `content` with the state's kind and mode, at one stroke. Raises OSError, ValueError."""
    with parent_of(root, path, make=True) as (folder, name):
        draft = f"{DRAFT_PREFIX}{os.urandom(8).hex()}{DRAFT_SUFFIX}"
        try:
            if state.kind == "l":
                os.symlink(os.fsdecode(content), draft, dir_fd=folder)
            else:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                descriptor = os.open(draft, flags, 0o600, dir_fd=folder)
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(content)
                    stream.flush()
                    os.fchmod(descriptor, state.mode & 0o777)
                    os.fsync(descriptor)
            os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(draft, dir_fd=folder)
            raise


def set_mode(root: str, path: str, mode: int) -> None:
    """Give a regular file these permission bits. Raises OSError."""
    with parent_of(root, path) as (folder, name):
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(name, flags, dir_fd=folder)
        except PermissionError:
            # not readable by its owner: by name then; the last part was no link a moment ago
            os.chmod(name, mode & 0o777, dir_fd=folder)
            return
        try:
            os.fchmod(descriptor, mode & 0o777)
        finally:
            os.close(descriptor)


def take_away(root: str, path: str) -> None:
    """Delete the file or link. Raises OSError."""
    with parent_of(root, path) as (folder, name):
        os.unlink(name, dir_fd=folder)


def remove_if_empty(root: str, path: str) -> bool:
    """Remove the folder if nothing is in it; whether it went. Never raises for a folder that is not empty or gone."""
    try:
        with parent_of(root, path) as (folder, name):
            os.rmdir(name, dir_fd=folder)
    except OSError:
        return False
    return True


def is_folder(root: str, path: str) -> bool:
    """Whether a real folder is there."""
    status = status_of(root, path)
    return status is not None and stat.S_ISDIR(status.st_mode)
