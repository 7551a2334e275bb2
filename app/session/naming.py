"""Where session files lie and what they are called; it must never decide whose session a file is (its header does)."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

# A name of 255 bytes is the most that common file systems take.
_LIMIT_BYTES = 200


def folder_name(cwd: str) -> str:
    """`--<cwd>--` with every separator as `-`; a long path is cut and told apart by a hash (cases S3)."""
    bare = re.sub(r"[/\\:\0]", "-", re.sub(r"^[/\\]", "", cwd))
    data = bare.encode("utf-8", "surrogateescape")
    if len(data) > _LIMIT_BYTES:
        digest = hashlib.sha256(cwd.encode("utf-8", "surrogateescape")).hexdigest()[:12]
        bare = f"{data[: _LIMIT_BYTES - 13].decode('utf-8', 'ignore')}-{digest}"
    return f"--{bare}--"


def file_name(timestamp: str, session_id: str) -> str:
    """`<time>_<id>.jsonl`, both may be foreign: what is no plain letter, digit or `-` of theirs becomes `-`."""
    safe = re.sub(r"[^\w.-]", "-", session_id, flags=re.ASCII)[:100]
    return f"{re.sub(r'[^0-9A-Za-z-]', '-', timestamp)[:40]}_{safe}.jsonl"


def default_root() -> Path:
    """The folder above the projects' folders: the data folder's `sessions`."""
    from app.config.paths import sessions_dir

    return sessions_dir()


def project_folder(cwd: str, root: Path | None = None) -> Path:
    """Where new sessions of `cwd` go."""
    return (root if root is not None else default_root()) / folder_name(cwd)


def lease_path(path: Path) -> Path:
    """The lease beside a session file."""
    return path.with_name(path.name + ".lease")


def aside_path(path: Path) -> Path:
    """Where torn bytes of a session file are copied to."""
    return path.with_name(path.name + ".aside")
