"""The only place that sends a failed request again: whether, how often, after how long."""

from __future__ import annotations

from dataclasses import dataclass

from app.ai.messages import AssistantMessage
from app.errors import ErrorKind

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
