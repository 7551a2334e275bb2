"""Which folders the user trusts: only there may a project's own files set commands or run code."""

from __future__ import annotations

import json
from pathlib import Path

from app.config import paths


def trust_file() -> Path:
    """`trust.json` in the config folder: an object from absolute folder to true or false."""
    return paths.config_dir() / "trust.json"


def is_trusted(folder: Path) -> bool:
    """Whether the nearest folder named in trust.json, `folder` or above it, is trusted. An unreadable file: no."""
    try:
        known = json.loads(trust_file().read_text("utf-8"))
    except (OSError, ValueError):
        return False
    if not isinstance(known, dict):
        return False
    for path in (folder, *folder.parents):
        if isinstance(verdict := known.get(str(path)), bool):
            return verdict
    return False
