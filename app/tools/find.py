"""The find tool: paths that match a glob, among those git would look at; it must never open a file.

It always walks by itself, also where ripgrep is installed: rg lists files only, and a folder is an answer here too.
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import TypedDict

import anyio
from pydantic import Field

from app.agent.tool import AbortSignal, AgentToolResult, BaseTool, OnUpdate
from app.errors import ToolError
from app.tools.arguments import OptionalCount, ToolArguments
from app.tools.context import ToolContext
from app.tools.globs import find_test
from app.tools.paths import os_failure, resolve_existing, shown
from app.tools.threads import StopFlag, in_thread
from app.tools.truncate import MAX_BYTES, TruncationDetails, format_size, truncate_head
from app.tools.walker import Found, walk

DEFAULT_LIMIT = 1000
MAX_LIMIT = 100_000
BATCH_ENTRIES = 2_000
UPDATE_INTERVAL_S = 0.1


class FindArguments(ToolArguments):
    """Arguments of find."""

    pattern: str = Field(description="A glob: '*.ts' for names, 'src/**/*.spec.ts' for the end of the path.")
    path: str = Field(default=".", description="The folder to search; the working folder when left out.")
    limit: OptionalCount = Field(default=None, description=f"At most so many results ({DEFAULT_LIMIT}).")


class FindDetails(TypedDict, total=False):
    """What was left out."""

    resultLimitReached: int
    truncation: TruncationDetails


class FindTool(BaseTool):
    """Finds files and folders by name."""

    name = "find"
    label = "find"
    description = (
        "Find files and folders by a glob pattern; you get paths relative to path, folders with a trailing /. Hidden "
        "ones are found, .git and what .gitignore names are not (unless path names it). "
        f"At most {DEFAULT_LIMIT} results or {MAX_BYTES // 1024} KB."
    )
    parameters = FindArguments
    prompt_snippet = "Find files by name (respects .gitignore)"

    def __init__(self, context: ToolContext) -> None:
        self._context = context

    async def execute(
        self, tool_call_id: str, params: FindArguments, signal: AbortSignal, on_update: OnUpdate
    ) -> AgentToolResult:
        """The paths in the walk's order, which is alphabetical. Raises ToolError when there is no such folder."""
        path = resolve_existing(params.path, self._context.cwd)
        await in_thread(lambda _: _check_folder(path))
        limit = min(params.limit or DEFAULT_LIMIT, MAX_LIMIT)
        stop = StopFlag()
        unreadable: list[str] = []
        matches = find_test(params.pattern, str(path))
        source = walk(str(path), stop, unreadable)

        def next_batch(_: StopFlag) -> tuple[list[str], bool]:
            entries = list(islice(source, BATCH_ENTRIES))
            return [_line(entry) for entry in entries if matches(entry.relative, entry.is_folder)], bool(entries)

        lines: list[str] = []
        next_update = 0.0
        is_more = True
        try:
            while is_more and len(lines) <= limit:
                found, is_more = await in_thread(next_batch)
                lines += found
                now = anyio.current_time()
                if found and now >= next_update:
                    next_update = now + UPDATE_INTERVAL_S
                    on_update(AgentToolResult.of_text("\n".join(lines[:limit])))
        finally:
            stop.requested = True
        return _result(lines, limit, len(unreadable))


def _check_folder(path: Path) -> None:
    try:
        os.stat(path)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError):
            raise os_failure(error, "search", path) from error
        raise ToolError(f"Could not search {shown(path)}: {error}") from error
    if not os.path.isdir(path):
        raise ToolError(f"Could not search {shown(path)}: it is not a directory (ENOTDIR)")


def _line(entry: Found) -> str:
    return shown(entry.relative) + ("/" if entry.is_folder else "")


def _result(lines: list[str], limit: int, unreadable: int) -> AgentToolResult:
    notes: list[str] = []
    details: FindDetails = {}
    if len(lines) > limit:
        details["resultLimitReached"] = limit
        notes.append(f"{limit} results limit reached; use limit={limit * 2} or a narrower pattern")
    cut = truncate_head("\n".join(lines[:limit]), max_lines=limit)
    if cut.truncated:
        details["truncation"] = cut.details()
        notes.append(f"{format_size(cut.max_bytes)} limit reached")
    if unreadable:
        notes.append(f"{unreadable} folder{'s' if unreadable > 1 else ''} could not be read")
    text = cut.content if lines else "No files found matching pattern"
    return AgentToolResult.of_text(text + (f"\n\n[{'. '.join(notes)}]" if notes else ""), details or None)
