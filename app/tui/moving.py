"""Moves in the tree as the chat screen asks for them: one question for place and files, and the reader's place kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio.to_thread

from app.config.settings import save_setting
from app.runtime import navigation
from app.runtime.agent_session import AgentSession
from app.session.snapshots.model import SnapshotError
from app.tui import file_acts
from app.tui.tree_questions import ask_stop

if TYPE_CHECKING:
    from app.runtime.navigation import Abandoned, Moved
    from app.session.snapshots.plan import RestorePlan
    from app.tui.screens.chat import ChatScreen

STOPS = "The run that goes on is stopped."


async def ask_and_go(
    screen: ChatScreen, session: AgentSession, entry_id: str, question: str, *, edit: bool = False
) -> None:
    """Go on at an entry after one question, whose answer "no" stands first: with the files as they were there, or with
    those that are here; where something is left behind, with a summary of it. Raises as `navigation.go_to`.
    """
    from widgets.dialogs import choose
    from widgets.text_input import ask_text

    if session.is_busy:
        if not await ask_stop(screen.app, "go there"):
            return
        await session.abort()
    if not edit and navigation.is_here(session.session.tree, entry_id):
        await file_acts.restore(screen, session, entry_id)
        return
    plan, note = await _plan(session, navigation.destination(session, entry_id)[0])
    behind = navigation.abandoned(session, entry_id)
    options, body = _options(session, behind, plan), _body(behind, plan, note)
    while (answer := await choose(screen.app, question, options, body=body, default="no")) == "diff":
        if plan is not None and session.files is not None:
            await file_acts.show_plan(screen, session.files, plan)
    summarise: str | None = None
    match answer:
        case "no":
            return
        case "plain":
            summarise = "plain"
        case "focus":
            focus = await ask_text(screen.app, "What shall the summary mind?")
            if focus is None:
                return
            summarise = focus.strip() or "plain"
        case "never":
            await anyio.to_thread.run_sync(save_setting, "branchSummary.skipPrompt", True)
        case _:
            pass
    moved = await navigation.go_to(session, entry_id, summarise=summarise, edit=edit)
    if not said_of(screen, moved):
        return
    if answer == "files" and plan is not None and session.files is not None:
        await file_acts.apply(screen, session.files, plan)
    else:
        await tell_files(screen, session)


def said_of(screen: ChatScreen, moved: Moved) -> bool:
    """Whether a move was made; says why not."""
    if moved.aborted:
        screen.note("the summary was stopped: nothing has changed")
    elif not moved.moved:
        screen.note("already here")
    return moved.moved


async def ask_files(screen: ChatScreen, session: AgentSession) -> None:
    """After a move in the tree: whether the files shall follow, when they are not as they were at the new place."""
    plan, _ = await _plan(session, session.session.leaf_id)
    if plan is not None and session.files is not None and (not plan.is_empty or plan.skipped):
        await file_acts.ask_and_apply(
            screen, session.files, plan, "You are there. Bring its files too?", session.session.leaf_id
        )


async def tell_files(screen: ChatScreen, session: AgentSession) -> None:
    """After a move that left the files alone: a note when they are not as they were at the new place."""
    if words := await files_differ(session):
        screen.note(f"{words} not as at this place: /restore brings back what was there")


async def files_differ(session: AgentSession) -> str:
    """How many files are not as they were at the present place: "2 files are"; "" for none or when nobody knows."""
    plan, _ = await _plan(session, session.session.leaf_id)
    count = len(plan.files) + sum(left.is_foreign for left in plan.skipped) if plan is not None else 0
    return "1 file is" if count == 1 else f"{count:,} files are" if count else ""


def hint(screen: ChatScreen, text: str) -> None:
    """Say it in the footer while blocks are walked, where a remark at the end would not be seen; else as a remark."""
    if screen.is_browsing:
        screen.status.note = text
        screen.show_status()
    else:
        screen.note(text)


async def show_in_place(screen: ChatScreen, entry_id: str, y: int | None) -> None:
    """Put an entry's block into the window's row `y` (None: where it is seen with least movement), under the cursor
    in browse mode. Waits for the rest of a long branch when the block is part of it.
    """
    block_id = block_of(screen, entry_id)
    if block_id is None:
        await screen.wait_for_earlier(entry_id)
        block_id = block_of(screen, entry_id)
    if block_id is None:
        return
    if screen.is_browsing:
        screen.transcript.set_cursor(block_id)
    if y is not None:
        screen.transcript.show_block_at(block_id, y)


def block_of(screen: ChatScreen, entry_id: str) -> str | None:
    """The first block of an entry, None while it has none."""
    return next((block for block, entry in screen.feed.entry_of_block.items() if entry == entry_id), None)


async def _plan(session: AgentSession, entry_id: str | None) -> tuple[RestorePlan | None, str]:
    """What bringing back the files of a place would do, else why nobody knows."""
    if session.files is None or session.files.why_off is not None:
        return None, ""
    try:
        return await session.files.preview(entry_id), ""
    except SnapshotError as error:
        return None, error.message


def _options(session: AgentSession, behind: Abandoned, plan: RestorePlan | None) -> list[tuple[str, str]]:
    options = [("no", "no")]
    has_files = plan is not None and not plan.is_empty
    if plan is not None and has_files:
        options.append(("files", f"yes, and its files: {file_acts.plan_counts(plan)}"))
    options.append(("yes", "yes, the files stay as they are" if has_files else "yes"))
    offline = session.agent.state.model.provider == "offline"  # it can't write a summary
    if behind.entries and not session.settings.branch_summary.skip_prompt and not offline:
        options += [
            ("plain", "yes, with a summary of what is left behind"),
            ("focus", "yes, with a summary that minds…"),
            ("never", "yes, and never ask about summaries again"),
        ]
    if has_files:
        options.append(("diff", "show the diffs first"))
    return options


def _body(behind: Abandoned, plan: RestorePlan | None, note: str) -> str:
    lines: list[str] = []
    if behind.entries:
        entries = "1 entry stays" if behind.entries == 1 else f"{behind.entries:,} entries stay"
        lines.append(f"{entries} behind in the tree, about {behind.tokens:,} tokens; the model will not see them.")
    if plan is not None and (plan.files or plan.skipped):
        lines.append(file_acts.plan_text(plan))
    elif note:
        lines.append(f"The files of that place are not known: {note}.")
    return "\n".join(lines)
