"""How everything but tool calls looks in the transcript: user, assistant, thinking, `!` runs, summaries, notes, errors.

All text is foreign: sanitised here, never markup. Plain mode says in words what glyphs say (ui.md §7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from renderers import block
from renderers.console import cluster_edge, head_lines
from renderers.header import META_STYLE, Header, ToolState, elapsed
from renderers.registry import Density, ToolView
from renderers.rows import FULL_ROWS, Body, Row, strip_of, wrap_content

if TYPE_CHECKING:
    from renderers.markdown import MarkdownVisual

PROSE_CELLS = 100
THINKING_ROWS = 5
BASH_ROWS = 20
ERROR_LINES = 40
ERROR_CHARS = 8_000
"""A provider may answer with a whole page of HTML."""
THINKING_STREAM_CHARS = 20_000
SIBLING_META = "pinyon_sibling"
"""Key in the style meta of the sibling arrows: -1 or 1. A click on such a cell asks for that sibling."""

NoteLevel = Literal["info", "success", "warning", "error"]
_NOTE: dict[NoteLevel, tuple[str, str]] = {
    "info": ("·", META_STYLE),
    "success": ("✓", "$text-success"),
    "warning": ("!", "$text-warning"),
    "error": ("✗", "$text-error"),
}


class UserVisual(Visual):
    """What the user said: a bar, a tint over the whole width, and the switch between siblings at the right."""

    def __init__(self, text: str, siblings: tuple[int, int] | None, images: int, plain: bool) -> None:
        shown = _clean(text)
        marks = f"[{images} image{'' if images == 1 else 's'}]" if images else ""
        self._text = Content(shown) if shown or not marks else Content("")
        if marks:
            self._text = Content.assemble(self._text, "\n" if shown else "", (marks, META_STYLE))
        self._switch = self._siblings(siblings, plain)
        self._bar = "> " if plain else "▌ "
        self._tint = "" if plain else "on $user-background"

    @staticmethod
    def _siblings(siblings: tuple[int, int] | None, plain: bool) -> Content:
        if siblings is None or siblings[1] < 2:
            return Content("")
        place, count = siblings
        if plain:
            return Content(f"version {place} of {count}")
        before, after = (Style.from_meta({SIBLING_META: step}) for step in (-1, 1))
        return Content.assemble(("‹", before), f" {place}/{count} ", ("›", after)).stylize("$text-warning")

    def _wrapped(self, width: int) -> tuple[list[Content], bool]:
        """The text's rows and whether the switch has room beside the first."""
        beside = self._switch.cell_length + 3
        has_room = bool(self._switch.plain) and width - 2 - beside >= 16
        room = max(1, min(PROSE_CELLS, width - 2 - (beside if has_room else 0)))
        return wrap_content(self._text, room), has_room

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """Rows of exactly `width` cells; [] at width 0."""
        if width < 1:
            return []
        rows, beside = self._wrapped(width)
        bar = Content.styled(self._bar if width > 2 else self._bar[:width], "$user-bar")
        base = style + options.get_style(self._tint) if self._tint else style
        strips = []
        if self._switch.plain and not beside:
            rows = [*rows, self._switch]
        for index, row in enumerate(rows):
            parts = [bar, row]
            if beside and index == 0:
                gap = width - bar.cell_length - row.cell_length - self._switch.cell_length - 1
                parts.extend((Content(" " * gap), self._switch))
            strips.append(strip_of(parts, base, options).adjust_cell_length(width, base.rich_style))
        return strips if height is None else strips[:height]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """The whole width, for the tint."""
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        """The number of rows at this width."""
        if width < 1:
            return 0
        rows, beside = self._wrapped(width)
        return len(rows) + (1 if self._switch.plain and not beside else 0)


class Prose(Visual):
    """Text wrapped between words at no more than 100 cells, after a mark and with a hanging indent."""

    def __init__(self, mark: str, mark_style: str, text: Content, tail: Content | None = None) -> None:
        self._mark = mark
        self._mark_style = mark_style
        self._text = text
        self._tail = tail

    def _wrapped(self, width: int) -> list[tuple[Content, Content]]:
        indent = "  " if width >= 24 else ""
        mark = Content.assemble(indent, (f"{self._mark} " if self._mark else "", self._mark_style))
        if mark.cell_length + 4 > width:
            mark = Content("")
        blank = Content(" " * mark.cell_length)
        room = max(1, min(PROSE_CELLS, width - mark.cell_length))
        rows = [(blank if index else mark, row) for index, row in enumerate(wrap_content(self._text, room))]
        rows.extend(
            (blank, row)
            for row in (wrap_content(self._tail, room) if self._tail is not None and self._tail.plain else ())
        )
        return rows

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """One strip a row; [] at width 0."""
        strips = [strip_of(parts, style, options) for parts in self._wrapped(width)] if width > 0 else []
        return strips if height is None else strips[:height]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """As wide as the text, within the container."""
        return min(container_width, self._text.cell_length + 4)

    def get_height(self, rules: RulesMap, width: int) -> int:
        """The number of rows at this width."""
        return len(self._wrapped(width)) if width > 0 else 0


