"""The edit tool: replaces exact pieces of a file and keeps every byte that it was not asked to change."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypedDict

import anyio.to_thread
from pydantic import ConfigDict, Field

from app.agent.tool import AbortSignal, AgentToolResult, BaseTool, OnUpdate
from app.errors import ToolError
from app.tools.arguments import ToolArguments
from app.tools.context import ToolContext
from app.tools.diff import unified_rows
from app.tools.matching import ExactView, LooseLinesView, LooseView, Match, NewlineView, View, to_line_feeds
from app.tools.paths import os_failure, resolve_existing, shown
from app.tools.text_file import check_text, read_text_file, replace_file
from app.tools.threads import in_thread

_NEWLINE = re.compile(r"\r\n|\n")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


class Replacement(ToolArguments):
    """One piece to replace."""

    model_config = ConfigDict(extra="forbid")
    old_text: str = Field(
        alias="oldText",
        description="The text to replace, copied exactly from the file. It must occur once; "
        "add surrounding lines until it does. It must not overlap another edit's.",
    )
    new_text: str = Field(alias="newText", description="What stands there afterwards; empty removes the text.")


class EditArguments(ToolArguments):
    """Arguments of edit."""

    model_config = ConfigDict(extra="forbid")
    path: str = Field(description="The file to edit, relative to the working folder or absolute.")
    edits: list[Replacement] = Field(
        description="The replacements. Each is matched against the file as it is now, not after the ones before it."
    )


class EditDetails(TypedDict):
    """What changed: rows as `unified_rows` makes them, and the first changed line in the new file (1-based)."""

    diff: str
    firstChangedLine: int


@dataclass(frozen=True, slots=True)
class _Change:
    index: int
    match: Match  # all that was matched: overlaps are judged by it
    start: int  # what is really replaced
    end: int
    text: str


class EditTool(BaseTool):
    """Replaces text in one file, all edits or none."""

    name = "edit"
    label = "edit"
    description = (
        "Change a file by replacing pieces of its text. Every oldText must match the file exactly and occur only once. "
        "Several changes to one file belong in one call, as separate entries of edits; keep each oldText as small as "
        "is still unique. Everything else in the file stays as it is, line endings included."
    )
    parameters = EditArguments
    prompt_snippet = "Change a file by replacing exact pieces of its text"
    prompt_guidelines = (
        "Use edit for precise changes; oldText must match the file exactly and be unique",
        "Put several changes to one file into one edit call with several edits",
    )

    def __init__(self, context: ToolContext) -> None:
        self._context = context

    def prepare_arguments(self, raw: dict[str, Any]) -> dict[str, Any]:
        """Mend older shapes: `edits` as a JSON string or one object, oldText/newText at the top (spec core §3.7)."""
        mended = dict(raw)
        edits = mended.get("edits")
        if isinstance(edits, str):
            try:
                edits = json.loads(edits)
            except ValueError:
                return raw
        if isinstance(edits, dict):
            edits = [edits]
        old, new = mended.get("oldText"), mended.get("newText")
        if isinstance(old, str) and isinstance(new, str) and (edits is None or isinstance(edits, list)):
            edits = [*(edits or []), {"oldText": old, "newText": new}]
            del mended["oldText"], mended["newText"]
        if edits is not None:
            mended["edits"] = edits
        return mended

    async def execute(
        self, tool_call_id: str, params: EditArguments, signal: AbortSignal, on_update: OnUpdate
    ) -> AgentToolResult:
        """Do all edits or none; the new file is complete before it takes the old one's place."""
        path = resolve_existing(params.path, self._context.cwd)
        async with self._context.mutations.turn(path):

            def prepare(_: object) -> tuple[bytes, EditDetails]:
                try:
                    file = read_text_file(path)
                except OSError as error:
                    raise os_failure(error, "edit", path) from error
                new_text = apply_edits(file.text, params.edits, params.path)
                diff, first = unified_rows(to_line_feeds(file.text), to_line_feeds(new_text))
                return file.encoded(new_text), {"diff": diff, "firstChangedLine": first}

            data, details = await in_thread(prepare)
            # Not to be left behind: once it has begun, it ends before anything else may touch the file.
            await anyio.to_thread.run_sync(replace_file, path, data, "edit")
        count = len(params.edits)
        blocks = "1 block" if count == 1 else f"{count} blocks"
        return AgentToolResult.of_text(f"Replaced {blocks} in {shown(params.path)}", details)


