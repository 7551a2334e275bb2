"""Which sessions the user pinned: a list of session ids in the data folder; it must never touch a session."""

from __future__ import annotations

import json
from pathlib import Path

from app.config.paths import data_dir, locked, write_private
from app.errors import SessionError


def _path() -> Path:
    return data_dir() / "pins.json"


def load_pins() -> list[str]:
    """The pinned sessions' ids, in the order of pinning; an unreadable file holds none. Blocks."""
    try:
        return _read()
    except (OSError, ValueError):
        return []


def _read() -> list[str]:
    try:
        raw = json.loads(_path().read_bytes())
    except FileNotFoundError:
        return []
    if not isinstance(raw, list):
        raise ValueError("not a list")
    return list(dict.fromkeys(item for item in raw if isinstance(item, str)))


def toggle_pin(session_id: str) -> bool:
    """Pin the session, or take its pin away; True when it is pinned now. Blocks.

    Raises SessionError when the list can't be read or written: then it is as it was.
    """
    path = _path()
    try:
        with locked(path):
            pins = _read()
            is_pinned = session_id not in pins
            pins = [*pins, session_id] if is_pinned else [pin for pin in pins if pin != session_id]
            write_private(path, json.dumps(pins, indent=1) + "\n")
    except OSError as error:
        raise SessionError(f"{path}: the pin was not kept: {error.strerror}") from error
    except ValueError as error:
        raise SessionError(f"{path} is damaged: {error}", "Mend or remove it") from error
    return is_pinned
