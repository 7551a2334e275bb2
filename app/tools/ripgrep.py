"""The search by ripgrep, in the same terms as our own; the user's ripgrep settings must never change a result."""

from __future__ import annotations

import base64
import json
import os
import shutil
import sys
from collections.abc import Callable
from subprocess import DEVNULL, PIPE
from typing import Any

import anyio
import anyio.abc

from app.errors import ToolError
from app.tools.searching import FileHits, Place, Query, Row

_MAX_STDERR_BYTES = 16 * 1024


class PatternRefusedError(Exception):
    """ripgrep does not take the pattern; `re` may."""


def find_ripgrep() -> str | None:
    """The path of rg: on PATH, or beside our own interpreter (the PyPI package puts it there)."""
    return shutil.which("rg") or shutil.which("rg", path=os.path.dirname(sys.executable))


def ripgrep_arguments(rg: str, query: Query, target: str, *, respect_above: bool) -> list[str]:
    """The command line: hidden files, .gitignore everywhere, no other ignore files, never .git, a fixed order."""
    arguments = [rg, "--no-config", "--json", "--hidden", "--no-require-git", "--no-ignore-dot", "--no-ignore-global"]
    arguments += ["--no-ignore-messages", "--crlf", "--sort", "path", "--glob", "!.git"]
    if not respect_above:
        arguments.append("--no-ignore-parent")
    if query.literal:
        arguments.append("--fixed-strings")
    if query.ignore_case:
        arguments.append("--ignore-case")
    if query.context:
        arguments += ["--context", str(query.context)]
    return [*arguments, "--regexp", query.pattern, "--", target]


async def search_with_ripgrep(
    rg: str,
    place: Place,
    query: Query,
    limit: int,
    is_wanted: Callable[[str], bool],
    on_hits: Callable[[FileHits], None],
) -> str:
    """Give `on_hits` each file's hits until `limit` matches; paths in them are absolute. Returns rg's complaints.

    `is_wanted` gets a path relative to the place's folder. Raises PatternRefusedError for a
    pattern that rg does not take, ToolError when rg fails without a result. On cancellation rg is killed.
    """
    folder = place.folder
    arguments = ripgrep_arguments(rg, query, f"./{place.file}" if place.file else ".", respect_above=place.has_rules)
    reader = _Reader(folder, query.context, limit, is_wanted, on_hits)
    process = await anyio.open_process(arguments, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, cwd=folder)
    complaints = bytearray()
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_gather, process.stderr, complaints)
            await _follow(process.stdout, reader)
            if reader.is_done:
                process.kill()
            await process.wait()
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.aclose()
    text = complaints.decode("utf-8", "replace").strip()
    if reader.is_done or process.returncode in (0, 1):
        return text
    if "regex parse error" in text or "error parsing" in text:
        raise PatternRefusedError(text)
    if not reader.saw_summary:
        raise ToolError(f"ripgrep failed: {text or f'exit code {process.returncode}'}")
    return text


async def _gather(stream: anyio.abc.ByteReceiveStream | None, into: bytearray) -> None:
    if stream is None:
        return
    async for piece in stream:
        if len(into) < _MAX_STDERR_BYTES:
            into += piece


async def _follow(stream: anyio.abc.ByteReceiveStream | None, reader: _Reader) -> None:
    if stream is None:
        return
    rest: list[bytes] = []
    async for piece in stream:
        lines = piece.split(b"\n")
        if len(lines) == 1:
            rest.append(piece)
            continue
        lines[0] = b"".join([*rest, lines[0]])
        rest = [lines.pop()]
        for line in lines:
            reader.take(line)
            if reader.is_done:
                return


class _Reader:
    """Turns rg's JSON lines into hits; a file that turns out to be binary is passed on as such."""

    def __init__(
        self,
        folder: str,
        context: int,
        limit: int,
        is_wanted: Callable[[str], bool],
        on_hits: Callable[[FileHits], None],
    ) -> None:
        self._folder = folder
        self._context = context
        self._left = limit
        self._is_wanted = is_wanted
        self._on_hits = on_hits
        self._hits: FileHits | None = None
        self._after_until = 0  # the last line that is context of the last match
        self.is_done = False
        self.saw_summary = False

    def take(self, line: bytes) -> None:
        """One JSON line."""
        event = json.loads(line)
        data = event["data"]
        match event["type"]:
            case "begin":
                relative = os.fsdecode(_bytes(data["path"])).removeprefix("./")
                self._hits = FileHits(os.path.join(self._folder, relative)) if self._is_wanted(relative) else None
            case "match" | "context" if self._hits is not None:
                self._row(self._hits, data, is_match=event["type"] == "match")
            case "end" if self._hits is not None:
                if data.get("binary_offset") is not None:
                    self._hits = FileHits(self._hits.path, is_binary=True)
                self._pass_on(self._hits)
            case "summary":
                self.saw_summary = True
            case _:
                pass

    def _row(self, hits: FileHits, data: dict[str, Any], *, is_match: bool) -> None:
        text = _bytes(data["lines"]).decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")
        number = data["line_number"]
        if hits.matches == self._left:
            if number > self._after_until:
                self._pass_on(hits)
                return
            is_match = False  # the limit's last match still gets its context
        hits.rows.append(Row.of(number, text.removeprefix("\ufeff") if number == 1 else text, is_match=is_match))
        if is_match:
            hits.matches += 1
            self._after_until = number + self._context

    def _pass_on(self, hits: FileHits) -> None:
        self._hits = None
        if hits.matches or hits.is_binary:
            self._on_hits(hits)
        self._left -= hits.matches
        self.is_done = self._left <= 0


def _bytes(value: dict[str, str]) -> bytes:
    """rg gives text, or base64 of what is not UTF-8."""
    if "text" in value:
        return value["text"].encode("utf-8")
    return base64.b64decode(value["bytes"])
