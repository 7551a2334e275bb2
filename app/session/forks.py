"""New sessions out of old ones: a whole fork, one branch, a clone; it must never change the session it copies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from app.errors import SessionError
from app.session.entries import LEAF_TYPE, RawEntry, message_of, new_entry_id, new_header, new_session_id, text_of
from app.session.file import SessionFile
from app.session.lines import encode, write_file
from app.session.log import SessionLog
from app.session.naming import file_name, project_folder
from app.session.session import Session

if TYPE_CHECKING:
    from app.session.view import SessionView

# A user's text is given back to the editor whole; this only bounds a file gone wild.
_TEXT_LIMIT = 10_000_000


async def fork_from(source: Path, cwd: Path | str, folder: Path | None = None) -> Session:
    """A new session of `cwd` with every sound line of `source`, all branches among them; opened to write.

    Its header names `source` as its parent. The source may be in use, of another project, or its folder gone.
    Raises NotASessionError, SessionError, WriteFailedError. Source: spec core §4.7 forkFrom.
    """
    path = await anyio.to_thread.run_sync(lambda: _copied(source, str(cwd), folder))
    session = await Session.open(path)
    session.notes.insert(0, f"this is a fork of {source.name}")
    return session


def _copied(source: Path, cwd: str, folder: Path | None) -> Path:
    log = SessionLog.read(source)
    try:
        header = new_header(new_session_id(), cwd, str(source))
        path = (folder or project_folder(cwd)) / file_name(header["timestamp"], header["id"])
        write_file(path, [encode(header), *(log.line(entry) for entry in log.index.entries)])
        return path
    finally:
        log.close()


async def branch_off(
    session: SessionView, leaf_id: str | None, folder: Path | None = None, *, cwd: str | None = None
) -> Session:
    """A new session that holds the path to `leaf_id` alone (None: nothing yet), ids kept, labels on the path kept.

    Written at once when something is said on the path; in memory when `session` is. The new file goes to `folder`,
    else beside the old one; it belongs to `cwd`, else to the old one's folder.
    Raises UnknownEntryError, WriteFailedError. Source: spec core §4.7 createBranchedSession.
    """
    if leaf_id is not None:
        session.tree.get(leaf_id)
    header = new_header(new_session_id(), cwd or session.cwd, str(session.path) if session.path is not None else None)
    path: Path | None = None
    if session.path is not None:
        path = (folder or session.path.parent) / file_name(header["timestamp"], header["id"])
    file = SessionFile(path, header)
    raws = _path_entries(session, leaf_id)
    if raws:
        await anyio.to_thread.run_sync(lambda: file.append(raws, durable=True))
    return Session(file)


def _path_entries(session: SessionView, leaf_id: str | None) -> list[RawEntry]:
    raws: list[RawEntry] = []
    parent_id: str | None = None
    for entry in session.tree.branch(leaf_id) if leaf_id is not None else ():
        if entry.type != "label":
            raws.append({**session.file.body(entry), "parentId": parent_id})
            parent_id = entry.id
            # what we noted at it (a snapshot of the files) goes with it; where the leaf once was does not
            raws.extend(session.file.body(own) for own in session.tree.own_at(entry.id) if own.fact != LEAF_TYPE)
    on_path = {raw["id"] for raw in raws}
    taken = set(on_path)
    for target, label in session.tree.labels.items():
        if target in on_path:
            entry_id = new_entry_id(taken)
            taken.add(entry_id)
            raws.append(
                {
                    "type": "label",
                    "id": entry_id,
                    "parentId": parent_id,
                    "timestamp": label.timestamp,
                    "targetId": target,
                    "label": label.text,
                }
            )
            parent_id = entry_id
    return raws


async def clone(session: SessionView, folder: Path | None = None, *, cwd: str | None = None) -> Session:
    """A new session that holds the present branch up to the leaf."""
    return await branch_off(session, session.leaf_id, folder, cwd=cwd)


async def fork_before(
    session: SessionView, entry_id: str, folder: Path | None = None, *, cwd: str | None = None
) -> tuple[Session, str]:
    """A new session up to just before a user message, and that message's text for the editor.

    Raises UnknownEntryError, and SessionError for an entry that is no user message.
    """
    entry = session.tree.get(entry_id)
    if entry.role != "user":
        raise SessionError("only a message of the user can be forked from", "Pick one, or clone the branch")
    text = text_of(message_of(session.file.body(entry)).get("content"), _TEXT_LIMIT)
    return await branch_off(session, session.tree.parent_id(entry_id), folder, cwd=cwd), text
