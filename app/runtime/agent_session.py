"""AgentSession: the one object that every face drives. It binds agent, session file, models, tools and retries.

Everything is stored before it counts (architecture §3); a face only listens. It must never know a face.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup

from app.agent.agent import Agent, AgentBusyError
from app.agent.config import AgentLoopConfig
from app.agent.events import (
    AgentEvent,
    AgentMessage,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    ToolExecutionUpdate,
)
from app.agent.state import AgentState
from app.agent.tool import AbortSignal, AgentTool
from app.ai.catalogue import ModelRegistry
from app.ai.messages import AssistantMessage, ImageContent, Model, ThinkingLevel, UserMessage
from app.ai.stream import StreamFn, StreamOptions, stream
from app.config.settings import Settings
from app.errors import ModelError, PinyonError, UsageError
from app.runtime.compacting import Compaction
from app.runtime.events import (
    AutoRetryEnd,
    EditorText,
    NoteLevel,
    SessionEvent,
    SessionNote,
)
from app.runtime.interrupts import InterruptStack
from app.runtime.jumps import Jumps
from app.runtime.notes import Notes
from app.runtime.queue import Behavior, SessionQueue, user_content
from app.runtime.reading import ConversationReader
from app.runtime.retry import Retrying, RetryPolicy
from app.runtime.submitting import Submitting
from app.runtime.totals import Totals
from app.runtime.unsaved import Unsaved
from app.session.messages import block_images, convert_to_llm
from app.session.session import Session

if TYPE_CHECKING:
    from app.runtime.file_history import FileHistory
    from app.runtime.user_bash import UserBash

SessionListener = Callable[[SessionEvent], None]
SystemPrompt = Callable[[Sequence[AgentTool]], str]


@dataclass(slots=True)
class SessionParts:
    """What an AgentSession is made of; `app.runtime.opening` puts it together."""

    session: Session
    settings: Settings
    registry: ModelRegistry
    model: Model
    thinking_level: ThinkingLevel
    tools: list[AgentTool]
    system_prompt: SystemPrompt
    stream_fn: StreamFn = stream
    notes: list[tuple[str, NoteLevel]] = field(default_factory=list)
    context_files: list[Path] = field(default_factory=list)


class AgentSession:
    """An async context manager. Listeners are called synchronously, in order; one that raises is dropped."""

    bash: UserBash
    """The user's own `!` commands; set by `opening`."""
    files: FileHistory | None = None
    """The files that belong to entries; set by `opening`."""
    cwd: Path | None = None
    """The folder that the tools work in, whatever the session's header says; set by `opening`."""
    session_dir: Path | None = None
    """Where sessions are kept, when not in the project's own folder; set by `opening`."""

    def __init__(self, parts: SessionParts) -> None:
        self.session = parts.session
        self.settings = parts.settings
        self.registry = parts.registry
        self.system_prompt = parts.system_prompt
        self.interrupts = InterruptStack()
        self.notes = Notes()
        self.totals = Totals()
        self.context_files = parts.context_files
        for text, level in parts.notes:
            self.notes.add(text, level)
        self._listeners: list[SessionListener] = []
        self._lock = anyio.Lock()
        self._group: TaskGroup | None = None
        retry = parts.settings.retry
        self._retry = Retrying(self, RetryPolicy(retry.enabled, retry.max_retries, retry.base_delay_ms))
        self._submitting = Submitting(self)
        self.unsaved = Unsaved(self)
        self.compaction = Compaction(self)
        self.jumps = Jumps()
        state = AgentState(parts.model, parts.system_prompt(parts.tools), parts.thinking_level, parts.tools)
        config = AgentLoopConfig(
            model=parts.model,
            stream_fn=parts.stream_fn,
            options=StreamOptions(
                session_id=parts.session.id,
                thinking_budgets=dict(parts.settings.thinking_budgets),
                idle_timeout_s=parts.settings.http_idle_timeout_ms / 1000,
            ),
            convert_to_llm=self._convert,
            get_api_key=self._auth,
            should_stop_after_turn=self.compaction.after_turn,
            on_hook_error=lambda hook, error: self.note(f"{hook} failed: {error}", "error"),
        )
        self.agent = Agent(state, config)
        self.queue = SessionQueue(self.agent, self.emit)
        self.agent.steering.mode = parts.settings.steering_mode
        self.agent.follow_ups.mode = parts.settings.follow_up_mode
        self.agent.subscribe(self._on_agent_event)
        self.reader = ConversationReader(self)
        self.load_context()

    async def __aenter__(self) -> AgentSession:
        self._group = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        assert self._group is not None
        with anyio.CancelScope(shield=True):
            self._submitting.is_closing = True
            with anyio.move_on_after(5):
                await self.abort()
            self._group.cancel_scope.cancel()
        try:
            return await self._group.__aexit__(kind, error, trace)
        finally:  # all that was under way has ended, and stored what it had
            with anyio.CancelScope(shield=True), anyio.move_on_after(5):
                with suppress(PinyonError):
                    await self.unsaved.store()
                if self.files is not None:
                    await self.files.close()
                await self.session.close()

    # -- listening ------------------------------------------------------------------------------------------------

    def subscribe(self, listener: SessionListener) -> Callable[[], None]:
        """Call `listener` for every SessionEvent; returns how to end it."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def emit(self, event: SessionEvent) -> None:
        """Tell every face. A face that fails is dropped with a note: it must not break a run."""
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception as error:
                if listener in self._listeners:  # it may have left by itself
                    self._listeners.remove(listener)
                self.note(f"a view failed at {event.type} and was closed: {error}", "error")

    def note(self, text: str, level: NoteLevel = "info") -> None:
        """Keep a UI-only note behind the present entry and tell the faces."""
        self.notes.add(text, level, self.session.leaf_id)
        self.emit(SessionNote(text, level))

    # -- prompting ------------------------------------------------------------------------------------------------

    @property
    def is_busy(self) -> bool:
        """Whether a run, its retries or another exclusive command is going on."""
        return self._lock.locked()

    def submit(
        self,
        text: str,
        images: Sequence[ImageContent] = (),
        behavior: Behavior = "steer",
        attached: Sequence[str] = (),
    ) -> None:
        """Prompt in the background; while a run goes on, queue as `behavior` says. Failures become notes."""
        self._submitting.submit(text, images, behavior, attached)

    def start(self, function: Callable[..., Awaitable[Any]], *args: Any) -> None:
        """Run something in the session's own task group; what it raises becomes a note."""
        assert self._group is not None, "the session is entered before anything is started"
        self._group.start_soon(self._guarded, function, args)

    async def prompt(
        self, text: str, images: Sequence[ImageContent] = (), attached: Sequence[str] = ()
    ) -> AssistantMessage | None:
        """The final answer of a whole run, its retries included; None when a write stopped it, or escape stopped the
        reading of a long session before it.

        Raises AgentBusyError while another runs, UsageError when the model can't be asked (no key).
        """
        async with self.exclusive():
            await self.require_auth()
            if not await self.reader.finish(text):
                return None
            await self.drive([UserMessage(content=user_content(text, images, attached))])
            return self.last_answer()

    @asynccontextmanager
    async def exclusive(self, *, stop_first: bool = False) -> AsyncIterator[None]:
        """The session's one lock, for whatever changes it; what could not be stored comes first, in its own place.

        Raises AgentBusyError while something else has the lock, unless `stop_first` says to stop that, and
        WriteFailedError while what waits to be stored still can't be.
        """
        if stop_first:
            await self.abort()
        elif self.is_busy:
            raise AgentBusyError("the agent is at work: steer it, or wait for it to end")
        try:
            async with self._lock:
                await self.unsaved.store()
                try:
                    yield
                finally:
                    with anyio.CancelScope(shield=True):
                        await self.unsaved.keep_held()
        finally:
            self._submitting.look_again()

    async def drive(self, messages: list[AgentMessage]) -> None:
        """Run to the end with these new messages, retries and compactions included; for who holds the lock."""
        self._retry.reset()
        with self.interrupts.entry("stop", self.stop_run):
            await self.compaction.before_run(messages)
            await self.agent.prompt(messages)
            await self._retry.until_done()
            while await self.compaction.go_on():
                await self._retry.until_done()

    def stop_run(self) -> None:
        """Stop the run and its retries; what waited in the queues goes back to the prompt first."""
        texts = self.queue.take_all()
        self._retry.stop()
        self.agent.abort()
        self.give_back(texts)

    def give_back(self, texts: Sequence[str]) -> None:
        """Put texts back into the prompt."""
        if texts:
            self.emit(EditorText("\n\n".join(texts)))

    async def abort(self) -> None:
        """Stop everything innermost first and wait until it has ended. Not for who holds the lock."""
        while self.interrupts.interrupt() or self.is_busy:
            if not self._retry.is_waiting:
                await self.agent.wait_for_idle()
            # a command's processes take their time to end; what began between two looks is stopped at the next one
            await anyio.sleep(0.01)

    async def require_auth(self) -> None:
        """Raise UsageError when the present model can't be asked for want of a key."""
        model = self.agent.state.model
        if not self.registry.has_auth(model):
            try:
                await self.registry.request_auth(model)
            except ModelError as error:
                raise UsageError(error.message, error.hint) from error

    def last_answer(self) -> AssistantMessage | None:
        """The last assistant message of the conversation; for a run, which has read it."""
        for message in reversed(self.agent.state.messages):
            if isinstance(message, AssistantMessage):
                return message
        return None

    def load_context(self) -> None:
        """Take conversation and totals from the session's present place in the tree; a long one is read when needed."""
        self.reader.restart()

    async def keep(self, message: AgentMessage) -> None:
        """Add a message that did not come from a run; while one goes on it is held until that has ended."""
        if self.agent.state.is_streaming:
            self.unsaved.hold(message)
        else:
            await self.unsaved.keep(message)

    # -- inside ---------------------------------------------------------------------------------------------------

    async def _guarded(self, function: Callable[..., Awaitable[Any]], args: tuple[Any, ...]) -> None:
        try:
            await function(*args)
        except PinyonError as error:
            self.note(str(error), "error")
        except Exception as error:
            self.note(f"{type(error).__name__}: {error}", "error")

    def _on_agent_event(self, event: AgentEvent, _signal: AbortSignal) -> Awaitable[None] | None:
        if isinstance(event, MessageUpdate | ToolExecutionUpdate):
            self.emit(event)
            return None
        if isinstance(event, MessageStart):
            self.queue.started(event.message)
        self.emit(event)
        if isinstance(event, MessageEnd):
            message = event.message
            if isinstance(message, AssistantMessage):
                self.totals.add(message)
                if message.stop_reason not in ("error", "aborted") and (attempts := self._retry.reset()):
                    self.emit(AutoRetryEnd(True, attempts))
                return self.unsaved.put_answer(message)
            return self.unsaved.put(message)
        return None

    def _convert(self, messages: list[AgentMessage]) -> list[Any]:
        sent = convert_to_llm(self.compaction.request(messages), lambda error: self.note(error, "error"))
        return block_images(sent) if self.settings.images.block_images else sent

    async def _auth(self, model: Model) -> StreamOptions:
        auth = await self.registry.request_auth(model)
        return StreamOptions(api_key=auth.api_key, headers=auth.headers)
