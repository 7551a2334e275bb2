"""The grep tool: matching lines in the files git would look at, by ripgrep or by our own search, all the same."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypedDict

import anyio
import anyio.to_process
from pydantic import Field

from app.agent.tool import AbortSignal, AgentToolResult, BaseTool, OnUpdate
from app.errors import ToolError
from app.tools.arguments import OptionalCount, OptionalIndex, OptionalText, ToolArguments
from app.tools.context import ToolContext
from app.tools.globs import grep_test
from app.tools.paths import os_failure, resolve_existing, shown
from app.tools.ripgrep import PatternRefusedError, find_ripgrep, is_for_ripgrep, search_with_ripgrep
from app.tools.searching import FileHits, Place, Query, search_files
from app.tools.text_file import kind_of
from app.tools.threads import StopFlag, in_thread
from app.tools.truncate import MAX_BYTES, MAX_GREP_LINE_CHARS, TruncationDetails, format_size, truncate_head
from app.tools.walker import walk

DEFAULT_LIMIT = 100
MAX_LIMIT = 10_000
BATCH_FILES = 128
RIPGREP_BATCH_FILES = 1000  # their names stay far below what one command line may hold
UPDATE_INTERVAL_S = 0.1


class GrepArguments(ToolArguments):
    """Arguments of grep."""

    pattern: str = Field(description="A regular expression, or plain text with literal.")
    path: str = Field(default=".", description="The folder or file to search; the working folder when left out.")
    glob: OptionalText = Field(
        default=None, description="Only files that match, e.g. '*.ts' or 'src/**/*.py' (relative to path)."
    )
    ignore_case: bool = Field(default=False, alias="ignoreCase", description="Upper and lower case are the same.")
    literal: bool = Field(default=False, description="The pattern is plain text.")
    context: OptionalIndex = Field(default=None, description="Lines to show before and after each match.")
    limit: OptionalCount = Field(default=None, description=f"At most so many matches ({DEFAULT_LIMIT}).")


class GrepDetails(TypedDict, total=False):
    """What was left out."""

    matchLimitReached: int
    truncation: TruncationDetails
    linesTruncated: bool


class GrepTool(BaseTool):
    """Searches the content of files."""

    name = "grep"
    label = "grep"
    description = (
        "Search the content of files; you get path, line number and line. Hidden files are searched, .git and what "
        f".gitignore names are not (unless path names it). At most {DEFAULT_LIMIT} matches or {MAX_BYTES // 1024} KB; "
        f"lines are cut at {MAX_GREP_LINE_CHARS} characters."
    )
    parameters = GrepArguments
    prompt_snippet = "Search the content of files (respects .gitignore)"

    def __init__(self, context: ToolContext, *, use_ripgrep: bool = True) -> None:
        self._context = context
        self._use_ripgrep = use_ripgrep

    async def execute(
        self, tool_call_id: str, params: GrepArguments, signal: AbortSignal, on_update: OnUpdate
    ) -> AgentToolResult:
        """The matching lines in order of path and line. Raises ToolError for a bad pattern or a missing path."""
        path = resolve_existing(params.path, self._context.cwd)
        place = await in_thread(lambda _: _place(path))
        query = Query(params.pattern, params.literal, params.ignore_case, min(params.context or 0, 1000))
        hits = _Hits(place, min(params.limit or DEFAULT_LIMIT, MAX_LIMIT), on_update)
        is_wanted = _file_test(params.glob, place)
        rg = find_ripgrep() if self._use_ripgrep and is_for_ripgrep(query) else None
        await _search(place, query, is_wanted, hits, rg)
        return hits.result()


def _place(path: Path) -> Place:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        if isinstance(error, OSError):
            raise os_failure(error, "search", path) from error
        raise ToolError(f"Could not search {shown(path)}: {error}") from error
    if stat.S_ISDIR(mode):
        return Place(str(path))
    if not stat.S_ISREG(mode):
        raise ToolError(f"Could not search {shown(path)}: it is {kind_of(mode)}, not a file or folder")
    return Place(str(path.parent), path.name)


def _file_test(glob: str | None, place: Place) -> Callable[[str], bool]:
    if not glob or place.file:
        return lambda _: True
    return grep_test(glob, place.folder)


async def _search(place: Place, query: Query, is_wanted: Callable[[str], bool], hits: _Hits, rg: str | None) -> None:
    """In batches of files: what comes of one is shown while the next is searched."""
    if rg is None:
        query.compiled()  # a bad pattern is told before the first file is opened
    stop = StopFlag()
    unreadable: list[str] = []
    complaints: list[str] = []

    def files() -> Iterator[str]:
        if place.file:
            yield os.path.join(place.folder, place.file)
            return
        for found in walk(place.folder, stop, unreadable):
            if found.is_file and is_wanted(found.relative):
                yield found.path

    source = files()
    size = BATCH_FILES if rg is None else RIPGREP_BATCH_FILES
    try:
        while not hits.is_full and (batch := await in_thread(lambda _: list(islice(source, size)))):
            limit = hits.limit - hits.matches
            found: list[FileHits] | None = None
            if rg is not None:
                try:
                    found, words = await search_with_ripgrep(rg, batch, query, limit)
                    complaints += [line for line in words.split("\n") if line]
                except PatternRefusedError:  # look-around and back references: re has them, rg's engine has not
                    rg = None
                    query.compiled()
            if found is None:
                found = await _search_batch(batch, query, limit)
            for item in found:
                hits.add(item)
    finally:
        stop.requested = True
    hits.complaints = "\n".join([*complaints, *(f"{shown(folder)}: can't be read" for folder in unreadable)])


async def _search_batch(batch: list[str], query: Query, limit: int) -> list[FileHits]:
    if query.is_tame:
        return await in_thread(partial(search_files, batch, query, limit))
    # `re` holds the interpreter while it matches, for ever with a bad pattern: only a process of its own leaves the
    # screen alive and can be killed.
    return await _in_process(batch, query, limit)


async def _in_process(batch: list[str], query: Query, limit: int) -> list[FileHits]:
    try:
        return await anyio.to_process.run_sync(search_files, batch, query, limit, cancellable=True)
    except anyio.BrokenWorkerProcess as error:
        raise ToolError("The search stopped: its process ended. Try a simpler pattern.") from error


class _Hits:
    """What was found so far, as text."""

    def __init__(self, place: Place, limit: int, on_update: OnUpdate) -> None:
        self._place = place
        self._on_update = on_update
        self._next_update = 0.0
        self._rows: list[str] = []
        self._lines_cut = False
        self._binary = False
        self.limit = limit
        self.matches = 0
        self.complaints = ""

    @property
    def is_full(self) -> bool:
        """Whether the limit is reached."""
        return self.matches >= self.limit

    def add(self, hits: FileHits) -> None:
        """Take one file's hits."""
        name = shown(os.path.relpath(hits.path, self._place.folder))
        self._binary = self._binary or (hits.is_binary and bool(self._place.file))
        if hits.error:
            self._rows.append(f"{name}: (unable to read file: {hits.error})")
        for row in hits.rows:
            mark = ":" if row.is_match else "-"
            self._rows.append(f"{name}{mark}{row.number}{mark} {row.text}")
            self._lines_cut = self._lines_cut or row.is_cut
        self.matches += hits.matches
        now = anyio.current_time()
        if now >= self._next_update:
            self._next_update = now + UPDATE_INTERVAL_S
            self._on_update(AgentToolResult.of_text(truncate_head("\n".join(self._rows)).content))

    def result(self) -> AgentToolResult:
        """The text for the model with one bracketed note of what is missing."""
        notes: list[str] = []
        details: GrepDetails = {}
        if self.is_full:
            details["matchLimitReached"] = self.limit
            notes.append(f"{self.limit} matches limit reached; use limit={self.limit * 2} or a narrower pattern")
        cut = truncate_head("\n".join(self._rows), max_lines=max(1, len(self._rows)))
        if cut.truncated:
            details["truncation"] = cut.details()
            notes.append(f"{format_size(cut.max_bytes)} limit reached")
        if self._lines_cut:
            details["linesTruncated"] = True
            notes.append(f"Long lines are cut at {MAX_GREP_LINE_CHARS} characters; use read to see them whole")
        if self.complaints:
            count = len(self.complaints.split("\n"))
            notes.append(f"{count} place{'s' if count > 1 else ''} could not be read")
        if not self._rows:
            notes[:0] = ["It is a binary file"] if self._binary else []
            cut = truncate_head("No matches found")
        text = cut.content + (f"\n\n[{'. '.join(notes)}]" if notes else "")
        return AgentToolResult.of_text(text, details or None)
