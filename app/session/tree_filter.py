"""Which entries a view of the tree shows, and which of them are searched for; it must never read a body.

Source: spec ui.md §2.3; words, "phrases" and re: as in the sessions screen.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.session.facts import IndexEntry
    from app.session.tree import Tree

    Shows = Callable[[IndexEntry], bool]


class TreeFilter(StrEnum):
    """What is shown, in the order that ctrl+o goes through."""

    DEFAULT = "default"
    NO_TOOLS = "no-tools"
    USER = "user"
    LABELED = "labeled"
    ALL = "all"


# Bookkeeping: part of the chain, seldom of interest.
_QUIET = frozenset(
    {
        "label", "custom", "model_change", "thinking_level_change", "session_info", "usage", "context_edit",
        "system", "system_prompt_change", "tools_change",
    }
)  # fmt: skip
_ABNORMAL = frozenset({"error", "aborted", "length"})
_TOKEN = re.compile(r'"([^"]*)"|(\S+)')


def is_call_only(entry: IndexEntry) -> bool:
    """Whether it is an answer that only calls tools: it is shown by what its calls did."""
    return entry.role == "assistant" and entry.calls > 0 and not entry.preview and entry.fact not in _ABNORMAL


def is_tool_work(entry: IndexEntry) -> bool:
    """Whether it belongs to a run of tool calls, which folds into one row."""
    return entry.role == "toolResult" or is_call_only(entry)


def shown_by(mode: TreeFilter, tree: Tree) -> Shows:
    """The test whether an entry is shown in a mode. An empty answer is shown only as the leaf."""
    match mode:
        case TreeFilter.ALL:
            return lambda entry: True
        case TreeFilter.USER:
            return lambda entry: entry.role == "user"
        case TreeFilter.LABELED:
            labels = tree.labels
            return lambda entry: entry.id in labels
        case TreeFilter.NO_TOOLS:
            return lambda entry: _is_default(entry, tree) and not is_tool_work(entry)
        case TreeFilter.DEFAULT:
            return lambda entry: _is_default(entry, tree)


def _is_default(entry: IndexEntry, tree: Tree) -> bool:
    if entry.role != "assistant":
        return entry.type not in _QUIET and entry.role != "system"
    return bool(entry.preview or entry.calls) or entry.fact in _ABNORMAL or entry.id == tree.leaf_id


@dataclass(frozen=True, slots=True)
class TreeQuery:
    """A search: every one of `patterns` must occur. `problem` says what is wrong with a pattern; then nothing fits."""

    text: str
    patterns: tuple[re.Pattern[str], ...] = ()
    problem: str = ""

    @classmethod
    def parse(cls, text: str) -> TreeQuery:
        """Read words, "phrases" and re:PATTERN, letter case aside. An unclosed quote is a plain character."""
        wanted = text.strip()
        if wanted.startswith("re:"):
            body = wanted[3:].strip()
            if not body:
                return cls(text)
            try:
                return cls(text, (re.compile(body, re.IGNORECASE),))
            except (re.error, RecursionError, OverflowError) as error:
                return cls(text, problem=str(error))
        words = [phrase or word for phrase, word in _TOKEN.findall(wanted)]
        folded = [r"\s+".join(re.escape(part) for part in word.split()) for word in words if word.strip()]
        return cls(text, tuple(re.compile(word, re.IGNORECASE) for word in folded))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is searched for."""
        return not self.patterns

    def narrows(self, before: str) -> bool:
        """Whether it can find nothing that a search for `before` did not: a letter more of plain words."""
        had = before.strip()
        plain = not self.is_empty and not had.startswith("re:") and not self.text.lstrip().startswith("re:")
        return bool(had) and plain and '"' not in self.text and self.text.lstrip().startswith(had)

    def fits(self, text: str) -> bool:
        """Whether every word occurs."""
        return bool(self.patterns) and all(pattern.search(text) for pattern in self.patterns)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the words stand in a text, as [start, end) in order, overlaps joined."""
        found = sorted(
            match.span() for pattern in self.patterns for match in pattern.finditer(text) if match.end() > match.start()
        )
        joined: list[tuple[int, int]] = []
        for start, end in found:
            if joined and start <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
            else:
                joined.append((start, end))
        return joined


def searched_text(entry: IndexEntry, tree: Tree) -> str:
    """What a search looks through: kind, facts, the first words (160 characters) of the entry, its label."""
    label = tree.labels.get(entry.id)
    text = f"{entry.role or entry.type} {entry.fact or ''} {entry.preview}"
    return f"{text} {label.text}" if label else text
