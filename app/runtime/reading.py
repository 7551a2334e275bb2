"""The conversation as an agent needs it, read from the session when it is first needed; it must never block a key.

Everything before (showing a session, its totals, moving in its tree) works from the index. A long conversation is read
in a thread in pieces: 100,000 messages take 3 s and 400 MB, most of what such a session ever needs.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import anyio.to_thread

from app.runtime.totals import Totals

if TYPE_CHECKING:
    from app.agent.events import AgentMessage
    from app.runtime.agent_session import AgentSession
    from app.runtime.interrupts import Interrupt
    from app.session.context import ContextReading
    from app.session.session import Session

AT_ONCE = 500
"""Entries that are read on the spot: 15 ms."""
PIECE = 100
"""Entries between two looks at the keys: 3 to 6 ms."""


class ConversationReader:
    """Keeps `state.messages` of a session's agent: right whenever `is_read`, empty before."""

    def __init__(self, session: AgentSession) -> None:
        self.is_read = False
        self.is_reading = False
        self.count = 0
        """Messages there were when they were read: those of the place where the session stood."""
        self._session = session
        self._interrupt: Interrupt | None = None
        self._store: Session | None = None
        self._begun: tuple[str | None, ContextReading] | None = None
        self._former: list[AgentMessage] = []

    def restart(self) -> None:
        """Take the conversation from the session's present place: a short one now, a long one when it is needed."""
        session = self._session
        store, state = session.session, session.agent.state
        outline = store.outline()
        session.totals = Totals.of(outline, store.file.body)
        # what two places have in common needs not be parsed again while somebody holds it
        self._former = [*self._former, *state.messages] if store is self._store else []
        self._drop_begun()
        self._store, self.is_read, self.count = store, False, 0
        state.messages = []
        if len(outline.entries) <= AT_ONCE:
            self._take(store.reading())
            self._former = []

    async def arrive(self) -> None:
        """Restart after a move, with what takes long of it in a thread. For who holds the session's lock."""
        await anyio.to_thread.run_sync(self._session.session.outline)
        self.restart()

    async def finish(self, prompt: str = "") -> bool:
        """Whether the conversation is whole: reads what is missing of it. False when escape stopped that; then what
        waited for it, `prompt` first, is back in the editor. For who holds the session's lock.
        """
        if self.is_read:
            return True
        session = self._session
        session.queue.hold(prompt)
        with _no_collector(), anyio.CancelScope() as scope:

            def stop() -> None:
                texts = [] if scope.cancel_called else [*filter(None, [prompt]), *session.queue.take_all()]
                scope.cancel()
                session.give_back(texts)

            self.is_reading = True
            with session.interrupts.entry("stop", stop) as interrupt:
                self._interrupt = interrupt
                try:
                    while not self.is_read:
                        await self._read()
                finally:
                    self.is_reading, self._interrupt = False, None
                    session.queue.hold("")
        return self.is_read and not scope.cancel_called

    def stop(self) -> None:
        """Stop a reading that goes on, as escape does."""
        if self._interrupt is not None:
            self._interrupt.stop()

    async def _read(self) -> None:
        """Read to the end; where an entry was stored meanwhile (a `!` command's) it has to be done once more."""
        store = self._session.session
        leaf_id = store.leaf_id
        if self._begun is None or self._begun[0] != leaf_id:
            self._drop_begun()
            self._begun = leaf_id, await anyio.to_thread.run_sync(store.reading, leaf_id)
        reading = self._begun[1]
        while not await anyio.to_thread.run_sync(reading.step, PIECE):
            pass
        if store.leaf_id == leaf_id:
            self._take(reading)
            with anyio.CancelScope(shield=True):
                while self._former:  # to free 50,000 messages at once takes 0.2 s
                    del self._former[-PIECE:]
                    await anyio.lowlevel.checkpoint()

    def _drop_begun(self) -> None:
        if self._begun is not None:
            self._former += self._begun[1].context.messages
            self._begun = None

    def _take(self, reading: ContextReading) -> None:
        reading.step(len(reading.outline.entries))
        self._session.agent.state.messages = reading.context.messages
        self.count = len(reading.context.messages)
        self._begun, self.is_read = None, True


@contextmanager
def _no_collector() -> Iterator[None]:
    """No garbage collection while a hundred thousand objects are made that stay: each round would look through all of
    them and keep the keys waiting, 0.1 to 0.6 s at a time. What lives then is taken out of later rounds as well.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
