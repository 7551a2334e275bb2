"""Which folders the user trusts: only there may a project's own files set commands or run code."""

from __future__ import annotations

from pathlib import Path

from app.config import jsonc, paths
from app.config.jsonc import Problem
from app.config.settings import project_settings_path
from app.errors import ConfigError


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


def set_trust(folder: Path, trusted: bool) -> None:
    """Remember whether `folder` and what lies below it is trusted. Raises ConfigError when that can't be stored."""
    path = trust_file()
    try:
        with paths.locked(path):
            _, problems = jsonc.read_object(path)
            if problems:
                raise ConfigError(path, problems[0].reason, problems[0].place, "Mend the file, then try again")
            text = path.read_bytes().decode("utf-8") if path.exists() else ""
            paths.write_private(path, jsonc.set_value(text, (str(folder),), trusted))
    except OSError as error:
        raise ConfigError(path, f"can't be written: {error.strerror or error}") from error


def untrusted_settings(folder: Path) -> str:
    """What to tell the user when the folder has settings that don't count; "" when there is nothing to tell."""
    path = project_settings_path(folder)
    if is_trusted(folder) or not path.is_file():
        return ""
    return f"{path} is not read: this folder is not trusted. /trust in the full screen trusts it"
