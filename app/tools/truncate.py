"""The limits of what a tool tells the model: 2000 lines, 50 KiB, whole clusters; it must never cut silently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

from app.tools.clusters import cut_end, cut_start

MAX_LINES = 2000
MAX_BYTES = 50 * 1024
MAX_GREP_LINE_CHARS = 500


class TruncationDetails(TypedDict):
    """How a text was cut, under pi's names (spec core §3.3); sizes are bytes of UTF-8."""

    content: str
    truncated: bool
    truncatedBy: Literal["lines", "bytes"] | None
    totalLines: int
    totalBytes: int
    outputLines: int
    outputBytes: int
    lastLinePartial: bool
    firstLineExceedsLimit: bool
    maxLines: int
    maxBytes: int


@dataclass(frozen=True, slots=True)
class Truncation:
    """A text within the limits and what was left out. Lines end at LF; a final LF begins no further line."""

    content: str
    truncated_by: Literal["lines", "bytes"] | None
    total_lines: int
    total_bytes: int
    output_lines: int
    output_bytes: int
    last_line_partial: bool = False
    first_line_exceeds_limit: bool = False
    max_lines: int = MAX_LINES
    max_bytes: int = MAX_BYTES
    begins_inside_line: bool = False

    @property
    def truncated(self) -> bool:
        """Whether anything is missing."""
        return self.truncated_by is not None

    def details(self) -> TruncationDetails:
        """The JSON object for a result's details. `content` stays empty: the result's text already holds it."""
        return {
            "content": "",
            "truncated": self.truncated,
            "truncatedBy": self.truncated_by,
            "totalLines": self.total_lines,
            "totalBytes": self.total_bytes,
            "outputLines": self.output_lines,
            "outputBytes": self.output_bytes,
            "lastLinePartial": self.last_line_partial,
            "firstLineExceedsLimit": self.first_line_exceeds_limit,
            "maxLines": self.max_lines,
            "maxBytes": self.max_bytes,
        }


def format_size(size_bytes: int) -> str:
    """`12B`, `1.5KB`, `2.0MB`: 1024 based, one decimal (spec core §3.3)."""
    if size_bytes < 1024:
        return f"{size_bytes}B"
    if size_bytes < 1024 * 1024:
        return f"{size_bytes / 1024:.1f}KB"
    return f"{size_bytes / (1024 * 1024):.1f}MB"


def byte_length(text: str) -> int:
    """Bytes of the text in UTF-8; a lone surrogate counts as the three bytes of U+FFFD."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def split_lines(text: str) -> list[str]:
    """The lines between line feeds, without them; a final line feed ends the last line (architecture §6)."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def truncate_head(
    text: str,
    max_lines: int = MAX_LINES,
    max_bytes: int = MAX_BYTES,
    *,
    total_lines: int | None = None,
    total_bytes: int | None = None,
) -> Truncation:
    """The first whole lines within both limits. Totals may be given when `text` is only the start of more.

    When the first line alone is too long the content is empty and `first_line_exceeds_limit` is set.
    """
    lines = split_lines(text)
    total_lines = len(lines) if total_lines is None else total_lines
    size = byte_length(text)
    total_bytes = size if total_bytes is None else total_bytes
    if len(lines) <= max_lines and size <= max_bytes:
        more = total_lines > len(lines)
        return Truncation(
            text,
            "lines" if more else None,
            total_lines,
            total_bytes,
            len(lines),
            size,
            False,
            False,
            max_lines,
            max_bytes,
        )
    kept: list[str] = []
    used = 0
    cut_by: Literal["lines", "bytes"] = "lines"
    for line in lines[:max_lines]:
        cost = byte_length(line) + (1 if kept else 0)
        if used + cost > max_bytes:
            cut_by = "bytes"
            break
        kept.append(line)
        used += cost
    first_too_long = not kept and cut_by == "bytes"
    return Truncation(
        "\n".join(kept), cut_by, total_lines, total_bytes, len(kept), used, False, first_too_long, max_lines, max_bytes
    )


def truncate_tail(
    text: str,
    max_lines: int = MAX_LINES,
    max_bytes: int = MAX_BYTES,
    *,
    total_lines: int | None = None,
    total_bytes: int | None = None,
) -> Truncation:
    """The last lines within both limits. Totals may be given when `text` is only the end of more.

    When the last line alone is too long its end is kept, cut between clusters, and `last_line_partial` is set.
    """
    lines = split_lines(text)
    size = byte_length(text)
    lines_in_all = len(lines) if total_lines is None else total_lines
    bytes_in_all = size if total_bytes is None else total_bytes
    if lines_in_all <= max_lines and bytes_in_all <= max_bytes:
        return Truncation(text, None, lines_in_all, bytes_in_all, len(lines), size, False, False, max_lines, max_bytes)
    final_feed = text.endswith("\n")
    kept: list[str] = []
    used = int(final_feed)
    cut_by: Literal["lines", "bytes"] = "lines"
    for line in reversed(lines[-max_lines:]):
        cost = byte_length(line) + (1 if kept else 0)
        if used + cost > max_bytes:
            cut_by = "bytes"
            break
        kept.append(line)
        used += cost
    partial = not kept
    inside = False
    if cut_by == "bytes" and len(kept) < len(lines):
        cut_line = lines[-1 - len(kept)]
        if partial or byte_length(cut_line) > max_bytes:
            # A line that can never be shown whole is shown by its end, rather than nothing of it (cases R6).
            room = max_bytes - used - (1 if kept else 0)
            if end := last_bytes(cut_line, max(0, room)):
                used += byte_length(end) + (1 if kept else 0)
                kept.append(end)
                inside = True
    content = "\n".join(reversed(kept)) + ("\n" if final_feed else "")
    return Truncation(
        content, cut_by, lines_in_all, bytes_in_all, len(kept), used, partial, False, max_lines, max_bytes, inside
    )


def last_bytes(text: str, limit_bytes: int) -> str:
    """The end of the text in at most so many bytes of UTF-8, beginning at a whole cluster (cases R4)."""
    if byte_length(text) <= limit_bytes:
        return text
    if limit_bytes <= 0:
        return ""
    tail = text[-limit_bytes:]
    start = len(text) - len(tail)
    excess = byte_length(tail) - limit_bytes
    while excess > 0:
        excess -= byte_length(text[start])
        start += 1
    return text[cut_start(text, start) :]


def truncate_line(line: str, limit_chars: int = MAX_GREP_LINE_CHARS) -> tuple[str, bool]:
    """The line in at most so many characters plus a mark, and whether it was cut; whole clusters (cases R4)."""
    if len(line) <= limit_chars:
        return line, False
    return line[: cut_end(line, limit_chars)] + "... [truncated]", True
