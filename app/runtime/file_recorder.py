"""Takes snapshots around what may change files; it must never stop a tool, nor hold up a turn that only reads."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from app.agent.config import BeforeToolCall, BeforeToolCallResult
from app.agent.events import AgentEnd, AgentEvent, TurnEnd
from app.agent.tool import AbortSignal
from app.errors import PinyonError
from app.runtime.file_places import FilePlaces, Place
from app.runtime.file_project import ProjectFiles
from app.session.snapshots.model import Manifest, count_kinds, differences

if TYPE_CHECKING:
    from app.runtime.agent_session import AgentSession

READ_ONLY_TOOLS = frozenset({"read", "grep", "find", "ls"})


class FileRecorder:
    """Listens to one AgentSession. A failure is told once, as a note; the work goes on without snapshots."""

    def __init__(self, session: AgentSession, files: ProjectFiles, places: FilePlaces) -> None:
        self._session = session
        self._files = files
        self._places = places
        self._turn = anyio.Lock()
        self._is_open = False
        self._is_told = False
        self._unsubscribe: Callable[[], None] | None = None

    def attach(self) -> None:
        """Take snapshots around every turn with a tool that may change files. A hook that is set already is kept."""
        config = self._session.agent.config
        earlier = config.before_tool_call

        async def before(call: BeforeToolCall, signal: AbortSignal) -> BeforeToolCallResult | None:
            verdict = await earlier(call, signal) if earlier is not None else None
            if call.tool_call.name not in READ_ONLY_TOOLS and not (verdict is not None and verdict.block):
                await self.before_change()
            return verdict

        config.before_tool_call = before
        self._unsubscribe = self._session.agent.subscribe(self._on_event)

    def detach(self) -> None:
        """Listen no longer; idempotent."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    async def before_change(self) -> None:
        """Keep the files as they are before something may change them; once a turn. Never raises, costs one scan."""
        if not self._is_open:
            self._is_open = True
            await self._keep("before")

    async def after_change(self) -> None:
        """Keep the files as the turn left them, if it began with `before_change`. Never raises."""
        if self._is_open:
            self._is_open = False
            await self._keep("after")

    @asynccontextmanager
    async def command(self) -> AsyncIterator[None]:
        """Put the user's own command (`!`) inside, the keeping of its message included."""
        if not self._is_open:  # else a turn is under way, and its own snapshot came first
            await self._keep("before")
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await self._keep("after")

    async def note(self, phase: str, manifest: Manifest, undo_id: str | None = None) -> None:
        """Store the entry, unless the tree says already that these are the files here. Raises WriteFailedError."""
        here, last = self._places.at_leaf(), self._places.last()
        known = here is not None and last is not None and here.manifest_id == manifest.id == last.manifest_id
        if undo_id is None and known:
            return
        previous = await self._files.load_if_kept(last.manifest_id) if last is not None else None
        counts: dict[str, int] | None = None
        if previous is not None:
            counts = await self._files.run(lambda _: count_kinds(differences(previous, manifest)))
        await self._places.add(Place.data(phase, manifest.id, last.manifest_id if last else None, counts, undo_id))

    def _on_event(self, event: AgentEvent, _signal: AbortSignal) -> Awaitable[None] | None:
        return self.after_change() if isinstance(event, TurnEnd | AgentEnd) and self._is_open else None

    async def _keep(self, phase: str) -> None:
        if self._files.is_switched_off or (self._files.why_off is not None and self._is_told):
            return
        try:
            async with self._turn:
                await self.note(phase, await self._files.now(full=False))
        except PinyonError as error:
            if not self._is_told:
                self._is_told = True
                self._session.note(f"the files of this session are not kept for restoring: {error}", "warning")
