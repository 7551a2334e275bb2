"""How an edit call looks: its diff, from the arguments before it has run and from the result after; never the file."""

from __future__ import annotations

import json
from collections.abc import Mapping

from textual.content import Content
from textual.visual import Visual

from renderers import block, outcome
from renderers.diff import DiffLine, count_changes, diff_rows, diff_texts, parse_diff
from renderers.header import PATH_STYLE, Header
from renderers.registry import Params, ToolOutcome, ToolRenderResult, ToolView, register_tool_renderer
from renderers.rows import EMPTY, FULL_ROWS, Body
from renderers.source import STREAM_ROWS

PREVIEW_ROWS = 20


def edits_of(params: Params) -> list[tuple[str, str]]:
    """The (old, new) pairs of the call, however whole they are: a list, a JSON string, or one pair at the top."""
    edits: object = params.get("edits")
    if isinstance(edits, str):
        try:
            edits = json.loads(edits)
        except ValueError:
            edits = None
    pairs = [_pair(edit) for edit in edits if isinstance(edit, Mapping)] if isinstance(edits, list) else []
    if any(name in params for name in ("oldText", "old_text", "old_string", "newText", "new_text", "new_string")):
        pairs.append(_pair(params))
    return [pair for pair in pairs if pair != ("", "")]


def _pair(edit: Mapping[str, object]) -> tuple[str, str]:
    def text(*names: str) -> str:
        return next((value for name in names if isinstance(value := edit.get(name), str)), "")

    return text("oldText", "old_text", "old_string"), text("newText", "new_text", "new_string")


def planned_diff(params: Params, *, quick: bool = False) -> list[DiffLine]:
    """What the arguments say will change, edits apart by gaps; empty while there is nothing to compare.

    `quick` while they still come in: see `diff_texts`.
    """
    lines: list[DiffLine] = []
    for old, new in edits_of(params):
        if lines:
            lines.append(DiffLine("gap", ""))
        lines.extend(diff_texts(old, new, quick=quick))
    return lines


def counts_content(added: int, removed: int) -> Content:
    """ "+2 −1" in the diff's colours, empty when nothing changed."""
    if not added and not removed:
        return EMPTY
    return Content.assemble((f"+{added:,}", "$diff-add"), " ", (f"−{removed:,}", "$diff-del"))


def diff_body(lines: list[DiffLine], view: ToolView, *, hidden: int = 0, keep_tail: bool = False) -> Body:
    """The lines as a body: 20 rows in the preview, from the end while they still come in."""
    limit = min(block.limit_of(view, PREVIEW_ROWS), STREAM_ROWS if keep_tail else FULL_ROWS)
    shown = lines[-limit:] if keep_tail else lines[:limit]
    hidden += len(lines) - len(shown)
    return Body(diff_rows(shown), limit, keep_tail, hidden, block.hint(view), view.plain)


def text_diff_body(diff: str, view: ToolView) -> Body:
    """A diff in text form as a body; what the density hides is not parsed."""
    limit = block.limit_of(view, PREVIEW_ROWS)
    total = diff.strip("\n").count("\n") + 1
    return diff_body(parse_diff(diff, limit), view, hidden=max(0, total - limit))


class EditRenderer:
    """Draws edit calls."""

    def render(
        self, params: Params, result: ToolOutcome | None, is_streaming: bool, view: ToolView
    ) -> ToolRenderResult:
        """Header with path and counts; open: the diff, after the error if there is one."""
        from renderers.text import one_line

        state = block.state_of(result, is_streaming)
        diff = outcome.detail_text(result, "diff")
        still_coming = is_streaming and result is None and view.elapsed_s is None
        planned = planned_diff(params, quick=still_coming) if not diff else []
        added, removed = count_changes(diff) if diff else _count(planned)
        path = one_line(outcome.argument(params, "path", "file_path", "file"))
        header = Header(
            state,
            "edit",
            path or "…",
            PATH_STYLE if path else "",
            is_path=True,
            extra=counts_content(added, removed) if state != "error" else EMPTY,
            outcome=block.outcome_parts(result, state, view, block.failure_word(result) if state == "error" else ""),
            expanded=view.is_open if diff or planned or result is not None else None,
            plain=view.plain,
            frame=view.frame,
        )
        if not view.is_open:
            return block.tool_block(header)
        bodies: list[Visual] = list(block.note_body(view.note, view))
        if state == "error":
            bodies.append(block.error_body(result, view))
        if diff:
            bodies.append(text_diff_body(diff, view))
        elif planned and (state != "error" or view.is_full):
            bodies.append(diff_body(planned, view, keep_tail=still_coming))
        elif state == "complete" and (text := outcome.raw_text(result)).strip():
            bodies.append(block.text_body(text, view, PREVIEW_ROWS, style="$meta"))
        return block.tool_block(header, *bodies)


def _count(lines: list[DiffLine]) -> tuple[int, int]:
    return sum(line.kind == "add" for line in lines), sum(line.kind == "del" for line in lines)


register_tool_renderer("edit", EditRenderer())
