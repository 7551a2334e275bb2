"""What a tree row says about an entry: sign, style and one line of text; bodies are read for rows on the screen only.

Source: spec ui.md §2.2 ("Row text per entry type").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.session.entries import RawEntry, as_text, message_of
from app.session.facts import IndexEntry
from app.session.tree import Tree
from renderers.text import humanise, one_line

ReadEntry = Callable[[str], RawEntry]
_LARGEST_READ = 256 * 1024
"""Bytes of an entry above which its body isn't parsed for the sake of one line."""
_STEPS_TO_CALL = 64
_MAIN_ARGUMENTS = ("path", "command", "pattern", "query", "url", "name")


@dataclass(frozen=True, slots=True)
class EntryLine:
    """A row's sign, the name of its style, and its text: foreign, but on one line and safe to print."""

    sign: str
    style: str
    text: str


class EntryTexts:
    """Gives the line of an entry, worked out once. Without `read` it goes by the index alone."""

    def __init__(self, tree: Tree, read: ReadEntry | None = None) -> None:
        self._tree = tree
        self._read = read
        self._kept: dict[str, EntryLine] = {}

    def line(self, entry: IndexEntry) -> EntryLine:
        """The line of one entry."""
        found = self._kept.get(entry.id)
        if found is None:
            if len(self._kept) > 4096:
                self._kept.clear()
            found = self._kept[entry.id] = self._work_out(entry)
        return found

    def _work_out(self, entry: IndexEntry) -> EntryLine:
        preview = one_line(entry.preview)
        match entry.role or entry.type:
            case "user":
                return EntryLine("●", "user", preview or "(an image)")
            case "assistant":
                return self._answer(entry, preview)
            case "toolResult":
                return self._call(entry)
            case "bashExecution":
                return EntryLine("$", "quiet", preview)
            case "custom" | "custom_message" if entry.role or entry.type == "custom_message":
                return EntryLine("◆", "label", f"{one_line(entry.fact or 'message')}: {preview}")
            case "compaction":
                return EntryLine("Σ", "summary", f"compaction{self._tokens(entry)}: {preview}")
            case "branch_summary" | "branchSummary":
                return EntryLine("Σ", "summary", f"summary of a branch: {preview}")
            case kind:
                return EntryLine("·", "quiet", one_line(_fact_text(kind, entry)))

    def _answer(self, entry: IndexEntry, preview: str) -> EntryLine:
        if entry.fact == "error":
            message = message_of(self._body(entry))
            said = one_line(as_text(message.get("errorMessage")) or "the request failed", 200)
            return EntryLine("✗", "error", f"{preview} · {said}" if preview else said)
        if entry.fact == "aborted":
            return EntryLine("◇", "quiet", f"{preview} (interrupted)" if preview else "(interrupted)")
        if not preview and entry.calls:
            return EntryLine("◇", "quiet", f"{entry.calls} tool call{'' if entry.calls == 1 else 's'}")
        return EntryLine("◇", "answer", preview or "(no content)")

    def _call(self, entry: IndexEntry) -> EntryLine:
        message = message_of(self._body(entry))
        name = one_line(entry.fact or "tool")
        asked = self._asked(entry, as_text(message.get("toolCallId")))
        failed = message.get("isError") is True
        text = f"{name} {asked}" if asked else name
        return EntryLine("✗" if failed else "✓", "error" if failed else "quiet", f"{text} failed" if failed else text)

    def _asked(self, entry: IndexEntry, call_id: str | None) -> str:
        """What the call that this result answers was about, from the answer that made it."""
        if not call_id or self._read is None:
            return ""
        for steps, other in enumerate(self._tree.up(entry.id)):
            if steps > _STEPS_TO_CALL:
                break
            if other.role != "assistant" or not other.calls:
                continue
            content = message_of(self._body(other)).get("content")
            for block in content if isinstance(content, list) else ():
                if isinstance(block, dict) and block.get("id") == call_id:
                    return _main_argument(block.get("arguments"))
        return ""

    def _tokens(self, entry: IndexEntry) -> str:
        before = self._body(entry).get("tokensBefore")
        return f" of {humanise(before)} tokens" if isinstance(before, int) and before > 0 else ""

    def _body(self, entry: IndexEntry) -> RawEntry:
        if self._read is None or entry.length > _LARGEST_READ:
            return {}
        try:
            return self._read(entry.id)
        except (OSError, ValueError):  # the file went away under us: the index still says most of it
            return {}


def _main_argument(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return ""
    for name in _MAIN_ARGUMENTS:
        if isinstance(value := arguments.get(name), str) and value:
            return one_line(value, 200)
    return next((one_line(value, 200) for value in arguments.values() if isinstance(value, str) and value), "")


def _fact_text(kind: str, entry: IndexEntry) -> str:
    words = {
        "model_change": "model",
        "thinking_level_change": "thinking",
        "session_info": "name",
        "label": "label",
        "custom": "state of",
    }
    word = words.get(kind, kind.replace("_", " "))
    return f"{word} {entry.fact}" if entry.fact else word if kind != "label" else "label removed"


def run_text(members: Sequence[IndexEntry]) -> str:
    """A run of tool calls in one line: "4 tool calls (read ×2, bash, edit)"."""
    names = Counter(one_line(entry.fact or "tool") for entry in members if entry.role == "toolResult")
    asked = sum(entry.calls for entry in members if entry.role == "assistant")
    count = max(sum(names.values()), asked)
    listed = ", ".join(f"{name} ×{times}" if times > 1 else name for name, times in names.items())
    return f"{count} tool call{'' if count == 1 else 's'}" + (f" ({listed})" if listed else "")


def clock(timestamp: str, now: datetime) -> str:
    """An ISO time as people read it: 09:12 today, 3/14 09:12 this year, 24/3/14 09:12 before; "" for none.

    In the zone of `now`. Source: spec ui.md §2.2.
    """
    try:
        moment = datetime.fromisoformat(timestamp).astimezone(now.tzinfo)
    except (ValueError, OverflowError, OSError):
        return ""
    at = f"{moment:%H:%M}"
    if moment.date() == now.date():
        return at
    day = f"{moment.month}/{moment.day} {at}"
    return day if moment.year == now.year else f"{moment.year % 100:02d}/{day}"
