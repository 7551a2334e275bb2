"""What each command of the table does on the chat screen; a command that fails says so in the transcript."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

import anyio.to_thread

from app.ai.catalogue import default_models
from app.ai.messages import AssistantMessage, TextContent
from app.ai.resolve import as_level, full_id, resolve_cli, supported_levels
from app.config.paths import expand
from app.errors import PinyonError, UsageError
from app.runtime import navigation, switching
from app.runtime.agent_session import AgentSession
from app.runtime.fixed_cost import fixed_tokens
from app.runtime.models import cycle_thinking_level, set_model, set_thinking_level
from app.tui import branching, file_acts, walking
from renderers.outcome import plural

if TYPE_CHECKING:
    from app.tui.screens.chat import ChatScreen


async def run_command(screen: ChatScreen, action: str, argument: str) -> None:
    """Do `action` of the command table with its argument."""
    if screen.session is None:
        await screen.opened.wait()
    session = screen.session
    if session is None:
        return
    try:
        await _run(screen, session, action, argument)
    except PinyonError as error:
        screen.transcript.follow()  # what one did oneself is to be seen, also after scrolling up
        screen.note(str(error), "warning")
    except Exception as error:
        screen.transcript.follow()
        screen.note(f"{action} failed: {type(error).__name__}: {error}", "error")


async def _run(screen: ChatScreen, session: AgentSession, action: str, argument: str) -> None:
    match action:
        case "new_session":
            await switching.new_session(session, stop_first=session.is_busy)
        case "fork_session":
            await branching.fork(screen, session, None)
        case "fork_entry":
            await branching.fork(screen, session, argument)
        case "clone_session":
            await branching.clone(screen, session)
        case "edit_entry":
            await branching.edit_message(screen, session, argument)
        case "label_entry":
            await branching.label(screen, session, None, argument)
        case "label_this":
            await branching.label(screen, session, argument)
        case "previous_sibling":
            await branching.switch_sibling(screen, session, argument, -1)
        case "next_sibling":
            await branching.switch_sibling(screen, session, argument, 1)
        case "retry_save":
            await session.unsaved.store()
            screen.note("everything is stored")
        case "save_elsewhere":
            await save_elsewhere(screen, session, argument)
        case "show_tree":
            await walking.show_tree(screen, session, argument)
        case "resume_session":
            await walking.show_sessions(screen, session, argument)
        case "export":
            await walking.export(screen, session, argument)
        case "restore_files":
            await file_acts.restore(screen, session, argument or session.session.leaf_id or "")
        case "undo_restore":
            await file_acts.undo(screen, session)
        case "diff_files":
            await file_acts.diff(screen, session, argument or session.session.leaf_id or "")
        case "jump_back":
            await branching.jump(screen, session, -1)
        case "jump_forward":
            await branching.jump(screen, session, 1)
        case "compact":
            await session.compaction.run(argument or None)
        case "name_session":
            await name_session(screen, session, argument)
        case "session_info":
            state = session.agent.state
            prompt, tools = await anyio.to_thread.run_sync(fixed_tokens, state.system_prompt, list(state.tools))
            screen.note(f"{session_facts(session)}\nfixed   {prompt:,} tokens of system prompt, {tools:,} of tools")
        case "copy_answer":
            copy_answer(screen, session)
        case "choose_model":
            await choose_model(screen, session, argument)
        case "set_thinking":
            await set_thinking(screen, session, argument)
        case "toggle_thinking":
            screen.action_view_thinking()
        case "follow_up":
            follow_up(screen, argument)
        case "edit_queue":
            screen.on_edit_queue()
        case "cycle_density":
            screen.action_view_density()
        case "choose_theme":
            await choose_theme(screen, argument)
        case "search_transcript":
            await search_transcript(screen, argument)
        case "toggle_plain":
            await toggle_plain(screen)
        case "show_help":
            screen.action_session_help()
        case "trust_folder":
            await trust_folder(screen)
        case "suspend":
            screen.action_session_suspend()
        case "toggle_mouse":
            screen.action_view_release_mouse()
        case "quit":
            screen.quit()
        case _:
            raise UsageError(f"/{action} is not part of this version")


def follow_up(screen: ChatScreen, words: str) -> None:
    """Queue words, without any what stands in the prompt, for the end of the run."""
    if not words:
        words = screen.prompt.full_text
        screen.prompt.load_prompt("")
    if words.strip():
        screen.send(words, follow_up=True)


async def save_elsewhere(screen: ChatScreen, session: AgentSession, folder: str) -> None:
    """Go on in a new file, when the old place can't be written."""
    from widgets.text_input import ask_text

    folder = folder or await ask_text(screen.app, "Go on in which folder?") or ""
    if folder:
        path = await session.unsaved.store_in(expand(folder, screen.cwd))
        screen.banner.show("")
        screen.note(f"everything is stored in {path}")


async def name_session(screen: ChatScreen, session: AgentSession, name: str) -> None:
    """Name it; without a name say the present one."""
    if not name:
        screen.note(f"this session is named {session.session.name!r}" if session.session.name else "no name yet")
        return
    await navigation.set_name(session, name)


