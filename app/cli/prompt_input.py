"""The first prompt, from standard input, @files and messages, in that order, joined by a blank line."""

from __future__ import annotations

import os
import select
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.arguments import Arguments
from app.config.paths import expand
from app.errors import UsageError

if TYPE_CHECKING:
    from app.ai.messages import ImageContent

STDIN_WAIT_S = 3.0  # beside a message, a standard input that says nothing (a pipe nobody closes) is not waited for


@dataclass(slots=True)
class PromptInput:
    """Text and attached images."""

    text: str
    images: list[ImageContent]


def read_stdin(has_message: bool) -> str:
    """All of standard input unless it is a terminal or closed; "" then.

    Beside a message one that says nothing for STDIN_WAIT_S is left unread, and that is told.
    """
    stream = sys.stdin
    try:
        if stream is None or stream.closed or stream.isatty():
            return ""
        pieces = _read_all(stream.fileno(), STDIN_WAIT_S if has_message else None)
    except (OSError, ValueError):
        return ""
    if pieces is None:
        from app.modes.output import complain

        complain(f"standard input said nothing for {STDIN_WAIT_S:.0f} s and is left unread (to say so: < /dev/null)")
        return ""
    return b"".join(pieces).decode("utf-8", "replace")


def _read_all(descriptor: int, first_wait_s: float | None) -> list[bytes] | None:
    """What can be read up to the end; None when nothing came within the wait for the first piece.

    A signal that arrives just before a read blocks would wait for that read's end: so we wait in select, which the
    signal's own byte wakes.
    """
    waker, wakes = os.pipe()
    os.set_blocking(wakes, False)
    before = signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    pieces: list[bytes] = []
    try:
        while True:
            ready, _, _ = select.select([descriptor, waker], [], [], None if pieces else first_wait_s)
            if not ready:
                return None
            if waker in ready:
                os.read(waker, 64)
            elif piece := os.read(descriptor, 1 << 16):
                pieces.append(piece)
            else:
                return pieces
    finally:
        signal.set_wakeup_fd(before)
        os.close(waker)
        os.close(wakes)


def gather_prompt(arguments: Arguments, stdin: str, cwd: Path) -> PromptInput:
    """The prompt. Raises UsageError for an @file that can't be read and is not plainly text."""
    names: list[str] = []
    texts: list[str] = []
    for name in arguments.files:
        looks_like_text = any(c.isspace() for c in name) and not expand(name, cwd).exists()
        (texts if looks_like_text else names).append(name)
    images: list[ImageContent] = []
    blocks: list[str] = []
    if names:
        from app.resources.file_arguments import read_file_arguments

        files = read_file_arguments(names, cwd)
        blocks, images = files.texts, files.images
    messages = [*(f"@{text}" for text in texts), *arguments.messages]
    parts = [stdin.rstrip("\n") if stdin.strip() else "", *blocks, *messages]
    return PromptInput("\n\n".join(part for part in parts if part.strip()), images)


def require_text(prompt: PromptInput) -> None:
    """Raise UsageError when there is nothing to answer."""
    if not prompt.text.strip() and not prompt.images:
        raise UsageError("there is no prompt", 'Give it as an argument (pinyon -p "...") or on standard input')
