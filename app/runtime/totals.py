"""Running sums of a conversation's usage, so that no face ever has to walk it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.agent.events import AgentMessage
from app.ai.messages import AssistantMessage
from app.session.token_estimate import compacted_at


@dataclass(slots=True)
class Totals:
    """Tokens and US dollars of all answers; `context_tokens` is what the last whole answer used, None: unknown."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float = 0.0
    context_tokens: int | None = None

    @classmethod
    def of(cls, messages: Iterable[AgentMessage]) -> Totals:
        """The sums over a conversation; the context's size is unknown when no answer came since it was compacted."""
        totals = cls()
        known = list(messages)
        since = compacted_at(known)
        for message in known:
            if isinstance(message, AssistantMessage):
                totals.add(message)
                if message.timestamp <= since:
                    totals.context_tokens = None
        return totals

    def add(self, message: AssistantMessage) -> None:
        """Count one more answer."""
        usage = message.usage
        self.input += usage.input
        self.output += usage.output
        self.cache_read += usage.cache_read
        self.cache_write += usage.cache_write
        self.cost += usage.cost.total
        used = usage.total_tokens or usage.input + usage.output + usage.cache_read + usage.cache_write
        if message.stop_reason not in ("error", "aborted") and used:
            self.context_tokens = used
