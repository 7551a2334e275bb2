"""What header and footer say, from a session's state; reads running sums only, never the conversation."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from app.config.paths import tilde
from app.tui import keymap
from widgets.footer import FooterState
from widgets.header import HeaderState

if TYPE_CHECKING:
    from app.runtime.agent_session import AgentSession

IDLE_HINTS = (("session.tree", "tree"), ("session.model", "model"), ("session.help", "help"))


@dataclass(slots=True)
class Status:
    """The parts that no session knows: git branch, what is going on since when, a notice for the header."""

    cwd: Path
    branch: str = ""
    activity: str = "starting"
    busy_since: float | None = None
    due: float | None = None
    note: str = ""
    statuses: tuple[str, ...] = ()
    notice: str = ""
    overrides: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def begin(self, activity: str, due_in_s: float | None = None) -> None:
        """Something began that the footer counts the seconds of; or down, to what is due in so many."""
        self.activity = activity
        self.busy_since = time.monotonic()
        self.due = None if due_in_s is None else self.busy_since + due_in_s

    def end(self) -> None:
        """Nothing goes on."""
        self.activity, self.busy_since, self.due = "", None, None

    def header(self, session: AgentSession | None) -> HeaderState:
        """The header's state."""
        if session is None:
            return HeaderState(folder=tilde(self.cwd), branch=self.branch, notice=self.notice)
        state = session.agent.state
        model = state.model
        offline = model.provider == "offline"
        used = session.totals.context_tokens
        if used is None and not session.totals.output:  # else it is unknown, as after a compaction
            used = 0
        return HeaderState(
            folder=tilde(self.cwd),
            branch=self.branch,
            title=session.session.name or "",
            model=model.name or model.id,
            thinking=state.thinking_level if model.reasoning else "",
            context_tokens=None if offline else used,
            context_window=None if offline else model.context_window,
            notice=self.notice,
        )

    def footer(self, session: AgentSession | None) -> FooterState:
        """The footer's state."""
        hints = tuple(filter(None, (keymap.hint(action, word, self.overrides) for action, word in IDLE_HINTS)))
        if session is None:
            return FooterState(activity=self.activity, busy_since=self.busy_since, hints=hints, note=self.note)
        totals = session.totals
        return FooterState(
            input_tokens=totals.input,
            output_tokens=totals.output,
            cache_tokens=totals.cache_read,
            cost=totals.cost or None,
            activity="reading the session" if session.reader.is_reading else self.activity,
            busy_since=self.busy_since,
            due=self.due,
            escape_hint=session.interrupts.label or "",
            hints=hints,
            statuses=self.statuses,
            note=self.note,
        )


def not_saved(error: str) -> str:
    """A failed write in one row: the reason first; which file it was can be read in the transcript."""
    return f"not saved: {error.rpartition(': not saved: ')[2]}"


def retry_ending(attempts: int, error: str | None) -> str:
    """What is said when nothing is sent again; the failure itself stands above it."""
    if error is not None and error.startswith("stopped"):
        return "stopped waiting: not sent again"
    return f"gave up after {attempts} {'retry' if attempts == 1 else 'retries'}"


def git_branch(cwd: Path) -> str:
    """The branch of the repository around `cwd`, "" outside one; reads two small files and starts no process."""
    for folder in (cwd, *cwd.parents):
        dot = folder / ".git"
        try:
            if dot.is_file():
                dot = folder / dot.read_text("utf-8").removeprefix("gitdir:").strip()
            head = (dot / "HEAD").read_text("utf-8").strip()
        except (OSError, ValueError):
            continue
        return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else head[:8]
    return ""
