"""What keys and commands for branches do on the chat screen: ask what has to be asked, then let the runtime move."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.config.settings import save_setting
from app.errors import PinyonError, UsageError
from app.runtime import navigation, switching
from app.runtime.agent_session import AgentSession

if TYPE_CHECKING:
    from app.tui.screens.chat import ChatScreen


async def go_to(screen: ChatScreen, session: AgentSession, entry_id: str, *, edit: bool = False) -> None:
    """Go on at an entry; asks about a summary only when something would be left behind."""
    summarise = await ask_summary(screen, session, entry_id)
    if summarise is CANCELLED:
        return
    moved = await navigation.go_to(session, entry_id, summarise=summarise, edit=edit, stop_first=session.is_busy)
    if moved.aborted:
        screen.note("the summary was stopped: nothing has changed")
    elif not moved.moved:
        screen.note("already here")


class _Cancelled(str):
    """The question was answered with no."""


CANCELLED = _Cancelled("")


async def ask_summary(screen: ChatScreen, session: AgentSession, entry_id: str) -> str | None:
    """None, "plain" or a focus as `navigation.go_to` takes it; CANCELLED when the user stays.

    Not asked when nothing would be left behind, when the setting says so, or when no model could write one.
    """
    behind = navigation.abandoned(session, entry_id)
    offline = session.agent.state.model.provider == "offline"
    if not behind.entries or session.settings.branch_summary.skip_prompt or offline:
        return None
    from widgets.dialogs import choose
    from widgets.text_input import ask_text

    answer = await choose(
        screen.app,
        "Leave a summary of what is left behind?",
        [
            ("stay", "stay here"),
            ("none", "no summary"),
            ("plain", "summarise"),
            ("focus", "summarise with a focus"),
            ("never", "no summary, and don't ask again"),
        ],
        body=f"{behind.entries} entries, about {behind.tokens:,} tokens, stay in the tree either way.",
        default="stay",
    )
    match answer:
        case "none":
            return None
        case "plain":
            return "plain"
        case "focus":
            focus = await ask_text(screen.app, "What shall the summary mind?")
            return CANCELLED if focus is None else focus or "plain"
        case "never":
            save_setting("branchSummary.skipPrompt", True)
            return None
        case _:
            return CANCELLED


async def edit_message(screen: ChatScreen, session: AgentSession, entry_id: str) -> None:
    """Write a message anew: its text in the prompt, the leaf before it."""
    if session.session.tree.get(entry_id).role != "user":
        raise UsageError("only a message of yours can be written anew", "J and K walk them")
    await go_to(screen, session, entry_id, edit=True)


async def fork(screen: ChatScreen, session: AgentSession, entry_id: str | None) -> None:
    """A new session from an entry, the present place without one; asks first."""
    from widgets.dialogs import choose

    entry_id = entry_id or session.session.leaf_id
    if entry_id is None:
        raise UsageError("there is nothing to fork yet")
    answer = await choose(
        screen.app, "Go on from here in a new session?", [("no", "no"), ("yes", "fork")], default="no"
    )
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
    """The branch beside this one, in place."""
    moved = await navigation.switch_sibling(session, entry_id, step, stop_first=session.is_busy)
    if not moved.moved:
        screen.note("no other branch here")


async def jump(screen: ChatScreen, session: AgentSession, step: int) -> None:
    """Back and forward through jumps."""
    walk = navigation.back if step < 0 else navigation.forward
    moved = await walk(session, stop_first=session.is_busy)
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
