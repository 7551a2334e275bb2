"""Which files git would not look at: .gitignore of each folder and .git/info/exclude; it must never walk by itself.

As ripgrep with --no-require-git: the rules also hold outside a repository, and end at the repository's root.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MAX_RULES_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules of one folder and, behind them, of the folders above it."""

    base: str  # the folder's absolute path with a slash
    spec: GitIgnoreSpec
    above: IgnoreRules | None


def is_ignored(rules: IgnoreRules | None, path: str, *, is_folder: bool) -> bool:
    """Whether the rules leave the absolute path out; the nearest folder that says anything decides."""
    suffix = "/" if is_folder else ""
    while rules is not None:
        verdict: bool | None = rules.spec.check_file(path[len(rules.base) :] + suffix).include
        if verdict is not None:
            return verdict
        rules = rules.above
    return False


def rules_of(folder: str, names: Iterable[str], above: IgnoreRules | None) -> IgnoreRules | None:
    """The rules inside `folder`, whose entries are `names`; a repository's root forgets the rules above it."""
    lines: list[str] = []
    if ".git" in names:
        above = None
        lines += _lines(os.path.join(folder, ".git", "info", "exclude"))
    if ".gitignore" in names:
        lines += _lines(os.path.join(folder, ".gitignore"))
    if not lines:
        return above
    return IgnoreRules(os.path.join(folder, ""), _spec(lines), above)


def rules_above(start: str) -> IgnoreRules | None:
    """The rules that the folders above an absolute path have for it.

    None when they would leave `start` itself out: what was named outright is searched, whatever the rules say.
    """
    folders: list[str] = []
    folder = start
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
        folders.append(folder)
    rules: IgnoreRules | None = None
    for index in range(len(folders) - 1, -1, -1):
        folder = folders[index]
        rules = rules_of(folder, [name for name in (".git", ".gitignore") if _exists(folder, name)], rules)
        below = folders[index - 1] if index else start
        if os.path.basename(below) == ".git" or is_ignored(rules, below, is_folder=True):
            return None
    return rules


def _exists(folder: str, name: str) -> bool:
    return os.path.lexists(os.path.join(folder, name))


def _lines(path: str) -> list[str]:
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_RULES_BYTES:
            return []
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="\n") as file:
            return [line.rstrip("\r\n") for line in file]
    except OSError:
        return []


def _spec(lines: list[str]) -> GitIgnoreSpec:
    # Not at the top: most calls of most sessions never need it.
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        sound: list[str] = []
        for line in lines:
            try:
                GitIgnoreSpec.from_lines([line])
            except ValueError:
                continue  # git passes over a line that it can't read, too
            sound.append(line)
        return GitIgnoreSpec.from_lines(sound)
