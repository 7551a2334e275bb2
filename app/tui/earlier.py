"""The part of a long branch that is not in the transcript yet, and its coming in when it is wanted; it never draws.

A branch of up to 10,000 entries comes in whole, behind the screen. Of a longer one the newest 5,000 do, for each
thousand takes 3 MB; the rest when the reader gets near the top, searches, or is shown an entry of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel

from app.tui.stored import PIECE, messages_of, part_start

if TYPE_CHECKING:
    from app.session.facts import IndexEntry
    from app.session.session import Session
    from app.tui.feed import TranscriptFeed

WHOLE = 10_000
"""A branch of so many entries is shown whole."""
STEP = 5000
"""Entries of a longer one that come in at a time."""


class EarlierEntries:
    """`left` entries of `branch` are not shown; `want…` says how many shall be, `load` brings them in."""

    def __init__(self, feed: TranscriptFeed, session: Session, branch: Sequence[IndexEntry]) -> None:
        self.left = len(branch)
        self.is_loading = False
        self._feed = feed
        self._session = session
        self._branch = branch
        self._wanted = self.left if self.left > WHOLE else 0
        self._ended = anyio.Event()
        self.want_more()

    @property
    def is_wanted(self) -> bool:
        """Whether `load` would do anything."""
        return self.left > self._wanted

    def want_more(self) -> None:
        """One step further up."""
        self._wanted = min(self._wanted, max(0, self.left - STEP))

    def want_all(self) -> None:
        """Everything, up to the first entry."""
        self._wanted = 0

    def want_entry(self, entry_id: str) -> None:
        """Up to an entry and a little above it; nothing when it is not among what is left."""
        for place in range(self.left - 1, -1, -1):
            if self._branch[place].id == entry_id:
                self._wanted = min(self._wanted, max(0, place - PIECE))
                return

    def begin(self) -> bool:
        """Whether `load` is to be called now: something is wanted, and nobody brings it in yet."""
        if self.is_loading or not self.is_wanted:
            return False
        self.is_loading, self._ended = True, anyio.Event()
        return True

    async def load(self) -> None:
        """Bring in what is wanted, newest first, in pieces between which keys are answered. After `begin`."""
        try:
            self._feed.say_earlier(0)
            while self.is_wanted:
                await anyio.lowlevel.checkpoint()
                start = part_start(self._branch, self.left, PIECE)
                self._feed.show_older(*messages_of(self._session, self._branch[start : self.left]))
                self.left = start
            self._feed.say_earlier(self.left)
        finally:
            self.give_up()

    async def wait(self) -> None:
        """Return when nothing is being brought in (any more)."""
        if self.is_loading:
            await self._ended.wait()

    def give_up(self) -> None:
        """Nobody brings anything in any more: another branch is shown."""
        self.is_loading = False
        self._ended.set()
