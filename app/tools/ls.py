"""The ls tool: the entries of one folder; it must never go into them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypedDict

from pydantic import Field

from app.agent.tool import AbortSignal, AgentToolResult, BaseTool, OnUpdate
from app.errors import ToolError
from app.tools.arguments import OptionalCount, ToolArguments
from app.tools.context import ToolContext
from app.tools.paths import os_failure, resolve_existing, shown
from app.tools.threads import StopFlag, in_thread
from app.tools.truncate import MAX_BYTES, TruncationDetails, format_size, truncate_head

DEFAULT_LIMIT = 500


class LsArguments(ToolArguments):
    """Arguments of ls."""

    path: str = Field(default=".", description="The folder to list; the working folder when left out.")
    limit: OptionalCount = Field(default=None, description=f"At most so many entries ({DEFAULT_LIMIT}).")


class LsDetails(TypedDict, total=False):
    """What was left out."""

    entryLimitReached: int
    truncation: TruncationDetails


class LsTool(BaseTool):
    """Lists one folder."""

    name = "ls"
    label = "ls"
    description = (
        "List a folder: names in alphabetical order, folders with a trailing /, hidden ones included. "
        f"At most {DEFAULT_LIMIT} entries or {MAX_BYTES // 1024} KB."
    )
    parameters = LsArguments
    prompt_snippet = "List the entries of a folder"

    def __init__(self, context: ToolContext) -> None:
        self._context = context

    async def execute(
        self, tool_call_id: str, params: LsArguments, signal: AbortSignal, on_update: OnUpdate
    ) -> AgentToolResult:
        """The names, one a line."""
        path = resolve_existing(params.path, self._context.cwd)
        names = await in_thread(lambda stop: _names(path, stop))
        if not names:
            return AgentToolResult.of_text("(empty directory)")
        limit = params.limit or DEFAULT_LIMIT
        details: LsDetails = {}
        notes: list[str] = []
        if len(names) > limit:
            details["entryLimitReached"] = limit
            notes.append(f"{limit} of {len(names)} entries; use limit={limit * 2} for more")
        cut = truncate_head("\n".join(names[:limit]), max_lines=limit)
        if cut.truncated:
            details["truncation"] = cut.details()
            notes.append(f"{format_size(cut.max_bytes)} limit reached")
        text = cut.content + (f"\n\n[{'. '.join(notes)}]" if notes else "")
        return AgentToolResult.of_text(text, details or None)


def _names(path: Path, stop: StopFlag) -> list[str]:
    """The shown names, sorted without regard to case, folders and links to folders with a slash."""
    try:
        if not os.path.isdir(path):
            os.stat(path)
            raise ToolError(f"Could not list {shown(path)}: it is not a directory (ENOTDIR)")
        found: list[tuple[str, str]] = []
        with os.scandir(path) as entries:
            for entry in entries:
                stop.check()
                try:
                    slash = "/" if entry.is_dir() else ""
                except OSError:  # a link into a folder that may not be searched
                    slash = ""
                name = shown(entry.name)
                found.append((name.casefold(), name + slash))
    except (OSError, ValueError) as error:
        if isinstance(error, OSError):
            raise os_failure(error, "list", path) from error
        raise ToolError(f"Could not list {shown(path)}: {error}") from error
    found.sort()
    return [name for _, name in found]
