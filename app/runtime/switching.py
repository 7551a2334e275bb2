"""Another session in the place of this one: new, resumed, forked, cloned; the AgentSession itself stays the same.

The next session is open before the present one is let go of: a failure leaves everything as it was.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.to_thread

from app.ai.resolve import as_level, clamp_level
from app.errors import SessionError, WriteFailedError
from app.runtime.events import EditorText, NoteLevel, SessionSwitched
from app.runtime.navigation import moving
from app.session.forks import branch_off, fork_before
from app.session.forks import clone as clone_of
from app.session.listing import same_folder
from app.session.naming import project_folder
from app.session.session import Session

if TYPE_CHECKING:
    from app.runtime.agent_session import AgentSession

Reason = Literal["new", "resume", "fork"]


async def new_session(session: AgentSession, *, stop_first: bool = False) -> None:
    """Begin a session of the same folder. Raises AgentBusyError while something runs (`stop_first` stops that)."""
    async with moving(session, stop_first=stop_first):
        cwd, folder = _place(session)
        following = Session.in_memory(cwd) if session.session.path is None else Session.create(cwd, folder)
        await switch_to(session, following, "new")


async def open_other(session: AgentSession, path: Path, *, here: bool = False, stop_first: bool = False) -> bool:
    """Go on in an existing session; False when it is the present one already.

    Raises SessionError for one of another folder (tools and instructions belong to the folder of the start) unless
    `here` says to go on with it in this one, SessionBusyError when another process writes it, NotASessionError, and
    AgentBusyError while something runs here (`stop_first` stops that).
    """
    if _is_same(path, session.session):
        return False
    async with moving(session, stop_first=stop_first):
        following = await Session.open(path)
        try:
            if not here:
                _same_folder(following, session.session)
            await switch_to(session, following, "resume")
        except BaseException:
            if session.session is not following:
                await following.close()
            raise
        return True


async def view_other(session: AgentSession, path: Path) -> None:
    """Look at a session that another process writes; nothing said here is stored. Raises as `open_other`."""
    async with moving(session):
        await switch_to(session, await Session.open(path, read_only=True), "resume")


async def fork(session: AgentSession, entry_id: str, *, stop_first: bool = False) -> str | None:
    """Go on in a new session from an entry. Forked at a message of the user's, it ends before that message, whose text
    is given and goes into the prompt; at anything else it holds the path up to it.

    Raises UnknownEntryError, WriteFailedError, AgentBusyError while something runs (`stop_first` stops that).
    """
    async with moving(session, stop_first=stop_first):
        present = session.session
        cwd, folder = _place(session)
        text: str | None = None
        if present.tree.get(entry_id).role == "user":
            following, text = await fork_before(present, entry_id, folder, cwd=cwd)
        else:
            following = await branch_off(present, entry_id, folder, cwd=cwd)
        await switch_to(session, following, "fork", text)
        return text


async def clone(session: AgentSession, *, stop_first: bool = False) -> None:
    """Go on in a new session that holds the present branch alone. Raises WriteFailedError, AgentBusyError."""
    async with moving(session, stop_first=stop_first):
        cwd, folder = _place(session)
        await switch_to(session, await clone_of(session.session, folder, cwd=cwd), "fork")


async def switch_to(session: AgentSession, following: Session, reason: Reason, editor_text: str | None = None) -> None:
    """Put an open session in the place of the present one, which is closed; for who holds the lock.

    A session that speaks keeps its own model and thinking level, as far as there is a key; another takes the present
    ones. What waited in the queues goes back to the prompt.
    """
    with anyio.CancelScope(shield=True):
        present, session.session = session.session, following
        if session.files is not None:
            session.files.places.follow(following)
        config = session.agent.config
        config.options = replace(config.options, session_id=following.id)
        session.notes.clear()
        session.jumps.clear()
        notes: list[tuple[str, NoteLevel]] = [(note, "warning") for note in following.notes]
        notes += await _adopt_model(session)
        await session.reader.arrive()
        await present.close()
        session.emit(SessionSwitched(reason, editor_text))
        for text, level in notes:
            session.note(text, level)
        if texts := session.queue.take_all():
            session.emit(EditorText("\n\n".join(texts)))


async def _adopt_model(session: AgentSession) -> list[tuple[str, NoteLevel]]:
    """Take the model and thinking level of the session that is now open; gives what the user should know of it."""
    state, store = session.agent.state, session.session
    outline = await anyio.to_thread.run_sync(store.outline)
    present = state.model
    if not outline.speaks(store.file.body):
        try:
            await store.append_model_change(present.provider, present.id)
            await store.append_thinking_level(state.thinking_level)
        except WriteFailedError as error:
            return [(str(error), "error")]
        return []
    notes: list[tuple[str, NoteLevel]] = []
    wished = outline.model
    if wished is not None and (wished.provider, wished.model_id) != (present.provider, present.id):
        model = session.registry.find(wished.provider, wished.model_id)
        if model is not None and session.registry.has_auth(model):
            state.model = model
        else:
            name = f"{wished.provider}/{wished.model_id}"
            notes.append((f"{name} can't be asked: going on with {present.provider}/{present.id}", "warning"))
    level = as_level(outline.thinking_level)
    if level is not None:
        state.thinking_level = clamp_level(state.model, level)
    return notes


def _place(session: AgentSession) -> tuple[str, Path]:
    """The folder that a new session belongs to, where the tools work, and the one that its file goes to: beside the
    present file, unless that belongs to another folder.
    """
    present = session.session
    cwd = present.cwd if session.cwd is None else str(session.cwd)
    if present.path is not None and same_folder(cwd, present.cwd):
        return cwd, present.path.parent
    return cwd, session.session_dir or project_folder(cwd)


def _same_folder(following: Session, present: Session) -> None:
    if not following.cwd or following.cwd == present.cwd:
        return
    gone = "" if following.cwd_exists else ", which is gone"
    raise SessionError(
        f"this session belongs to {following.cwd}{gone}",
        "Start Pinyon there with --resume, or go on with it in this folder",
    )


def _is_same(path: Path, present: Session) -> bool:
    return present.path is not None and path.absolute() == present.path.absolute()
