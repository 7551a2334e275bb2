"""What was said on a branch that is left, chosen to fit a request, and its summary; it must never store anything.

Source: spec core §5.5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.ai.messages import ToolResultMessage
from app.session.compaction import SPEAKING
from app.session.compaction_summary import Ask
from app.session.facts import IndexEntry
from app.session.messages import AgentMessage
from app.session.summary_text import (
    BRANCH_PREAMBLE,
    BRANCH_PROMPT,
    NO_CONTENT,
    FileLists,
    request_text,
    serialise,
)
from app.session.token_estimate import estimate_message

if TYPE_CHECKING:
    from app.session.tree import Tree
    from app.session.view import SessionView

_SUMMARIES = frozenset({"compaction", "branch_summary"})
_NEARLY_FULL = 0.9


@dataclass(slots=True)
class BranchPlan:
    """The newest messages of a branch that fit, in order; `left_out` counts older ones that did not."""

    messages: list[AgentMessage] = field(default_factory=list)
    files: FileLists = field(default_factory=FileLists)
    tokens: int = 0
    left_out: int = 0


def left_behind(tree: Tree, target_id: str | None, leaf_id: str | None) -> list[IndexEntry]:
    """The speaking entries of the path to `leaf_id` that the path to `target_id` lacks, oldest first.

    It goes on through compactions. Nothing is left behind when the target stands further down the same branch.
    """
    stays = {entry.id for entry in tree.up(target_id)}
    found: list[IndexEntry] = []
    for entry in tree.up(leaf_id):
        if entry.id in stays:
            break
        if entry.type in SPEAKING:
            found.append(entry)
    found.reverse()
    return found


def plan_branch_summary(session: SessionView, entries: list[IndexEntry], budget: int) -> BranchPlan:
    """What of `entries` (oldest first) fits into `budget` tokens, newest first taken.

    Tool results are never taken. A summary that no longer fits is taken all the same while less than 90 % is full.
    """
    plan = BranchPlan()
    for entry in entries:
        if entry.type == "branch_summary":
            body = session.read(entry.id)
            if not body.get("fromHook"):
                plan.files.add_details(body.get("details"))
    taken: list[AgentMessage] = []
    for place in range(len(entries) - 1, -1, -1):
        message = session.message(entries[place].id)
        if message is None:
            continue
        plan.files.add_calls([message])
        if isinstance(message, ToolResultMessage):
            continue
        size = estimate_message(message)
        if plan.tokens + size > budget:
            fits_still = entries[place].type in _SUMMARIES and plan.tokens < _NEARLY_FULL * budget
            if fits_still:
                taken.append(message)
                plan.tokens += size
            older = entries[:place] if fits_still else entries[: place + 1]
            plan.left_out = sum(entry.role != "toolResult" for entry in older)
            break
        taken.append(message)
        plan.tokens += size
    plan.messages = taken[::-1]
    return plan


async def branch_summary(plan: BranchPlan, ask: Ask, reserve: int, focus: str | None = None) -> str:
    """The summary with its preamble and file lists; a fixed text when nothing was said. Raises ModelError."""
    parts = serialise(plan.messages)
    if not parts:
        return NO_CONTENT
    if plan.left_out:
        parts.insert(0, f"[{plan.left_out} earlier messages of this branch are left out]")
    text = await ask(request_text(parts, BRANCH_PROMPT, None, focus), int(0.8 * reserve))
    return BRANCH_PREAMBLE + text + plan.files.text()
