"""What keys and commands for branches do on the chat screen: ask what has to be asked, then let the runtime move."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.errors import PinyonError, UsageError
from app.runtime import navigation, switching
from app.runtime.agent_session import AgentSession
from app.tui import moving
from app.tui.screens.browsing import BROWSE_HINTS

if TYPE_CHECKING:
    from app.tui.screens.chat import ChatScreen


async def edit_message(screen: ChatScreen, session: AgentSession, entry_id: str) -> None:
    """Write a message of yours anew, or the one that the entry answers; asks first."""
    mine = navigation.request_of(session.session.tree, entry_id)
    if mine is None:
        raise UsageError("there is no message of yours above this")
    await moving.ask_and_go(screen, session, mine, "Write this message anew?", edit=True)


async def keep(screen: ChatScreen, session: AgentSession, entry_id: str) -> None:
    """Go on with another branch and the files that it left; asks first."""
    await moving.ask_and_go(screen, session, entry_id, "Go on with this branch?")


async def fork(screen: ChatScreen, session: AgentSession, entry_id: str | None) -> None:
    """A new session from an entry, the present place without one; asks first."""
    from widgets.dialogs import choose

    entry_id = entry_id or session.session.leaf_id
    if entry_id is None:
        raise UsageError("there is nothing to fork yet")
    body = moving.STOPS if session.is_busy else ""
    options = [("no", "no"), ("yes", "yes, fork")]
    answer = await choose(screen.app, "Go on from here in a new session?", options, body=body, default="no")
    if answer == "yes":
        await switching.fork(session, entry_id, stop_first=session.is_busy)
        screen.note("forked: this is a new session; the old one stays as it is")


async def clone(screen: ChatScreen, session: AgentSession) -> None:
    """A new session with this branch alone."""
    if session.session.leaf_id is None:
        raise UsageError("there is nothing to clone yet")
    await switching.clone(session, stop_first=session.is_busy)
    screen.note("cloned: this is a new session with this branch alone")


async def label(screen: ChatScreen, session: AgentSession, entry_id: str | None, text: str = "") -> None:
    """Bookmark an entry; an empty label takes it away."""
    from widgets.text_input import ask_text

    entry_id = entry_id or navigation.nearest_message(session.session.tree, session.session.leaf_id)
    if entry_id is None:
        raise UsageError("there is nothing to label yet")
    if not text:
        present = session.session.tree.labels.get(entry_id)
        asked = await ask_text(screen.app, "Label (empty: none)", present.text if present is not None else "")
        if asked is None:
            return
        text = asked
    await navigation.set_label(session, entry_id, text or None)
    screen.note(f"labelled {text!r}" if text else "label taken away")


async def switch_sibling(screen: ChatScreen, session: AgentSession, entry_id: str, step: int) -> None:
    """The branch beside this one, in place: the other message stands where this one stood, under the cursor.

    From an answer or a tool call it is the request's branch that is changed. Refused while a run goes on: a single key
    must not stop it.
    """
    if session.is_busy:
        moving.hint(screen, "the agent is at work: other branches once it has ended, or after escape")
        return
    tree = session.session.tree
    chosen = navigation.nearest_with_siblings(tree, entry_id)
    block = moving.block_of(screen, chosen) if chosen is not None else None
    y = screen.transcript.place_of(block) if block is not None else None
    moved = await navigation.switch_sibling(session, chosen or entry_id, step)
    if chosen is None or not moved.moved:
        moving.hint(screen, "no other branch here")
        return
    here = {entry.id for entry in tree.up(tree.leaf_id)}
    other = next(sibling for sibling in navigation.message_siblings(tree, chosen) if sibling in here)
    await moving.show_in_place(screen, other, y)
    if screen.is_browsing:
        differing = await moving.files_differ(session)
        moving.hint(screen, f"{differing} not as here · r brings them back" if differing else BROWSE_HINTS)


async def jump(screen: ChatScreen, session: AgentSession, step: int) -> None:
    """Back and forward through jumps. Raises AgentBusyError while a run goes on."""
    moved = await (navigation.back if step < 0 else navigation.forward)(session)
    if not moved.moved:
        screen.note("no further jump" if step > 0 else "no jump to go back to")


async def open_session(screen: ChatScreen, session: AgentSession, path: Path, cwd: Path) -> None:
    """Go on in another session; one of another folder is opened in that folder."""
    from dataclasses import replace

    from app.cli.main import start_options

    if cwd == screen.cwd:
        await switching.open_other(session, path, stop_first=session.is_busy)
        return
    try:
        screen.move_to(cwd)
    except OSError as error:
        hint = "Fork the session into this folder"
        raise PinyonError(f"the folder {cwd} of that session can't be entered: {error.strerror}", hint) from error
    options = start_options(screen.arguments, cwd)
    screen.reopen(replace(options, session=str(path), fork=None, continue_=False))
