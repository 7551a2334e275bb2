"""Blocking work in a thread that is never left half watched; it must never outlive the call that started it.

anyio shields its wait for a thread from its own cancellation, not from asyncio's (a cancelled Textual worker). A write
that goes on unwatched would put a line into the file that the tree never hears of.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import anyio
import anyio.to_thread

T = TypeVar("T")


class _Job(Generic[T]):
    """A piece of work that is done at most once, and can be called off as long as no thread has begun it."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._gate = threading.Lock()
        self._begun = self._called_off = False
        self._ended = threading.Event()
        self.results: list[T] = []

    def run(self) -> None:
        with self._gate:
            if self._called_off:
                return
            self._begun = True
        try:
            self.results.append(self._work())
        finally:
            self._ended.set()

    def settle(self) -> None:
        """Call it off, or when it is too late for that, wait for its end (blocks: a write takes milliseconds)."""
        with self._gate:
            self._called_off = True
            begun = self._begun
        if begun:
            self._ended.wait()


async def run_whole(work: Callable[[], T], settle: Callable[[T], None], limiter: anyio.CapacityLimiter) -> T:
    """What `work` gives, done in a thread. Passes on what it raises.

    On cancellation of either kind the work is called off or waited for; then `settle` gets what it gave, if anything.
    """
    job = _Job(work)
    try:
        await anyio.to_thread.run_sync(job.run, limiter=limiter)
    except BaseException:
        job.settle()
        for result in job.results:
            settle(result)
        raise
    return job.results[0]
