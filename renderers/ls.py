"""How an ls call looks: the folder and how many entries it has."""

from __future__ import annotations

from renderers import outcome
from renderers.listing import listing_block
from renderers.registry import Params, ToolOutcome, ToolRenderResult, ToolView, register_tool_renderer


class LsRenderer:
    """Draws ls calls."""

    def render(
        self, params: Params, result: ToolOutcome | None, is_streaming: bool, view: ToolView
    ) -> ToolRenderResult:
        """Header with folder and count; open: the names."""
        from renderers.text import one_line

        return listing_block(
            "ls",
            one_line(outcome.argument(params, "path")) or ("" if is_streaming and result is None else "."),
            result,
            is_streaming,
            view,
            nouns=("entry", "entries"),
            none="empty",
            limit_key="entryLimitReached",
            is_path=True,
        )


register_tool_renderer("ls", LsRenderer())