def session_facts(session: AgentSession) -> str:
    """File, id, counts and cost; from the index, so that no long conversation is read for it."""
    store, totals = session.session, session.totals
    count = Counter(entry.role for entry in store.outline().entries)
    return "\n".join(
        [
            f"session {store.id}" + (f" · {store.name}" if store.name else ""),
            f"file    {store.path if store.is_stored else 'none yet'}",
            f"entries {len(store.tree)} · {plural(len(store.tree.tips), 'branch', 'branches')}",
            f"context {count['user']} of yours, {count['assistant']} answers, {count['toolResult']} tool results",
            f"tokens  ↑{totals.input:,} ↓{totals.output:,} · cache ↑{totals.cache_write:,} ↓{totals.cache_read:,}",
            f"cost    ${totals.cost:.4f}",
        ]
    )


def copy_answer(screen: ChatScreen, session: AgentSession) -> None:
    """The last answer that has text."""
    store = session.session
    known = reversed(session.agent.state.messages)  # one that could not be stored is among them
    unread = () if session.reader.is_read else (store.message(each.id) for each in reversed(store.outline().entries))
    for message in chain(known, unread):
        if isinstance(message, AssistantMessage):
            text = "\n\n".join(block.text for block in message.content if isinstance(block, TextContent)).strip()
            if text:
                screen.copy(text)
                return
    raise UsageError("there is no answer to copy yet")


async def choose_model(screen: ChatScreen, session: AgentSession, argument: str) -> None:
    """The model that the argument means, else one picked from the list."""
    session.registry.reload()
    models = session.registry.models()
    if argument:
        match = resolve_cli(None, argument, models, default_models(), session.registry.has_auth)
        if match is None:
            return
        await set_model(session, match.model)
        if match.level:
            await set_thinking_level(session, match.level)
        screen.note(f"{full_id(match.model)} answers from now on" + (f" ({match.warning})" if match.warning else ""))
        return
    chosen = await screen.pick_model(session.registry.available(), session.agent.state.model)
    if chosen is not None:
        await set_model(session, chosen)
        screen.note(f"{full_id(chosen)} answers from now on")


async def set_thinking(screen: ChatScreen, session: AgentSession, argument: str) -> None:
    """The level that the argument names, else the next one."""
    model = session.agent.state.model
    if not argument:
        level = await cycle_thinking_level(session)
        if level is None:
            screen.note(f"{full_id(model)} has no thinking levels")
        return
    wanted = as_level(argument)
    if wanted is None or wanted not in supported_levels(model):
        raise UsageError(f"no level {argument!r}", f"{full_id(model)} has {', '.join(supported_levels(model))}")
    await set_thinking_level(session, wanted, remember=True)


async def trust_folder(screen: ChatScreen) -> None:
    """Ask, and let the folder's own settings count from the next start on: they can set commands."""
    from app.config.trust import set_trust
    from widgets.dialogs import choose

    folder = screen.cwd
    body = f"{folder}/.pinyon/settings.json can set the shell and a prefix for every command. Look at it first."
    answer = await choose(screen.app, "Trust this folder?", [("no", "no"), ("yes", "yes")], body=body, default="no")
    if answer == "yes":
        await anyio.to_thread.run_sync(set_trust, folder, True)
        screen.note("this folder is trusted: its settings count from the next start on")


async def choose_theme(screen: ChatScreen, argument: str) -> None:
    """Another theme, for this and later starts."""

    from app.config.settings import save_setting
    from app.tui.themes import choose_theme as find_theme
    from app.tui.themes import is_theme, theme_names

    known = set(screen.app.available_themes)
    if not argument:
        picked = await screen.pick("Theme", [(name, name, "") for name in sorted(known)], screen.app.theme)
        if picked is None:
            return
        argument = picked
    name = find_theme(argument, known=known)
    if not is_theme(argument, known):
        raise UsageError(f"there is no theme {argument!r}", theme_names(known))
    screen.app.theme = name
    await anyio.to_thread.run_sync(save_setting, "theme", argument)


async def search_transcript(screen: ChatScreen, words: str) -> None:
    """Hits are marked; n and N walk them in browse mode."""
    if not words:
        from widgets.text_input import ask_text

        asked = await ask_text(screen.app, "Search in the transcript")
        if not asked:
            return
        words = asked
    hits = screen.transcript.search(words)
    screen.action_session_browse()
    if hits:
        screen.transcript.previous_hit()
    earlier = screen.earlier.left if screen.earlier is not None else 0
    _say_hits(screen, words, len(hits), earlier)
    if not earlier:
        return
    await screen.wait_for_earlier()
    if screen.is_browsing and screen.transcript.query_text == words:
        found, hits = len(hits), screen.transcript.search(words)
        if hits and not found:
            screen.transcript.previous_hit()
        _say_hits(screen, words, len(hits))


def _say_hits(screen: ChatScreen, words: str, count: int, earlier: int = 0) -> None:
    said = f"{plural(count, 'hit')} · n next · N previous · i prompt" if count else f"{words!r} is not there"
    screen.status.note = f"{said} · {earlier:,} earlier entries are being read" if earlier else said
    screen.show_status()


async def toggle_plain(screen: ChatScreen) -> None:
    """No boxes, no spinner, states as words; or as before. For this and later starts."""

    from app.config.settings import save_setting
    from app.tui.plain import SETTING, set_plain
    from widgets.plain import is_plain

    plain = not is_plain(screen)
    set_plain(screen.app, plain)
    await anyio.to_thread.run_sync(save_setting, SETTING, plain)
