"""What tree and compare screens need of a session, as small protocols, and the real thing over an AgentSession.

The screens ask and are told; what changes the conversation or the files is done by whoever opened them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from app.runtime.agent_session import AgentSession
    from app.runtime.file_history import FileHistory

TreeAction = Literal["go", "edit", "fork", "restore", "take_files", "take_text", "keep"]


@dataclass(frozen=True, slots=True)
class TreeChoice:
    """What was chosen on a screen, for its opener to do.

    `go` and `edit`: navigation.go_to with `summarise` and `stop_first` (edit=True for edit); `never_ask` asks for the
    setting branchSummary.skipPrompt. `fork`: a new session from `entry_id`. `restore`: the files of `entry_id`.
    `take_files`: what the branch of `entry_id` changed, onto the present files (`paths` empty: all of it).
    `take_text`: `text` into the prompt. `keep`: go on at `entry_id`, with the files as they were there; not asked yet.
    """

    action: TreeAction
    entry_id: str
    summarise: str | None = None
    stop_first: bool = False
    never_ask: bool = False
    text: str = ""
    paths: tuple[str, ...] = ()


class FileLine(Protocol):
    """One path that differs (app.session.snapshots.compare.FileChange). Foreign text."""

    @property
    def path(self) -> str:
        """Relative, with slashes."""

    @property
    def kind(self) -> str:
        """Created, changed or deleted."""

    @property
    def added(self) -> int:
        """Lines."""

    @property
    def removed(self) -> int:
        """Lines."""

    @property
    def note(self) -> str:
        """In words what counts can't say."""


class TreeFiles(Protocol):
    """The files that belong to entries. The async ones raise SnapshotError with a reason where nothing is known."""

    def snapshot_at(self, entry_id: str) -> str | None:
        """The short name of the snapshot at an entry or the nearest above it; None without."""

    async def changes_until_now(self, entry_id: str) -> Sequence[FileLine]:
        """What differs between the files at an entry and those on the disk."""

    async def changes_between(self, old: str, new: str) -> Sequence[FileLine]:
        """What differs between the files at two entries."""

    async def branch_changes(self, tip: str, fork: str | None) -> Sequence[FileLine]:
        """What the branch from `fork` (exclusive) to `tip` did to the files."""

    async def diff_until_now(self, path: str, entry_id: str) -> str:
        """One file's diff between an entry and the disk, as rows (renderers.diff.parse_diff) or a sentence."""

    async def diff(self, path: str, old: str, new: str) -> str:
        """One file's diff between two entries, likewise."""


class HistoryFiles:
    """TreeFiles over a FileHistory."""

    def __init__(self, history: FileHistory) -> None:
        self._history = history
        self.changes_until_now = history.changes_until_now
        self.changes_between = history.changes_between
        self.branch_changes = history.branch_changes
        self.diff_until_now = history.diff_until_now
        self.diff = history.diff

    def snapshot_at(self, entry_id: str) -> str | None:
        """The first digits of the manifest's id; None without."""
        place = self._history.places.at(entry_id)
        return None if place is None else place.manifest_id[:6]


class TreeServices(Protocol):
    """What a tree screen asks of its session."""

    @property
    def files(self) -> TreeFiles | None:
        """None: no snapshots are taken."""

    @property
    def is_busy(self) -> bool:
        """Whether a run or another exclusive command goes on."""

    @property
    def asks_summary(self) -> bool:
        """Whether the summary question is to be asked."""

    def is_here(self, entry_id: str) -> bool:
        """Whether the conversation stands there, judged by the nearest message."""

    def rewrites(self, entry_id: str) -> bool:
        """Whether going there puts the message's text into the prompt."""

    def abandoned(self, entry_id: str) -> tuple[int, int]:
        """Entries and tokens that going there would leave behind."""

    async def set_label(self, entry_id: str, text: str) -> None:
        """Bookmark an entry; "" takes the bookmark away."""

    async def walk(self, step: int) -> bool:
        """Go to where the last jump began (-1), or forward again (1); whether anything moved."""


class SessionServices:
    """TreeServices over an AgentSession and, where snapshots are taken, its FileHistory."""

    def __init__(self, session: AgentSession, history: FileHistory | None = None) -> None:
        self._session = session
        self._files = HistoryFiles(history) if history is not None else None

    @property
    def files(self) -> TreeFiles | None:
        """None: no snapshots are taken."""
        return self._files

    @property
    def is_busy(self) -> bool:
        """Whether a run or another exclusive command goes on."""
        return self._session.is_busy

    @property
    def asks_summary(self) -> bool:
        """Unless the setting branchSummary.skipPrompt says no, or the model is the offline guide, which writes none."""
        if self._session.agent.state.model.provider == "offline":
            return False
        return not self._session.settings.branch_summary.skip_prompt

    def is_here(self, entry_id: str) -> bool:
        """Whether the conversation stands there, judged by the nearest message."""
        from app.runtime.navigation import is_here

        return is_here(self._session.session.tree, entry_id)

    def rewrites(self, entry_id: str) -> bool:
        """Whether going there puts the message's text into the prompt."""
        entry = self._session.session.tree.get(entry_id)
        return entry.type == "custom_message" or (entry.type == "message" and entry.role == "user")

    def abandoned(self, entry_id: str) -> tuple[int, int]:
        """Entries and tokens that going there would leave behind."""
        from app.runtime.navigation import abandoned

        left = abandoned(self._session, entry_id)
        return left.entries, left.tokens

    async def set_label(self, entry_id: str, text: str) -> None:
        """Bookmark an entry. Raises AgentBusyError, WriteFailedError."""
        from app.runtime.navigation import set_label

        await set_label(self._session, entry_id, text or None)

    async def walk(self, step: int) -> bool:
        """Go through the jumps. Raises AgentBusyError, WriteFailedError."""
        from app.runtime.navigation import back, forward

        return (await (back if step < 0 else forward)(self._session)).moved
