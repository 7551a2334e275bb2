"""The only place that sends a failed request again: whether, how often, after how long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from app.ai.messages import AssistantMessage
from app.errors import ErrorKind
from app.runtime.events import AutoRetryEnd, AutoRetryStart

if TYPE_CHECKING:
    from app.runtime.agent_session import AgentSession

MAX_WAIT_S = 60.0  # spec core §1.13: a provider that asks for more is not waited for


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Settings retry.enabled, retry.maxRetries, retry.baseDelayMs."""

    enabled: bool = True
    max_retries: int = 3
    base_delay_ms: int = 2000


class RetryState:
    """Counts the attempts of one prompt."""

    def __init__(self, policy: RetryPolicy) -> None:
        self.policy = policy
        self.attempt = 0

    def next_delay_s(self, message: AssistantMessage) -> float | None:
        """Seconds to wait before the next attempt, which is counted; None: don't send it again.

        The provider's own Retry-After counts when it asks for more than the own back-off (2, 4, 8 s ...); one
        beyond MAX_WAIT_S ends the retrying.
        """
        if not self.policy.enabled or message.stop_reason != "error" or not message.retryable:
            return None
        if message.error_kind == ErrorKind.OVERFLOW or self.attempt >= self.policy.max_retries:
            return None
        asked = message.retry_after_s or 0.0
        if asked > MAX_WAIT_S:
            return None
        delay = self.policy.base_delay_ms / 1000 * float(2**self.attempt)
        self.attempt += 1
        return min(max(delay, asked), MAX_WAIT_S)

    def reset(self) -> int:
        """Forget the attempts; returns how many there were."""
        attempts, self.attempt = self.attempt, 0
        return attempts


class Retrying(RetryState):
    """Sends a session's failed request again, in the open: each wait is told and can be stopped."""

    def __init__(self, session: AgentSession, policy: RetryPolicy) -> None:
        super().__init__(policy)
        self._session = session
        self._scope: anyio.CancelScope | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a next attempt is waited for."""
        return self._scope is not None

    def stop(self) -> None:
        """End a wait; the failure stands."""
        if self._scope is not None:
            self._scope.cancel()

    async def until_done(self) -> None:
        """Return when the last answer is no failure, or one that isn't sent again.

        The failed answer leaves the conversation and stays in the file.
        """
        session = self._session
        while True:
            answer = session.last_answer()
            if answer is None or session.agent.state.messages[-1] is not answer:
                return
            delay_s = self.next_delay_s(answer)
            text = answer.error_message or ""
            if delay_s is None:
                if answer.stop_reason == "error" and (attempts := self.reset()):
                    session.emit(AutoRetryEnd(False, attempts, text))
                return
            session.emit(AutoRetryStart(self.attempt, self.policy.max_retries, int(delay_s * 1000), text))
            with anyio.CancelScope() as scope:
                self._scope = scope
                with session.interrupts.entry("stop retrying", scope.cancel):
                    await anyio.sleep(delay_s)
            self._scope = None
            if scope.cancelled_caught:
                session.emit(AutoRetryEnd(False, self.reset(), "stopped before the next attempt"))
                return
            session.agent.state.messages = [m for m in session.agent.state.messages if m is not answer]
            await session.agent.continue_()
