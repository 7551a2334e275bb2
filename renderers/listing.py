"""What find and ls share: one name a line, a count, and a sign that there may be more."""

from __future__ import annotations

from textual.content import Content
from textual.visual import Visual

from renderers import block, outcome
from renderers.header import PATH_STYLE, Header, ToolState
from renderers.notice import notice_rows, split_notice
from renderers.registry import ToolOutcome, ToolRenderResult, ToolView
from renderers.rows import EMPTY
from renderers.source import line_count

PREVIEW_ROWS = 20


def is_none_found(text: str) -> bool:
    """Whether the text says in words that there is nothing: one line such as "No files found …" or "(empty …)"."""
    bare = text.strip()
    return "\n" not in bare and (not bare or bare.lower().startswith("no ") or (bare[0] == "(" and bare[-1] == ")"))


def listing_block(
    name: str,
    subject: str,
    result: ToolOutcome | None,
    is_streaming: bool,
    view: ToolView,
    *,
    nouns: tuple[str, str],
    none: str,
    limit_key: str,
    extra: Content = EMPTY,
    is_path: bool = False,
) -> ToolRenderResult:
    """A call whose result is names on lines. `nouns`: one and many; `none`: what to say when there are none."""
    state = block.state_of(result, is_streaming)
    text, notice = split_notice(outcome.raw_text(result)) if state == "complete" else ("", "")
    header = Header(
        state,
        name,
        subject or "…",
        PATH_STYLE if subject else "",
        is_path=is_path,
        extra=extra,
        outcome=block.outcome_parts(result, state, view, _count(result, state, text, nouns, none, limit_key)),
        expanded=view.is_open if result is not None else None,
        plain=view.plain,
        frame=view.frame,
    )
    bodies: list[Visual] = list(block.note_body(view.note, view))
    if view.is_open and state == "error":
        bodies.append(block.error_body(result, view))
    elif view.is_open and state == "complete":
        style = "$meta" if is_none_found(text) else ""
        shown = text if text.strip() else f"({none})"
        bodies.append(block.text_body(shown, view, PREVIEW_ROWS, style=style, footer=notice_rows(notice)))
    return block.tool_block(header, *bodies)


def _count(
    result: ToolOutcome | None, state: ToolState, text: str, nouns: tuple[str, str], none: str, limit_key: str
) -> str:
    if state == "error":
        return block.failure_word(result)
    if state == "inprogress":
        return ""
    if is_none_found(text):
        return none
    count = line_count(text.strip("\n"))
    if outcome.detail(result, limit_key) or outcome.detail(result, "truncation", "truncated"):
        return f"{count:,}+ {nouns[1]}"
    return outcome.plural(count, *nouns)
