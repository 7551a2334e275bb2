"""One line for each file: what changes a file runs strictly in call order; it must never touch the file itself."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio


@dataclass(slots=True)
class _Line:
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    users: int = 0


class FileMutationQueue:
    """Serialises the changes of one file (keyed by its real path), others side by side (spec core §3.12)."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}

    @asynccontextmanager
    async def turn(self, path: str | os.PathLike[str]) -> AsyncIterator[None]:
        """Hold the file's turn. The place in line is taken before the first await, so call order is kept.

        A failure or cancellation inside lets the next one go on. Raises nothing of its own.
        """
        key = _key(path)
        line = self._lines.setdefault(key, _Line())
        line.users += 1
        try:
            # anyio's lock is fair: first come, first served, and a cancelled waiter leaves the line.
            async with line.lock:
                yield
        finally:
            line.users -= 1
            if not line.users:
                del self._lines[key]


def _key(path: str | os.PathLike[str]) -> str:
    """On the loop on purpose: a thread in between would lose the order of the calls; it is a few lstat calls."""
    return os.path.realpath(path)
