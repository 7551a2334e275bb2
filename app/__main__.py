"""The console script: a clean import path, a quick `--version`, then app.cli; it must never show a traceback."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent


def main() -> int:
    """The exit code of the command line (issue, "Command line")."""
    _forget_pythonpath()
    from app.modes.output import ensure_streams, finished

    ensure_streams()
    if sys.argv[1:] in (["--version"], ["-v"]):
        from app.version import version

        sys.stdout.write(f"pinyon {version()}\n")
        return finished(0)
    from app.cli.signals import end_at_once

    end_at_once()
    from app.cli.main import run

    return run(sys.argv[1:])


def _forget_pythonpath() -> None:
    """Take PYTHONPATH's folders off the import path: a user's project may hold a `widgets` of its own there.

    The variable itself stays, children of the shell tool need it (packaging.md §5.3).
    """
    named = {os.path.abspath(part or ".") for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part}
    if named:
        sys.path[:] = [part for part in sys.path if os.path.abspath(part or ".") not in named or Path(part) == HOME]


if __name__ == "__main__":
    sys.exit(main())
