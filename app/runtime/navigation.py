"""Moves in the tree of a session: going to an entry, siblings, back and forward, and what would be left behind.

Each holds the session's one lock, so that it can never race with a run or a compaction; while one goes on it is
refused with a reason. It must never leave the leaf moved when a summary was stopped or failed (spec core §6.5).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import anyio

from app.agent.agent import AgentBusyError
from app.errors import PinyonError
from app.runtime.events import EditorText, SessionInfoChanged, SessionSwitched
from app.runtime.summariser import Summariser
from app.session.branch_summary import branch_summary, left_behind, plan_branch_summary
from app.session.compaction import Limits
from app.session.context import SPEAKING
from app.session.entries import message_of, text_of
from app.session.facts import IndexEntry
from app.session.token_estimate import estimate_message

if TYPE_CHECKING:
    from app.runtime.agent_session import AgentSession
    from app.session.tree import Tree

Summarise = Literal["plain"] | str | None
"""None: no summary; "plain": one without a wish; another text: what the summary shall mind."""
_TEXT_LIMIT = 10_000_000
_READ_AT_MOST = 500
_BYTES_PER_TOKEN = 6  # of a line in the file, its JSON included: a rough figure, not measured


@dataclass(frozen=True, slots=True)
class Abandoned:
    """What a move would leave behind: speaking entries, and about how many tokens they are."""

    entries: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Moved:
    """How a move ended. `leaf_id` is where the next entry goes now, `editor_text` what went into the prompt.

    Not `moved`: it was the present place already, or (`aborted`) its summary was stopped.
    """

    moved: bool
    leaf_id: str | None
    editor_text: str | None = None
    summary_id: str | None = None
    aborted: bool = False


@asynccontextmanager
async def moving(session: AgentSession, *, stop_first: bool = False) -> AsyncIterator[None]:
    """The session's lock for a move. Raises AgentBusyError also while a `!` command runs: its output belongs here."""
    if session.bash.is_running and not stop_first:
        raise AgentBusyError("a command is running: wait for it, or stop it with escape")
    async with session.exclusive(stop_first=stop_first):
        yield


async def go_to(
    session: AgentSession,
    entry_id: str,
    *,
    summarise: Summarise = None,
    label: str | None = None,
    edit: bool = False,
    stop_first: bool = False,
) -> Moved:
    """Go on at an entry. A message of the user's (or an extension's) is written anew: the leaf goes to its parent and
    its text into the prompt, told by `SessionSwitched("tree")`. A summary of what is left behind stands at the new
    place; `label` goes on it, else on the entry. With `edit`, such a message is written anew even when it is the
    present place (a question that was never answered).

    Raises AgentBusyError while something else runs (`stop_first` stops that), UnknownEntryError, ModelError when the
    summary failed, WriteFailedError; then the leaf is where it was. What was typed meanwhile goes back to the prompt.
    """
    async with moving(session, stop_first=stop_first):
        try:
            return await _go(session, entry_id, summarise, label, edit)
        finally:
            if texts := session.queue.take_all():
                session.emit(EditorText("\n\n".join(texts)))


async def _go(session: AgentSession, entry_id: str, summarise: Summarise, label: str | None, edit: bool) -> Moved:
    store = session.session
    leaf = store.leaf_id
    target, text = destination(session, entry_id)
    if is_here(store.tree, entry_id) and not (edit and text is not None):
        if label is not None:
            await store.set_label(entry_id, label)
        return Moved(False, store.leaf_id)
    written: tuple[str, dict[str, list[str]]] | None = None
    behind = left_behind(store.tree, entry_id, leaf)
    if summarise is not None and behind:
        written = await _summary(session, behind, None if summarise == "plain" else summarise)
        if written is None:
            return Moved(False, leaf, aborted=True)
    summary_id: str | None = None
    with anyio.CancelScope(shield=True):  # once it is being stored, all of it happens
        if written is not None:
            summary_id = await store.append_branch_summary(target, *written)
        else:
            await store.move_leaf(target)
        session.jumps.left(leaf)
        if label is not None:
            await _label(session, summary_id or entry_id, label)
        await session.reader.arrive()
        session.emit(SessionSwitched("tree", text))
    return Moved(True, store.leaf_id, text, summary_id)


async def _label(session: AgentSession, entry_id: str, label: str) -> None:
    try:
        await session.session.set_label(entry_id, label)
    except PinyonError as error:  # the move itself is done and stored
        session.note(f"the label was not set: {error}", "error")


async def _summary(
    session: AgentSession, behind: list[IndexEntry], focus: str | None
) -> tuple[str, dict[str, list[str]]] | None:
    """The summary and its file lists; None when it was stopped. Raises ModelError."""
    result: tuple[str, dict[str, list[str]]] | None = None
    with anyio.CancelScope() as scope, session.interrupts.entry("stop summarising", scope.cancel):
        summariser = await Summariser.open(session)
        wished = session.settings.branch_summary.reserve_tokens
        limits = Limits.of(summariser.model.context_window, wished, 0)
        plan = plan_branch_summary(session.session, behind, limits.threshold)
        text = await branch_summary(plan, summariser.ask, limits.reserve, focus)
        if not scope.cancel_called:
            result = text, plan.files.details()
    return result


