"""Running sums of a conversation's usage, so that no face ever has to walk it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.ai.messages import AssistantMessage
from app.session.entries import lenient_ms, message_of
from app.session.facts import UsageFact

if TYPE_CHECKING:
    from app.session.context import Outline, ReadBody
    from app.session.facts import IndexEntry

FAILED = ("error", "aborted")


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
    def of(cls, outline: Outline, read: ReadBody) -> Totals:
        """The sums over a context, from the index: no message is built. The context's size is unknown when no answer
        came since it was compacted; only to know that, few bodies are read.
        """
        totals = cls()
        compacted_ms = -1
        for entry in outline.entries:
            if entry.usage is not None:
                totals._count(entry.usage)
            elif entry.type == "compaction":
                compacted_ms = max(compacted_ms, lenient_ms(entry.timestamp))
        for entry in reversed(outline.entries):
            if entry.role == "assistant" and compacted_ms >= 0 and _said_at(entry, read) <= compacted_ms:
                break
            if entry.usage is not None and entry.fact not in FAILED and entry.usage.context_tokens:
                totals.context_tokens = entry.usage.context_tokens
                break
        return totals

    def add(self, message: AssistantMessage) -> None:
        """Count one more answer."""
        usage = message.usage
        fact = UsageFact(
            usage.input, usage.output, usage.cache_read, usage.cache_write, usage.total_tokens, usage.cost.total
        )
        self._count(fact)
        if message.stop_reason not in FAILED and fact.context_tokens:
            self.context_tokens = fact.context_tokens

    def _count(self, usage: UsageFact) -> None:
        self.input += usage.input
        self.output += usage.output
        self.cache_read += usage.cache_read
        self.cache_write += usage.cache_write
        self.cost += usage.cost


def _said_at(entry: IndexEntry, read: ReadBody) -> int:
    stamp = message_of(read(entry)).get("timestamp")
    if isinstance(stamp, int | float) and not isinstance(stamp, bool):
        return int(stamp)
    return lenient_ms(entry.timestamp)
