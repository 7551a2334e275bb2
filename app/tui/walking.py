"""Opens the tree, sessions and comparison screens from the chat and does what was chosen there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from app.config.settings import save_setting
from app.errors import PinyonError, UsageError
from app.runtime import navigation, switching
from app.runtime.agent_session import AgentSession
from app.tui import branching, file_acts, moving
from app.tui.screens.sessions import SessionChoice, SessionsScreen
from app.tui.screens.tree import TreeScreen
from app.tui.tree_services import SessionServices, TreeChoice

if TYPE_CHECKING:
    from app.tui.screens.chat import ChatScreen


async def show_tree(screen: ChatScreen, session: AgentSession, entry_id: str | None = None) -> None:
    """The tree, from `entry_id` or the present place."""
    services = SessionServices(session, session.files)
    tree = TreeScreen(session, services, selected=entry_id or None, keys=screen.status.overrides)
    choice = await screen.app.push_screen_wait(tree)
    if choice is not None:
        await do_choice(screen, session, choice)


async def do_choice(screen: ChatScreen, session: AgentSession, choice: TreeChoice) -> None:
    """What was chosen in the tree or in a comparison."""
    if choice.never_ask:
        await anyio.to_thread.run_sync(save_setting, "branchSummary.skipPrompt", True)
    match choice.action:
        case "go" | "edit":
            moved = await navigation.go_to(
                session,
                choice.entry_id,
                summarise=choice.summarise,
                edit=choice.action == "edit",
                stop_first=choice.stop_first,
            )
            if moving.said_of(screen, moved):
                await moving.ask_files(screen, session)
        case "fork":
            await branching.fork(screen, session, choice.entry_id)
        case "restore":
            await file_acts.restore(screen, session, choice.entry_id)
        case "take_files":
            await file_acts.take(screen, session, choice.entry_id, choice.paths)
        case "take_text":
            screen.prompt.prepend_text(choice.text)
        case "keep":
            await branching.keep(screen, session, choice.entry_id)


async def show_sessions(screen: ChatScreen, session: AgentSession, words: str = "") -> None:
    """Every session; the chosen one takes this one's place."""
    choice = await screen.app.push_screen_wait(
        SessionsScreen(screen.cwd, session=session.session, query=words, keys=screen.status.overrides)
    )
    if choice is not None:
        await open_choice(screen, session, choice)


async def open_choice(screen: ChatScreen, session: AgentSession, choice: SessionChoice) -> None:
    """Open, fork or look at a session, and show the hit that it was chosen for."""
    if choice.path == session.session.path:
        show_entry(screen, choice.entry_id)
        return
    if session.is_busy:
        raise UsageError("the agent is at work", "Stop it with escape, then change the session")
    screen.show_later(choice.entry_id)  # before the move: the session is drawn while it goes on
    try:
        await _open(screen, session, choice)
    except BaseException:
        screen.show_later(None)
        raise


async def _open(screen: ChatScreen, session: AgentSession, choice: SessionChoice) -> None:
    match choice.action:
        case "fork":
            await fork_here(session, choice.path)
        case "open_here":
            await switching.open_other(session, choice.path, here=True)
        case "view":
            await switching.view_other(session, choice.path)
            screen.note("looked at only: another Pinyon writes this session. What you say here is not kept", "warning")
        case "open":
            header = await anyio.to_thread.run_sync(folder_of, choice.path)
            await branching.open_session(screen, session, choice.path, header or screen.cwd)


async def fork_here(session: AgentSession, path: Path) -> None:
    """A copy of a session, in this folder."""
    from app.session.forks import fork_from

    async with navigation.moving(session):
        await switching.switch_to(session, await fork_from(path, session.session.cwd), "fork")


def show_entry(screen: ChatScreen, entry_id: str | None) -> None:
    """Bring an entry's block into view, under the cursor; one on another branch is shown in the tree."""
    if entry_id is not None:
        screen.run_worker(_show_entry(screen, entry_id), exit_on_error=False, group="command")


async def _show_entry(screen: ChatScreen, entry_id: str) -> None:
    session = screen.session
    if session is None or entry_id not in session.session.tree:
        return
    store = session.session
    if store.tree.common_ancestor(entry_id, store.leaf_id) != entry_id:
        screen.run_command("show_tree", entry_id)
        return
    message = store.message(entry_id)
    call_id = getattr(message, "tool_call_id", None)  # a result is drawn with its call
    above = next((entry.id for entry in store.tree.up(entry_id) if entry.role not in (None, "toolResult")), entry_id)
    screen.action_session_browse()
    await moving.show_in_place(screen, above, None)
    if call_id is not None and screen.transcript.get_block(call_id) is not None:
        screen.transcript.set_cursor(call_id)


def folder_of(path: Path) -> Path | None:
    """The folder that a session belongs to, by its header; None when it names none. Reads a file."""
    from app.session.listing import read_header

    header = read_header(path)
    cwd = header.get("cwd") if header is not None else None
    return Path(cwd) if isinstance(cwd, str) and cwd else None


async def export(screen: ChatScreen, session: AgentSession, name: str) -> None:
    """Write the session to a file: its ending says how (.html, .md, .jsonl)."""
    from app.config.paths import expand
    from app.session.export import export_session

    store = session.session
    if store.path is None or not store.is_stored:
        raise PinyonError("there is nothing to export yet")
    source = store.path
    out = expand(name, screen.cwd) if name else screen.cwd / f"session-{store.id[:8]}.html"
    written = await anyio.to_thread.run_sync(lambda: export_session(source, out, leaf=store.leaf_id))
    screen.note(f"exported to {written}")
