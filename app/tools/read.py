"""The read tool: a part of a text file, or an image; it must never hold a large file in memory."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TypedDict

from pydantic import Field

from app.agent.tool import AbortSignal, AgentToolResult, BaseTool, OnUpdate
from app.ai.messages import ImageContent, TextContent
from app.tools.arguments import OptionalCount, OptionalIndex, ToolArguments
from app.tools.context import ToolContext
from app.tools.image import Picture, image_type, prepare_image
from app.tools.line_reader import Lines, open_regular, read_lines
from app.tools.paths import resolve_existing, shown
from app.tools.threads import StopFlag, in_thread
from app.tools.truncate import MAX_BYTES, MAX_LINES, TruncationDetails, format_size, truncate_head


class ReadArguments(ToolArguments):
    """Arguments of read."""

    path: str = Field(description="The file to read, relative to the working folder or absolute.")
    offset: OptionalIndex = Field(default=None, description="The first line to show, from 1.")
    limit: OptionalCount = Field(default=None, description="At most so many lines.")


class ReadDetails(TypedDict, total=False):
    """How the text was cut; absent when it was not."""

    truncation: TruncationDetails


class ReadTool(BaseTool):
    """Reads one file."""

    name = "read"
    label = "read"
    description = (
        "Read a text file or an image (jpeg, png, gif, webp; it is shown to you). "
        f"At most {MAX_LINES} lines or {MAX_BYTES // 1024} KB of text at once: for a longer file go on with offset "
        "until you have what you need."
    )
    parameters = ReadArguments
    prompt_snippet = "Read a file or look at an image"
    prompt_guidelines = ("Use read, not cat or sed, to look at files",)

    def __init__(self, context: ToolContext) -> None:
        self._context = context

    async def execute(
        self, tool_call_id: str, params: ReadArguments, signal: AbortSignal, on_update: OnUpdate
    ) -> AgentToolResult:
        """The lines asked for, with a note of what is missing; or a note and the image."""
        path = resolve_existing(params.path, self._context.cwd)
        first = max(params.offset or 1, 1)
        resize = self._context.auto_resize_images
        found = await in_thread(lambda stop: _read(path, first, params.limit, resize, stop))
        if isinstance(found, Picture):
            return self._picture(found)
        return _text_result(found, first, params)

    def _picture(self, picture: Picture) -> AgentToolResult:
        note = f"Read an image ({picture.original_type})"
        if picture.note:
            note += f"\n[{picture.note}]"
        if picture.data is None:
            return AgentToolResult.of_text(note)
        if not self._context.model_sees_images():
            note += "\n[The present model takes no images; it is not sent to it.]"
        image = ImageContent(data=picture.data, mime_type=picture.mime_type)
        return AgentToolResult([TextContent(text=note), image])


def _read(path: Path, first: int, limit: int | None, resize: bool, stop: StopFlag) -> Lines | Picture:
    with open_regular(path) as file:
        kind = image_type(file.read(4100))
        file.seek(0)
        if kind:
            return prepare_image(file, kind, resize, stop)
        return read_lines(file, path, first, limit, stop)


def _text_result(lines: Lines, first: int, params: ReadArguments) -> AgentToolResult:
    """The lines within the limits, and a bracketed note of what is missing (spec core §3.5)."""
    name = shown(params.path)
    total = f"{lines.total_lines}" if lines.counted_all else f"more than {lines.total_lines}"
    notes: list[str] = []
    if lines.replaced:
        notes.append("Bytes that are not UTF-8 are shown as \ufffd; the file itself is unchanged.")
    if lines.first_line_bytes is not None:
        size = format_size(lines.first_line_bytes)
        command = f"sed -n '{first}p' {shlex.quote(params.path)} | head -c {MAX_BYTES}"
        cut = truncate_head("", total_lines=lines.total_lines, total_bytes=lines.total_bytes).details()
        cut["truncated"] = cut["firstLineExceedsLimit"] = True
        cut["truncatedBy"] = "bytes"
        text = f"[Line {first} of {name} is {size}, over the {format_size(MAX_BYTES)} limit. Use bash: {command}]"
        return AgentToolResult.of_text(text, ReadDetails(truncation=cut))
    cut_text = truncate_head(lines.text, total_lines=lines.total_lines, total_bytes=lines.total_bytes)
    last = first + cut_text.output_lines - 1
    details: ReadDetails | None = None
    if cut_text.output_lines < lines.selected:
        # What the limits cut; lines outside the user's own offset and limit are no truncation.
        values = cut_text.details()
        details = ReadDetails(truncation=values)
        why = f" ({format_size(MAX_BYTES)} limit)" if values["truncatedBy"] == "bytes" else ""
        notes.append(f"Showing lines {first}-{last} of {total}{why}. Use offset={last + 1} to continue.")
    elif lines.remaining:
        more = f"{lines.remaining}" if lines.counted_all else f"more than {lines.remaining}"
        notes.append(f"{more} more lines in the file. Use offset={last + 1} to continue.")
    text = cut_text.content
    if notes:
        text = "\n\n".join((*((text.removesuffix("\n"),) if text else ()), *(f"[{note}]" for note in notes)))
    return AgentToolResult.of_text(text, details)
