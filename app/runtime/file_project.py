"""The snapshots of a session's project, reached without blocking the event loop; it must never raise OSError."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.to_thread

from app.config import paths
from app.session.snapshots.model import Manifest, SnapshotError
from app.session.snapshots.packs import Packs
from app.session.snapshots.prune import size_bytes
from app.session.snapshots.scan import TooManyFilesError
from app.session.snapshots.tracker import Limits, Tracker
from app.tools.threads import in_thread

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Usage:
    """Bytes of all snapshots on the disk, and the limits that hold."""

    total_bytes: int
    limits: Limits


class ProjectFiles:
    """One project's tracker, made at its first use. `why_off` says why there are no snapshots; None: there are.

    All methods but `packs` raise SnapshotError.
    """

    def __init__(self, root: Path, limits: Limits, why_off: str | None = None) -> None:
        self.root = root
        if not limits.enabled:
            why_off = "snapshots are switched off (snapshots.enabled)"
        self.is_switched_off = why_off is not None
        self.why_off = why_off
        self._limits = limits
        self._tracker: Tracker | None = None

    def tracker(self) -> Tracker:
        """The tracker. Raises SnapshotError where none is possible (home folder, switched off)."""
        if self.why_off is not None:
            raise SnapshotError(self.why_off)
        if self._tracker is None:
            try:
                self._tracker = Tracker(self.root, paths.data_dir() / "snapshots", self._limits)
            except SnapshotError as error:
                self.why_off = error.message
                raise
        return self._tracker

    @property
    def packs(self) -> Packs:
        """The kept contents. Raises SnapshotError."""
        return self.tracker().store.packs

    async def now(self, *, full: bool) -> Manifest:
        """The files as they are, kept; `full`: without trusting the kernel's watch."""
        tracker = self.tracker()
        try:
            return await self.run(lambda check: tracker.snapshot(check, full=full))
        except TooManyFilesError as error:
            self.why_off = error.message
            raise

    async def load(self, manifest_id: str) -> Manifest:
        """A kept manifest. Raises SnapshotError when it was pruned."""
        store = self.tracker().store
        return await self.run(lambda _: store.load(manifest_id))

    async def load_if_kept(self, manifest_id: str) -> Manifest | None:
        """A manifest; None when it was pruned."""
        try:
            return await self.load(manifest_id)
        except SnapshotError:
            return None

    async def run(self, work: Callable[[Callable[[], None]], T]) -> T:
        """What `work(check)` gives in a thread; `check` ends it when nobody waits any more."""
        try:
            return await in_thread(lambda stop: work(stop.check))
        except OSError as error:
            raise SnapshotError(f"snapshots can't be used: {error.strerror or error}") from error

    async def usage(self) -> Usage:
        """What the snapshots of all projects take."""
        folder = paths.data_dir() / "snapshots"
        return Usage(await self.run(lambda _: size_bytes(folder)), self._limits)

    async def close(self) -> None:
        """Keep what makes the next start quick, end the watch. Never raises."""
        if self._tracker is not None:
            with anyio.CancelScope(shield=True), anyio.move_on_after(5):
                await anyio.to_thread.run_sync(self._tracker.close, abandon_on_cancel=True)
