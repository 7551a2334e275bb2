"""`pinyon export FILE [OUT]`: a session as a page, as Markdown or as one branch; the session stays as it is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from app.config.paths import expand
from app.errors import UsageError

if TYPE_CHECKING:
    from app.session.export import Kind

USAGE = "pinyon export FILE [OUT] [--html | --markdown | --jsonl] [--leaf ENTRY] [--force]"
HELP = """\
pinyon export: a session as a page, as Markdown, or one branch of it as a session. The session stays as it is.

usage: pinyon export FILE [OUT] [--html | --markdown | --jsonl] [--leaf ENTRY] [--force]

FILE is a file, or the beginning of a session's id. OUT's ending tells the form: .html (the default: one file that
needs no network), .md or .jsonl; without OUT it is written into this folder. --leaf: the branch that ends in this
entry, not the present one. --force: write over OUT."""
_KINDS: dict[str, Kind] = {"--html": "html", "--markdown": "markdown", "--md": "markdown", "--jsonl": "jsonl"}


def run_export(words: list[str]) -> int:
    """The exit code of `pinyon export WORDS`. Raises UsageError, NotASessionError (2), SessionError (1).

    Without a kind OUT's ending decides; without OUT the file goes into the present folder.
    """
    plain: list[str] = []
    kind: Kind | None = None
    leaf: str | None = None
    force = False
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        name, equals, value = word.partition("=")
        if word in _KINDS:
            kind = _KINDS[word]
        elif word == "--force":
            force = True
        elif name == "--leaf":
            if not equals and not waiting:
                raise UsageError("--leaf needs an entry's id", USAGE)
            leaf = value if equals else waiting.pop(0)
        elif word.startswith("-"):
            raise UsageError(f"pinyon export knows no {word}", USAGE)
        else:
            plain.append(word)
    if len(plain) not in (1, 2):
        raise UsageError("pinyon export needs a session", USAGE)
    from app.cli.sessions import named_file
    from app.session.export import export_session

    out = expand(plain[1], Path()) if len(plain) == 2 else None
    written = export_session(named_file(plain[0]), out, kind, leaf, force=force)
    sys.stdout.write(f"{written}\n")
    return 0
