"""Messages on their way to the file: stored in order, and kept while that fails until a later try succeeds.

Nothing is appended past them, so the file never has a hole.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from app.agent.events import AgentMessage
from app.ai.messages import AssistantMessage, TextContent, ToolResultMessage
from app.errors import PinyonError, WriteFailedError
from app.runtime.events import EntryAppended, WriteFailed
from app.session.pairing import NOT_RUN

if TYPE_CHECKING:
    from app.runtime.agent_session import AgentSession


class Unsaved:
    """What waits to be stored for one session."""

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._waiting: list[AgentMessage] = []
        self._held: list[AgentMessage] = []
        self._turn = anyio.Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    async def put(self, message: AgentMessage) -> None:
        """Store a message, behind those that wait. Raises WriteFailedError, told as well: then it waits too."""
        self._waiting.append(message)
        try:
            await self.store()
        except WriteFailedError as error:
            self._session.emit(WriteFailed(str(error)))
            raise
        except BaseException:  # a session to look at only, a cancelled wait: not kept, as the caller is told
            self._waiting = [waiting for waiting in self._waiting if waiting is not message]
            raise

    async def put_answer(self, answer: AssistantMessage) -> None:
        """Store an answer; one that failed or was stopped runs no calls, and each of them gets its result at once, so
        that no call in the file is without one. Raises as `put`.
        """
        await self.put(answer)
        words = NOT_RUN.get(answer.stop_reason)
        for call in answer.tool_calls() if words is not None else ():
            result = ToolResultMessage(tool_call_id=call.id, tool_name=call.name, is_error=True)
            result.content = [TextContent(text=words or "")]
            await self.put(result)

    async def keep(self, message: AgentMessage) -> None:
        """Store a message that did not come from a run and add it to the conversation. Raises as `put`."""
        try:
            await self.put(message)
        finally:  # one that could not be stored waits for that, and counts
            if self._session.reader.is_read:  # else it will be read with the rest
                self._session.agent.state.messages.append(message)

    def hold(self, message: AgentMessage) -> None:
        """Keep such a message back while a run goes on: nothing may come between its calls and their results."""
        self._held.append(message)

    async def keep_held(self) -> None:
        """Keep what was held back; a failure is told, not raised."""
        while self._held:
            try:
                await self.keep(self._held.pop(0))
            except WriteFailedError:
                continue
            except PinyonError as error:
                self._session.note(str(error), "error")

    def answer(self) -> AssistantMessage | None:
        """The last answer among them: whole, and nowhere on the disk."""
        answers = (message for message in reversed(self._waiting) if isinstance(message, AssistantMessage))
        return next(answers, None)

    async def store(self) -> None:
        """Try again, in order. Raises WriteFailedError; what was stored by then waits no more."""
        while self._waiting:
            async with self._turn:
                if not self._waiting:
                    return
                message = self._waiting[0]
                with anyio.CancelScope(shield=True):  # written and no longer waiting, or neither
                    entry_id = await self._session.session.append_message(message)
                    self._waiting.pop(0)
                self._session.emit(EntryAppended(entry_id, message))

    async def store_in(self, folder: Path) -> Path:
        """Go on in a new file in `folder`, with everything so far and what waits. Raises WriteFailedError."""
        path = await self._session.session.move_to(folder)
        await self.store()
        return path
