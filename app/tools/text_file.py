"""Files as text and back, byte for byte, and the one way to replace a file; it must never lose what was there."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from app.errors import ToolError
from app.tools.paths import os_failure, shown

BOM = b"\xef\xbb\xbf"
# Python holds a text several times over while it is edited; a larger file is a job for sed.
MAX_EDIT_BYTES = 50 * 1024 * 1024
_SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """The text with each lone surrogate (an undecodable byte) as U+FFFD: always valid UTF-8."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file's text without its byte order mark. Bytes that are not UTF-8 are lone surrogates U+DC80–DCFF."""

    text: str
    has_bom: bool

    def encoded(self, text: str) -> bytes:
        """`text` as this file would hold it."""
        return (BOM if self.has_bom else b"") + text.encode("utf-8", "surrogateescape")


def check_text(name: str, text: str) -> None:
    """Raises ToolError when an argument holds a lone surrogate: it has no bytes that could be written."""
    if not text.isascii() and _SURROGATE.search(text):
        raise ToolError(f"{name} holds half of a surrogate pair, which is not a character; send the text again.")


def regular_status(path: Path, doing: str) -> os.stat_result:
    """The status of a regular file (links followed). Raises ToolError for what is missing, a folder or a device."""
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:
        raise _failure(error, doing, path) from error
    if stat.S_ISDIR(status.st_mode):
        raise ToolError(f"Could not {doing} {shown(path)}: it is a folder (EISDIR)")
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(f"Could not {doing} {shown(path)}: it is {kind_of(status.st_mode)}, not a regular file")
    return status


def kind_of(mode: int) -> str:
    """What a file of that mode is, in words."""
    for claim, words in (
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    ):
        if claim(mode):
            return words
    return "a special file"


def read_text_file(path: Path, doing: str = "edit") -> TextFile:
    """The whole regular file as text. Raises ToolError when it can't be read, is no regular file or over 50 MB."""
    status = regular_status(path, doing)
    if status.st_size > MAX_EDIT_BYTES:
        raise ToolError(f"Could not {doing} {shown(path)}: it is larger than 50 MB; use bash (sed, a script) instead")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise os_failure(error, doing, path) from error
    has_bom = data.startswith(BOM)
    return TextFile(data[len(BOM) * has_bom :].decode("utf-8", "surrogateescape"), has_bom)


def replace_file(path: Path, data: bytes, doing: str = "write") -> None:
    """Put `data` in the file's place at once: readers see the old or the new whole, and a crash leaves one of them.

    A link stays and its target changes; mode, owner and extended attributes are kept. Where that can't be (hard
    links, a read-only folder, another owner) the file is rewritten in place. Raises ToolError; then nothing changed.
    """
    target = Path(os.path.realpath(path))
    try:
        old: os.stat_result | None = os.stat(target)
    except FileNotFoundError:
        old = None
    except (OSError, ValueError) as error:
        raise _failure(error, doing, path) from error
    if old is not None:
        regular_status(target, doing)
        if not _may(target, os.W_OK):
            raise ToolError(f"Could not {doing} {shown(path)}: the file is read-only (EACCES)")
    try:
        must_stay = old is not None and (old.st_nlink > 1 or not _may(target.parent, os.W_OK | os.X_OK))
        if must_stay or not _swap(target, data, old):
            _rewrite(target, data)
    except OSError as error:
        raise os_failure(error, doing, path) from error


def _may(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _swap(target: Path, data: bytes, old: os.stat_result | None) -> bool:
    """Write beside the target and rename over it. False when the old file's owner could not be kept."""
    beside = target.parent / f".pinyon-{secrets.token_hex(8)}.tmp"
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666 if old is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if old is not None and not _take_over(file.fileno(), target, old):
                os.unlink(beside)
                return False
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
    return True


def _take_over(descriptor: int, target: Path, old: os.stat_result) -> bool:
    """Give the new file the old one's owner, mode and extended attributes; False when the owner can't be had."""
    mine = os.fstat(descriptor)
    if (mine.st_uid, mine.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(descriptor, old.st_uid, old.st_gid)
        except OSError:
            return False
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
    with contextlib.suppress(OSError, AttributeError):  # not on every system, not on every file system
        for name in os.listxattr(target):
            os.setxattr(descriptor, name, os.getxattr(target, name))
    return True


def _rewrite(target: Path, data: bytes) -> None:
    with open(target, "r+b") as file:
        _reserve(file.fileno(), len(data))
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


def _reserve(descriptor: int, size: int) -> None:
    """Get the room that the new content needs beyond the old one, before a byte of that is overwritten. Raises OSError
    when there is none; the file is as it was then.
    """
    before = os.fstat(descriptor).st_size
    if size <= before or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(descriptor, before, size - before)
    except OSError as error:
        os.ftruncate(descriptor, before)
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
            raise


def _failure(error: OSError | ValueError, doing: str, path: Path) -> ToolError:
    if isinstance(error, OSError):
        return os_failure(error, doing, path)
    return ToolError(f"Could not {doing} {shown(path)}: {error}")
