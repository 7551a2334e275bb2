"""The first prompt, from standard input, @files and messages, in that order, joined by a blank line."""

from __future__ import annotations

import select
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.arguments import Arguments
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
    """All of standard input unless it is a terminal or closed; "" then."""
    stream = sys.stdin
    if stream is None or stream.closed or stream.isatty():
        return ""
    try:
        if has_message:
            ready, _, _ = select.select([stream.fileno()], [], [], STDIN_WAIT_S)
            if not ready:
                return ""
        return stream.buffer.read().decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def gather_prompt(arguments: Arguments, stdin: str, cwd: Path) -> PromptInput:
    """The prompt. Raises UsageError for an @file that can't be read and is not plainly text."""
    names: list[str] = []
    texts: list[str] = []
    for name in arguments.files:
        looks_like_text = any(c.isspace() for c in name) and not (cwd / Path(name).expanduser()).exists()
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
