"""How a bash call looks: the command, the live tail of its output, exit code and time; it must never hide a failure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from renderers import block, outcome
from renderers.header import Header, ToolState
from renderers.notice import notice_rows, split_notice
from renderers.registry import Params, ToolOutcome, ToolRenderResult, ToolView, register_tool_renderer
from renderers.rows import EMPTY, Body, Row

PREVIEW_ROWS = 5
COMMAND_ROWS = 12
_STATUS_ROOM = 300
_NOTES = ("[Showing ", "[A background process", "[Full output", "[Output truncated")
_EXITED = re.compile(r"(?:\A|\n)[^\n]*?exited with code (\d+)\.?\s*\Z")
_TIMED_OUT = re.compile(r"(?:\A|\n)[^\n]*?timed out(?: after ([\d.]+) ?s)?[^\n]*\Z")
_SIGNAL = re.compile(r"(?:\A|\n)[^\n]*?terminated by signal (\d+(?: \(\w+\))?)[^\n]*\Z")
_ABORTED = re.compile(r"(?:\A|\n)[^\n]*\baborted\b[^\n]*\s*\Z", re.IGNORECASE)

_STATUS = (
    (_EXITED, "exit {}"),
    (_TIMED_OUT, "timed out after {} s"),
    (_SIGNAL, "signal {}"),
    (_ABORTED, "aborted"),
)


class CommandBody(Visual):
    """The whole command under a header that can't show it: several lines, or cut at this width."""

    def __init__(self, header: Header, body: Body, always: bool) -> None:
        self._header = header
        self._body = body
        self._always = always

    def _is_wanted(self, width: int) -> bool:
        return self._always or not self._header.shows_whole(width)

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """The command's rows, none when the header says it all."""
        return self._body.render_strips(width, height, style, options) if self._is_wanted(width) else []

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """As wide as the command."""
        return self._body.get_optimal_width(rules, container_width)

    def get_height(self, rules: RulesMap, width: int) -> int:
        """The number of rows at this width, maybe none."""
        return self._body.get_height(rules, width) if self._is_wanted(width) else 0


def command_bodies(header: Header, command: str, view: ToolView) -> list[Visual]:
    """The rows that show the command whole, where the header doesn't."""
    from renderers.text import expand_tabs

    lines = command.strip("\n").split("\n")
    limit = block.limit_of(view, COMMAND_ROWS)
    rows = [
        Row(Content(expand_tabs(line)), Content.styled("  " if index else "$ ", "$meta"))
        for index, line in enumerate(lines[:limit])
    ]
    body = Body(rows, limit, hidden=max(0, len(lines) - limit), hint=block.hint(view), plain=view.plain)
    return [CommandBody(header, body, always=len(lines) > 1)]


def split_status(text: str) -> tuple[str, str]:
    """The output without the status that the tool appends for the model, and that status in short ("" if none).

    Foreign sessions say it in the text alone (spec core §3.6).
    """
    tail = text[-_STATUS_ROOM:]
    for pattern, short in _STATUS:
        if found := pattern.search(tail):
            rest = text[: len(text) - len(tail) + found.start()].rstrip("\n")
            return rest, short.format(*found.groups()).replace(" after None s", "")
    return text, ""


def _split_note(text: str) -> tuple[str, str]:
    """The output without the tool's own remark about what was cut, and that remark ("" if none)."""
    rest, note = split_notice(text)
    return (rest, note) if note.startswith(_NOTES) else (text, "")


def _status(result: ToolOutcome | None, said: str) -> str:
    if outcome.detail(result, "timedOut") is True:
        return said if said.startswith("timed out") else "timed out"
    code = outcome.detail_number(result, "exitCode")
    return f"exit {code}" if code else said


class BashRenderer:
    """Draws bash calls."""

    def render(
        self, params: Params, result: ToolOutcome | None, is_streaming: bool, view: ToolView
    ) -> ToolRenderResult:
        """Header with the command's first line; open: the command if it needs room, then the output's last rows."""
        state = block.state_of(result, is_streaming)
        command = outcome.argument(params, "command", "cmd")
        text = outcome.raw_text(result)
        said = ""
        if state == "error":
            text, said = split_status(text)
        text, notice = _split_note(text)
        parts = self._parts(result, state, text, said)
        header = self._header(command, result, state, view, block.outcome_parts(result, state, view, *parts))
        if not view.is_open:
            return block.tool_block(header)
        bodies: list[Visual] = list(block.note_body(view.note, view))
        if command:
            bodies.extend(command_bodies(header, command, view))
        bodies.extend(self._output(text, notice, result, state, view, bool(said)))
        return block.tool_block(header, *bodies)

    def _header(
        self, command: str, result: ToolOutcome | None, state: ToolState, view: ToolView, parts: list[str]
    ) -> Header:
        from renderers.text import expand_tabs

        first, _, rest = command.strip("\n").partition("\n")
        more = rest.count("\n") + 1 if rest else 0
        return Header(
            state,
            "bash",
            expand_tabs(first) or ("…" if state == "inprogress" else "(no command)"),
            extra=Content.styled(f"+{outcome.plural(more, 'line')}", "$meta") if more else EMPTY,
            outcome=parts,
            expanded=view.is_open if result is not None or more else None,
            plain=view.plain,
            frame=view.frame,
        )

    def _parts(self, result: ToolOutcome | None, state: ToolState, text: str, said: str) -> Sequence[str]:
        if state == "error":
            return (_status(result, said) or "failed",)
        if state == "inprogress":
            return ()
        status = _status(result, "")
        total = outcome.detail_number(result, "truncation", "totalLines")
        count = total if total is not None else text.removesuffix("\n").count("\n") + 1 if text.strip() else 0
        is_empty = not count or text.strip() == "(no output)"
        return (status, "no output" if is_empty else outcome.plural(count, "line"))

    def _output(
        self, text: str, notice: str, result: ToolOutcome | None, state: ToolState, view: ToolView, status_known: bool
    ) -> list[Body]:
        from renderers.text import one_line

        if not text.strip() and not notice:
            if state != "error" or status_known:
                return []
            text = "(no output)"
        footer = notice_rows(notice)
        path = outcome.detail_text(result, "fullOutputPath")
        if path and view.is_full and path not in notice:
            footer.append(Row(Content.styled(f"all of it: {one_line(path)}", "$meta")))
        return [block.text_body(text, view, PREVIEW_ROWS, keep_tail=True, footer=footer), *self._images(result, view)]

    def _images(self, result: ToolOutcome | None, view: ToolView) -> list[Body]:
        rows = block.image_rows(result)
        return [Body(rows, plain=view.plain)] if rows else []


register_tool_renderer("bash", BashRenderer())
