"""The kept full outputs of long commands: old ones are removed; it must never touch a file of another kind."""

from __future__ import annotations

import os
import re
import stat
import time
from contextlib import suppress
from itertools import islice
from pathlib import Path

KEPT_S = 7 * 24 * 3600.0
# A session's start looks at no more files than these, so that a folder gone wild costs it no time.
MOST_FILES = 5000
_NAME = re.compile(r"[a-z]+-[0-9a-f]{16}\.log")


def prune_outputs(folder: Path, now: float | None = None) -> int:
    """Remove the outputs in `folder` that were last written KEPT_S ago; gives how many. Never raises. May block."""
    limit = (time.time() if now is None else now) - KEPT_S
    removed = 0
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in islice(entries, MOST_FILES):
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if _NAME.fullmatch(entry.name) and stat.S_ISREG(status.st_mode) and status.st_mtime < limit:
                    os.unlink(entry.path)
                    removed += 1
    return removed
