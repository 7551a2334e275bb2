"""Taking a session of pi's, or any session file, among ours; it must never change the file it copies."""

from __future__ import annotations

import os
from pathlib import Path

from app.errors import SessionError
from app.session.entries import VERSION, as_text, iso_now
from app.session.lines import encode, write_file
from app.session.listing import read_header, session_files
from app.session.log import SessionLog
from app.session.naming import default_root, file_name, project_folder


def import_session(source: Path, cwd: str | None = None, root: Path | None = None) -> Path:
    """Copy every sound line of `source` among our sessions and give the copy's path. Blocks.

    It belongs to the folder that its header names, else to `cwd` (with `cwd` given it belongs there in any case).
    Raises NotASessionError, SessionError (no folder is known, or it is there already), WriteFailedError.
    """
    log = SessionLog.read(source)
    try:
        owner = cwd or as_text(log.header.get("cwd")) or ""
        if not owner:
            raise SessionError(f"{source} names no folder that it belongs to", "Use --here to take it into this one")
        session_id = str(log.header["id"])
        for item in session_files(root or default_root()):
            header = read_header(item.path) if session_id in item.name else None
            if header is not None and header["id"] == session_id:
                raise SessionError(f"this session is here already: {item.path}")
        header = {**log.header, "version": VERSION, "cwd": owner}
        stamp = as_text(header.get("timestamp")) or iso_now()
        path = project_folder(owner, root) / file_name(stamp[:40], session_id)
        write_file(path, [encode(header), *(log.line(entry) for entry in log.index.entries)])
        return path
    finally:
        log.close()


def pi_root() -> Path:
    """Where pi keeps its sessions: `PI_CODING_AGENT_DIR`, else `~/.pi/agent`, and in it `sessions`."""
    given = os.environ.get("PI_CODING_AGENT_DIR")
    return Path(os.path.expanduser(given or "~/.pi/agent")) / "sessions"
