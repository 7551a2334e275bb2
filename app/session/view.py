"""A session as faces look at it: who it is, its tree, bodies and contexts; it must never write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from app.session.entries import RawEntry
from app.session.file import SessionFile
from app.session.tree import Tree

if TYPE_CHECKING:
    from app.session.context import ContextReading, Outline, SessionContext
    from app.session.messages import AgentMessage


class SessionView:
    """The reading side of a session. `tree` holds only what is written (or waits for the first word)."""

    def __init__(self, file: SessionFile) -> None:
        self._file = file
        self.tree = Tree(file.index.entries, file.notes)
        # Parsed once while anybody holds them: the agent's context and a face's blocks want the same messages.
        self._parsed: WeakValueDictionary[str, AgentMessage] = WeakValueDictionary()
        self._outline: tuple[tuple[int, str | None], Outline] | None = None

    @property
    def id(self) -> str:
        """The session's id."""
        return str(self._file.header.get("id", ""))

    @property
    def path(self) -> Path | None:
        """Where the file is, or will be; None in memory."""
        return self._file.path

    @property
    def is_stored(self) -> bool:
        """Whether the file exists yet."""
        return self._file.is_stored

    @property
    def is_read_only(self) -> bool:
        """Whether it was opened to look at."""
        return self._file.read_only

    @property
    def cwd(self) -> str:
        """The folder that the session belongs to, "" when its header names none; it may be gone."""
        cwd = self._file.header.get("cwd")
        return cwd if isinstance(cwd, str) else ""

    @property
    def cwd_exists(self) -> bool:
        """Whether that folder is there; the runtime offers the present one when it is not (cases S3)."""
        return Path(self.cwd).is_dir() if self.cwd else False

    @property
    def header(self) -> RawEntry:
        """The header as it stands in the file."""
        return self._file.header

    @property
    def notes(self) -> list[str]:
        """What was odd, one sentence each."""
        return self._file.notes

    @property
    def name(self) -> str | None:
        """The name that the user gave it."""
        return self.tree.name

    @property
    def leaf_id(self) -> str | None:
        """Where the next entry goes."""
        return self.tree.leaf_id

    @property
    def file(self) -> SessionFile:
        """The log beneath, for copies, search and repair."""
        return self._file

    def read(self, entry_id: str) -> RawEntry:
        """The whole entry; treat it as read-only. Raises UnknownEntryError."""
        return self._file.body(self.tree.get(entry_id))

    def message(self, entry_id: str) -> AgentMessage | None:
        """The message that the entry adds to the conversation, if it adds any. Raises UnknownEntryError."""
        from app.session.context import message_in

        message = self._parsed.get(entry_id)
        return message if message is not None else message_in(self.read(entry_id))

    def context(self, leaf_id: str | None = None) -> SessionContext:
        """What the branch at the leaf (or at `leaf_id`) says to a model. Slow where it is long: see `reading`."""
        reading = self.reading(leaf_id)
        reading.step(len(reading.outline.entries))
        return reading.context

    def reading(self, leaf_id: str | None = None) -> ContextReading:
        """The same, to be read in pieces."""
        from app.session.context import ContextReading

        return ContextReading(self.outline(leaf_id), self._file.body, self._parsed)

    def outline(self, leaf_id: str | None = None) -> Outline:
        """What a context at the leaf (or at `leaf_id`) is made of; kept until the tree changes."""
        from app.session.context import outline_of

        leaf_id = self.tree.leaf_id if leaf_id is None else leaf_id
        key = self.tree.version, leaf_id
        kept = self._outline
        if kept is None or kept[0] != key:
            kept = self._outline = key, outline_of(self.tree, leaf_id, self._file.body)
        return kept[1]
