"""Rows of a file's text, coloured by its name's language and numbered; only the shown stretch is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from textual.content import Content

from renderers import block
from renderers.console import ConsoleLines, head_lines, tail_lines
from renderers.registry import ToolView
from renderers.rows import FULL_ROWS, Body, Row

PREVIEW_ROWS = 10
_LINE_CHARS = 4_000
COLOURED_LINES = 1_000
"""About 150 ms of a lexer's time; the lines after them stay plain."""
STREAM_ROWS = 60
"""While text still comes in, each token draws the body anew: its end is enough."""


@lru_cache(maxsize=16)
def _coloured(text: str, path: str) -> tuple[Content, ...]:
    """The lexer's work, kept for the next width or theme: it names tokens, not colours."""
    from renderers.code import highlight_lines, language_of

    return tuple(highlight_lines(text, language_of(path) if path else ""))


def source_rows(lines: Sequence[str], path: str, first_number: int | None) -> list[Row]:
    """The lines as coloured rows, numbered from `first_number` when given."""
    if not lines:
        return []
    coloured = [
        *_coloured("\n".join(lines[:COLOURED_LINES]), path),
        *(Content(line) for line in lines[COLOURED_LINES:]),
    ]
    if len(coloured) != len(lines):  # the lexer's rows don't match: the text itself matters more
        coloured = [Content(line) for line in lines]
    if first_number is None:
        return [Row(line) for line in coloured]
    digits = len(str(first_number + len(lines) - 1))
    return [
        Row(line, Content.styled(f"{number:>{digits}} ", "$meta")) for number, line in enumerate(coloured, first_number)
    ]


def source_body(
    text: str,
    path: str,
    view: ToolView,
    *,
    first_number: int | None = 1,
    keep_tail: bool = False,
    footer: Sequence[Row] = (),
    preview_rows: int = PREVIEW_ROWS,
) -> Body:
    """A file's text from its head, or from its tail while it still comes in."""
    limit = min(block.limit_of(view, preview_rows), STREAM_ROWS if keep_tail else FULL_ROWS)
    cut: ConsoleLines = (tail_lines if keep_tail else head_lines)(text, limit, line_limit=_LINE_CHARS)
    number = first_number + cut.hidden if first_number is not None and keep_tail else first_number
    rows = source_rows(cut.lines, path, number)
    return Body(rows, limit, keep_tail, cut.hidden, block.hint(view), view.plain, footer)


def line_count(text: str) -> int:
    """How many lines a text has; a final line feed ends one and begins no other."""
    return text.count("\n") + (0 if text.endswith("\n") or not text else 1)