def apply_edits(text: str, edits: list[Replacement], path: str) -> str:
    """The text after all edits, each matched against `text` itself; all other characters unchanged.

    An exact match wins over one that differs in line endings, and that over a loose one (architecture §6).
    Raises ToolError when one is empty, missing, ambiguous or overlaps another, or when nothing would change.
    """
    if not edits:
        raise ToolError("There are no edits; give at least one.")
    views = _Views(text)
    changes: list[_Change] = []
    for index, edit in enumerate(edits):
        label = "oldText" if len(edits) == 1 else f"edits[{index}].oldText"
        check_text(label.replace("old", "new"), edit.new_text)
        changes.append(_locate(views, edit, index, label, path))
    changes.sort(key=lambda change: (change.match.start, change.match.end))
    for before, after in pairwise(changes):
        if after.match.start < before.match.end:
            first, second = sorted((before.index, after.index))
            raise ToolError(f"edits[{first}] and edits[{second}] overlap in {shown(path)}; merge them into one edit.")
    pieces: list[str] = []
    at = 0
    for change in changes:
        pieces += (text[at : change.start], change.text)
        at = change.end
    pieces.append(text[at:])
    result = "".join(pieces)
    if result == text:
        raise ToolError(f"Nothing would change in {shown(path)}: the new text is the same as the old one.")
    return result


class _Views:
    """The views of one text, from strict to loose, made when they are needed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._made: list[View] = [ExactView(text)]
        self._looser: list[Callable[[str], View]] = [NewlineView, LooseView, LooseLinesView]

    def get(self, level: int) -> View | None:
        if level == len(self._made) and self._looser:
            self._made.append(self._looser.pop(0)(self.text))
        return self._made[level] if level < len(self._made) else None


def _locate(views: _Views, edit: Replacement, index: int, label: str, path: str) -> _Change:
    if not edit.old_text:
        raise ToolError(f"{label} is empty; give the text that is to be replaced.")
    level = 0
    while view := views.get(level):
        needle = view.read(edit.old_text)
        count = view.count(needle) if needle else 0
        if count > 1:
            raise ToolError(
                f"{label} occurs {count} times in {shown(path)}; it must occur once. "
                "Add surrounding lines to make it unique."
            )
        if count == 1 and (change := _change(views.text, view, needle, edit, index)):
            return change
        level += 1
    raise ToolError(
        f"Could not find the exact text of {label} in {shown(path)}. It must match the file, blanks and line breaks "
        "included; read the file again."
    )


def _change(text: str, view: View, needle: str, edit: Replacement, index: int) -> _Change | None:
    """The change for a needle that occurs once; whole lines that old and new text share at either end stay as
    they are in the file, so that a loose match does not rewrite them."""
    match = view.span(needle, 0, 0)
    if match is None:
        return None
    old = [to_line_feeds(line) for line in _pieces(edit.old_text)]
    new = _pieces(edit.new_text.replace("\r\n", "\n"))
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    lines = _pieces(needle)
    before, after = sum(map(len, lines[:head])), sum(map(len, lines[len(lines) - tail :]))
    kept = view.span(needle, before, after)
    if kept is None:
        kept, head, tail = match, 0, 0
    ending = line_ending(text, kept.start, kept.end, match)
    middle = "".join(new[head : len(new) - tail]).replace("\n", ending)
    return _Change(index, match, kept.start, kept.end, middle)


def _pieces(text: str) -> list[str]:
    """The lines with their endings; what follows the last ending, though empty, is one more."""
    lines: list[str] = _LINE.findall(text)
    return lines if lines and lines[-1][-1] not in "\r\n" else [*lines, ""]


def line_ending(text: str, start: int, end: int, match: Match) -> str:
    """The ending for new lines in a span: its own first one, else the match's, else the next, else the one before."""
    for low, high in ((start, end), (match.start, match.end), (end, len(text))):
        if found := _NEWLINE.search(text, low, high):
            return found[0]
    before = text.rfind("\n", 0, start)
    if before < 0:
        return "\r" if "\r" in text else "\n"
    return "\r\n" if text[before - 1 : before] == "\r" else "\n"
