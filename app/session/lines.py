"""Entries as lines of bytes, bytes onto the disk, and what a failure is called; it must never know a tree."""

from __future__ import annotations

import errno
import json
import math
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from app.config.paths import ensure_private_dir
from app.errors import WriteFailedError
from app.session.entries import RawEntry

_REASONS = {
    errno.ENOSPC: ("the disk is full", "Free some space and try again, or choose another place"),
    errno.EDQUOT: ("the disk quota is used up", "Free some space and try again, or choose another place"),
    errno.EFBIG: ("the file may not grow further", "Raise the limit and try again, or choose another place"),
    errno.EROFS: ("the file system is read-only", "Choose another place"),
    errno.EACCES: ("permission denied", "Allow writing there and try again, or choose another place"),
    errno.EPERM: ("permission denied", "Allow writing there and try again, or choose another place"),
    errno.ENOENT: ("the file or its folder is gone", "Choose another place: everything said so far is copied there"),
    errno.ESTALE: ("the file or its folder is gone", "Choose another place: everything said so far is copied there"),
}


def write_failed(path: Path, error: OSError | str) -> WriteFailedError:
    """The error that names the file, the reason and what to do."""
    if isinstance(error, str):
        return WriteFailedError(f"{path}: not saved: {error}")
    reason, hint = _REASONS.get(error.errno or 0, (error.strerror or str(error), "Try again, or choose another place"))
    return WriteFailedError(f"{path}: not saved: {reason}", hint)


def encode(raw: RawEntry) -> bytes:
    """One line with its line feed: compact JSON, UTF-8, nothing escaped that needs none (spec core §9 row 21).

    Numbers that JSON has not (NaN, infinities) become null. Raises ValueError for what is no JSON at all.
    """
    try:
        try:
            text = json.dumps(raw, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        except ValueError:
            text = json.dumps(_finite(raw), ensure_ascii=False, separators=(",", ":"))
        try:
            return text.encode("utf-8") + b"\n"
        except UnicodeEncodeError:
            # lone surrogates have no UTF-8 form, but an escape
            return json.dumps(_finite(raw), separators=(",", ":")).encode("ascii") + b"\n"
    except (TypeError, RecursionError) as error:
        raise ValueError(f"the entry is no JSON object: {error}") from error


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def write_all(descriptor: int, data: bytes) -> int:
    """Write everything, as one write where the system takes it so; gives the offset of the end of the file after it.

    Raises OSError; `PartialWriteError` when some bytes were written before it.
    """
    view = memoryview(data)
    while view:
        try:
            written = os.write(descriptor, view)
        except OSError as error:
            if len(view) < len(data):
                raise PartialWriteError(error.errno, error.strerror) from error
            raise
        view = view[written:]
    return os.lseek(descriptor, 0, os.SEEK_CUR)


class PartialWriteError(OSError):
    """A write failed after some of its bytes had arrived: the file now ends in half a line."""


def sync(descriptor: int) -> None:
    """Wait until the bytes are on the disk. Raises OSError; a file that has no such notion is no failure."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise


def take_back(descriptor: int, end: int, length: int) -> None:
    """Take away the last `length` bytes, which end at `end` and were told to nobody. Never raises.

    Where another program has written behind them they stay: nothing of anybody else's is ever cut.
    """
    with suppress(OSError):
        if os.fstat(descriptor).st_size == end:
            os.ftruncate(descriptor, end - length)


def sync_folder(folder: Path) -> None:
    """Make a new name in a folder durable, where the system can. Never raises."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _name(draft: Path, path: Path) -> None:
    """Give a finished file its name, never another's. Raises OSError."""
    try:
        os.link(draft, path)
    except OSError as error:
        # FAT and some network file systems have no links
        if path.exists() or error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
        draft.replace(path)


def write_file(path: Path, lines: Iterable[bytes], *, replace: bool = False) -> None:
    """A new file of these lines, whole or not at all: mode 0600, folders 0700, on the disk before it has its name.

    With `replace` it takes the place of an old one, else an existing `path` is an error. Raises WriteFailedError.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        ensure_private_dir(path.parent)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.writelines(lines)
                stream.flush()
                sync(stream.fileno())
            if replace:
                draft.replace(path)
            else:
                _name(draft, path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise write_failed(path, error) from error
    sync_folder(path.parent)
