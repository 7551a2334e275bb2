"""Tool calls at a branch's end that never got a result, and the entries that close them; it writes nothing itself."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from app.session.entries import RawEntry, message_of, new_entry, new_entry_id, tool_calls_of

if TYPE_CHECKING:
    from app.session.file import SessionFile
    from app.session.tree import Tree

INTERRUPTED = "This tool call was interrupted before it finished: its result is unknown, it may have run in part."
NOT_RUN = {
    "aborted": "Not run: the answer was interrupted before its calls began.",
    "error": "Not run: the answer failed before its calls began.",
}


def unanswered_calls(tree: Tree, file: SessionFile) -> list[tuple[str, str, str]]:
    """(call id, tool name, what to say of it) of the calls without a result behind the branch's last answer, in order.

    A user's word after the answer ends the search: such gaps are filled for each request alone (architecture §6).
    """
    answered: Counter[str] = Counter()
    for entry in tree.up(tree.leaf_id):
        if entry.type in ("compaction", "branch_summary"):
            return []
        if entry.type != "message":
            continue
        message = message_of(file.body(entry))
        if entry.role == "toolResult":
            answered[str(message.get("toolCallId"))] += 1
        elif entry.role == "assistant":
            open_calls: list[tuple[str, str, str]] = []
            words = NOT_RUN.get(str(message.get("stopReason")), INTERRUPTED)
            for call_id, name in tool_calls_of(message):
                if answered[call_id] > 0:
                    answered[call_id] -= 1
                else:
                    open_calls.append((call_id, name, words))
            return open_calls
        elif entry.role in ("user", "bashExecution"):
            return []
    return []


def closing_results(tree: Tree, file: SessionFile) -> list[RawEntry]:
    """The toolResult entries that close the open calls, chained under the leaf; [] when there are none."""
    raws: list[RawEntry] = []
    parent_id = tree.leaf_id
    taken = dict.fromkeys(file.index.by_id)
    for call_id, name, words in unanswered_calls(tree, file):
        entry_id = new_entry_id(taken)
        taken[entry_id] = None
        message = {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": name,
            "content": [{"type": "text", "text": words}],
            "isError": True,
            "timestamp": int(time.time() * 1000),
        }
        raws.append(new_entry("message", entry_id, parent_id, message=message))
        parent_id = entry_id
    return raws
