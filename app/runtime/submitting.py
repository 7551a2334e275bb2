"""Prompts sent in the background: begun, queued, or given back; it must never leave one where nobody looks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.ai.messages import AssistantMessage, ImageContent
from app.errors import PinyonError
from app.runtime.queue import Behavior

if TYPE_CHECKING:
    from app.runtime.agent_session import AgentSession


class Submitting:
    """For one session. `is_closing`: nothing new is begun any more."""

    def __init__(self, session: AgentSession) -> None:
        self.is_closing = False
        self._session = session
        self._is_starting = False

    def submit(self, text: str, images: Sequence[ImageContent], behavior: Behavior, attached: Sequence[str]) -> None:
        """Begin a run, or queue where one goes on or begins."""
        if self._session.is_busy or self._is_starting:
            self._session.queue.put(text, images, behavior, attached)
        else:
            self._is_starting = True
            self._session.start(self._begin, text, images, attached)

    def look_again(self) -> None:
        """Send what was typed after a run had looked into its queues for the last time; called when the lock is free.

        Behind a failed answer it stays in the queue, as the reference has it.
        """
        session = self._session
        messages = session.agent.state.messages
        failed = bool(messages) and isinstance(messages[-1], AssistantMessage) and messages[-1].stop_reason == "error"
        if session.agent.has_queued_messages() and not (failed or session.is_busy):
            if self.is_closing or self._is_starting:
                return
            self._is_starting = True
            session.start(self._go_on)

    async def _begin(self, text: str, images: Sequence[ImageContent], attached: Sequence[str]) -> None:
        session = self._session
        self._is_starting = False  # from here to the lock nothing else can run
        if session.is_busy:  # something else was quicker: its end looks into the queue
            session.queue.put(text, images, "steer", attached)
            return
        state, reader = session.agent.state, session.reader
        count = len(state.messages) if reader.is_read else None
        try:
            await session.prompt(text, images, attached)
        except PinyonError:
            known = reader.count if count is None else count  # a long session is read in between
            if len(state.messages) == known:  # nothing of it was said: it is the user's again
                session.give_back([text, *session.queue.take_all()])
            raise

    async def _go_on(self) -> None:
        session = self._session
        try:
            if session.is_busy:
                return  # its end looks again
            async with session.exclusive():
                await session.require_auth()
                if await session.reader.finish() and (
                    waiting := session.agent.steering.drain() or session.agent.follow_ups.drain()
                ):
                    await session.drive(waiting)
        except PinyonError:
            session.give_back(session.queue.take_all())
            raise
        finally:
            self._is_starting = False
        self.look_again()