def destination(session: AgentSession, entry_id: str) -> tuple[str | None, str | None]:
    """Where the leaf would go, and the text that would go into the prompt. Raises UnknownEntryError."""
    store = session.session
    entry = store.tree.get(entry_id)
    if entry.type == "message" and entry.role == "user":
        content: object = message_of(store.read(entry_id)).get("content")
    elif entry.type == "custom_message":
        content = store.read(entry_id).get("content")
    else:
        return entry_id, None
    return store.tree.parent_id(entry_id), text_of(content, _TEXT_LIMIT)


def is_here(tree: Tree, entry_id: str) -> bool:
    """Whether the entry is where the conversation stands: judged by the nearest message above, so that labels and
    settings do not count. Raises UnknownEntryError.
    """
    return nearest_message(tree, entry_id) == nearest_message(tree, tree.leaf_id)


def nearest_message(tree: Tree, entry_id: str | None) -> str | None:
    """The entry itself when it says something, else the nearest above that does; None at the root."""
    return next((entry.id for entry in tree.up(entry_id) if entry.type in SPEAKING), None)


def request_of(tree: Tree, entry_id: str) -> str | None:
    """The message of the user's (or an extension's) that the entry is or belongs to, None above the first one."""
    return next((entry.id for entry in tree.up(entry_id) if _is_request(entry)), None)


def _is_request(entry: IndexEntry) -> bool:
    return entry.type == "custom_message" or (entry.type == "message" and entry.role == "user")


def nearest_with_siblings(tree: Tree, entry_id: str) -> str | None:
    """The entry, or the nearest above it up to its request, that others could stand in the place of; None without."""
    for entry in tree.up(entry_id):
        if entry.type in SPEAKING and len(message_siblings(tree, entry.id)) > 1:
            return entry.id
        if _is_request(entry):
            break
    return None


def abandoned(session: AgentSession, entry_id: str) -> Abandoned:
    """What going to the entry would leave behind. Raises UnknownEntryError.

    Tokens are estimated by the bodies of the newest 500 entries, by the length of their lines before that.
    """
    store = session.session
    entry = store.tree.get(entry_id)
    behind = left_behind(store.tree, entry.id, store.leaf_id)
    tokens = sum(other.length // _BYTES_PER_TOKEN for other in behind[:-_READ_AT_MOST])
    for other in behind[-_READ_AT_MOST:]:
        message = store.message(other.id)
        tokens += estimate_message(message) if message is not None else 0
    return Abandoned(len(behind), tokens)


async def back(session: AgentSession, *, stop_first: bool = False) -> Moved:
    """Go back to where the last jump began (alt+left). Raises as `go_to`."""
    return await _walk(session, -1, stop_first)


async def forward(session: AgentSession, *, stop_first: bool = False) -> Moved:
    """Undo `back` (alt+right). Raises as `go_to`."""
    return await _walk(session, 1, stop_first)


async def _walk(session: AgentSession, step: int, stop_first: bool) -> Moved:
    if not (session.jumps.can_go_back if step < 0 else session.jumps.can_go_forward):
        return Moved(False, session.session.leaf_id)
    async with moving(session, stop_first=stop_first):
        leaf, goal = session.session.leaf_id, session.jumps.peek(step)
        with anyio.CancelScope(shield=True):
            await session.session.move_leaf(goal)
            session.jumps.walked(step, leaf)
            await _arrive(session)
        return Moved(True, goal)


async def switch_sibling(session: AgentSession, entry_id: str, step: int, *, stop_first: bool = False) -> Moved:
    """Go to the newest tip of the sibling branch `step` places after the entry's own, around at the ends.

    An entry without siblings: nothing moves. Raises as `go_to`.
    """
    tree = session.session.tree
    siblings = message_siblings(tree, entry_id)
    if len(siblings) < 2 or entry_id not in siblings:
        return Moved(False, tree.leaf_id)
    async with moving(session, stop_first=stop_first):
        sibling = siblings[(siblings.index(entry_id) + step) % len(siblings)]
        leaf, goal = tree.leaf_id, tree.newest_tip(sibling)
        if goal == leaf:
            return Moved(False, leaf)
        with anyio.CancelScope(shield=True):
            await session.session.move_leaf(goal)
            session.jumps.left(leaf)
            await _arrive(session)
        return Moved(True, goal)


async def _arrive(session: AgentSession) -> None:
    await session.reader.arrive()
    session.emit(SessionSwitched("tree"))
    if texts := session.queue.take_all():
        session.emit(EditorText("\n\n".join(texts)))


def message_siblings(tree: Tree, entry_id: str) -> list[str]:
    """The messages that could stand in the place of this one, itself among them, in file order.

    Settings and labels between them and the message that they answer do not count. Raises UnknownEntryError.
    """
    parent = nearest_message(tree, tree.parent_id(entry_id))
    found: list[IndexEntry] = []
    waiting = tree.children(parent)
    while waiting:
        entry = waiting.pop()
        if entry.type in SPEAKING:
            found.append(entry)
        else:
            waiting.extend(tree.children(entry.id))
    found.sort(key=lambda entry: entry.place)
    return [entry.id for entry in found]


async def set_label(session: AgentSession, entry_id: str, label: str | None) -> None:
    """Bookmark an entry (None: take the bookmark away). Raises AgentBusyError, UnknownEntryError, WriteFailedError."""
    async with session.exclusive():
        await session.session.set_label(entry_id, label)


async def set_name(session: AgentSession, name: str) -> None:
    """Name the session (blank: take the name away). Raises AgentBusyError, WriteFailedError."""
    async with session.exclusive():
        await session.session.set_name(name)
        session.emit(SessionInfoChanged(session.session.name))
