"""What the prompt offers to complete: commands, their arguments, files; asked off the path of a key."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from app.runtime.commands import COMMANDS
from widgets.completion import Candidate, Providers

if TYPE_CHECKING:
    from app.tools.threads import StopFlag
    from app.tui.screens.chat import ChatScreen

MOST_FILES = 50_000
FRESH_S = 5.0  # a list of files is walked again when it is older
DENSITIES = ("title", "preview", "full")
THEMES = ("dark", "light", "ansi")
_UNTYPABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""A name with one of these can't stand in a prompt: it would be sent as another name."""


class Completing:
    """Providers for one chat screen."""

    def __init__(self, screen: ChatScreen, cwd: Path) -> None:
        self._screen = screen
        self._cwd = cwd
        self._files: list[Candidate] = []
        self._walked_at = float("-inf")

    def providers(self) -> Providers:
        """What the prompt area asks."""
        return Providers(self.commands, self.arguments, self.files, self.paths)

    def commands(self) -> Sequence[Candidate]:
        """Every command of the table."""
        return [Candidate(c.name, f"/{c.name}", c.help, is_open=c.argument is not None) for c in COMMANDS]

    async def arguments(self, command: str, typed: str) -> Sequence[Candidate]:
        """Models, levels, themes."""
        session = self._screen.session
        match command:
            case "model" if session is not None:
                found = session.registry.available()
                return [Candidate(f"{m.provider}/{m.id}", detail=m.name) for m in found]
            case "thinking" if session is not None:
                from app.ai.resolve import supported_levels

                return [Candidate(level) for level in supported_levels(session.agent.state.model)]
            case "theme":
                return [Candidate(name) for name in THEMES]
            case "density":
                return [Candidate(name) for name in DENSITIES]
            case _:
                return []

    async def files(self, typed: str) -> Sequence[Candidate]:
        """Files below the working folder, as git would list them; a path that leaves it is read folder by folder."""
        if typed.startswith(("/", "~", "..")):
            return await self.paths(typed)
        if time.monotonic() - self._walked_at > FRESH_S:
            from app.tools.threads import in_thread

            self._files = await in_thread(partial(_walk, str(self._cwd)))
            self._walked_at = time.monotonic()
        words = typed.lower()
        if not words:
            return [c for c in self._files if c.text.count("/") == (1 if c.is_open else 0)]
        return [c for c in self._files if _has_in_order(c.text.lower(), words)]

    async def paths(self, typed: str) -> Sequence[Candidate]:
        """The entries of the folder that `typed` stands in."""
        return await anyio.to_thread.run_sync(_entries, str(self._cwd), typed, abandon_on_cancel=True)


def _has_in_order(text: str, letters: str) -> bool:
    place = 0
    for letter in letters:
        place = text.find(letter, place) + 1
        if not place:
            return False
    return True


def _walk(cwd: str, stop: StopFlag) -> list[Candidate]:
    from app.tools.walker import walk

    found: list[Candidate] = []
    for item in walk(cwd, stop, []):
        if _UNTYPABLE.search(item.relative):
            continue
        found.append(Candidate(item.relative + "/" if item.is_folder else item.relative, is_open=item.is_folder))
        if len(found) >= MOST_FILES:
            break
    return found


def _entries(cwd: str, typed: str) -> list[Candidate]:
    head, slash, _ = typed.rpartition("/")
    folder = os.path.join(cwd, os.path.expanduser(head + slash))
    try:
        with os.scandir(folder) as entries:
            found = [(entry.name, entry.is_dir()) for entry in entries if not _UNTYPABLE.search(entry.name)]
    except OSError:
        return []
    found.sort(key=lambda item: (not item[1], item[0].lower()))
    return [Candidate(f"{head}{slash}{name}" + ("/" if is_dir else ""), is_open=is_dir) for name, is_dir in found]
