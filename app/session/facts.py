"""What is known of an entry without its body: its place in the file and the facts that tree and list need."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from sys import intern
from typing import Any, NamedTuple

from app.session.entries import RawEntry, as_id, as_text, is_own, message_of, role_of, text_of, tool_calls_of

PREVIEW_CHARS = 160


class UsageFact(NamedTuple):
    """What an answer took: tokens, and `cost` in US dollars. `input` came without the cache, `total` is as reported."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    total: int
    cost: float

    @property
    def context_tokens(self) -> int:
        """The tokens of the context that the answer was the end of; 0: unknown."""
        return self.total or self.input + self.output + self.cache_read + self.cache_write


@dataclass(slots=True, eq=False)
class IndexEntry:
    """One entry without its body: `offset` and `length` in bytes say where that is (-1: not in a file yet).

    `parent_id` is as stored; the tree decides what it means. `preview` is foreign text, at most 160 characters.
    `fact` depends on the type: customType, a label's text, a session's name, a model's id, a thinking level, a tool's
    name for a toolResult, the stop reason for an assistant message. `target` is a label's or context_edit's target.
    `usage` is an assistant message's, where it tells any.
    """

    id: str
    parent_id: str | None
    type: str
    timestamp: str
    place: int
    offset: int = -1
    length: int = 0
    role: str | None = None
    preview: str = ""
    fact: str | None = None
    target: str | None = None
    calls: int = 0
    own: bool = False
    altered: bool = False
    usage: UsageFact | None = None


def entry_facts(raw: RawEntry, entry_id: str, parent_id: str | None, place: int) -> IndexEntry:
    """The facts of one entry in today's shape."""
    kind = intern(as_text(raw.get("type")) or "unknown")
    entry = IndexEntry(entry_id, parent_id, kind, as_text(raw.get("timestamp")) or "", place)
    match kind:
        case "message":
            message = message_of(raw)
            role = role_of(raw)
            entry.role = intern(role) if role is not None else None
            entry.preview = text_of(message.get("content"), PREVIEW_CHARS)
            match role:
                case "assistant":
                    entry.fact = as_text(message.get("stopReason"))
                    entry.calls = len(tool_calls_of(message))
                    entry.usage = _usage_of(message)
                case "toolResult":
                    entry.fact = as_text(message.get("toolName"))
                case "bashExecution":
                    entry.preview = (as_text(message.get("command")) or "")[:PREVIEW_CHARS]
                case "custom":
                    entry.fact = as_text(message.get("customType"))
        case "custom":
            entry.fact = as_text(raw.get("customType"))
            entry.own = is_own(raw)
        case "custom_message":
            entry.fact = as_text(raw.get("customType"))
            entry.preview = text_of(raw.get("content"), PREVIEW_CHARS)
        case "compaction" | "branch_summary":
            entry.preview = (as_text(raw.get("summary")) or "")[:PREVIEW_CHARS]
        case "label":
            entry.target, entry.fact = as_id(raw.get("targetId")), as_text(raw.get("label")) or ""
        case "context_edit":
            entry.target = as_id(raw.get("targetId"))
        case "session_info":
            entry.fact = (as_text(raw.get("name")) or "").strip()
        case "model_change":
            entry.fact = as_text(raw.get("modelId"))
        case "thinking_level_change":
            entry.fact = as_text(raw.get("thinkingLevel"))
    if entry.fact is not None:
        entry.fact = intern(entry.fact) if len(entry.fact) < 40 else entry.fact
    return entry


def _usage_of(message: dict[str, Any]) -> UsageFact | None:
    usage = message.get("usage")
    if not isinstance(usage, dict):
        return None
    cost = usage.get("cost")
    return UsageFact(
        input=int(_number(usage.get("input"))),
        output=int(_number(usage.get("output"))),
        cache_read=int(_number(usage.get("cacheRead"))),
        cache_write=int(_number(usage.get("cacheWrite"))),
        total=int(_number(usage.get("totalTokens"))),
        cost=float(_number(cost.get("total"))) if isinstance(cost, dict) else 0.0,
    )


def _number(value: object) -> float:
    """A finite number; 0 for anything else, as the message's own model has it."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) else 0
