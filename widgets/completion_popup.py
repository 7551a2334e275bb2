"""The list of choices over the prompt: drawn line by line, at most eight rows, pushing nothing away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from renderers.text import cell_width, cut_cells, cut_middle, one_line
from widgets.bar import column_of
from widgets.repaint import ChangedCellsOnly

if TYPE_CHECKING:
    from textual import events

    from widgets.completion import Candidate
    from widgets.fuzzy import Match

MAX_ROWS = 8


class CompletionPopup(ChangedCellsOnly, Widget):
    """Shows ranked candidates with one of them highlighted."""

    DEFAULT_CSS = """
    CompletionPopup {
        overlay: screen;
        constrain: none inside;
        display: none;
        width: 100%;
        height: auto;
    }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "completion--cursor", "completion--match", "completion--detail",
    }  # fmt: skip

    can_focus = False

    @dataclass
    class Picked(Message):
        """A row was clicked."""

        index: int

    def __init__(self) -> None:
        super().__init__()
        self._hits: Sequence[tuple[Candidate, Match]] = ()
        self._rows_at_most = MAX_ROWS
        self._column = 0
        self.index = 0

    @property
    def is_open(self) -> bool:
        """True while choices are shown."""
        return bool(self._hits) and bool(self.display)

    @property
    def candidates(self) -> list[Candidate]:
        """The choices, best first."""
        return [candidate for candidate, _ in self._hits]

    @property
    def highlighted(self) -> Candidate | None:
        """The choice that would be taken."""
        return self._hits[self.index][0] if self.is_open else None

    def open(self, hits: Sequence[tuple[Candidate, Match]], rows_above: int) -> None:
        """Show these, the best highlighted, in the rows that are free above the prompt; none of either: close."""
        rows = min(len(hits), MAX_ROWS, rows_above)
        if rows < 1:
            self.close()
            return
        layout = rows != self.row_count or not self.display
        self._hits, self._rows_at_most, self.index = hits, rows, 0
        self._column = column_of(one_line(each.label or each.text, 40) for each, _ in hits[:100])
        if layout:
            self.styles.offset = (0, -rows)
            self.display = True
        self.refresh(layout=layout)

    def close(self) -> None:
        """Hide."""
        if self.display:
            self.display = False
        self._hits = ()

    def move(self, step: int) -> None:
        """Move the highlight, round the ends."""
        self.index = (self.index + step) % len(self._hits)
        self.refresh()

    @property
    def row_count(self) -> int:
        """Rows drawn."""
        return min(len(self._hits), self._rows_at_most)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows drawn."""
        return self.row_count

    def render_line(self, y: int) -> Strip:
        """Return the row of one choice: name with its matched letters marked, then what is said of it."""
        width, base, at = self.size.width, self.rich_style, self._first + y
        if at >= len(self._hits):
            return Strip.blank(width, base)
        candidate, match = self._hits[at]
        if at == self.index:
            base = base + self.get_component_rich_style("completion--cursor", partial=True)
        label = one_line(candidate.label or candidate.text)
        counter = f" {self.index + 1}/{len(self._hits)} " if y == self.row_count - 1 < len(self._hits) - 1 else " "
        room = max(0, width - 2 - cell_width(counter))
        shown = cut_middle(label, room)
        pieces = [("  ", base), *self._marked(shown, match.positions if shown == label == candidate.text else (), base)]
        blanks = 2 + max(0, self._column - cell_width(shown))
        rest = room - cell_width(shown) - blanks + 2
        detail_style = base + self.get_component_rich_style("completion--detail", partial=True)
        detail = cut_cells(one_line(candidate.detail), rest - 2) if rest > 10 else ""
        pieces.append((" " * blanks + detail if detail else "", detail_style))
        strip = Strip([Segment(text, style) for text, style in pieces if text])
        strip = strip.adjust_cell_length(max(0, width - cell_width(counter)), base)
        return Strip.join([strip, Strip([Segment(counter, detail_style)])]).adjust_cell_length(width, base)

    def _marked(self, label: str, positions: Sequence[int], base: Style) -> list[tuple[str, Style]]:
        if not positions:
            return [(label, base)]
        mark = base + self.get_component_rich_style("completion--match", partial=True)
        marked = set(positions)
        pieces: list[tuple[str, Style]] = []
        for at, character in enumerate(label):
            style = mark if at in marked else base
            if pieces and pieces[-1][1] == style:
                pieces[-1] = (pieces[-1][0] + character, style)
            else:
                pieces.append((character, style))
        return pieces

    @property
    def _first(self) -> int:
        """The first choice drawn: the highlight stays in sight, in pages."""
        return max(0, min(self.index - self.row_count // 2, len(self._hits) - self.row_count))

    def _row(self, y: int) -> Strip:
        return self.render_line(y)

    def on_click(self, event: events.Click) -> None:
        """Take the row that was clicked."""
        event.stop()
        at = self._first + event.y
        if at < len(self._hits):
            self.post_message(self.Picked(at))
