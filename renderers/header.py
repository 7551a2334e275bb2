"""The one row above a tool call: state, name, subject, and its outcome at the right; it must never wrap.

State is told by glyph and colour, and by a word in plain mode (ui.md §1, §7). What does not fit is dropped in this
order: later parts of the outcome, the extra, the middle of a path or the end of any other subject.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from renderers.rows import EMPTY, strip_of

ToolState = Literal["inprogress", "complete", "error"]
GLYPHS: dict[ToolState, str] = {"inprogress": "◐", "complete": "✓", "error": "✗"}
WORDS: dict[ToolState, str] = {"inprogress": "running", "complete": "done", "error": "failed"}
STATE_STYLES: dict[ToolState, str] = {
    "inprogress": "$tool-running",
    "complete": "$text-success",
    "error": "$text-error",
}
IDLE_GLYPH = "○"
IDLE_WORD = "not run"
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
PATH_STYLE = "$text-primary"
META_STYLE = "$meta"


@dataclass(frozen=True, slots=True, eq=False)
class Header(Visual):
    """A header row, laid out at the width it is drawn at. All texts must be sanitised and of one line.

    `frame` counts spinner steps, 0 stands still (a spinner repaints most of a row a second); below 0 the call is not
    running, and has no result either: it never ran.
    `expanded` None means that there is nothing to open. `outcome` parts stand at the right, the weightiest first.
    """

    state: ToolState
    name: str = ""
    subject: str = ""
    subject_style: str = ""
    is_path: bool = False
    extra: Content = EMPTY
    outcome: Sequence[str] = ()
    expanded: bool | None = None
    plain: bool = False
    frame: int = 0
    icon: str = ""

    def _left(self, width: int) -> Content:
        style = STATE_STYLES[self.state]
        glyph, word = GLYPHS[self.state], WORDS[self.state]
        if self.state == "inprogress":
            if self.frame < 0:
                glyph, word = IDLE_GLYPH, IDLE_WORD
            elif self.frame:
                glyph = SPINNER[self.frame % len(SPINNER)]
        mark = f"{word}:" if self.plain else glyph
        indent = "  " if width >= 40 else ""
        icon = f" {self.icon}" if self.icon else ""
        name = (f" {self.name}", "bold $tool-name") if self.name else ""
        return Content.assemble(indent, (mark + icon, style), name)

    def _gap(self, width: int) -> int:
        """Blanks before the subject: two after a name where there is room."""
        return 2 if self.name and width >= 60 else 1

    def _chevron(self) -> str:
        if self.expanded is None:
            return "" if self.plain else " "
        if self.plain:
            return "(open)" if self.expanded else "(closed)"
        return "▾" if self.expanded else "▸"

    def _right(self, parts: Sequence[str]) -> Content:
        style = (
            "$text-error" if self.state == "error" else "$tool-running" if self.state == "inprogress" else META_STYLE
        )
        text = " · ".join(parts)
        chevron = self._chevron()
        return Content.assemble((text, style), " " if text and chevron.strip() else "", (chevron, META_STYLE))

    def _plan(self, width: int) -> tuple[Content, str, Content, Content, int]:
        """Left part, subject as it fits, extra, right part, and the gap before the right part in cells."""
        from renderers.text import cell_width, cut_cells, cut_middle

        left = self._left(width)
        between = self._gap(width)
        parts = list(self.outcome)
        right = self._right(parts)
        extra = self.extra
        subject_width = cell_width(self.subject)
        least = min(subject_width, 16 if width >= 60 else 4)

        def room() -> int:
            gap = between if self.subject or extra.plain else 0
            after = (1 + right.cell_length) if right.plain.strip() else 0
            return width - left.cell_length - gap - after - (extra.cell_length + 1 if extra.plain else 0)

        while room() < least and len(parts) > 1:
            parts.pop()
            right = self._right(parts)
        if room() < least and extra.plain:
            extra = EMPTY
        if room() < min(least, 4) and right.plain.strip():
            right = self._right(()) if left.cell_length + 2 <= width - len(self._chevron()) - 1 else EMPTY
        space = max(0, room())
        subject = self.subject
        if subject_width > space:
            subject = (cut_middle if self.is_path else cut_cells)(subject, space) if space else ""
        used = left.cell_length + right.cell_length + cell_width(subject) + (between if subject or extra.plain else 0)
        used += (extra.cell_length + len(_glue(extra))) if extra.plain and subject else extra.cell_length
        return left, subject, extra, right, max(0, width - used)

    def shows_whole(self, width: int) -> bool:
        """Whether the subject stands uncut at this width."""
        return self._plan(width)[1] == self.subject

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """Exactly one strip, `width` cells wide when there is something at the right; [] at width 0."""
        if width < 1:
            return []
        left, subject, extra, right, gap = self._plan(width)
        if left.cell_length > width:
            return [strip_of((left,), style, options).crop(0, width)]
        between = " " * self._gap(width)
        parts = [left]
        if subject or extra.plain:
            parts.append(Content(between))
        if subject:
            parts.append(Content.styled(subject, self.subject_style) if self.subject_style else Content(subject))
        if extra.plain:
            parts.extend((Content(_glue(extra) if subject else ""), extra))
        if right.plain.strip():
            parts.extend((Content(" " * gap), right))
        return [strip_of(parts, style, options).crop(0, width)]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """The whole width: the outcome stands at the right edge."""
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        """One row."""
        return 1 if width > 0 else 0


def render_header(state: ToolState, icon: str, text: str, *, plain: bool = False, frame: int = 0) -> Visual:
    """One row: state, icon and text, cut to the width, never wrapped. Foreign text is sanitised here."""
    from renderers.text import one_line

    return Header(
        state, subject=one_line(text), icon=one_line(icon), plain=plain, frame=frame, subject_style=META_STYLE
    )


def render_collapsible_header(
    state: ToolState, icon: str, text: str, expanded: bool, *, plain: bool = False, frame: int = 0
) -> Visual:
    """The same with ▸ or ▾ at the right edge: what stands below can be opened or is open."""
    from renderers.text import one_line

    return Header(
        state,
        subject=one_line(text),
        icon=one_line(icon),
        expanded=expanded,
        plain=plain,
        frame=frame,
        subject_style=META_STYLE,
    )


def _glue(extra: Content) -> str:
    """A line range stands at its path, anything else a blank apart."""
    return "" if extra.plain.startswith(":") else " "


def elapsed(seconds: float) -> str:
    """The time so far: a whole number of seconds without a ".0", for clocks that tick by the second."""
    from renderers.text import humanise_duration

    return f"{int(seconds)} s" if float(seconds).is_integer() and 0 <= seconds < 60 else humanise_duration(seconds)


def running_for(elapsed_s: float | None) -> str:
    """ "running 1.2 s", or "running" when it isn't known since when."""
    return "running" if elapsed_s is None else f"running {elapsed(elapsed_s)}"
