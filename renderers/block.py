"""What all tool renderers share: state of a call, its outcome words, and how header and bodies stand together."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.visual import Visual

from renderers import console, outcome
from renderers.header import Header, ToolState, running_for
from renderers.registry import ToolOutcome, ToolRenderResult, ToolView
from renderers.rows import FULL_ROWS, Body, Row

ERROR_ROWS = 8
HINT_PREVIEW = "enter shows more, o opens all"
HINT_FULL = "o opens all"


def state_of(result: ToolOutcome | None, is_streaming: bool) -> ToolState:
    """In progress until there is a result and nothing streams any more."""
    if result is None or is_streaming:
        return "inprogress"
    return "error" if outcome.is_error(result) else "complete"


def hint(view: ToolView) -> str:
    """What to press to see the rest."""
    return "" if view.plain else HINT_FULL if view.is_full else HINT_PREVIEW


def limit_of(view: ToolView, preview_rows: int) -> int:
    """How many rows the density allows."""
    return FULL_ROWS if view.is_full else preview_rows


def outcome_parts(result: ToolOutcome | None, state: ToolState, view: ToolView, *parts: str) -> list[str]:
    """The words at the right of a header: the tool's own, then how long it took when a second or more."""
    from renderers.text import humanise_duration

    if state == "inprogress":
        if view.frame < 0:
            return ["no result"]
        begun = result is not None or view.elapsed_s is not None
        return [*([running_for(view.elapsed_s)] if begun else []), *filter(None, parts)]
    seconds = outcome.duration_s(result)
    took = [humanise_duration(seconds)] if seconds is not None and seconds >= 1 else []
    return [*filter(None, parts), *took]


def text_body(
    text: str,
    view: ToolView,
    preview_rows: int,
    *,
    style: str = "",
    keep_tail: bool = False,
    footer: Sequence[Row] = (),
) -> Body:
    """Terminal output or plain text as a body of at most that many drawn rows; only the shown end is looked at."""
    limit = limit_of(view, preview_rows)
    line_limit = console.LINE_LIMIT if view.is_full else 4_000
    cut = (console.tail_lines if keep_tail else console.head_lines)(text, limit, line_limit=line_limit)
    rows = [Row(Content.styled(line, style) if style and line else Content(line)) for line in cut.lines]
    return Body(rows, limit, keep_tail, cut.hidden, hint(view), view.plain, footer)


def failure_word(result: ToolOutcome | None) -> str:
    """What kind of failure it was, in a word: "aborted", "interrupted", else "failed"."""
    end = outcome.raw_text(result)[-200:].rstrip().rpartition("\n")[2].lower()
    return "aborted" if "aborted" in end else "interrupted" if "interrupted" in end else "failed"


def error_body(result: ToolOutcome | None, view: ToolView) -> Body:
    """The error's own text, red; "(no message)" when it has none."""
    body = text_body(outcome.raw_text(result).strip("\n") or "(no message)", view, ERROR_ROWS, style="$text-error")
    body.prose = True
    return body


def image_rows(result: ToolOutcome | None) -> list[Row]:
    """One row for each image: its type and size."""
    from renderers.text import humanise_bytes

    return [
        Row(Content.styled(f"[{image.mime_type}, {humanise_bytes(image.size_bytes)}]", "$meta"))
        for image in outcome.images(result)
    ]


def note_body(note: str, view: ToolView) -> list[Body]:
    """A remark under the header, as a warning; none when it is empty."""
    from renderers.text import one_line

    return [Body([Row(Content.styled(one_line(note), "$text-warning"))], plain=view.plain)] if note else []


def tool_block(header: Header, *bodies: Visual) -> ToolRenderResult:
    """Header and bodies under each other, standing as they are (no card)."""
    from renderers.stack import Stack

    return ToolRenderResult(Stack([header, *bodies]) if bodies else header, is_custom=True)
