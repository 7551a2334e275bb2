"""Restoring, taking and comparing files from the chat: shows what would be done, asks, does it, says what was done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.errors import PinyonError, UsageError
from app.runtime.agent_session import AgentSession

if TYPE_CHECKING:
    from app.runtime.file_history import FileHistory
    from app.session.snapshots.plan import LeftAlone, RestorePlan
    from app.tui.screens.chat import ChatScreen

MOST_LISTED = 200
FEW_LISTED = 3
"""What is left alone, in a question: its answers must stay in sight."""


async def restore(screen: ChatScreen, session: AgentSession, entry_id: str) -> None:
    """The files as they were at an entry."""
    files = _free_files(session)
    await ask_and_apply(screen, files, await files.preview(entry_id), "Bring back the files of this place?", entry_id)


async def undo(screen: ChatScreen, session: AgentSession) -> None:
    """Take back the last restore or take."""
    files = _free_files(session)
    await ask_and_apply(screen, files, await files.preview_undo(), "Take back what was restored last?")


async def take(screen: ChatScreen, session: AgentSession, entry_id: str, paths: Sequence[str] = ()) -> None:
    """The file changes of another branch onto the present files."""
    files = _free_files(session)
    plan = await files.take(entry_id, paths=paths or None)
    await ask_and_apply(screen, files, plan, "Take the file changes of that branch?")


async def diff(screen: ChatScreen, session: AgentSession, entry_id: str) -> None:
    """The files at an entry against those on the disk."""
    from app.tui.screens.tree_files import FilesScreen

    files = _files(session)
    changes = await files.changes_until_now(entry_id)
    if not changes:
        screen.transcript.follow()
        screen.note("the files are as they were here")
        return
    shown = FilesScreen("files here, and now", changes, lambda path: files.diff_until_now(path, entry_id))
    await screen.app.push_screen_wait(shown)


def _files(session: AgentSession) -> FileHistory:
    if session.files is None:
        raise PinyonError("no snapshots of files are taken here")
    return session.files


def _free_files(session: AgentSession) -> FileHistory:
    if session.is_busy:
        raise UsageError("the agent is at work on these files", "Stop it with escape, or wait for it to end")
    return _files(session)


async def ask_and_apply(
    screen: ChatScreen, files: FileHistory, plan: RestorePlan, question: str, entry_id: str | None = None
) -> None:
    """Show the plan, ask, do it. Escape means no."""
    from widgets.dialogs import choose

    foreign = [left.path for left in plan.skipped if left.is_foreign]
    if plan.is_empty and not foreign:
        screen.transcript.follow()
        screen.note("\n".join(["nothing to do: the files are so already", *_left(plan.skipped, "left alone")]))
        return
    options = [("no", "no")]
    if not plan.is_empty:
        options += [("yes", f"yes: {plan_counts(plan)}"), ("diff", "show the diffs")]
    if foreign and entry_id is not None:
        options.append(("all", f"yes, and over the {len(foreign)} that someone else changed"))
    while True:
        answer = await choose(screen.app, question, options, body=plan_text(plan), default="no")
        if answer != "diff":
            break
        await show_plan(screen, files, plan)
    if answer == "all" and entry_id is not None:
        plan = await files.preview(entry_id, overwrite=foreign)
    elif answer != "yes":
        return
    await apply(screen, files, plan)


async def show_plan(screen: ChatScreen, files: FileHistory, plan: RestorePlan) -> None:
    """The diffs of what a plan would do, until escape."""
    from app.tui.screens.tree_files import FilesScreen

    changes = await files.plan_changes(plan)
    shown = FilesScreen("what would change", changes, lambda path: files.plan_diff(plan, path))
    await screen.app.push_screen_wait(shown)


async def apply(screen: ChatScreen, files: FileHistory, plan: RestorePlan) -> None:
    """Do a plan that was agreed to, and say what was done and what was left alone."""
    done = await files.apply(plan)
    said = [f"{done.summary}. /undo-restore takes it back", *_left(plan.skipped, "left alone")]
    screen.transcript.follow()
    screen.note("\n".join(said), "warning" if done.failed or plan.skipped else "info")


def plan_counts(plan: RestorePlan) -> str:
    """What a plan does, in a few words: "1 made, 2 changed". Never empty."""
    counts = ((plan.created, "made"), (plan.changed, "changed"), (plan.deleted, "deleted"))
    return ", ".join(f"{len(files)} {word}" for files, word in counts if files) or "nothing"


def plan_text(plan: RestorePlan) -> str:
    """Every path of a plan with what happens to it, what is left alone and why, and what no snapshot covers."""
    lines = [f"{file.kind:<8} {file.path}" for file in plan.files[:MOST_LISTED]]
    if len(plan.files) > MOST_LISTED:
        lines.append(f"… and {len(plan.files) - MOST_LISTED} more")
    lines += _left(plan.skipped, "left alone", FEW_LISTED) + _left(plan.not_covered, "not covered", FEW_LISTED)
    return "\n".join([*lines, *plan.limits])


def _left(paths: Sequence[LeftAlone], word: str, most: int = 20) -> list[str]:
    shown = [f"{word}: {left.path} ({left.reason})" for left in paths[:most]]
    return shown + ([f"{word}: {len(paths) - most} more"] if len(paths) > most else [])
