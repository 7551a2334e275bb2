"""Where a conversation is cut and what of it is condensed; it must never part a tool call from its result.

Source: spec core §5.2, §5.3, cases W8. It only reads: the tree keeps everything, a compaction is one more entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.ai.messages import AssistantMessage, ToolResultMessage
from app.errors import SessionError
from app.session.context import SPEAKING as SPEAKING
from app.session.entries import as_text
from app.session.messages import AgentMessage
from app.session.summary_text import FileLists
from app.session.token_estimate import estimate_context, estimate_message, estimate_messages

if TYPE_CHECKING:
    from app.session.tree import Tree
    from app.session.view import SessionView

_TURN_STARTS = frozenset({"user", "bashExecution", "custom", "branchSummary"})


class NothingToCompactError(SessionError):
    """There is nothing that a summary could stand for."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Tokens: the context is too large above `threshold`; `keep` of the newest stay, `reserve` is for answers."""

    threshold: int
    keep: int
    reserve: int

    @classmethod
    def of(cls, window: int, reserve: int, keep: int) -> Limits:
        """The limits for a window. In a small one the settings are bent, or every turn would be compacted anew:
        at most half of the window is reserved, at most half of the rest kept.
        """
        reserve = min(reserve, window // 2)
        threshold = window - reserve
        return cls(threshold, min(keep, threshold // 2), reserve)


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """`history` becomes the summary, `turn_prefix` (a cut inside a turn) a text of its own; the rest stays.

    `previous` is the summary so far. `tokens_before` is the context's size, `tokens_kept` that of what stays.
    """

    first_kept_id: str
    history: list[AgentMessage]
    turn_prefix: list[AgentMessage]
    tokens_before: int
    tokens_kept: int
    previous: str | None = None
    files: FileLists = field(default_factory=FileLists)


def plan_compaction(session: SessionView, keep_tokens: int, tokens_before: int | None = None) -> CompactionPlan:
    """The cut of the session's present branch that keeps about `keep_tokens` of the newest messages.

    `tokens_before`: the context's size where the caller knows better than the estimate. Raises NothingToCompactError
    when all of it would stay, or when nothing was said since the last compaction. Reads bodies: slow in long sessions.
    """
    context = session.context()
    tree, messages, ids = session.tree, context.messages, context.entry_ids
    if not messages:
        raise NothingToCompactError("nothing to compact: nothing has been said yet")
    start, previous, files = 0, None, FileLists()
    if tree.get(ids[0]).type == "compaction":
        start = 1
        body = session.read(ids[0])
        previous = as_text(body.get("summary")) or None
        if not body.get("fromHook"):
            files.add_details(body.get("details"))
        if not _spoken_since(tree, ids[0]):
            raise NothingToCompactError("nothing to compact: this conversation has just been compacted")
    cut = cut_place(messages, keep_tokens, start)
    if cut <= start:
        raise NothingToCompactError("nothing to compact: the conversation is small enough to stay whole")
    turn = turn_start(messages, cut, start)
    files.add_calls(messages[start:cut])
    before = estimate_context(messages).tokens if tokens_before is None else tokens_before
    return CompactionPlan(
        first_kept_id=_with_settings_before(tree, ids[cut]),
        history=messages[start:turn],
        turn_prefix=messages[turn:cut],
        tokens_before=before,
        tokens_kept=estimate_messages(messages[cut:]),
        previous=previous,
        files=files,
    )


def cut_place(messages: Sequence[AgentMessage], keep_tokens: int, start: int = 0) -> int:
    """The place of the first message that stays; `start` when all of `messages[start:]` stays.

    The newest messages that make up `keep_tokens` stay, to the nearest place at or after the last of them where a cut
    is sound; without one there, to the nearest before. Sound: not at a tool result, not between a call and a result
    of it. Source: spec core §5.3 (which keeps everything when the conversation ends in large results).
    """
    size = 0
    for place in range(len(messages) - 1, start - 1, -1):
        size += estimate_message(messages[place])
        if size >= keep_tokens:
            break
    else:
        return start
    sound = _sound_cuts(messages, start)
    after = next((at for at in range(place, len(messages)) if sound[at]), None)
    if after is not None:
        return after
    return next((at for at in range(place - 1, start - 1, -1) if sound[at]), start)


def _sound_cuts(messages: Sequence[AgentMessage], start: int) -> list[bool]:
    """For each place, whether the conversation may be cut before it (places before `start` never)."""
    open_at = [0] * (len(messages) + 1)  # +1 where pairs open, -1 where they are closed: a sum tells who is inside
    asked: dict[str, int] = {}
    for place, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            for call in message.tool_calls():
                asked[call.id] = place
        elif isinstance(message, ToolResultMessage) and (caller := asked.get(message.tool_call_id)) is not None:
            open_at[caller + 1] += 1
            open_at[place + 1] -= 1
    sound = []
    pairs = 0
    for place, message in enumerate(messages):
        pairs += open_at[place]
        sound.append(place >= start and pairs == 0 and not isinstance(message, ToolResultMessage))
    return sound


def turn_start(messages: Sequence[AgentMessage], cut: int, start: int = 0) -> int:
    """Where the turn begins that a cut splits; the cut itself when it splits none (or its turn began before `start`).

    A cut before any message that begins a turn is clean: a user's, a `!` command, an extension's, a branch summary.
    """
    for place in range(cut, start - 1, -1):
        if getattr(messages[place], "role", "") in _TURN_STARTS:
            return place
    return cut


def _with_settings_before(tree: Tree, entry_id: str) -> str:
    """The earliest of the entries straight before that say nothing (settings, labels): they belong to what stays."""
    first = entry_id
    parent = tree.parent_id(entry_id)
    while parent is not None and tree.get(parent).type not in SPEAKING:
        first = parent
        parent = tree.parent_id(parent)
    return first


def _spoken_since(tree: Tree, compaction_id: str) -> bool:
    for entry in tree.up(tree.leaf_id):
        if entry.id == compaction_id:
            return False
        if entry.type in SPEAKING:
            return True
    return True
