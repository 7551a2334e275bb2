"""AGENTS.md and CLAUDE.md: what the user tells every agent about a folder; text only, nothing in them runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

NAMES = ("AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")
MAX_BYTES = 256 * 1024  # a larger file is cut: it would fill the context of most models


@dataclass(frozen=True, slots=True)
class ContextFile:
    """A file's absolute path and text."""

    path: Path
    text: str


def load_context_files(cwd: Path, config_dir: Path) -> tuple[list[ContextFile], list[str]]:
    """The files in reading order and what went wrong (spec core §7.2).

    One for each folder, the first of NAMES: the config folder's first, then from the root down to `cwd`, so that the
    nearest stands last.
    """
    files: list[ContextFile] = []
    problems: list[str] = []
    seen: set[Path] = set()
    for folder in [config_dir, *reversed(cwd.parents), cwd]:
        for name in NAMES:
            path = folder / name
            try:
                if not path.is_file():
                    continue
                real = path.resolve()
                if real in seen:
                    break
                with path.open("rb") as file:
                    raw = file.read(MAX_BYTES + 1)
            except OSError as error:
                problems.append(f"{path} can't be read ({error.strerror}): it is left out")
                continue
            if len(raw) > MAX_BYTES:
                problems.append(f"{path} is larger than {MAX_BYTES // 1024} KiB: only its beginning is used")
                raw = raw[:MAX_BYTES]
            seen.add(real)
            files.append(ContextFile(path.absolute(), raw.decode("utf-8", "replace")))
            break
    return files, problems
