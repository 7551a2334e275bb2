"""How a find call looks: the glob, the place, and how many files it named."""

from __future__ import annotations

from textual.content import Content

from renderers import outcome
from renderers.listing import listing_block
from renderers.registry import Params, ToolOutcome, ToolRenderResult, ToolView, register_tool_renderer


class FindRenderer:
    """Draws find calls."""

    def render(
        self, params: Params, result: ToolOutcome | None, is_streaming: bool, view: ToolView
    ) -> ToolRenderResult:
        """Header with glob, place and count; open: the names."""
        from renderers.text import one_line

        path = one_line(outcome.argument(params, "path"))
        return listing_block(
            "find",
            one_line(outcome.argument(params, "pattern", "glob")),
            result,
            is_streaming,
            view,
            nouns=("file", "files"),
            none="no files",
            limit_key="resultLimitReached",
            extra=Content(f"in {path}" if path and path != "." else ""),
        )


register_tool_renderer("find", FindRenderer())
