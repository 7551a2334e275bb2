"""How a call of any tool looks when no renderer of its own does: pretty JSON and its output; it must never be blank."""

from __future__ import annotations

from textual.content import Content
from textual.visual import Visual

from renderers import block, outcome
from renderers.header import META_STYLE, Header
from renderers.registry import Params, ToolOutcome, ToolRenderResult, ToolView
from renderers.rows import Body, Row

PREVIEW_ROWS = 10
TITLE_VALUE_CHARS = 60


class DefaultRenderer:
    """Draws a call of the tool `name` from nothing but its arguments and its result."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def render(
        self, params: Params, result: ToolOutcome | None, is_streaming: bool, view: ToolView
    ) -> ToolRenderResult:
        """Title: arguments as key=value; open: arguments and output as pretty JSON, or as text where it is none."""
        from renderers.text import one_line

        state = block.state_of(result, is_streaming)
        text = outcome.raw_text(result)
        parts = [block.failure_word(result)] if state == "error" else []
        if state == "inprogress" and not params:
            parts = ["preparing"]
        header = Header(
            state,
            one_line(self.name) or "tool",
            one_line(_short(params)),
            META_STYLE,
            outcome=block.outcome_parts(result, state, view, *parts),
            expanded=view.is_open,
            plain=view.plain,
            frame=view.frame,
        )
        bodies: list[Visual] = list(block.note_body(view.note, view))
        if view.is_open:
            if params:
                bodies.append(_json_body(outcome.as_json(params, pretty=True), view, ""))
            if state == "error":
                bodies.append(block.error_body(result, view))
            elif result is not None:
                bodies.append(_json_body(_pretty(text) or "(no output)", view, "→ "))
            if images := block.image_rows(result):
                bodies.append(Body(images, plain=view.plain))
        drawn = block.tool_block(header, *bodies)
        return ToolRenderResult(drawn.content, is_custom=False)


def _short(params: Params) -> str:
    values = []
    for key, value in list(params.items())[:12]:
        text = value if isinstance(value, str) else outcome.as_json(value)
        shown = text[:TITLE_VALUE_CHARS]
        values.append(f"{key}={shown}{'…' if len(text) > TITLE_VALUE_CHARS else ''}")
    return "  ".join(values)


def _pretty(text: str) -> str:
    """The text as indented JSON when it is JSON, else as it is."""
    import json

    bare = text.strip()
    if bare[:1] not in ("{", "[") or len(bare) > 200_000:
        return text.rstrip("\n")
    try:
        return outcome.as_json(json.loads(bare), pretty=True)
    except (ValueError, RecursionError):
        return text.rstrip("\n")


def _json_body(text: str, view: ToolView, mark: str) -> Body:
    body = block.text_body(text, view, PREVIEW_ROWS)
    if not mark:
        return body
    return Body(
        [
            Row(row.text, Content.styled(mark if not index else " " * len(mark), META_STYLE))
            for index, row in enumerate(body.rows)
        ],
        body.max_rows,
        False,
        body.hidden,
        body.hint,
        body.plain,
    )
