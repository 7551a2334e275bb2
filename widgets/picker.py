"""A list to choose from, narrowed by typing: models, sessions, themes, prompts; drawn line by line.

The choice is kept by id, so a list that reloads never moves it; escape always means no.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.geometry import Offset, Size
from textual.message import Message
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget

from renderers.text import cell_width, cut_cells, cut_middle, one_line
from widgets.bar import Token, column_of, lay_out
from widgets.fuzzy import Match, rank
from widgets.plain import is_plain
from widgets.prompt_keys import normalise_key
from widgets.repaint import ChangedCellsOnly

if TYPE_CHECKING:
    from textual import events

MAX_ROWS = 200  # hits kept; who has more types another letter
_CURSOR = Style(reverse=True)
_HEAD, _FOOT = 2, 1  # title and filter above the list, the hint below


@dataclass(frozen=True, slots=True)
class PickerItem:
    """One choice. `label` is searched and marked, `detail` is searched too; `is_current` puts a tick before it."""

    id: str
    label: str
    detail: str = ""
    is_current: bool = False


class Picker(ChangedCellsOnly, Widget, can_focus=True):
    """Title, filter, list and hint. It takes every key it knows, in the order they were typed."""

    DEFAULT_CSS = """
    Picker { height: auto; max-height: 100%; width: 1fr; }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "picker--title", "picker--filter", "picker--marker", "picker--cursor", "picker--match", "picker--detail",
        "picker--current", "picker--hint",
    }  # fmt: skip

    @dataclass
    class Chosen(Message):
        """Enter or a click on a row."""

        id: str

    @dataclass
    class Highlighted(Message):
        """Another row is highlighted, for a preview; "" when the list is empty."""

        id: str

    class Cancelled(Message):
        """Escape."""

    def __init__(
        self,
        title: str,
        items: Sequence[PickerItem],
        *,
        selected: str | None = None,
        hint: str = "enter choose · esc cancel",
        empty: str = "nothing here",
        id: str | None = None,  # noqa: A002  # Textual's own name
    ) -> None:
        super().__init__(id=id)
        self.title, self.hint, self.empty = one_line(title), hint, empty
        self.query_text = ""
        self._items = list(items)
        self._hits: list[tuple[PickerItem, Match]] = []
        self.selected = selected or next((item.id for item in items if item.is_current), None)
        self._first = 0
        self._number = ""
        self._align()
        self._narrow(keep=True)

    # -- the list

    def set_items(self, items: Sequence[PickerItem]) -> None:
        """Show these instead; filter and choice stay."""
        self._items = list(items)
        self._align()
        height = len(self._hits)
        self._narrow(keep=True)
        self.refresh(layout=len(self._hits) != height)

    def set_query(self, text: str) -> None:
        """Narrow the list to what fits and highlight the best."""
        self.query_text = text
        self._narrow(keep=not text)
        self.refresh()

    @property
    def shown_ids(self) -> list[str]:
        """The ids that fit the filter, best first."""
        return [item.id for item, _ in self._hits]

    def _narrow(self, *, keep: bool) -> None:
        before, at = self.selected, self._index
        self._hits = rank(self.query_text, self._items, _searched, MAX_ROWS)
        ids = self.shown_ids
        if not ids:
            return  # the choice is remembered for when the filter is taken back
        if self.selected not in ids:
            self.selected = ids[min(at, len(ids) - 1)] if keep else ids[0]
        elif not keep:
            self.selected = ids[0]
        if self.selected != before and self.is_mounted:
            self.post_message(self.Highlighted(self.selected or ""))

    @property
    def _index(self) -> int:
        return next((at for at, (item, _) in enumerate(self._hits) if item.id == self.selected), 0)

    def move(self, step: int, *, round_ends: bool = False) -> None:
        """Highlight another row; a step past an end stops there, or goes round."""
        if not self._hits:
            return
        at = self._index + step
        at = at % len(self._hits) if round_ends else max(0, min(at, len(self._hits) - 1))
        self.selected = self._hits[at][0].id
        self.post_message(self.Highlighted(self.selected))
        self.refresh()

    @property
    def cursor_screen_offset(self) -> Offset:
        """Where the highlighted row stands on the screen."""
        return self.content_region.offset + Offset(1, _HEAD + self._index - self._first)

    # -- keys and mouse

    def _type_number(self, key: str) -> bool:
        """In the plain interface rows are numbered, and a number typed before any filter highlights its row."""
        if not (key.isdecimal() and key.isascii() and is_plain(self)) or self.query_text:
            self._number = ""
            return False
        for number in (self._number + key, key):
            if 1 <= int(number) <= len(self._hits):
                self._number = number
                self.move(int(number) - 1 - self._index)
                return True
        return False

    async def _on_key(self, event: events.Key) -> None:
        key = normalise_key(event.key)
        if self._type_number(key):
            event.stop()
            event.prevent_default()
            return
        page = max(1, self._list_rows - 1)
        moves = {"up": -1, "down": 1, "pageup": -page, "pagedown": page, "home": -MAX_ROWS, "end": MAX_ROWS}
        if key in moves:
            self.move(moves[key], round_ends=key in ("up", "down"))
        elif key == "enter":
            if self._hits:
                self.post_message(self.Chosen(self._hits[self._index][0].id))
        elif key in ("escape", "ctrl+c"):
            self.post_message(self.Cancelled())
        elif key in ("backspace", "ctrl+h"):
            self.set_query(self.query_text[:-1])
        elif key in ("ctrl+u", "ctrl+w", "alt+backspace"):
            self.set_query("" if key == "ctrl+u" else self.query_text.rstrip().rpartition(" ")[0])
        elif event.is_printable and event.character and "+" not in key:
            self.set_query(self.query_text + event.character)
        else:
            return
        event.stop()
        event.prevent_default()

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.set_query(self.query_text + one_line(event.text, 200))

    def on_click(self, event: events.Click) -> None:
        """Choose the row that was clicked."""
        event.stop()
        offset = event.get_content_offset(self)
        if offset is None or not 0 <= offset.y - _HEAD < self._list_rows:
            return
        at = self._first + offset.y - _HEAD
        if at < len(self._hits):
            self.selected = self._hits[at][0].id
            self.post_message(self.Chosen(self.selected))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Move on by the wheel."""
        event.stop()
        self.move(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Move back by the wheel."""
        event.stop()
        self.move(-1)

    # -- how it looks

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows wanted: all items, whatever the filter, so that the list doesn't jump while typing."""
        return _HEAD + max(1, min(len(self._items), MAX_ROWS)) + _FOOT

    @property
    def _list_rows(self) -> int:
        return max(1, self.size.height - _HEAD - _FOOT)

    def render_line(self, y: int) -> Strip:
        """Return one row; in a very low window the list comes before title and hint."""
        width, height, base = self.size.width, self.size.height, self.rich_style
        if y == 0 and height > 2:
            count = f"{len(self._hits)} of {len(self._items)}" if self.query_text else str(len(self._items))
            title = Token(self.title, "picker--title", weight=90, cut="end")
            return self._laid_out([title, Token(count, "picker--detail", weight=10, on_right=True)], width)
        if y == _HEAD - 1:
            return self._filter_row(width, base)
        if y == height - 1 and height > _HEAD + _FOOT:
            return self._laid_out([Token(self.hint, "picker--hint", cut="end")], width)
        return self._item_row(y - _HEAD, width, base)

    def _laid_out(self, tokens: Sequence[Token], width: int) -> Strip:
        base = self.rich_style
        pieces = [Segment(text, self._style(name, base)) for text, name in lay_out(tokens, width)]
        return Strip(pieces).adjust_cell_length(width, base)

    def _filter_row(self, width: int, base: Style) -> Strip:
        typed = one_line(self.query_text) + (" " if self.query_text.endswith(" ") else "")
        room = max(1, width - 5)
        while cell_width(typed) > room:
            typed = typed[1:]
        pieces = [
            Segment(" ❯ ", self._style("picker--marker", base)),
            Segment(typed, self._style("picker--filter", base)),
            Segment(" ", base + _CURSOR),
            Segment("" if typed else "type to filter", self._style("picker--hint", base)),
        ]
        return Strip(pieces).adjust_cell_length(width, base)

    def _item_row(self, row: int, width: int, base: Style) -> Strip:
        index, rows = self._index, self._list_rows
        self._first = max(0, min(self._first, len(self._hits) - rows))
        if index < self._first:
            self._first = index
        elif index >= self._first + rows:
            self._first = index - rows + 1
        at = self._first + row
        if not self._hits and row == 0:
            return self._laid_out([Token(self.empty, "picker--hint", cut="end")], width)
        if not 0 <= at < len(self._hits):
            return Strip.blank(width, base)
        item, match = self._hits[at]
        if at == index:
            base = base + self.get_component_rich_style("picker--cursor", partial=True)
        if is_plain(self):
            lead = f"{'>' if at == index else ' '}{at + 1:>{len(str(len(self._hits)))}} "
            lead += "current " if item.is_current else ""
            pieces = [Segment(lead, base), *self._label(item, match, width - len(lead) - 1, base)]
            return Strip(pieces).adjust_cell_length(width, base)
        tick = Segment("✓ " if item.is_current else "  ", self._style("picker--current", base))
        pieces = [Segment(" ▸ " if at == index else "   ", base), tick, *self._label(item, match, width - 6, base)]
        return Strip(pieces).adjust_cell_length(width, base)

    def _align(self) -> None:
        self._column = column_of(one_line(item.label, 40) for item in self._items[:MAX_ROWS])

    def _label(self, item: PickerItem, match: Match, room: int, base: Style) -> list[Segment]:
        label = one_line(item.label)
        shown = cut_middle(label, max(0, room)) if "/" in label else cut_cells(label, max(0, room))
        marked = set(match.positions) if shown == item.label else set[int]()
        mark = self._style("picker--match", base)
        pieces = [Segment(character, mark if at in marked else base) for at, character in enumerate(shown)]
        if not marked:
            pieces = [Segment(shown, base)]
        blanks = 2 + max(0, self._column - cell_width(shown))
        rest = room - cell_width(shown) - blanks
        if item.detail and rest >= 6:
            detail = cut_cells(one_line(item.detail), rest)
            pieces.append(Segment(f"{' ' * blanks}{detail}", self._style("picker--detail", base)))
        return pieces

    def _style(self, name: str, base: Style) -> Style:
        return base + self.get_component_rich_style(name, partial=True) if name else base

    def _row(self, y: int) -> Strip:
        return self.render_line(y)


def _searched(item: PickerItem) -> tuple[str, str]:
    return item.label, item.detail


class PickerScreen(ModalScreen[str | None]):
    """A picker over the chat; its result is the id chosen, None for escape."""

    DEFAULT_CSS = """
    PickerScreen { align: center bottom; }
    PickerScreen > Picker { max-height: 80%; max-width: 120; }
    """

    def __init__(self, picker: Picker) -> None:
        super().__init__()
        self.picker = picker

    def compose(self) -> ComposeResult:
        """Yield the picker."""
        yield self.picker

    def on_picker_chosen(self, message: Picker.Chosen) -> None:
        """Give the choice back."""
        self.dismiss(message.id)

    def on_picker_cancelled(self) -> None:
        """Give nothing back."""
        self.dismiss(None)
