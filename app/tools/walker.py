"""Everything below a folder that git would look at, in a fixed order; it must never follow a link or open a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from app.tools.ignore import IgnoreRules, is_ignored, rules_above, rules_of
from app.tools.threads import StopFlag


@dataclass(frozen=True, slots=True)
class Found:
    """One entry: absolute path, path from the start (with slashes), whether it is a folder or a regular file."""

    path: str
    relative: str
    is_folder: bool
    is_file: bool


def walk(start: str, stop: StopFlag, unreadable: list[str]) -> Iterator[Found]:
    """All entries below the folder: hidden ones too, never `.git`, ignored ones not; a folder before its content.

    Siblings are ordered by the bytes of their names. Links are given, not followed, so the walk ends. Folders that
    can't be read are added to `unreadable`. Raises StoppedError.
    """
    pending: list[tuple[str, str, IgnoreRules | None, list[Found]]] = []
    rules, entries = _content(start, "", rules_above(start), unreadable)
    pending.append((start, "", rules, entries))
    while pending:
        stop.check()
        _, _, rules, entries = pending[-1]
        if not entries:
            pending.pop()
            continue
        entry = entries.pop()
        if is_ignored(rules, entry.path, is_folder=entry.is_folder):
            continue
        yield entry
        if entry.is_folder:
            inner, content = _content(entry.path, entry.relative + "/", rules, unreadable)
            pending.append((entry.path, entry.relative, inner, content))


def _content(
    folder: str, prefix: str, rules: IgnoreRules | None, unreadable: list[str]
) -> tuple[IgnoreRules | None, list[Found]]:
    """The folder's rules and its entries, the first one last."""
    try:
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: os.fsencode(entry.name), reverse=True)
    except OSError:
        unreadable.append(folder)
        return rules, []
    rules = rules_of(folder, {entry.name for entry in entries if entry.name in (".git", ".gitignore")}, rules)
    found: list[Found] = []
    for entry in entries:
        if entry.name == ".git":
            continue
        try:
            is_folder, is_file = entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False)
        except OSError:
            continue  # gone since
        found.append(Found(entry.path, prefix + entry.name, is_folder, is_file))
    return rules, found
