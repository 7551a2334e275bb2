"""A session as the runtime drives it: one file, its tree, one writer at a time; it must never show an unwritten entry.

Reading bodies and contexts is synchronous; everything that may write is async, FIFO, and done in a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from app.session.entries import LEAF_TYPE, RawEntry, new_entry, new_entry_id, new_header, new_session_id
from app.session.facts import IndexEntry
from app.session.file import SessionFile
from app.session.naming import file_name, project_folder
from app.session.pairing import closing_results
from app.session.tree import UnknownEntryError
from app.session.view import SessionView
from app.session.worker import run_whole

if TYPE_CHECKING:
    from pydantic import BaseModel


class Session(SessionView):
    """A conversation tree. Make one with `create`, `open` or `in_memory`; `close` it when done.

    `notes` are sentences for the user about what was odd on opening or writing; faces show and may clear them.
    """

    def __init__(self, file: SessionFile) -> None:
        super().__init__(file)
        self._turn = anyio.Lock()
        # a limiter of its own: no crowd of other threads can keep an entry from the disk
        self._limiter = anyio.CapacityLimiter(1)

    @classmethod
    def create(
        cls,
        cwd: Path | str,
        folder: Path | None = None,
        *,
        session_id: str | None = None,
        parent_session: str | None = None,
        path: Path | None = None,
    ) -> Session:
        """A new session of `cwd`. No file exists until something is said in it.

        `folder` is the very folder that it goes to (None: the project's own, `naming.project_folder`); `path` names
        the very file.
        """
        header = new_header(session_id or new_session_id(), str(cwd), parent_session)
        if path is None:
            path = (folder or project_folder(str(cwd))) / file_name(header["timestamp"], header["id"])
        return cls(SessionFile(path, header))

    @classmethod
    def in_memory(cls, cwd: Path | str) -> Session:
        """A session that never touches the disk (`--no-session`)."""
        return cls(SessionFile(None, new_header(new_session_id(), str(cwd))))

    @classmethod
    async def open(cls, path: Path, *, read_only: bool = False) -> Session:
        """An existing session. To write: locked, leased, and tool calls that its branch leaves open are closed.

        Raises NotASessionError, SessionBusyError (another process writes it: open it `read_only` or `fork_from` it),
        SessionError. Reading changes no byte.
        """
        opening = SessionFile.read if read_only else SessionFile.open
        session = await run_whole(
            lambda: cls(opening(path)), lambda opened: opened.file.close(), anyio.CapacityLimiter(1)
        )
        if read_only:
            return session
        try:
            await session._close_open_calls()
        except BaseException:
            await session.close()
            raise
        return session

    async def append_message(self, message: BaseModel, *, sync: bool = True) -> str:
        """Store a message under the leaf; gives its entry's id once it is written (with `sync`: on the disk).

        An extension's message (role `custom`) becomes a `custom_message` entry, as pi stores it.
        Raises WriteFailedError: then it is not in the tree and the call may be made again.
        """
        dumped = message.model_dump(mode="json", by_alias=True, exclude_none=True)
        if dumped.get("role") == "custom":
            members = {name: value for name, value in dumped.items() if name not in ("role", "timestamp")}
            return await self._append("custom_message", sync=sync, **members)
        return await self._append("message", sync=sync, message=dumped)

    async def append_model_change(self, provider: str, model_id: str) -> str:
        """Note that the branch goes on with another model; gives the entry's id."""
        return await self._append("model_change", provider=provider, modelId=model_id)

    async def append_thinking_level(self, level: str) -> str:
        """Note that the branch goes on with another thinking level; gives the entry's id."""
        return await self._append("thinking_level_change", thinkingLevel=level)

    async def append_custom(self, custom_type: str, data: object = None) -> str:
        """Store an extension's state, which no model sees; gives the entry's id."""
        return await self._append("custom", customType=custom_type, data=data)

    async def append_custom_message(
        self, custom_type: str, content: str | list[Any], *, display: bool = True, details: object = None
    ) -> str:
        """Store an extension's message, which is sent, and shown with `display`; gives the entry's id.

        `content` is a string or blocks, as models of app.ai.messages or as JSON objects.
        """
        plain = content if isinstance(content, str) else [_plain(block) for block in content]
        return await self._append(
            "custom_message", sync=True, customType=custom_type, content=plain, display=display, details=details
        )

    async def append_compaction(
        self, summary: str, first_kept_id: str, tokens_before: int, details: object = None, *, from_hook: bool = False
    ) -> str:
        """Store a summary that stands for everything before `first_kept_id`; gives the entry's id."""
        return await self._append(
            "compaction",
            sync=True,
            summary=summary,
            firstKeptEntryId=first_kept_id,
            tokensBefore=tokens_before,
            details=details,
            fromHook=from_hook or None,
        )

    async def append_branch_summary(
        self, target_id: str | None, summary: str, details: object = None, *, from_hook: bool = False
    ) -> str:
        """Go to `target_id` (None: before the root) with a summary of what is left behind; gives the entry's id."""
        return await self._append(
            "branch_summary",
            sync=True,
            parent=lambda: self._known(target_id),
            fromId=target_id or "root",
            summary=summary,
            details=details,
            fromHook=from_hook or None,
        )

    async def set_name(self, name: str) -> str:
        """Name the session (blank: take the name away); gives the entry's id."""
        return await self._append("session_info", name=" ".join(name.split()))

    async def set_label(self, entry_id: str, label: str | None) -> str:
        """Bookmark an entry (None or blank: take the bookmark away); gives the label's own entry id.

        Raises UnknownEntryError.
        """
        self.tree.get(entry_id)
        return await self._append("label", targetId=entry_id, label=(label or "").strip() or None)

    async def move_leaf(self, entry_id: str | None) -> None:
        """Go on at another entry (None: before the root), for this and every later opening.

        Raises UnknownEntryError, and WriteFailedError with the leaf where it was.
        """
        self._known(entry_id)
        if entry_id != self.tree.leaf_id:
            await self._append("custom", parent=lambda: self._known(entry_id), customType=LEAF_TYPE)

    async def move_to(self, folder: Path) -> Path:
        """Go on in a new file in `folder` with everything so far, when the old place can't be written.

        Raises WriteFailedError: then nothing has changed.
        """
        async with self._turn:
            path = folder / file_name(str(self._file.header.get("timestamp", "")), self.id)
            await self._in_thread(lambda: self._file.move_to(path))
            return path

    async def close(self) -> None:
        """Let go of the file and its lease; waits for writes under way. Never raises; twice is once."""
        with anyio.CancelScope(shield=True):
            async with self._turn:
                await self._in_thread(self._file.close)

    def _known(self, entry_id: str | None) -> str | None:
        if entry_id is not None and entry_id not in self.tree:
            raise UnknownEntryError(entry_id)
        return entry_id

    async def _append(
        self, kind: str, *, sync: bool = False, parent: Callable[[], str | None] | None = None, **members: object
    ) -> str:
        async with self._turn:
            parent_id = self.tree.leaf_id if parent is None else parent()
            raw = new_entry(kind, new_entry_id(self._file.index.by_id), parent_id, **members)
            return (await self._write([raw], sync))[0].id

    async def _write(self, raws: list[RawEntry], sync: bool) -> list[IndexEntry]:
        """Write, then show: what is written is shown even when the one who waits for it is cancelled meanwhile."""
        written = await run_whole(lambda: self._file.append(raws, durable=sync), self._show, self._limiter)
        self._show(written)
        return written[0]

    def _show(self, written: tuple[list[IndexEntry], list[IndexEntry]]) -> None:
        entries, strangers = written
        for entry in strangers:
            self.tree.add(entry, move_leaf=False)
        for entry in entries:
            self.tree.add(entry)

    async def _in_thread(self, work: Callable[[], None]) -> None:
        await run_whole(work, lambda _: None, self._limiter)

    async def _close_open_calls(self) -> None:
        from app.errors import WriteFailedError

        raws = closing_results(self.tree, self._file)
        if not raws:
            return
        try:
            async with self._turn:
                await self._write(raws, sync=True)
        except WriteFailedError as error:
            self.notes.append(str(error))
            return
        count = "a tool call" if len(raws) == 1 else f"{len(raws)} tool calls"
        self.notes.append(f"{count} had no result when this session ended; marked as interrupted")


def _plain(block: Any) -> Any:
    dump = getattr(block, "model_dump", None)
    return dump(mode="json", by_alias=True, exclude_none=True) if callable(dump) else block
