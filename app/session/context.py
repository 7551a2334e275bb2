"""What a branch says to the model: messages, thinking level and model along one path; it must never change the tree.

Source: spec core §4.8; `context_edit` entries are read as pi 1.6.0 does (issue: where readings differ, 1.6.0's).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.session.entries import RawEntry, as_id, as_text, lenient_ms, message_of
from app.session.facts import IndexEntry
from app.session.messages import (
    AgentMessage,
)
from app.session.parsing import parse_message

if TYPE_CHECKING:
    from app.session.tree import Tree

ReadBody = Callable[[IndexEntry], RawEntry]
SPEAKING = frozenset({"message", "custom_message", "branch_summary", "compaction"})
"""The types of entries that add a message to the conversation."""


@dataclass(frozen=True, slots=True)
class ModelRef:
    """The model that a branch last used."""

    provider: str
    model_id: str


@dataclass(slots=True)
class SessionContext:
    """`messages` in order, the id of the entry behind each in `entry_ids`, and the branch's settings."""

    messages: list[AgentMessage] = field(default_factory=list)
    entry_ids: list[str] = field(default_factory=list)
    thinking_level: str = "off"
    model: ModelRef | None = None


@dataclass(slots=True)
class _Edits:
    omitted: set[str] = field(default_factory=set)
    replaced: dict[str, dict[str, object]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outline:
    """What a branch says to a model, before the bodies are read: `entries` in the order of the context (the latest
    compaction first, then what it kept), those left out by context edits not among them, and the branch's settings.
    """

    leaf_id: str | None = None
    entries: Sequence[IndexEntry] = ()
    thinking_level: str = "off"
    model: ModelRef | None = None
    replaced: Mapping[str, dict[str, object]] = field(default_factory=dict)

    def speaks(self, read: ReadBody) -> bool:
        """Whether the context has any message. Reads bodies up to the first one."""
        return any(message_in(read(entry), self.replaced.get(entry.id)) is not None for entry in self.entries)


def outline_of(tree: Tree, leaf_id: str | None, read: ReadBody) -> Outline:
    """The outline at `leaf_id` (None: an empty one; an unknown id: at the last entry). Never raises for odd entries.

    Reads next to no bodies: 0.1 s for 100,000 entries. The latest compaction on the path stands for all before its
    first kept entry; when that entry is not on the path, or is the compaction itself, nothing before it is kept.
    """
    if leaf_id is not None and leaf_id not in tree:
        leaf_id = tree.entries[-1].id if tree.entries else None
    if leaf_id is None:
        return Outline()
    path = tree.branch(leaf_id)
    edits = _edits(path, read)
    entries = [entry for entry in _kept(path, read) if entry.type in SPEAKING and entry.id not in edits.omitted]
    return Outline(leaf_id, entries, _thinking_level(path), _model(path, read), edits.replaced)


class ContextReading:
    """A context that is built in pieces: `context` is whole when `step` says so.

    `read` gives an entry's body; `known` has messages of entries as they stand, and gets those that are parsed now.
    """

    def __init__(
        self, outline: Outline, read: ReadBody, known: MutableMapping[str, AgentMessage] | None = None
    ) -> None:
        self.outline = outline
        self.context = SessionContext(thinking_level=outline.thinking_level, model=outline.model)
        self._read = read
        self._known = known
        self._done = 0

    def step(self, count: int) -> bool:
        """Take so many entries more; whether that was all of them. Blocks: 25 to 60 µs an entry."""
        for entry in self.outline.entries[self._done : self._done + count]:
            self._take(entry)
        self._done += count
        return self._done >= len(self.outline.entries)

    def _take(self, entry: IndexEntry) -> None:
        replacement, known = self.outline.replaced.get(entry.id), self._known
        message = known.get(entry.id) if known is not None and replacement is None else None
        if message is None:
            message = message_in(self._read(entry), replacement)
            if message is not None and replacement is None and known is not None:
                known[entry.id] = message
        if message is not None:
            self.context.messages.append(message)
            self.context.entry_ids.append(entry.id)


def build_context(tree: Tree, leaf_id: str | None, read: ReadBody) -> SessionContext:
    """The whole context at `leaf_id`, as `outline_of` has it. Never raises for odd entries."""
    reading = ContextReading(outline_of(tree, leaf_id, read), read)
    reading.step(len(reading.outline.entries))
    return reading.context


def _thinking_level(path: Sequence[IndexEntry]) -> str:
    levels = (entry.fact for entry in reversed(path) if entry.type == "thinking_level_change" and entry.fact)
    return next(levels, "off")


def _model(path: Sequence[IndexEntry], read: ReadBody) -> ModelRef | None:
    for entry in reversed(path):
        if entry.type == "model_change":
            raw = read(entry)
            provider, model = as_text(raw.get("provider")), as_text(raw.get("modelId"))
        elif entry.role == "assistant" and entry.type == "message":
            message = message_of(read(entry))
            provider, model = as_text(message.get("provider")), as_text(message.get("model"))
        else:
            continue
        if provider and model:
            return ModelRef(provider, model)
    return None


def _edits(path: Sequence[IndexEntry], read: ReadBody) -> _Edits:
    edits = _Edits()
    for entry in path:
        if entry.type != "context_edit" or entry.target is None:
            continue
        raw = read(entry)
        edits.omitted.discard(entry.target)
        edits.replaced.pop(entry.target, None)
        replacement = raw.get("replacement", False)
        if replacement is None:
            edits.omitted.add(entry.target)
        elif isinstance(replacement, dict):
            edits.replaced[entry.target] = replacement
    return edits


def _kept(path: list[IndexEntry], read: ReadBody) -> list[IndexEntry]:
    """The compaction first (when there is one), then what it kept and what came after."""
    at = next((place for place in range(len(path) - 1, -1, -1) if path[place].type == "compaction"), None)
    if at is None:
        return path
    first_kept = as_id(read(path[at]).get("firstKeptEntryId"))
    start = next((place for place in range(at) if path[place].id == first_kept), at)
    kept = [entry for entry in path[start:at] if entry.type != "compaction"]
    return [path[at], *kept, *path[at + 1 :]]


def message_in(raw: RawEntry, replacement: dict[str, object] | None = None) -> AgentMessage | None:
    """The message that an entry adds to a conversation, None for an entry that adds none. Never raises.

    `replacement` lays a context edit's members over it. Made-up messages take the entry's time.
    """
    timestamp = lenient_ms(raw.get("timestamp"))
    changed = replacement or {}
    match raw.get("type"):
        case "message":
            message = message_of(raw)
            if not message:
                return None
            return parse_message({"timestamp": timestamp, **message, **changed})
        case "custom_message":
            members = {name: raw.get(name) for name in ("customType", "content", "display", "details")}
            return parse_message({"role": "custom", **members, "timestamp": timestamp, **changed})
        case "branch_summary" if raw.get("summary"):
            members = {name: raw.get(name) for name in ("summary", "fromId")}
            return parse_message({"role": "branchSummary", **members, "timestamp": timestamp})
        case "compaction":
            members = {name: raw.get(name) for name in ("summary", "tokensBefore")}
            details = raw.get("details")
            kept = details.get("tokensKept") if isinstance(details, dict) else None
            if isinstance(kept, int) and not isinstance(kept, bool):
                members["tokensKept"] = kept
            return parse_message({"role": "compactionSummary", **members, "timestamp": timestamp})
    return None
