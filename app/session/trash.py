"""Sessions put away: moved into the data folder's trash, and back; a session's bytes are never changed or deleted.

Everything here blocks. In the trash a file does not end in `.jsonl`, so that nothing takes it for a session.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.config.paths import data_dir, ensure_private_dir, write_private
from app.errors import SessionBusyError, SessionError
from app.session import lease
from app.session.entries import iso_now
from app.session.log import open_regular
from app.session.naming import aside_path, lease_path


@dataclass(frozen=True, slots=True)
class Trashed:
    """A session in the trash: where it was, and where it is now."""

    original: Path
    place: Path


def is_in_use(path: Path) -> bool:
    """Whether a living process (this one too) writes the session. False for a file that is gone."""
    holder = lease.read_holder(path)
    if holder is None and not lease_path(path).exists():
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return not _can_lock(descriptor, path) or (holder is not None and holder.is_alive())
    finally:
        os.close(descriptor)


def _can_lock(descriptor: int, path: Path) -> bool:
    try:
        lease.lock(descriptor, path)
    except SessionBusyError:
        return False
    return True


def put_away(path: Path) -> Trashed:
    """Move a session into the trash. Raises SessionBusyError when a process writes it, SessionError when it can't be.

    Bytes kept aside go with it. A note beside it tells where it was.
    """
    descriptor = open_regular(path, os.O_RDONLY)
    try:
        locked = lease.lock(descriptor, path)
        holder = lease.read_holder(path)
        if holder is not None and holder.is_alive() and not locked:
            raise lease.busy(path, holder)
        try:
            folder = ensure_private_dir(data_dir() / "trash")
            place = _free(folder / f"{path.name}.trashed")
            write_private(
                place.with_name(place.name + ".json"), json.dumps({"path": str(path), "time": iso_now()}) + "\n"
            )
            _move(path, place)
            with suppress(FileNotFoundError):
                _move(aside_path(path), place.with_name(place.name + ".aside"))
            with suppress(OSError):
                lease_path(path).unlink()
        except OSError as error:
            raise SessionError(f"{path}: not moved to the trash: {error.strerror}") from error
        return Trashed(path, place)
    finally:
        os.close(descriptor)


def bring_back(trashed: Trashed) -> Path:
    """Move a session back to where it was. Raises SessionError when something else stands there, or it can't be."""
    if trashed.original.exists():
        raise SessionError(f"{trashed.original} exists", f"The session stays in the trash as {trashed.place}")
    try:
        ensure_private_dir(trashed.original.parent)
        _move(trashed.place, trashed.original)
        with suppress(FileNotFoundError):
            _move(trashed.place.with_name(trashed.place.name + ".aside"), aside_path(trashed.original))
        trashed.place.with_name(trashed.place.name + ".json").unlink(missing_ok=True)
    except OSError as error:
        raise SessionError(f"{trashed.place}: not brought back: {error.strerror}") from error
    return trashed.original


def _free(path: Path) -> Path:
    """The path, or with a number where there is such a file already."""
    candidate, number = path, 2
    while candidate.exists():
        candidate, number = path.with_name(f"{path.name}.{number}"), number + 1
    return candidate


def _move(source: Path, target: Path) -> None:
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # another file system: copied whole under a name of its own before the old one goes
        draft = target.with_name(target.name + ".part")
        shutil.copy2(source, draft)
        draft.rename(target)
        source.unlink()
