"""How a grep call looks: pattern, place and number of matches; open, the hits under their files, the match marked."""

from __future__ import annotations

import re

from textual.content import Content, Span
from textual.visual import Visual

from renderers import block, outcome
from renderers.console import head_lines
from renderers.header import META_STYLE, PATH_STYLE, Header, ToolState
from renderers.notice import notice_rows, split_notice
from renderers.registry import Params, ToolOutcome, ToolRenderResult, ToolView, register_tool_renderer
from renderers.rows import Body, Row

PREVIEW_ROWS = 15
_MATCH = re.compile(r"(?P<path>.+?):(?P<number>\d+): ?(?P<text>.*)")
_CONTEXT = re.compile(r"(?P<path>.+?)-(?P<number>\d+)- ?(?P<text>.*)")
_COUNT = re.compile(r"^[^\n]+?:\d+: ", re.MULTILINE)
_COUNT_CHARS = 400_000


class GrepRenderer:
    """Draws grep calls."""

    def render(
        self, params: Params, result: ToolOutcome | None, is_streaming: bool, view: ToolView
    ) -> ToolRenderResult:
        """Header with pattern, place and count; open: the hits grouped by file."""
        from renderers.text import one_line

        state = block.state_of(result, is_streaming)
        pattern = one_line(outcome.argument(params, "pattern", "query"))
        text, notice = split_notice(outcome.raw_text(result)) if state == "complete" else ("", "")
        header = Header(
            state,
            "grep",
            f"/{pattern}/" if pattern else "…",
            PATH_STYLE if pattern else "",
            extra=self._place(params),
            outcome=block.outcome_parts(result, state, view, self._count(result, state, text)),
            expanded=view.is_open if result is not None else None,
            plain=view.plain,
            frame=view.frame,
        )
        bodies: list[Visual] = list(block.note_body(view.note, view))
        if view.is_open and state == "error":
            bodies.append(block.error_body(result, view))
        elif view.is_open and state == "complete":
            limit = block.limit_of(view, PREVIEW_ROWS)
            cut = head_lines(text, limit, line_limit=2_000)
            rows = hit_rows(cut.lines, matcher_of(params))
            bodies.append(
                Body(rows, limit, False, cut.hidden, block.hint(view), view.plain, footer=notice_rows(notice))
            )
        return block.tool_block(header, *bodies)

    def _place(self, params: Params) -> Content:
        from renderers.text import one_line

        path, glob = (one_line(outcome.argument(params, name)) for name in ("path", "glob"))
        where = f"in {path}" if path and path != "." else ""
        return Content(" ".join(filter(None, (where, f"({glob})" if glob else ""))))

    def _count(self, result: ToolOutcome | None, state: ToolState, text: str) -> str:
        if state == "error":
            return block.failure_word(result)
        if state == "inprogress":
            return ""
        count = sum(1 for _ in _COUNT.finditer(text[:_COUNT_CHARS]))
        more = "+" if outcome.detail(result, "matchLimitReached") or len(text) > _COUNT_CHARS else ""
        return f"{count:,}{more} match{'' if count == 1 and not more else 'es'}" if count else "no matches"


def hit_rows(lines: list[str], matcher: re.Pattern[str] | None) -> list[Row]:
    """Result lines as rows: a file's name once above its hits, line numbers before them; other lines as they are."""
    rows: list[Row] = []
    current = ""
    for line in lines:
        match = _MATCH.fullmatch(line)
        found = match or _CONTEXT.fullmatch(line)
        if found is None:
            rows.append(Row(Content.styled(line, META_STYLE) if line else Content("")))
            continue
        if found["path"] != current:
            current = found["path"]
            rows.append(Row(Content.styled(current, PATH_STYLE)))
        prefix = Content.styled(f"{found['number']:>5} ", META_STYLE)
        text = found["text"]
        rows.append(
            Row(marked(text, matcher) if match else Content.styled(text, META_STYLE) if text else Content(""), prefix)
        )
    return rows


def marked(text: str, matcher: re.Pattern[str] | None) -> Content:
    """The text with up to 20 matches marked. Only its first 500 characters are searched."""
    if matcher is None:
        return Content(text)
    spans: list[Span] = []
    for found in matcher.finditer(text, 0, 500):
        if found.end() > found.start():
            spans.append(Span(found.start(), found.end(), "bold $hit"))
        if len(spans) >= 20:
            break
    return Content(text, spans)


def matcher_of(params: Params) -> re.Pattern[str] | None:
    """A pattern that finds what grep found, or None where it is not sure to be quick.

    Python's matcher can take for ever on nested repeats, and the pattern is foreign: at most two repeats, and none
    after a group, keeps 500 characters below a millisecond or two.
    """
    pattern = params.get("pattern")
    if not isinstance(pattern, str) or not pattern or len(pattern) > 200:
        return None
    flags = re.IGNORECASE if params.get("ignoreCase") is True or params.get("ignore_case") is True else 0
    if params.get("literal") is True:
        return re.compile(re.escape(pattern), flags)
    bare = re.sub(r"\\.", "", pattern)
    if len(re.findall(r"[*+{?]", bare)) > 2 or re.search(r"\)[*+{?]", bare):
        return None
    try:
        return re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError):
        return None


register_tool_renderer("grep", GrepRenderer())
