"""One row of tokens that gives way by weight when the terminal is narrow: header, footer and the queue's rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from renderers.text import cell_width, cut_cells, cut_middle, one_line
from widgets.plain import in_words, is_plain
from widgets.repaint import ChangedCellsOnly


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a row: foreign text is sanitised when it is laid out; `style` names a component class of the widget.

    `weight` decides who goes first when there is no room (lowest), `cut` where a long one may be shortened, down to
    `least_cells`, and `cut_weight` when, if before others go; `gap` is the blanks before it.
    """

    text: str
    style: str = ""
    weight: int = 50
    on_right: bool = False
    cut: Literal["", "end", "middle"] = ""
    least_cells: int = 8
    cut_weight: int | None = None
    gap: int = 2
    is_clean: bool = False


def column_of(labels: Iterable[str], most_cells: int = 24) -> int:
    """The cells that labels take, so that what is said of them stands in one column; 0 when one is too long for it."""
    widest = max((cell_width(label) for label in labels), default=0)
    return widest if widest <= most_cells else 0


def lay_out(tokens: Sequence[Token], width_cells: int, *, margin: int = 1) -> list[tuple[str, str]]:
    """Return (text, style) pieces that fill exactly `width_cells`: left tokens, blanks, right tokens.

    Without room the lightest token is shortened or goes, then the next; the last one is cut.
    """
    kept = [token if token.is_clean else replace(token, text=one_line(token.text)) for token in tokens]
    kept = [token for token in kept if token.text]
    room = width_cells - 2 * margin
    if room < 1 or not kept:
        return [(" " * width_cells, "")] if width_cells > 0 else []
    while True:
        over = _needed(kept) - room
        if over <= 0:
            break
        if len(kept) == 1:
            kept = [replace(kept[0], text=cut_cells(kept[0].text, room))]
            break
        lightest = min(kept, key=_next_weight)
        at = kept.index(lightest)
        kept[at : at + 1] = [_shortened(lightest, over)] if _can_shorten(lightest) else []
    return _joined(kept, width_cells, margin)


def _needed(tokens: list[Token]) -> int:
    left = [token for token in tokens if not token.on_right]
    right = [token for token in tokens if token.on_right]
    cells = sum(cell_width(token.text) for token in tokens)
    gaps = sum(token.gap for token in left[1:]) + sum(token.gap for token in right[1:])
    return cells + gaps + (2 if left and right else 0)


def _can_shorten(token: Token) -> bool:
    return bool(token.cut) and cell_width(token.text) > token.least_cells


def _next_weight(token: Token) -> int:
    return token.cut_weight if token.cut_weight is not None and _can_shorten(token) else token.weight


def _shortened(token: Token, over: int) -> Token:
    cells = max(token.least_cells, cell_width(token.text) - over)
    text = cut_middle(token.text, cells) if token.cut == "middle" else cut_cells(token.text, cells)
    # A cut between wide characters may leave one cell more or less: never try the same token twice at its least.
    return replace(token, text=text, cut="" if cells == token.least_cells else token.cut)


def _joined(tokens: list[Token], width_cells: int, margin: int) -> list[tuple[str, str]]:
    pieces: list[tuple[str, str]] = [(" " * margin, "")]
    left = [token for token in tokens if not token.on_right]
    right = [token for token in tokens if token.on_right]
    for at, token in enumerate(left):
        if at:
            pieces.append((" " * token.gap, ""))
        pieces.append((token.text, token.style))
    tail: list[tuple[str, str]] = []
    for at, token in enumerate(right):
        if at:
            tail.append((" " * token.gap, ""))
        tail.append((token.text, token.style))
    tail.append((" " * margin, ""))
    used = sum(cell_width(text) for text, _ in (*pieces, *tail))
    pieces.append((" " * max(0, width_cells - used), ""))
    return [piece for piece in (*pieces, *tail) if piece[0]]


class Bar(ChangedCellsOnly, Widget):
    """A widget of rows of tokens; a change repaints the changed cells. A subclass gives `tokens_of_row`."""

    DEFAULT_CSS = """
    Bar { height: 1; width: 1fr; }
    """

    can_focus = False

    def tokens_of_row(self, y: int) -> Sequence[Token]:
        """Return the tokens of one row."""
        raise NotImplementedError

    def render_line(self, y: int) -> Strip:
        """Return one row, exactly as wide as the widget."""
        base = self.rich_style
        tokens = self.tokens_of_row(y)
        if is_plain(self):
            tokens = [replace(token, text=in_words(token.text)) for token in tokens]
        pieces = lay_out(tokens, self.size.width)
        strip = Strip([Segment(text, base + self._style(name)) for text, name in pieces])
        return strip.adjust_cell_length(self.size.width, base)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(name, partial=True) if name else Style.null()

    def _row(self, y: int) -> Strip:
        return self.render_line(y)