def _clean(text: str, limit_lines: int = FULL_ROWS, limit_chars: int = 200_000) -> str:
    """The text as it can be drawn; of a huge one the head, and how much is left out (a paste may have any size)."""
    from renderers.text import expand_tabs, sanitise

    text = text.strip("\r\n")
    cut = head_lines(text[: cluster_edge(text, limit_chars)], limit_lines)
    if not cut.hidden and len(text) <= limit_chars:
        return expand_tabs(sanitise(text))
    left = text.count("\n") + 1 - len(cut.lines)
    note = f"… {left:,} more line{'' if left == 1 else 's'}" if left else "…"
    return "\n".join((*cut.lines, note))


def user_visual(text: str, *, siblings: tuple[int, int] | None = None, images: int = 0, plain: bool = False) -> Visual:
    """What the user said, as it was typed. `siblings` = (place from 1, count): shown as ‹ 2/3 › when count > 1."""
    return UserVisual(text, siblings, images, plain)


def assistant_visual(text: str) -> MarkdownVisual:
    """The model's answer as Markdown, whole."""
    from renderers.markdown import MarkdownVisual

    visual = MarkdownVisual()
    visual.append(text)
    visual.finish()
    return visual


def thinking_visual(
    text: str,
    density: Density = "title",
    elapsed_s: float | None = None,
    streaming: bool = False,
    *,
    plain: bool = False,
) -> Visual:
    """The model's reasoning: "thought for 4 s ▸", open dim and italic. While it streams only its end is looked at."""
    from renderers.stack import Stack

    verb, short = ("thinking", "thinking") if streaming else ("thought for", "thought")
    label = short if elapsed_s is None else f"{verb} {elapsed(round(elapsed_s) if elapsed_s >= 1 else elapsed_s)}"
    is_open = density != "title"
    chevron = (" (open)" if is_open else " (closed)") if plain else " ▾" if is_open else " ▸"
    has_text = bool(text.strip())
    head = Prose("", "", Content.styled(label + (chevron if has_text else ""), "italic $thinking"))
    if not is_open or not has_text:
        return head
    shown = text[-THINKING_STREAM_CHARS:] if streaming else text
    limit = FULL_ROWS if density == "full" else THINKING_ROWS
    lines = _clean(shown).split("\n")
    rows = [Row(Content.styled(line, "italic $thinking") if line else Content("")) for line in lines]
    hint = "" if plain or density == "full" else "enter shows more"
    return Stack([head, Body(rows, limit, streaming, hint=hint, plain=plain, prose=True)])


def bash_execution_visual(
    command: str,
    output: str,
    *,
    exit_code: int | None = None,
    running: bool = False,
    cancelled: bool = False,
    excluded: bool = False,
    full_output_path: str | None = None,
    density: Density = "preview",
    elapsed_s: float | None = None,
    frame: int = 0,
    plain: bool = False,
) -> Visual:
    """A `!` run of the user's, or a `!!` one (`excluded`: the model isn't told). Preview: its last 20 rows."""
    from renderers.bash import command_bodies
    from renderers.stack import Stack
    from renderers.text import expand_tabs, one_line, sanitise

    failed = cancelled or bool(exit_code)
    state: ToolState = "inprogress" if running else "error" if failed else "complete"
    view = ToolView(density, elapsed_s, frame, plain)
    clean = sanitise(command)
    first, _, rest = clean.strip("\n").partition("\n")
    status = "stopped" if cancelled else f"exit {exit_code}" if exit_code else ""
    took = elapsed(elapsed_s) if elapsed_s is not None and elapsed_s >= 1 and not running else ""
    parts = block.outcome_parts(None, state, view, status, took, "not told to the model" if excluded else "")
    header = Header(
        state,
        "!!" if excluded else "!",
        expand_tabs(first) + (" …" if rest else ""),
        outcome=parts,
        expanded=view.is_open,
        plain=plain,
        frame=frame,
    )
    if not view.is_open:
        return header
    footer = [Row(Content.styled(f"all of it: {one_line(full_output_path)}", META_STYLE))] if full_output_path else []
    bodies = command_bodies(header, clean, view)
    if output.strip():
        bodies.append(block.text_body(output, view, BASH_ROWS, keep_tail=True, footer=footer))
    elif not running:
        bodies.append(block.text_body("(no output)", view, BASH_ROWS, style=META_STYLE))
    return Stack([header, *bodies])


