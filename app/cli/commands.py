"""The first words that are commands: `pinyon sessions …` and those of later versions."""

from __future__ import annotations

import sys

from app.errors import UsageError


def run_command(name: str, rest: list[str]) -> int:
    """Run `pinyon NAME REST` and return its exit code."""
    asks = "--help" in rest or "-h" in rest
    if name == "sessions":
        from app.cli.sessions import HELP as SESSIONS_HELP
        from app.cli.sessions import run_sessions

        if asks:
            return _tell(SESSIONS_HELP)
        return run_sessions(rest)
    if name == "export":
        from app.cli.export import HELP as EXPORT_HELP
        from app.cli.export import run_export

        if asks:
            return _tell(EXPORT_HELP)
        return run_export(rest)
    raise UsageError(f"pinyon {name} is not part of this version", f"As a prompt: pinyon -- {name} ...")


def _tell(text: str) -> int:
    sys.stdout.write(text + "\n")
    return 0
