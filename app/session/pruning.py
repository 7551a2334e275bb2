"""Which old tool outputs are left out of requests, before a summary is paid for; it must never change a message.

The choice is worked out from the conversation alone, by walking through it as it grew: whenever the context had
become too large, all but the newest outputs go at one stroke. So it is the same at every request and after every
start, grows in large steps only (prompt caches live in between), and is gone as soon as it is switched off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.ai.messages import AssistantMessage, TextContent, ToolResultMessage
from app.session.messages import AgentMessage
from app.session.token_estimate import (
    compacted_at,
    estimate_message,
    is_failed,
    short_count,
    tells_usage,
    usage_tokens,
)

KEEP_TOKENS = 30_000
_WORTH = 0.1  # of the threshold: a smaller step costs the prompt cache and saves next to nothing
_SMALL_TOKENS = 60  # an output not larger than a few placeholders stays


@dataclass(slots=True)
class Pruned:
    """`places` of the tool results left out; they took `tokens`. `context_tokens`: the next request without them."""

    places: set[int] = field(default_factory=set)
    tokens: int = 0
    context_tokens: int = 0


def choose(messages: Sequence[AgentMessage], threshold: int, keep_tokens: int = KEEP_TOKENS) -> Pruned:
    """What is left out of the next request: outputs before the newest `keep_tokens` of outputs, taken when the
    context exceeded `threshold`. Results of the last answer always stay: the model has not seen them.
    """
    walk = _Walk(messages, threshold, keep_tokens)
    for place, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            walk.before_request(place)
        walk.take(place, message)
    walk.before_request(len(messages))
    pruned = walk.pruned
    pruned.context_tokens = walk.size
    return pruned


class _Walk:
    def __init__(self, messages: Sequence[AgentMessage], threshold: int, keep_tokens: int) -> None:
        self.pruned = Pruned()
        self.size = 0
        self._messages = messages
        self._threshold = threshold
        self._keep = min(keep_tokens, threshold // 2)
        self._since = compacted_at(messages)
        self._outputs: list[tuple[int, int]] = []  # place, tokens
        self._large = 0  # tokens of the outputs that may go: all that a step could save
        self._last_answer = -1

    def take(self, place: int, message: AgentMessage) -> None:
        if is_failed(message):
            return
        tokens = estimate_message(message)
        if isinstance(message, ToolResultMessage):
            self._outputs.append((place, tokens))
            self._large += tokens if tokens > _SMALL_TOKENS else 0
        self.size += tokens
        if isinstance(message, AssistantMessage):
            self._last_answer = place
            if tells_usage(message, self._since):
                self.size = usage_tokens(message.usage)  # what was left out by then is not in it any more

    def before_request(self, place: int) -> None:
        if self.size <= self._threshold or self._large < _WORTH * self._threshold:
            return
        kept = 0
        chosen: list[tuple[int, int]] = []
        newest: list[tuple[int, int]] = []
        for at, tokens in reversed(self._outputs):
            if at < self._last_answer and kept + tokens > self._keep:
                kept = self._keep  # everything older goes
                if tokens > _SMALL_TOKENS:
                    chosen.append((at, tokens))
            else:
                kept += tokens
                newest.append((at, tokens))
        saved = sum(tokens for _, tokens in chosen)
        if saved < _WORTH * self._threshold:
            # small ones that are old stay whatever comes: looking at them each time would be quadratic
            self._outputs = [*reversed(chosen), *reversed(newest)]
            return
        self.pruned.places.update(at for at, _ in chosen)
        self.pruned.tokens += saved
        self.size -= saved
        self._large -= saved
        self._outputs = newest[::-1]


def without(messages: Sequence[AgentMessage], pruned: Pruned) -> list[AgentMessage]:
    """The messages with a placeholder in the place of each output that is left out; the rest are the same objects."""
    if not pruned.places:
        return list(messages)
    return [_stand_in(m) if place in pruned.places else m for place, m in enumerate(messages)]


def _stand_in(message: AgentMessage) -> AgentMessage:
    if not isinstance(message, ToolResultMessage):
        return message
    size = short_count(estimate_message(message))
    text = f"[the output of {message.tool_name} ({size} tokens) is left out here; call the tool again if you need it]"
    return message.model_copy(update={"content": [TextContent(text=text)], "details": None})


def pruning_note(pruned: Pruned) -> str:
    """What the user is told of it, one sentence."""
    count = len(pruned.places)
    what = "1 old tool output" if count == 1 else f"{count} old tool outputs"
    return f"{what} ({short_count(pruned.tokens)} tokens) {'is' if count == 1 else 'are'} left out of requests"
