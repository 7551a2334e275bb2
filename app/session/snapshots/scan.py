"""What changed in a working tree since the last look, by stat alone; it must never open a file or follow a link.

A file counts as unchanged while its ctime, mtime, size and inode stay. A stamp younger than two seconds is not
trusted (the file could change again within the clock's grain), so such a file is given again at the next scan.
A folder is listed anew only when its own mtime moved; ignore rules are asked once for each name.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from app.session.snapshots.model import SnapshotError
from app.session.snapshots.watch import Watch
from app.tools.ignore import IgnoreRules, is_ignored, rules_above, rules_of

SETTLED_AFTER_NS = 2_000_000_000
DRAFT_PREFIX, DRAFT_SUFFIX = ".pinyon-", ".tmp"


class Key(NamedTuple):
    """What a file's stat says; equal keys of a settled file mean equal contents, kinds and modes."""

    ctime_ns: int
    mtime_ns: int
    size: int
    inode: int


def key_of(status: os.stat_result) -> Key:
    """The key in a stat result."""
    return Key(status.st_ctime_ns, status.st_mtime_ns, status.st_size, status.st_ino)


def is_settled(status: os.stat_result, now_ns: int) -> bool:
    """Whether a change after `now_ns` (when the content was read) is sure to move the stamps."""
    return max(status.st_ctime_ns, status.st_mtime_ns) < now_ns - SETTLED_AFTER_NS


class TooManyFilesError(SnapshotError):
    """The tree holds more files than snapshots are made for."""


@dataclass(slots=True, eq=False)
class Folder:
    """One folder as last listed. `files` maps a name to its settled key, None: to be read again."""

    key: tuple[int, int] = (0, 0)
    is_settled: bool = False
    files: dict[str, Key | None] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    ignored: set[str] = field(default_factory=set)
    above: IgnoreRules | None = None
    rules: IgnoreRules | None = None
    rules_key: tuple[object, ...] = ()