def summary_visual(
    kind: Literal["branch", "compaction"],
    summary: str,
    tokens_before: int | None = None,
    density: Density = "title",
    *,
    plain: bool = False,
) -> Visual:
    """A branch or compaction summary: one line, open its Markdown. `tokens_before`: tokens that were compacted."""
    label = "branch summary" if kind == "branch" else "compacted"
    subject = ""
    if kind == "compaction" and tokens_before:
        subject = f"from {tokens_before:,} tokens"
    return _foldable(label, subject, summary, density, plain)


def custom_visual(custom_type: str, text: str, density: Density = "full", *, plain: bool = False) -> Visual:
    """A message that an extension added: its type as a label, its text as Markdown."""
    from renderers.text import one_line

    return _foldable(one_line(custom_type) or "message", "", text, density, plain)


def _foldable(label: str, subject: str, text: str, density: Density, plain: bool) -> Visual:
    from renderers.stack import Indent, Stack

    is_open = density != "title"
    has_text = bool(text.strip())
    head = MetaLine(label, subject, is_open if has_text else None, plain)
    if not is_open or not has_text:
        return head
    shown = text
    if density == "preview":
        lines = text.strip("\n").split("\n", 10)
        shown = "\n".join(lines[:10]) + ("\n\n…" if len(lines) > 10 else "")
    return Stack([head, Indent(assistant_visual(shown), "  ")])


class MetaLine(Visual):
    """A label and a remark in one row that never wraps, with the sign that says whether it is open."""

    def __init__(self, label: str, subject: str, expanded: bool | None, plain: bool) -> None:
        self._label = label
        self._subject = subject
        self._expanded = expanded
        self._plain = plain

    def _row(self, width: int) -> Content:
        from renderers.text import cut_cells

        sign = ""
        if self._expanded is not None:
            words = ("(open)", "(closed)") if self._plain else ("▾", "▸")
            sign = " " + words[0 if self._expanded else 1]
        indent = "  " if width >= 24 else ""
        room = width - len(indent) - len(sign)
        if room < 1:
            return Content.styled(cut_cells(self._label, width), "bold $text-accent")
        label = cut_cells(self._label, room)
        rest = room - Content(label).cell_length - 1
        subject = cut_cells(self._subject, rest) if self._subject and rest > 2 else ""
        return Content.assemble(
            indent, (label, "bold $text-accent"), " " if subject else "", (subject, META_STYLE), (sign, META_STYLE)
        )

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """One strip; [] at width 0."""
        return [strip_of((self._row(width),), style, options)] if width > 0 else []

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """As wide as its texts, within the container."""
        return min(container_width, Content(f"  {self._label} {self._subject}").cell_length + 9)

    def get_height(self, rules: RulesMap, width: int) -> int:
        """One row."""
        return 1 if width > 0 else 0


def error_visual(text: str, hint: str = "", *, plain: bool = False) -> Visual:
    """A failure of the run, in the provider's or our own words, and what can be done about it."""
    shown = _clean(text, ERROR_LINES, ERROR_CHARS) or "something failed without saying what"
    tail = Content.styled(_clean(hint), META_STYLE) if hint else None
    return Prose("error:" if plain else "✗", "bold $text-error", Content.styled(shown, "$text-error"), tail)


def interrupted_visual(*, plain: bool = False) -> Visual:
    """The mark under an answer that the user stopped: what came is kept."""
    text = "interrupted — what came so far is kept; type what to do instead"
    return Prose("stopped:" if plain else "■", "$text-warning", Content.styled(text, META_STYLE))


def note_visual(text: str, level: NoteLevel = "info", *, plain: bool = False) -> Visual:
    """A remark of the app's own: a command's answer, a warning."""
    glyph, style = _NOTE.get(level, _NOTE["info"])
    mark = ("" if level == "info" else f"{level}:") if plain else glyph
    return Prose(mark, style, Content.styled(_clean(text), META_STYLE if level in ("info", "success") else style))
