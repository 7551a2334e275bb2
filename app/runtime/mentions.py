"""`@file` in a prompt: which words name a file that exists, and what is attached for it (case I2).

The text stays as it was typed; each file follows as a block of its own, so that the transcript can fold it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import anyio.to_thread

from app.ai.messages import ImageContent
from app.config.paths import expand
from app.errors import UsageError
from app.resources.file_arguments import read_file_arguments
from app.runtime.agent_session import AgentSession
from app.runtime.queue import Behavior

MAX_BYTES = 256 * 1024  # a larger file is left to the read tool, which takes the part that is needed
_MENTION = re.compile(r"""(?:^|(?<=[\s(\[{<"'`]))@(?:"([^"\n]+)"|((?:\\.|[^\s"\\@])+))""")
_TRAILING = ",.;:!?)]}>'`\""


@dataclass(slots=True)
class Mentions:
    """Text blocks and images for the files that a prompt names; `skipped` says what was not attached and why."""

    texts: list[str] = field(default_factory=list)
    images: list[ImageContent] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def mentioned_files(text: str, cwd: Path) -> list[Path]:
    """The existing files (not folders) that `text` mentions, in order, each once.

    Addresses and unknown names are plain text; closing brackets and punctuation are no part of a name.
    """
    found: dict[Path, None] = {}
    for match in _MENTION.finditer(text):
        name = match.group(1) or re.sub(r"\\(.)", r"\1", match.group(2))
        for candidate in _shorter(name, is_quoted=match.group(1) is not None):
            try:
                path = expand(candidate, cwd).absolute()
                if path.is_file():
                    found[path] = None
                    break
            except (OSError, ValueError):
                break
    return list(found)


async def submit_with_mentions(session: AgentSession, text: str, behavior: Behavior) -> None:
    """Submit a prompt with the files that it mentions; what could not be attached is told."""
    attached = await anyio.to_thread.run_sync(attach_mentions, text, Path(session.session.cwd))
    for words in attached.skipped:
        session.note(words, "warning")
    session.submit(text, attached.images, behavior, attached.texts)


def _shorter(name: str, *, is_quoted: bool) -> list[str]:
    """The name, then without one trailing sign after the other."""
    names = [name]
    while not is_quoted and name and name[-1] in _TRAILING:
        name = name[:-1]
        if name:
            names.append(name)
    return names


def attach_mentions(text: str, cwd: Path) -> Mentions:
    """What is sent along with a prompt for the files it mentions. Reads files: not for the event loop."""
    attached = Mentions()
    for path in mentioned_files(text, cwd):
        try:
            if path.stat().st_size > MAX_BYTES:
                attached.skipped.append(f"{path} is larger than 256 KiB: the agent reads the part it needs")
                continue
            file = read_file_arguments([str(path)], cwd)
        except (OSError, UsageError) as error:
            attached.skipped.append(str(error))
            continue
        attached.texts += file.texts
        attached.images += file.images
    return attached
