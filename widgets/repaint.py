"""Which cells of a row differ from the row on the screen: so that a key or a tick repaints those and no others."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.geometry import Region

if TYPE_CHECKING:
    from typing import Self

    from rich.style import Style
    from textual.strip import Strip
    from textual.widget import Widget as _Base

    Run = tuple[str, Style | None]
else:
    _Base = object  # Textual looks for CSS and component classes along the first base that is a widget: not here


def changed_span(old: Strip, new: Strip) -> tuple[int, int] | None:
    """Return the cells [first, end) in which two rows of a terminal differ, or None if they look the same.

    Rows of unlike width, and rows whose clusters don't add up to their width, count as wholly changed.
    """
    if old is new or old == new:
        return None
    width = new.cell_length
    if width == old.cell_length:
        plain, other = _runs(old), _runs(new)
        if plain is not None and other is not None:
            first = _shared(plain, other, 1)
            return None if first == width else (first, width - _shared(plain, other, -1))
    before, after = _cells(old), _cells(new)
    if len(before) != len(after) or len(after) != width or old.cell_length != width:
        return 0, max(width, old.cell_length)
    if before == after:
        return None
    first = 0
    while before[first] == after[first]:
        first += 1
    last = width - 1
    while before[last] == after[last]:
        last -= 1
    # A wide character is painted whole: its right half is an empty cell.
    while first > 0 and (before[first][0] == "" or after[first][0] == ""):
        first -= 1
    while last + 1 < width and (before[last + 1][0] == "" or after[last + 1][0] == ""):
        last += 1
    return first, last + 1


def _runs(strip: Strip) -> list[Run] | None:
    """Text with its style if each character takes one cell, else None. Spares 75 µs a row, 3 ms a page scrolled."""
    runs: list[Run] = []
    for segment in strip:
        text = segment.text
        if segment.control or not text:
            continue
        if not (text.isascii() and text.isprintable()):
            return None
        runs.append((text, segment.style))
    return runs if sum(len(text) for text, _ in runs) == strip.cell_length else None


def _shared(old: list[Run], new: list[Run], step: int) -> int:
    """How many cells two rows share from the left (step 1) or from the right (-1)."""
    shared = 0
    ours, theirs = iter(old[::step]), iter(new[::step])
    text, style = next(ours, ("", None))
    other, its_style = next(theirs, ("", None))
    while text and other and (style is its_style or style == its_style):
        length = min(len(text), len(other))
        if text == other:
            same = length
        else:
            pairs = zip(text[::step], other[::step], strict=False)
            same = next((at for at, (one, two) in enumerate(pairs) if one != two), length)
        shared += same
        if same < length:
            break
        rest, other_rest = len(text) - length, len(other) - length
        if rest:
            text = text[length:] if step > 0 else text[:rest]
        else:
            text, style = next(ours, ("", None))
        if other_rest:
            other = other[length:] if step > 0 else other[:other_rest]
        else:
            other, its_style = next(theirs, ("", None))
    return shared


def _cells(strip: Strip) -> list[tuple[str, Style | None]]:
    cells: list[tuple[str, Style | None]] = []
    for segment in strip:
        if segment.control:
            continue
        style = segment.style
        for character in segment.text:
            width = 1 if " " <= character <= "~" else cell_len(character)
            if width:
                cells.append((character, style))
                cells.extend([("", style)] * (width - 1))
            elif cells:
                cells[-1] = (cells[-1][0] + character, cells[-1][1])
    return cells


class ChangedCellsOnly(_Base):
    """Makes a line-drawn widget ask the compositor for the changed cells when nothing but its text changed.

    Textual repaints a widget whole after any change of a reactive: 714 bytes a key for an editor of 120 columns. This
    leans on two private members of Textual 8 (`_exchange_repaint_regions`, `_repaint_regions` behind it); without
    them a widget is merely repainted whole.
    """

    _shown: list[Strip] | None = None
    _shown_frame: Hashable = None
    _is_touched = True

    def frame(self) -> Hashable:
        """Return all that decides how the widget looks besides its rows; a new value means a whole repaint."""
        border = self.border_title, self.border_subtitle
        return self.outer_size, self.classes, frozenset(self.pseudo_classes), self.app.theme, border

    def forget_shown(self) -> None:
        """Have the next repaint draw the whole widget."""
        self._shown = None

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Ask for a repaint (Textual's method), and note it."""
        self._is_touched = True
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def notify_style_update(self) -> None:
        """Draw everything again: colours may have changed."""
        self._shown = None
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the rows of a region for the compositor.

        It also asks on others' behalf, and then may write none of the rows: if ours changed since we last said which
        cells to repaint, what the screen shows is no longer known.
        """
        if self._is_touched:
            self._shown = None
        return super().render_lines(crop)

    def _exchange_repaint_regions(self) -> Collection[Region]:
        regions = super()._exchange_repaint_regions()
        if not regions or not self.size:
            return regions
        self._is_touched = False
        rows = [self._row(y) for y in range(self.size.height)]
        frame = self.frame()
        known, self._shown = self._shown, rows
        same_frame, self._shown_frame = frame == self._shown_frame, frame
        if known is None or not same_frame or len(known) != len(rows):
            return regions
        left, top = self.content_offset
        changed: list[Region] = []
        for y, (old, new) in enumerate(zip(known, rows, strict=True)):
            if span := changed_span(old, new):
                changed.append(Region(left + span[0], top + y, span[1] - span[0], 1))
        return changed

    def _row(self, y: int) -> Strip:
        raise NotImplementedError
