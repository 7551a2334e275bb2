"""The first words that are commands: `pinyon sessions …` and those of later versions."""

from __future__ import annotations

from app.errors import UsageError


def run_command(name: str, rest: list[str]) -> int:
    """Run `pinyon NAME REST` and return its exit code."""
    if name == "sessions":
        from app.cli.sessions import run_sessions

        return run_sessions(rest)
    if name == "export":
        from app.cli.export import run_export

        return run_export(rest)
    raise UsageError(f"pinyon {name} is not part of this version", f"As a prompt: pinyon -- {name} ...")
