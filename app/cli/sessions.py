"""`pinyon sessions`: list, inspect; reading changes no byte of a session."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.errors import UsageError

if TYPE_CHECKING:
    from app.session.listing import SessionInfo

USAGE = "pinyon sessions [list] [--json] [--all] | inspect FILE [--json]"


def run_sessions(words: list[str]) -> int:
    """The exit code of `pinyon sessions WORDS`. Raises UsageError, NotASessionError (2)."""
    flags = [word for word in words if word.startswith("-")]
    plain = [word for word in words if not word.startswith("-")]
    unknown = [flag for flag in flags if flag not in ("--json", "--all")]
    if unknown:
        raise UsageError(f"pinyon sessions knows no {unknown[0]}", USAGE)
    as_json = "--json" in flags
    match plain:
        case [] | ["list"]:
            return _list(as_json, everywhere="--all" in flags)
        case ["inspect", file]:
            return _inspect(Path(file), as_json)
        case _:
            raise UsageError("pinyon sessions " + " ".join(plain) + " is not understood", USAGE)


def _inspect(path: Path, as_json: bool) -> int:
    from app.session.inspect import inspect

    facts = inspect(path)
    if as_json:
        _say(json.dumps(facts, ensure_ascii=False, indent=1))
    else:
        for key, value in facts.items():
            _say(f"{key:<18} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")
    return 0


def _list(as_json: bool, everywhere: bool) -> int:
    from app.modes.output import clean
    from app.session.listing import list_sessions

    found = list_sessions(None if everywhere else str(Path.cwd()))
    if as_json:
        _say(json.dumps([_row(info) for info in found], ensure_ascii=False, indent=1))
        return 0
    if not found:
        _say("no sessions" if everywhere else "no sessions of this folder (--all: of every folder)")
    for info in found:
        row = _row(info)
        title = clean(row["name"] or row["firstMessage"]).replace("\n", " ")
        _say(f"{row['id'][:13]}  {row['modified'][:16].replace('T', ' ')}  {title[:100]}")
    return 0


def _row(info: SessionInfo) -> dict[str, Any]:
    from app.session.entries import ms_to_iso

    return {
        "id": info.id,
        "path": str(info.path),
        "cwd": info.cwd,
        "name": info.name,
        "created": ms_to_iso(info.created_ms),
        "modified": ms_to_iso(info.modified_ms),
        "messageCount": info.message_count,
        "firstMessage": info.first_message,
    }


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
