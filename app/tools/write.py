"""The write tool: a file with exactly the given text, its folders made; an old file goes whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TypedDict

import anyio.to_thread
from pydantic import Field

from app.agent.tool import AbortSignal, AgentToolResult, BaseTool, OnUpdate
from app.errors import ToolError
from app.tools.arguments import ToolArguments
from app.tools.context import ToolContext
from app.tools.diff import unified_rows
from app.tools.matching import to_line_feeds
from app.tools.paths import os_failure, resolve_path, shown
from app.tools.text_file import check_text, read_text_file, replace_file

# The old text of a larger file is not kept for a diff.
MAX_DIFF_BYTES = 4 * 1024 * 1024


class WriteArguments(ToolArguments):
    """Arguments of write."""

    path: str = Field(description="The file to write, relative to the working folder or absolute.")
    content: str = Field(description="The whole text of the file.")


class WriteDetails(TypedDict):
    """What changed in a text file that was there before: rows as `unified_rows` makes them, first changed line."""

    diff: str
    firstChangedLine: int


class WriteTool(BaseTool):
    """Writes one file."""

    name = "write"
    label = "write"
    description = (
        "Write a file: create it, with its folders, or replace everything in it. "
        "To change a part of a file use edit instead."
    )
    parameters = WriteArguments
    prompt_snippet = "Create a file or replace all of it"
    prompt_guidelines = ("Use write for new files and complete rewrites only",)

    def __init__(self, context: ToolContext) -> None:
        self._context = context

    async def execute(
        self, tool_call_id: str, params: WriteArguments, signal: AbortSignal, on_update: OnUpdate
    ) -> AgentToolResult:
        """Write it; details only when an existing text file was changed."""
        path = resolve_path(params.path, self._context.cwd)
        check_text("content", params.content)
        if params.path.endswith("/"):
            raise ToolError(f"Could not write {shown(params.path)}: the path names a folder, not a file")
        async with self._context.mutations.turn(path):
            # Never left behind half-way: the next in line must find the file complete.
            size, was_there, details = await anyio.to_thread.run_sync(_write, path, params.content)
        outcome = "replaced" if was_there else "new file"
        return AgentToolResult.of_text(f"Wrote {size} bytes to {shown(params.path)} ({outcome})", details)


def _write(path: Path, content: str) -> tuple[int, bool, WriteDetails | None]:
    """Bytes written, whether a file was there, and what changed in it."""
    data = content.encode("utf-8")
    old = _old_text(path)
    was_there = old is not None or os.path.exists(path)
    try:
        Path(os.path.realpath(path)).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise os_failure(error, "make the folder of", path) from error
    replace_file(path, data)
    if old is None:
        return len(data), was_there, None
    diff, first = unified_rows(to_line_feeds(old), to_line_feeds(content))
    return len(data), True, {"diff": diff, "firstChangedLine": first}


def _old_text(path: Path) -> str | None:
    """The text that will be replaced; None when there is none, or none worth a diff."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_DIFF_BYTES:
            return None
        text = read_text_file(path, "write").text
    except (OSError, ToolError):
        return None
    return None if "\0" in text else text
