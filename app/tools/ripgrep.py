"""The search by ripgrep, in the same terms as our own; the user's ripgrep settings must never change a result."""

from __future__ import annotations

import base64
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from subprocess import DEVNULL, PIPE
from typing import Any

import anyio
import anyio.abc

from app.errors import ToolError
from app.tools.searching import FileHits, Query, Row

_MAX_STDERR_BYTES = 16 * 1024


class PatternRefusedError(Exception):
    """ripgrep does not take the pattern; `re` may."""


def find_ripgrep() -> str | None:
    """The path of rg: on PATH, or beside our own interpreter (the PyPI package puts it there)."""
    return shutil.which("rg") or shutil.which("rg", path=os.path.dirname(sys.executable))


def is_for_ripgrep(query: Query) -> bool:
    """Whether rg means by the pattern what our own search does: `\\z` and `\\A` are about its buffer, not the line."""
    return query.literal or not any(mark in query.pattern for mark in ("\\z", "\\A"))


def ripgrep_arguments(rg: str, query: Query, paths: Sequence[str]) -> list[str]:
    """The command line: exactly these files, in this order. Which files are searched is the walker's to say, so that
    the answers are the same with and without rg, and in each of its versions.
    """
    arguments = [rg, "--no-config", "--json", "--no-ignore", "--hidden", "--crlf", "--threads", "1"]
    if query.literal:
        arguments.append("--fixed-strings")
    if query.ignore_case:
        arguments.append("--ignore-case")
    if query.context:
        arguments += ["--context", str(query.context)]
    return [*arguments, "--regexp", query.pattern, "--", *paths]


async def search_with_ripgrep(rg: str, paths: Sequence[str], query: Query, limit: int) -> tuple[list[FileHits], str]:
    """The hits of these files (absolute paths) in their order, up to `limit` matches, and rg's complaints.

    Raises PatternRefusedError for a pattern that rg does not take, ToolError when rg fails without a result. On
    cancellation rg is killed.
    """
    found: list[FileHits] = []
    reader = _Reader(query.context, limit, found.append)
    process = await anyio.open_process(ripgrep_arguments(rg, query, paths), stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
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
        return found, text
    if "regex parse error" in text or "error parsing" in text:
        raise PatternRefusedError(text)
    if not reader.saw_summary:
        raise ToolError(f"ripgrep failed: {text or f'exit code {process.returncode}'}")
    return found, text


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
        context: int,
        limit: int,
        on_hits: Callable[[FileHits], None],
    ) -> None:
        self._context = context
        self._left = limit
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
                self._hits = FileHits(os.fsdecode(_bytes(data["path"])))
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