@dataclass(slots=True)
class Scan:
    """Paths to read (with their stat), paths that went, folders that can't be read.

    With `is_fresh` nothing was known before: every path is in `dirty`, and what is not there is gone.
    """

    is_fresh: bool = False
    dirty: list[tuple[str, os.stat_result]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


class Scanner:
    """The tree at `root` (a real path). Not for two threads at once."""

    def __init__(self, root: str, *, skip: frozenset[str] = frozenset(), max_files: int = 100_000) -> None:
        self.root = root
        self.count = 0
        self._skip = skip  # absolute folders that are never entered (our own data)
        self._max_files = max_files
        self._folders: dict[str, Folder] = {}
        self._restless: set[str] = set()
        self._watch: Watch | None = None
        self._above_key: object = None
        self._above: IgnoreRules | None = None

    def scan(self, check: Callable[[], None], *, full: bool) -> Scan:
        """Everything that may have changed since the last call; with `full` without asking the kernel's watch.

        `check` is called now and then and may raise to end the scan. Raises TooManyFilesError, OSError (no root).
        """
        try:
            return self._scan(check, full)
        except BaseException:
            self.reset()  # what was half seen must not be taken for known
            raise

    def reset(self) -> None:
        """Forget everything: the next scan is a fresh one."""
        self._folders.clear()
        self._restless.clear()
        self.count = 0
        self.close()
        self._watch = None

    def _scan(self, check: Callable[[], None], full: bool) -> Scan:
        found = Scan(is_fresh=not self._folders)
        events = self._watch.drain() if self._watch is not None and self._folders else None
        if full or events is None:
            self._take_rules_above()
            if self._watch is None or self._watch.is_broken:
                self._watch = Watch.start(self.root)
            pending = [""]
            while pending:
                check()
                folder = pending.pop()
                below = self._visit(folder, found)
                prefix = folder + "/" if folder else ""
                pending += [prefix + name for name in below]
            return found
        wanted = (events | self._restless) & self._folders.keys()
        pending = sorted(wanted, key=lambda folder: (folder != "", folder.count("/")), reverse=True)
        fresh: set[str] = set()
        while pending:
            check()
            folder = pending.pop()
            known = self._folders.get(folder)
            if known is None and folder not in fresh:
                continue  # its parent has just dropped it
            rules, names = (known.rules, set(known.folders)) if known is not None else (None, set())
            below = self._visit(folder, found, relist=folder in events)
            now = self._folders.get(folder)
            if now is None:
                continue
            again = below if now is not known or now.rules is not rules else below - names
            more = [f"{folder}/{name}" if folder else name for name in again]
            fresh.update(more)
            pending += more
        return found

    def settle(self, path: str, key: Key | None) -> None:
        """Say what a dirty path looked like when it was read; None: look again next time."""
        parent, _, name = path.rpartition("/")
        folder = self._folders.get(parent)
        if folder is None or name not in folder.files:
            return
        folder.files[name] = key
        if key is None:
            self._restless.add(parent)

    def knows(self, path: str) -> bool:
        """Whether the path is a file or link that the last scan saw and no rule leaves out."""
        parent, _, name = path.rpartition("/")
        folder = self._folders.get(parent)
        return folder is not None and name in folder.files

    def close(self) -> None:
        """End the watch."""
        if self._watch is not None:
            self._watch.close()

    def _take_rules_above(self) -> None:
        key: list[object] = []
        folder = self.root
        while not os.path.lexists(os.path.join(folder, ".git")) and os.path.dirname(folder) != folder:
            folder = os.path.dirname(folder)
            for name in (".gitignore", ".git/info/exclude"):
                key.append((folder, _stamp(os.path.join(folder, name))))
        if key != self._above_key:
            self._above_key, self._above = key, rules_above(self.root)

    def _visit(self, folder: str, found: Scan, *, relist: bool = False) -> set[str]:
        """Look at one folder; gives the names of the folders in it."""
        path = os.path.join(self.root, folder) if folder else self.root
        if self._watch is not None and not self._watch.has(folder):
            self._watch.add(path, folder)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except PermissionError:
            found.unreadable.append(folder)
            return set()
        except OSError:
            if not folder:
                raise
            self._drop(folder, found)
            return set()
        try:
            return self._look(folder, path, descriptor, found, relist)
        finally:
            os.close(descriptor)

    def _look(self, folder: str, path: str, descriptor: int, found: Scan, relist: bool) -> set[str]:
        status = os.fstat(descriptor)
        known = self._folders.get(folder)
        if known is not None and known.key[1] != status.st_ino:
            # another folder came into this place: nothing that was known below holds
            self._drop(folder, found)
            if self._watch is not None:
                self._watch.add(path, folder)
            known = None
        if known is None:
            known = self._folders[folder] = Folder(key=(0, status.st_ino))
        above = self._above if not folder else self._folders[folder.rpartition("/")[0]].rules
        key = (status.st_mtime_ns, status.st_ino)
        self._restless.discard(folder)
        had_rules = bool(known.rules_key)
        if (
            relist
            or key != known.key
            or above is not known.above
            or not known.is_settled
            or (had_rules and _rules_key(path) != known.rules_key)
        ):
            now_ns = time.time_ns()
            self._list(folder, path, descriptor, above, known, found)
            known.key, known.is_settled = key, status.st_mtime_ns < now_ns - SETTLED_AFTER_NS
            if not known.is_settled:
                self._restless.add(folder)
        prefix = folder + "/" if folder else ""
        look, dirty = os.stat, found.dirty
        for name, stamp in known.files.items():
            try:
                now = look(name, dir_fd=descriptor, follow_symlinks=False)
            except OSError:
                known.is_settled = False  # it just went: the listing tells at the next scan
                self._restless.add(folder)
                continue
            # one comparison of tuples: this line runs 20,000 times a scan
            if (now.st_ctime_ns, now.st_mtime_ns, now.st_size, now.st_ino) != stamp:
                dirty.append((prefix + name, now))
                self._restless.add(folder)
        return known.folders

    def _list(
        self, folder: str, path: str, descriptor: int, above: IgnoreRules | None, known: Folder, found: Scan
    ) -> None:
        files: set[str] = set()
        folders: set[str] = set()
        special = False
        with os.scandir(descriptor) as scan:
            for entry in scan:
                name = entry.name
                if name == ".git":
                    special = True
                elif entry.is_dir(follow_symlinks=False):
                    folders.add(name)
                elif name.startswith(DRAFT_PREFIX) and name.endswith(DRAFT_SUFFIX):
                    continue
                elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
                    files.add(name)
        names = [name for name in (".git", ".gitignore") if (special if name == ".git" else name in files)]
        rules_key = _rules_key(path) if names else ()
        reuse = above is known.above and rules_key == known.rules_key and known.key[0] != 0
        if not reuse:
            known.rules = rules_of(path, names, above)
            known.above, known.rules_key = above, rules_key
            known.ignored = set()
        kept_files, kept_folders, ignored = files, folders, set[str]()
        if known.rules is not None:
            old_files = known.files if reuse else {}
            old_folders = known.folders if reuse else set()
            base = os.path.join(path, "")
            for is_folder, group, old in ((False, files, old_files), (True, folders, old_folders)):
                for name in group:
                    mark = name + "/" if is_folder else name
                    if name in old:
                        continue
                    if mark in known.ignored or is_ignored(known.rules, base + name, is_folder=is_folder):
                        ignored.add(mark)
            kept_files = {name for name in files if name not in ignored}
            kept_folders = {name for name in folders if name + "/" not in ignored}
        kept_folders = {name for name in kept_folders if os.path.join(path, name) not in self._skip}
        known.ignored = ignored
        prefix = folder + "/" if folder else ""
        for name in known.folders - kept_folders:
            self._drop(prefix + name, found)
        found.gone += [prefix + name for name in known.files if name not in kept_files]
        self.count += len(kept_files) - len(known.files)
        known.files = {name: known.files.get(name) for name in kept_files}
        known.folders = kept_folders
        if self.count > self._max_files:
            raise TooManyFilesError(
                f"{self.root} holds more than {self._max_files:,} files: no snapshots are taken of it",
                "Work in a smaller folder, or leave folders out with .gitignore",
            )

    def _drop(self, folder: str, found: Scan) -> None:
        """Forget a folder and all below it; what it held is gone."""
        pending = [folder]
        while pending:
            folder = pending.pop()
            known = self._folders.pop(folder, None)
            self._restless.discard(folder)
            if self._watch is not None:
                self._watch.drop(folder)
            if known is not None:
                found.gone += [f"{folder}/{name}" for name in known.files]
                self.count -= len(known.files)
                pending += [f"{folder}/{name}" for name in known.folders]


def _rules_key(path: str) -> tuple[object, ...]:
    return _stamp(os.path.join(path, ".gitignore")), _stamp(os.path.join(path, ".git", "info", "exclude"))


def _stamp(path: str) -> Key | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return key_of(status) if stat.S_ISREG(status.st_mode) else None
