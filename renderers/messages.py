"""How everything but tool calls looks in the transcript: user, assistant, thinking, `!` runs, summaries, notes, errors.

All text is foreign: sanitised here, never markup. Plain mode says in words what glyphs say (ui.md §7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from textual.content import Content
from textual.visual import Visual

from renderers import block
from renderers.header import META_STYLE, Header, ToolState, elapsed
from renderers.prose import MetaLine, Prose, clean
from renderers.registry import Density, ToolView
from renderers.rows import FULL_ROWS, Body, Row
from renderers.user import SIBLING_META, UserVisual

if TYPE_CHECKING:
    from renderers.markdown import MarkdownVisual

__all__ = [
    "SIBLING_META", "NoteLevel", "assistant_visual", "bash_execution_visual", "custom_visual", "error_visual",
    "interrupted_visual", "note_visual", "summary_visual", "thinking_visual", "user_visual",
]  # fmt: skip

THINKING_ROWS = 5
BASH_ROWS = 20
ERROR_LINES = 40
ERROR_CHARS = 8_000
"""A provider may answer with a whole page of HTML."""
THINKING_STREAM_CHARS = 20_000
NoteLevel = Literal["info", "success", "warning", "error"]
_NOTE: dict[NoteLevel, tuple[str, str]] = {
    "info": ("·", META_STYLE),
    "success": ("✓", "$text-success"),
    "warning": ("!", "$text-warning"),
    "error": ("✗", "$text-error"),
}


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
    if elapsed_s is not None and elapsed_s < 0.1:
        elapsed_s = None
    label = short if elapsed_s is None else f"{verb} {elapsed(round(elapsed_s) if elapsed_s >= 1 else elapsed_s)}"
    is_open = density != "title"
    chevron = (" (open)" if is_open else " (closed)") if plain else " ▾" if is_open else " ▸"
    has_text = bool(text.strip())
    head = Prose("", "", Content.styled(label + (chevron if has_text else ""), "italic $thinking"))
    if not is_open or not has_text:
        return head
    shown = text[-THINKING_STREAM_CHARS:] if streaming else text
    limit = FULL_ROWS if density == "full" else THINKING_ROWS
    lines = clean(shown).split("\n")
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
    tokens_after: int | None = None,
    plain: bool = False,
) -> Visual:
    """A branch or compaction summary: one line, open its Markdown.

    `tokens_before`: the conversation's tokens then; `tokens_after`: about how many were left of it, where known.
    """
    label = "branch summary" if kind == "branch" else "compacted"
    subject = ""
    if kind == "compaction" and tokens_before:
        subject = f"from {tokens_before:,} tokens"
        if tokens_after is not None:
            subject += f" to about {tokens_after:,}"
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


def error_visual(text: str, hint: str = "", *, plain: bool = False) -> Visual:
    """A failure of the run, in the provider's or our own words, and what can be done about it."""
    shown = clean(text, ERROR_LINES, ERROR_CHARS) or "something failed without saying what"
    tail = Content.styled(clean(hint), META_STYLE) if hint else None
    return Prose("error:" if plain else "✗", "bold $text-error", Content.styled(shown, "$text-error"), tail)


def retried_visual(word: str, text: str, width: int, *, plain: bool = False) -> Visual:
    """A failure after which the request was sent again, in one quiet line of `width` cells."""
    end = " · retried"
    from renderers.text import cut_cells, one_line

    shown = cut_cells(one_line(text), max(1, width - len(word) - len(end) - 6))
    return note_visual(f"{word}: {shown}{end}", plain=plain)


def interrupted_visual(*, plain: bool = False) -> Visual:
    """The mark under an answer that the user stopped: what came is kept."""
    text = "interrupted — what came so far is kept; type what to do instead"
    return Prose("stopped:" if plain else "■", "$text-warning", Content.styled(text, META_STYLE))


def note_visual(text: str, level: NoteLevel = "info", *, plain: bool = False) -> Visual:
    """A remark of the app's own: a command's answer, a warning."""
    glyph, style = _NOTE.get(level, _NOTE["info"])
    mark = ("" if level == "info" else f"{level}:") if plain else glyph
    return Prose(mark, style, Content.styled(clean(text), META_STYLE if level in ("info", "success") else style))
