"""How many tokens a conversation takes: from the usage that a model reported, else a quarter of the characters.

It must never count what is not sent, nor trust usage that was reported before the latest compaction (spec core §5.1).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.ai.messages import (
    AssistantMessage,
    ImageContent,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from app.session.messages import (
    AgentMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    convert_to_llm,
)

CHARS_PER_TOKEN = 4
IMAGE_CHARS = 4800  # 1200 tokens, for a user's image as for a tool's (spec core §9 row 15)


@dataclass(frozen=True, slots=True)
class Estimate:
    """`tokens` in all; `reported` of them by a model, for the messages up to `through` (-1: no usage to build on)."""

    tokens: int
    reported: int = 0
    through: int = -1


def usage_tokens(usage: Usage) -> int:
    """What one request and its answer took: the total, or the sum of the four counters where there is none."""
    return usage.total_tokens or usage.input + usage.output + usage.cache_read + usage.cache_write


def estimate_message(message: AgentMessage) -> int:
    """Tokens of one message, a quarter of its characters rounded up; 0 for what no model is sent."""
    match message:
        case UserMessage() | AssistantMessage() | ToolResultMessage():
            chars = _chars(message)
        case BashExecutionMessage():
            chars = 0 if message.exclude_from_context else len(message.command) + len(message.output)
        case BranchSummaryMessage() | CompactionSummaryMessage():
            chars = len(message.summary)
        case _:
            chars = sum(_chars(sent) for sent in convert_to_llm([message]))
    return -(-chars // CHARS_PER_TOKEN)


def estimate_messages(messages: Iterable[AgentMessage]) -> int:
    """The sum over messages, by characters alone; failed and stopped answers count nothing, for they are not sent."""
    return sum(estimate_message(message) for message in messages if not is_failed(message))


def is_failed(message: AgentMessage) -> bool:
    """Whether it is an answer that failed or was stopped: no model is ever sent one."""
    return isinstance(message, AssistantMessage) and message.stop_reason in ("error", "aborted")


def last_usage(messages: Sequence[AgentMessage]) -> int:
    """The place of the last whole answer whose usage tells of the present context; -1 when there is none.

    Failed and stopped answers tell nothing; nor do those that are not younger than the latest compaction summary
    before or after them: they were asked with the whole history.
    """
    since = compacted_at(messages)
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, AssistantMessage) and tells_usage(message, since):
            return place
    return -1


def compacted_at(messages: Iterable[AgentMessage]) -> int:
    """When the latest compaction summary among the messages was made, in ms since 1970; -1 without any."""
    return max((m.timestamp for m in messages if isinstance(m, CompactionSummaryMessage)), default=-1)


def tells_usage(message: AssistantMessage, since_ms: int) -> bool:
    """Whether an answer's usage counts for a context that was compacted at `since_ms` (-1: never)."""
    return not is_failed(message) and message.timestamp > since_ms and usage_tokens(message.usage) > 0


def estimate_context(messages: Sequence[AgentMessage]) -> Estimate:
    """What the next request with these messages takes: the last usage that counts plus estimates of what came after."""
    place = last_usage(messages)
    if place < 0:
        return Estimate(estimate_messages(messages))
    answer = messages[place]
    assert isinstance(answer, AssistantMessage)
    reported = usage_tokens(answer.usage)
    return Estimate(reported + estimate_messages(messages[place + 1 :]), reported, place)


def short_count(tokens: int) -> str:
    """A number of tokens for a person: 812, 3.4k, 38k, 1.2M."""
    if tokens < 1000:
        return str(tokens)
    for size, letter in ((1_000_000, "M"), (1000, "k")):
        if tokens >= size * 0.9995:
            value = tokens / size
            return f"{value:.0f}{letter}" if value >= 9.95 else f"{value:.1f}{letter}"
    return str(tokens)


def _chars(message: Message) -> int:
    content = message.content
    if isinstance(content, str):
        return len(content)
    return sum(map(_block_chars, content))


def _block_chars(block: object) -> int:
    match block:
        case TextContent():
            return len(block.text)
        case ThinkingContent():
            return len(block.thinking)
        case ToolCall():
            return len(block.name) + len(json.dumps(block.arguments, ensure_ascii=False, default=str))
        case ImageContent():
            return IMAGE_CHARS
        case _:
            return 0
