"""Which folders something happened in, told by the kernel (inotify); it must never be the only way to find a change.

A stat of each of 20,000 files takes 45 ms and more, in C as well as in Python; with this a scan looks only where an
event came from. What the kernel can't tell (stores through a mapping that is still open, another machine's writes,
another name of a hard-linked file) is found by the full scans in between. Elsewhere than on Linux, on network file
systems and past the kernel's limits there is no watch, and every scan is a full one.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from contextlib import suppress

IN_MODIFY, IN_ATTRIB, IN_CLOSE_WRITE = 0x2, 0x4, 0x8
IN_MOVED, IN_CREATE, IN_DELETE, IN_DELETE_SELF, IN_MOVE_SELF = 0x40 | 0x80, 0x100, 0x200, 0x400, 0x800
IN_UNMOUNT, IN_Q_OVERFLOW, IN_IGNORED = 0x2000, 0x4000, 0x8000
IN_ONLYDIR, IN_DONT_FOLLOW = 0x0100_0000, 0x0200_0000
MASK = IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVED | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF
HEAD = struct.Struct("iIII")
LOCAL_KINDS = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "zfs", "overlay", "bcachefs", "jfs"})


class Watch:
    """A watch over folders that are added one by one. Once `is_broken`, it tells nothing any more."""

    def __init__(self) -> None:
        self.is_broken = False
        self._descriptor = -1
        self._libc: ctypes.CDLL | None = None
        self._folders: dict[int, str] = {}
        self._numbers: dict[str, int] = {}

    @classmethod
    def start(cls, root: str) -> Watch | None:
        """A watch for a tree at `root`; None where the kernel or the file system has none."""
        if sys.platform != "linux" or _kind_of(root) not in LOCAL_KINDS:
            return None
        watch = cls()
        try:
            watch._libc = ctypes.CDLL(None, use_errno=True)
            watch._descriptor = watch._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, AttributeError):
            return None
        return watch if watch._descriptor >= 0 else None

    def add(self, path: str, folder: str) -> None:
        """Watch the folder at the absolute `path`, known as `folder`. Add it before its content is read."""
        if self.is_broken or self._libc is None:
            return
        number = self._libc.inotify_add_watch(self._descriptor, os.fsencode(path), MASK | IN_ONLYDIR | IN_DONT_FOLLOW)
        if number < 0:
            self.close()  # the kernel's limit, or the folder just went: full scans tell
            return
        # a folder that was moved keeps its number: the newest name is the right one
        self._folders[number] = folder
        self._numbers[folder] = number

    def has(self, folder: str) -> bool:
        """Whether the folder is watched."""
        return folder in self._numbers

    def drop(self, folder: str) -> None:
        """Watch a folder no longer; unknown ones are passed over."""
        number = self._numbers.pop(folder, None)
        if number is None or self._folders.get(number) != folder:
            return
        del self._folders[number]
        if self._libc is not None and self._descriptor >= 0:
            self._libc.inotify_rm_watch(self._descriptor, number)

    def drain(self) -> set[str] | None:
        """The folders with events since the last call; None when some may be missing: then scan everything."""
        if self.is_broken:
            return None
        touched: set[str] = set()
        whole = True
        while True:
            try:
                data = os.read(self._descriptor, 1 << 16)
            except BlockingIOError:
                return touched if whole else None
            except OSError:
                self.close()
                return None
            place = 0
            while place < len(data):
                number, mask, _, size = HEAD.unpack_from(data, place)
                place += HEAD.size + size
                if mask & (IN_Q_OVERFLOW | IN_UNMOUNT):
                    whole = False
                folder = self._folders.get(number)
                if folder is None:
                    continue
                touched.add(folder)
                if mask & IN_IGNORED:
                    del self._folders[number]
                    if self._numbers.get(folder) == number:
                        del self._numbers[folder]

    def close(self) -> None:
        """Give the kernel its watches back; idempotent."""
        self.is_broken = True
        if self._descriptor >= 0:
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = -1
        self._folders.clear()
        self._numbers.clear()


def _kind_of(path: str) -> str:
    """The file system's type by the longest mount point above the path; "" when it can't be told."""
    best, kind = -1, ""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as stream:
            for line in stream:
                fields = line.split(" ")
                point = fields[1].replace("\\040", " ")
                inside = path == point or path.startswith(point.rstrip("/") + "/")
                if inside and len(point) >= best:
                    best, kind = len(point), fields[2]
    except (OSError, IndexError):
        return ""
    return kind
