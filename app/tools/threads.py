"""Slow file work off the event loop, with an end: an abort stops it at its next look at the stop flag."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.to_thread

T = TypeVar("T")


class StoppedError(Exception):
    """The work was told to stop; nobody waits for its result any more."""


class StopFlag:
    """Set from the event loop, looked at by the worker."""

    def __init__(self) -> None:
        self.requested = False

    def check(self) -> None:
        """Raises StoppedError once the stop was asked for."""
        if self.requested:
            raise StoppedError


async def in_thread(work: Callable[[StopFlag], T]) -> T:
    """What `work(stop)` returns, run in a worker thread. On cancellation it is left behind with its flag set.

    For work that only reads: a write that is left behind half-way could meet the next one.
    """
    stop = StopFlag()
    try:
        return await anyio.to_thread.run_sync(work, stop, abandon_on_cancel=True)
    finally:
        stop.requested = True
