"""How a read call looks: which lines of which file, and its text coloured and numbered as in the file."""

from __future__ import annotations

from textual.content import Content
from textual.visual import Visual

from renderers import block, outcome
from renderers.header import PATH_STYLE, Header, ToolState
from renderers.notice import notice_rows, split_notices
from renderers.registry import Params, ToolOutcome, ToolRenderResult, ToolView, register_tool_renderer
from renderers.rows import EMPTY, Body, Row
from renderers.source import line_count, source_body


class ReadRenderer:
    """Draws read calls."""

    def render(
        self, params: Params, result: ToolOutcome | None, is_streaming: bool, view: ToolView
    ) -> ToolRenderResult:
        """Header with path, range and number of lines; open: the text, or what kind of image it is."""
        from renderers.text import one_line

        state = block.state_of(result, is_streaming)
        path = one_line(outcome.argument(params, "path", "file_path", "file"))
        pictures = block.image_rows(result)
        text, notices = outcome.raw_text(result), list[str]()
        if state == "complete":
            text, notices = split_notices(text, any_form=outcome.detail(result, "truncation") is not None)
        header = Header(
            state,
            "read",
            path or "…",
            PATH_STYLE if path else "",
            is_path=True,
            extra=self._range(params),
            outcome=block.outcome_parts(result, state, view, self._size(result, state, text, pictures)),
            expanded=view.is_open if result is not None else None,
            plain=view.plain,
            frame=view.frame,
        )
        if not view.is_open or result is None:
            return block.tool_block(header, *block.note_body(view.note, view))
        bodies: list[Visual] = list(block.note_body(view.note, view))
        if state == "error":
            bodies.append(block.error_body(result, view))
        elif pictures:
            bodies.append(Body(pictures, plain=view.plain))
            if text.strip():
                bodies.append(block.text_body(text, view, 3, style="$meta"))
        elif text or notices:
            first = max(1, outcome.argument_number(params, "offset") or 1)
            bodies.append(source_body(text, path, view, first_number=first, footer=notice_rows(*notices)))
        else:
            bodies.append(block.text_body("(empty file)", view, 1, style="$meta"))
        return block.tool_block(header, *bodies)

    def _range(self, params: Params) -> Content:
        offset = outcome.argument_number(params, "offset")
        limit = outcome.argument_number(params, "limit")
        if offset is None and limit is None:
            return EMPTY
        first = max(1, offset or 1)
        last = "" if limit is None or limit < 1 else str(first + limit - 1)
        return Content.styled(f":{first}-{last}", "$text-warning")

    def _size(self, result: ToolOutcome | None, state: ToolState, text: str, pictures: list[Row]) -> str:
        if state == "error":
            return block.failure_word(result)
        if result is None:
            return ""
        if pictures:
            return pictures[0].text.plain.strip("[]")
        count = line_count(text)
        total = outcome.detail_number(result, "truncation", "totalLines")
        if total is not None and total > count:
            return f"{count:,} of {outcome.plural(total, 'line')}"
        return outcome.plural(count, "line") if count else "empty"


register_tool_renderer("read", ReadRenderer())
