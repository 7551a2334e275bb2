"""How a write call looks: the content it writes, coloured, or the diff to what stood there before; never the file."""

from __future__ import annotations

from textual.visual import Visual

from renderers import block, outcome
from renderers.diff import count_changes
from renderers.edit import counts_content, text_diff_body
from renderers.header import PATH_STYLE, Header
from renderers.registry import Params, ToolOutcome, ToolRenderResult, ToolView, register_tool_renderer
from renderers.rows import EMPTY
from renderers.source import line_count, source_body


class WriteRenderer:
    """Draws write calls."""

    def render(
        self, params: Params, result: ToolOutcome | None, is_streaming: bool, view: ToolView
    ) -> ToolRenderResult:
        """Header with path and size; open: error, diff or content, the content's end while it still comes in."""
        from renderers.text import one_line

        state = block.state_of(result, is_streaming)
        path = one_line(outcome.argument(params, "path", "file_path", "file"))
        content = params.get("content")
        text = content if isinstance(content, str) else outcome.argument(params, "content")
        diff = outcome.detail_text(result, "diff")
        said = (
            block.failure_word(result) if state == "error" else "" if diff else outcome.plural(line_count(text), "line")
        )
        header = Header(
            state,
            "write",
            path or "…",
            PATH_STYLE if path else "",
            is_path=True,
            extra=counts_content(*count_changes(diff)) if diff and state != "error" else EMPTY,
            outcome=block.outcome_parts(result, state, view, said),
            expanded=view.is_open if text or result is not None else None,
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
        elif text and (state != "error" or view.is_full):
            still_coming = is_streaming and result is None and view.elapsed_s is None
            bodies.append(source_body(text, path, view, keep_tail=still_coming))
        return block.tool_block(header, *bodies)


register_tool_renderer("write", WriteRenderer())
