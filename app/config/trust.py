"""Which folders the user trusts: only there may a project's own files set commands or run code."""

from __future__ import annotations

from pathlib import Path

from app.config import jsonc, paths
from app.config.jsonc import Problem


def trust_file() -> Path:
    """`trust.json` in the config folder: an object from absolute folder to true or false."""
    return paths.config_dir() / "trust.json"


def is_trusted(folder: Path) -> bool:
    """Whether the nearest folder named in trust.json, `folder` or above it, is trusted. An unreadable file: no."""
    known, _ = jsonc.read_object(trust_file())
    for path in (folder, *folder.parents):
        if isinstance(verdict := known.get(str(path)), bool):
            return verdict
    return False


def trust_problems() -> list[Problem]:
    """What is wrong with trust.json as a whole; a folder's entry that is neither true nor false counts as none."""
    return jsonc.read_object(trust_file())[1]
