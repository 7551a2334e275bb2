"""The folder that a command works in; it must never be taken for granted: another process may have removed it."""

from __future__ import annotations

from pathlib import Path

from app.errors import UsageError


def working_folder() -> Path:
    """The present folder. Raises UsageError when it was removed."""
    try:
        return Path.cwd()
    except OSError as error:
        raise UsageError("the working folder is gone", "Go to one that exists, or use --cwd") from error
