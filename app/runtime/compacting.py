"""Compaction bound to a session: when it happens, that escape stops it, and how the run goes on afterwards.

All of it is awaited inside the prompt that needs it, under the session's lock (spec core §5.2, §9 rows 3, 9, 27);
it must never leave anything changed when it is stopped or fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import anyio
import anyio.to_thread

from app.agent.config import TurnSummary
from app.agent.events import AgentMessage, MessageEnd, MessageStart
from app.ai.messages import AssistantMessage
from app.ai.overflow import is_context_overflow
from app.errors import PinyonError, WriteFailedError
from app.runtime.events import CompactionEnd, CompactionStart, EditorText, SessionEvent, WriteFailed
from app.runtime.summariser import Summariser
from app.session.compaction import CompactionPlan, Limits, NothingToCompactError, plan_compaction
from app.session.compaction_summary import compaction_summary
from app.session.pruning import KEEP_TOKENS, Pruned, choose, pruning_note, without
from app.session.token_estimate import estimate_context, estimate_messages

if TYPE_CHECKING:
    from app.runtime.agent_session import AgentSession

Reason = Literal["manual", "threshold", "overflow"]
AT_ONCE = 1000
_T = TypeVar("_T")
_Made = TypeVar("_Made")
OVERFLOW_AGAIN = "the conversation is still too long for the model after it was compacted once"


class Compaction:
    """Prunes requests, compacts when the context is too large, when a request overflowed, and on demand."""

    def __init__(self, session: AgentSession) -> None:
        self.is_running = False
        self._session = session
        self._is_due = False
        self._gave_up = False
        self._tried_overflow = False
        self._told: frozenset[int] = frozenset()
        session.subscribe(self._on_event)

    @property
    def is_automatic(self) -> bool:
        """Whether it happens by itself (setting compaction.enabled)."""
        return self._session.settings.compaction.enabled

    @property
    def limits(self) -> Limits:
        """The limits of the present model and settings, in tokens."""
        wished = self._session.settings.compaction
        window = self._session.agent.state.model.context_window
        return Limits.of(window, wished.reserve_tokens, wished.keep_recent_tokens)

    async def run(self, focus: str | None = None, *, stop_first: bool = False) -> CompactionEnd:
        """Compact now, whatever the size (`/compact focus`); messages typed meanwhile are sent after it.

        Gives the event that told its end: `aborted` when escape stopped it. Raises AgentBusyError while something
        else runs (`stop_first` stops that), NothingToCompactError, and PinyonError when the summary or its storing
        failed; then nothing has changed, and what was typed meanwhile is back in the prompt.
        """
        session = self._session
        reason: Reason = "manual"
        async with session.exclusive(stop_first=stop_first):
            if not await session.reader.finish():
                end = CompactionEnd(reason, aborted=True)
                session.emit(end)
                return end
            end, error = await self._compact(await self._apart(self._plan, reason), reason, focus)
            if end.result is None:
                if texts := session.queue.take_all():
                    session.emit(EditorText("\n\n".join(texts)))
                if error is not None:
                    raise error
                return end
            agent = session.agent
            if waiting := agent.steering.drain() or agent.follow_ups.drain():
                await session.drive(waiting)
            return end

    # -- what a run asks --------------------------------------------------------------------------------------------

    def request(self, messages: list[AgentMessage]) -> list[AgentMessage]:
        """The messages of a request, old tool outputs left out where the setting `pruning` says so; told when new."""
        pruned = self.pruned(messages)
        if pruned is None:
            return messages
        places = frozenset(pruned.places)
        if places - self._told:
            self._session.note(pruning_note(pruned))
        self._told = places
        return without(messages, pruned)

    def pruned(self, messages: Sequence[AgentMessage]) -> Pruned | None:
        """What would be left out of a request with `messages`; None when pruning is off (pruning.enabled)."""
        group = self._session.settings.raw.get("pruning")
        wished: dict[str, Any] = group if isinstance(group, dict) else {}
        if wished.get("enabled") is False:
            return None
        keep = wished.get("keepTokens")
        sound = isinstance(keep, int) and not isinstance(keep, bool) and keep >= 0
        return choose(messages, self.limits.threshold, keep if sound and isinstance(keep, int) else KEEP_TOKENS)

    async def before_run(self, messages: Sequence[AgentMessage]) -> None:
        """Compact when a run with these new messages would be too large; it begins even if that fails."""
        self._gave_up = self._is_due = False
        if not self.is_automatic:
            return
        known = self._session.agent.state.messages
        if known and self._overflowed(known[-1]):
            await self._attempt("overflow")
        elif await self._apart(self._is_over, [*known, *messages]):
            await self._attempt("threshold")

    async def after_turn(self, turn: TurnSummary) -> bool:
        """Whether the run has to stop here to be compacted: it is too large and would go on (loop hook)."""
        goes_on = (bool(turn.tool_results) and turn.goes_on) or self._session.agent.has_queued_messages()
        self._is_due = goes_on and self.is_automatic and not self._gave_up
        self._is_due = self._is_due and await self._apart(self._can_shrink, turn.context.messages)
        return self._is_due

    async def go_on(self) -> bool:
        """Compact where a run stopped for it or overflowed, and continue it. True when it ran on.

        A stopped or failed compaction lets a run go on as it was; after an overflow there is nothing to go on with.
        """
        is_due, self._is_due = self._is_due, False
        messages = self._session.agent.state.messages
        if messages and self._overflowed(messages[-1]):
            return self.is_automatic and await self._recover()
        if not is_due:
            return False
        await self._attempt("threshold")
        return await self._continue()

    # -- inside -----------------------------------------------------------------------------------------------------

    async def _recover(self) -> bool:
        if self._tried_overflow:
            self._session.emit(CompactionEnd("overflow", error_message=OVERFLOW_AGAIN))
            return False
        self._tried_overflow = True
        if not await self._attempt("overflow"):
            return False
        state = self._session.agent.state
        if state.messages and isinstance(state.messages[-1], AssistantMessage):
            state.messages = state.messages[:-1]  # the answer that overflowed; the file keeps it
        return await self._continue()

    async def _continue(self) -> bool:
        agent = self._session.agent
        messages = agent.state.messages
        if not messages or (isinstance(messages[-1], AssistantMessage) and not agent.has_queued_messages()):
            return False
        await agent.continue_()
        return True

    async def _apart(self, work: Callable[[_T], _Made], argument: _T) -> _Made:
        """`work(argument)`, in a thread where it takes so long (5 to 20 µs a message) that keys would wait for it."""
        if len(self._session.agent.state.messages) <= AT_ONCE:
            return work(argument)
        return await anyio.to_thread.run_sync(work, argument)

    def _is_over(self, messages: Sequence[AgentMessage]) -> bool:
        return self._size(messages) > self.limits.threshold

    def _size(self, messages: Sequence[AgentMessage]) -> int:
        pruned = self.pruned(messages)
        return estimate_context(messages).tokens if pruned is None else pruned.context_tokens

    def _can_shrink(self, messages: Sequence[AgentMessage]) -> bool:
        if not self._is_over(messages):
            return False
        try:
            self._plan("threshold")
        except NothingToCompactError:
            self._gave_up = True
            return False
        return True

    def _overflowed(self, message: AgentMessage) -> bool:
        model = self._session.agent.state.model
        return (
            isinstance(message, AssistantMessage)
            and (message.provider, message.model) == (model.provider, model.id)
            and is_context_overflow(message, model.context_window)
        )

    def _plan(self, reason: Reason) -> CompactionPlan:
        messages = self._session.agent.state.messages
        keep = self.limits.keep
        if reason == "overflow":
            # the window is smaller than we were told: whatever its size, half of the conversation goes
            keep = min(keep, estimate_messages(messages) // 2)
        return plan_compaction(self._session.session, keep, self._size(messages))

    async def _attempt(self, reason: Reason) -> bool:
        """Compact without being asked. False, told by its event alone, when nothing came of it."""
        try:
            plan = await self._apart(self._plan, reason)
        except NothingToCompactError as error:
            if reason == "overflow":
                self._session.emit(CompactionEnd(reason, error_message=str(error)))
            self._gave_up = True
            return False
        end, _ = await self._compact(plan, reason)
        self._gave_up = end.result is None
        return end.result is not None

    async def _compact(
        self, plan: CompactionPlan, reason: Reason, focus: str | None = None
    ) -> tuple[CompactionEnd, PinyonError | None]:
        session = self._session
        will_retry = reason == "overflow"
        end = CompactionEnd(reason, aborted=True)
        failure: PinyonError | None = None
        session.emit(CompactionStart(reason))
        self.is_running = True
        try:
            with anyio.CancelScope() as scope, session.interrupts.entry("stop compacting", scope.cancel):
                summariser = await Summariser.open(session)
                limits, window = self.limits, summariser.model.context_window
                summary = await compaction_summary(plan, summariser.ask, limits.reserve, window, focus)
                if not scope.cancel_called:
                    with anyio.CancelScope(shield=True):
                        end = CompactionEnd(reason, await self._store(plan, summary), will_retry=will_retry)
        except PinyonError as error:
            failure = error
            end = CompactionEnd(reason, error_message=str(error))
        finally:
            self.is_running = False
            session.emit(end)
        return end, failure

    async def _store(self, plan: CompactionPlan, summary: str) -> dict[str, Any]:
        """Store the compaction and take the conversation from it; gives the entry's own data."""
        session = self._session
        details = {**plan.files.details(), "tokensKept": plan.tokens_kept}
        try:
            await session.session.append_compaction(summary, plan.first_kept_id, plan.tokens_before, details)
        except WriteFailedError as error:
            session.emit(WriteFailed(str(error)))
            raise
        session.agent.state.messages = session.session.context().messages
        session.totals.context_tokens = None
        self._told = frozenset()
        return {
            "summary": summary,
            "firstKeptEntryId": plan.first_kept_id,
            "tokensBefore": plan.tokens_before,
            "details": details,
        }

    def _on_event(self, event: SessionEvent) -> None:
        message = event.message if isinstance(event, MessageStart | MessageEnd) else None
        if isinstance(event, MessageStart):
            if getattr(message, "role", "") == "user":
                self._tried_overflow = False
        elif isinstance(message, AssistantMessage) and message.stop_reason != "error":
            self._tried_overflow = self._tried_overflow and self._overflowed(message)
