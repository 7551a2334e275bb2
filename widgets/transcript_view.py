"""The drawing half of the transcript: rows in view, repaint of changed cells only, frames; it knows no keys.

Only blocks in view are rendered. A frame compares the rows that stand on the screen with those that should, and asks
for the cells that differ: one token costs one render of the tail and a handful of cells.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, cast

from textual import constants
from textual.content import Content
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions

from widgets.block import Density
from widgets.block_list import BlockList, Slot
from widgets.repaint import changed_span
from widgets.selection import MarkedText
from widgets.transcript_rows import Row, RowStyles, compose
from widgets.viewport import SLOW_LINE_STEP, Viewport

if TYPE_CHECKING:
    from collections.abc import Hashable

    from textual.css.styles import RulesMap
    from textual.visual import Visual

FRAMES_PER_SECOND = 30
"""At most; the SSH profile sets TEXTUAL_FPS lower. 60 would double the bytes of a stream and look no smoother."""
SLOW_LINE_FPS = 20
"""Whoever asks for so few frames (the SSH profile: 15) wants few bytes."""
KEPT_BLOCKS = 1024
"""Blocks whose strips are kept; more than rows fit on any screen."""
NARROW = 12
"""Below this many cells text takes the whole width: no indentation."""


def gap_above(slot: Slot) -> int:
    """Blank rows above: one, but none at the start and between tool calls."""
    other = slot.prev
    for _ in range(64):
        if other is None or other.height:
            break
        other = other.prev
    if other is None:
        return 0
    return 0 if slot.block.is_compact and other.block.is_compact else 1


class TranscriptView(ScrollView):
    """Draws a BlockList line by line."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"transcript--cursor", "transcript--pill", "transcript--hit"}
    DEFAULT_CSS = """
    TranscriptView {
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        scrollbar-color: $panel;
        & .transcript--cursor { color: $accent; }
        & .transcript--pill { background: $panel; color: $foreground; }
        & .transcript--hit { background: $warning-muted; color: $text-warning; }
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.blocks = BlockList()
        self.viewport = Viewport(self.blocks, self._measure)
        if constants.MAX_FPS <= SLOW_LINE_FPS:
            self.viewport.longest_step = SLOW_LINE_STEP
        self.marked = MarkedText(self.blocks)
        self.query_text = ""
        self.is_plain = False
        self.cursor_slot: Slot | None = None
        self.rendered_blocks = 0
        """How many times a block was rendered: what the growth tests count."""
        self._recent: dict[Slot, None] = {}
        self._dirty: dict[Slot, None] = {}
        self._width = 0
        self._styles_kept: RowStyles | None = None
        self._look: tuple[Size, Hashable] | None = None
        self._look_drawn: tuple[Size, Hashable] | None = None
        self._epoch = 0
        self._rows: list[Row] = []
        self._lines: list[Strip | None] = []
        self._top_row = 0
        self._is_scheduled = False
        self._last_frame = 0.0

    # What a subclass decides

    def density_of(self, slot: Slot) -> Density:
        """The density a block is drawn at."""
        return slot.block.default_density

    def before_frame(self, changed: list[Slot]) -> None:
        """Blocks changed and are about to be drawn."""

    def after_frame(self) -> None:
        """The screen was told what to repaint."""

    # Frames

    @property
    def is_settled(self) -> bool:
        """Whether everything that was touched has been drawn."""
        return not self._dirty

    def mark_changed(self, slot: Slot) -> None:
        """Draw this block anew with the next frame."""
        self._dirty[slot] = None
        if self._is_scheduled or not self.is_attached:
            return
        self._is_scheduled = True
        frame_s = 1 / min(FRAMES_PER_SECOND, constants.MAX_FPS)
        wait_s = self._last_frame + frame_s - time.monotonic()
        if wait_s > 0:
            self.set_timer(wait_s, self.flush)
        else:
            self.call_next(self.flush)

    def flush(self) -> None:
        """Draw what was touched, now. Without anything touched it costs nothing."""
        self._is_scheduled = False
        if not self._dirty:
            return
        changed = [slot for slot in self._dirty if slot.chunk is not None]
        self._dirty.clear()
        self.before_frame(changed)
        if not self.viewport.is_following:
            # So that the count of new lines is true; a few blocks a frame, the rest stay guesses.
            for slot in changed[-32:]:
                if self._look is not None and slot.chunk is not None:
                    self._measure(slot)
        self.redraw()
        self._last_frame = time.monotonic()

    def redraw(self) -> None:
        """Compare the rows on the screen with those that should be there and repaint the cells that differ."""
        if self._look is None or self._look != self._current_look() or not self.size:
            self._look = None
            self.refresh()
            return
        old_rows, old_lines = self._rows, self._lines
        self._lay_out()
        width, styles = self._width, self._row_styles()
        regions: list[Region] = []
        for y, row in enumerate(self._rows):
            old = old_lines[y] if y < len(old_lines) else None
            if old is not None and row == old_rows[y]:
                self._lines[y] = old
                continue
            line = self._lines[y] = compose(row, width, styles)
            span = (0, width) if old is None else changed_span(old, line)
            if span is not None:
                regions.append(Region(span[0], y, span[1] - span[0], 1))
        if regions:
            self.refresh(*regions)
        self.after_frame()

    def render_line(self, y: int) -> Strip:
        """The row `y` of the window; changes nothing but caches."""
        if self._look is None or self._look != self._current_look():
            self._prepare()
        if not 0 <= y < len(self._rows):
            return Strip.blank(self._width, self._row_styles().base)
        line = self._lines[y]
        if line is None:
            line = self._lines[y] = compose(self._rows[y], self._width, self._row_styles())
        return line.apply_offsets(0, self._top_row + y)

    # Layout

    @property
    def area(self) -> Size:
        """What is drawn in: `size` counts the scroll bar's column as well."""
        return self.scrollable_content_region.size

    def _current_look(self) -> tuple[Size, Hashable]:
        return self.area, (self.visual_style, self.app.theme)

    def _prepare(self) -> None:
        """Lay out for a new size or new colours; the compositor repaints the whole widget in these cases anyway."""
        look = self._current_look()
        old = self._look_drawn
        if old is None or old[1] != look[1]:
            self._epoch += 1
        width_changed = old is None or old[0].width != look[0].width
        self.viewport.resize(look[0].height, width_changed=width_changed)
        self._look = self._look_drawn = look
        self._styles_kept = None
        self._lay_out()

    def _lay_out(self) -> None:
        self._width, height = self.area
        places = self.viewport.layout()
        self._top_row = self.viewport.top
        pill = self.pill_text
        if self.marked.is_active:
            self.marked.prepare()
        rows: list[Row] = []
        for y in range(height):
            slot, at, strip, indent = None, 0, None, 0
            if y < len(places):
                slot, at = places[y]
                place = at - slot.gap
                strip = slot.strips[place] if 0 <= place < len(slot.strips) else None
                indent = self.indent_of(slot)
            rows.append(
                Row(
                    slot,
                    at,
                    strip,
                    indent,
                    slot is not None and slot is self.cursor_slot and at >= slot.gap,
                    self.marked.span(self._top_row + y) if self.marked.is_active and slot is not None else None,
                    self.query_text,
                    pill if y == height - 1 else "",
                )
            )
        self._rows = rows
        self._lines = [None] * height

    @property
    def pill_text(self) -> str:
        """What the pill says: how many lines came below; "" without any."""
        rows = self.viewport.new_rows
        if not rows:
            return ""
        return f" {'' if self.is_plain else '↓ '}{rows:,} new line{'' if rows == 1 else 's'} (end) "

    def indent_of(self, slot: Slot) -> int:
        """Blank cells at a block's left at this width."""
        return slot.block.indent if self._width >= NARROW else 0

    def row_at(self, y: int) -> Row | None:
        """What stands in the window's row `y`."""
        return self._rows[y] if 0 <= y < len(self._rows) else None

    def _row_styles(self) -> RowStyles:
        if self._styles_kept is None:
            style = self.get_component_rich_style
            self._styles_kept = RowStyles(
                self.visual_style.rich_style,
                style("transcript--cursor"),
                style("transcript--pill"),
                style("transcript--hit"),
                self.screen.get_component_rich_style("screen--selection"),
            )
        return self._styles_kept

    def notify_style_update(self) -> None:
        """Look up the styles of rows again; a block is drawn again only when its own colours changed."""
        self._styles_kept = None
        super().notify_style_update()

    # Blocks to strips

    def _measure(self, slot: Slot) -> None:
        """Bring a block's strips and height up to date; at no width heights stay what they were."""
        if self._width <= 0:
            return
        is_folded = self.is_folded(slot)
        version = slot.fold.version if is_folded and slot.fold is not None else slot.block.version
        key = (self._width, self._epoch, self.density_of(slot), version, is_folded)
        if slot.drawn_for != key:
            slot.strips = self._render_block(slot, key[2], is_folded=is_folded)
            slot.drawn_for = key
            self._recent.pop(slot, None)
            if slot.strips:
                self._recent[slot] = None
            if len(self._recent) > KEPT_BLOCKS:
                self._forget(next(iter(self._recent)))
        slot.gap = gap_above(slot) if slot.strips else 0
        self.blocks.set_height(slot, slot.gap + len(slot.strips))

    def _render_block(self, slot: Slot, density: Density, *, is_folded: bool) -> list[Strip]:
        if is_folded and slot.fold is not None and slot.fold.members[0] is not slot:
            return []
        self.rendered_blocks += 1
        width = self._width - self.indent_of(slot)
        options = RenderOptions(self._get_style, cast("RulesMap", self.styles))
        try:
            visual = self.fold_visual(slot) if is_folded else slot.block.visual(density, width, plain=self.is_plain)
            return visual.render_strips(width, None, self.visual_style, options)
        except Exception as error:  # a border: drawing one entry must never take the screen down
            self.log.error("a block could not be drawn", slot.block.id, error)
            note = Content(f"(this {slot.block.kind} could not be drawn: {type(error).__name__})")
            return note.render_strips(width, None, self.visual_style + Style(italic=True), options)

    def is_folded(self, slot: Slot) -> bool:
        """Whether the block shares a line with its neighbours now."""
        return slot.fold is not None and slot.fold.is_folded

    def fold_visual(self, slot: Slot) -> Visual:
        """The one line that a closed fold group shows."""
        return Content(f"{len(slot.fold.members) if slot.fold else 0} calls")

    def _forget(self, slot: Slot) -> None:
        self._recent.pop(slot, None)
        if slot.block.is_running or slot is self.blocks.last:
            return
        slot.strips = ()
        slot.drawn_for = None
        slot.block.release()

    def on_mount(self) -> None:
        """A theme's colours are in every strip."""
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self.forget_colours())

    def forget_colours(self) -> None:
        """Draw everything in new colours."""
        self._epoch += 1
        self._look = None
        self.refresh()
