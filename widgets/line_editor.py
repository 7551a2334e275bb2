"""A multi-line editor with the keys of a shell's line, atomic paste markers and repaints of changed cells only.

It knows nothing of sending, history or completion: those are the prompt's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.document._document import Selection
from textual.strip import Strip
from textual.widgets import TextArea

from widgets.kill_ring import KillRing
from widgets.pastes import Pastes
from widgets.repaint import ChangedCellsOnly

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.style import Style
    from textual.document._document import EditResult, Location

_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_UNTYPED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")
_WORD_RIGHT = re.compile(r"\W*\w+|\W+$")
_WORD_LEFT = re.compile(r"\w+\W*$|\W+$")


def clean_input(text: str) -> str:
    """Return text fit for the editor: line ends as LF, tabs as four blanks, no control bytes, no escape sequences.

    Every character that Python takes for a line end becomes LF: Textual's document would split there anyway.
    """
    text = _LINE_END.sub("\n", text).replace("\t", "    ")
    return _UNTYPED.sub("", _ESCAPE_SEQUENCE.sub("", text)).encode("utf-8", "replace").decode("utf-8")


class LineEditor(ChangedCellsOnly, TextArea, inherit_bindings=False):
    """Text with a cursor; each method that changes it can be undone."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"prompt--marker"}

    # No scroll bars, not even hidden ones: Textual 8.2 recomputes its map when one is refreshed out of sight, compares
    # the next layout with that, and leaves what moved (the queue strip) where it was drawn. The cursor scrolls anyway.

    DEFAULT_CSS = """
    LineEditor {
        height: auto;
        border: none;
        padding: 0;
        overflow: hidden hidden;
        &:focus { border: none; }
    }
    """

    MARKER = "❯ "

    def __init__(self, *, placeholder: str = "", id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        self.hint = placeholder
        self.pastes = Pastes()
        self.kills = KillRing()
        super().__init__(id=id, classes=classes, highlight_cursor_line=False, soft_wrap=True)
        self.cursor_blink = False  # 2.6 kB in 5 idle seconds with it
        self.match_cursor_bracket = False

    # -- how it looks

    @property
    def gutter_width(self) -> int:
        """The cells that the marker takes at the left of every row."""
        return len(self.MARKER) if self.size.width > 4 else 0

    def render_line(self, y: int) -> Strip:
        """Return one row: the marker on the first row of the text, then the text, or the hint when it is empty."""
        width = self.size.width
        base = self.rich_style
        if not self.document.text and self.hint and width > 4:
            return self._hint_row(y, base).crop(0, width)
        strip = super().render_line(y)
        gutter = self.gutter_width
        if gutter and strip.cell_length > width - gutter:
            strip = strip.crop(0, width - gutter)
        return Strip.join([self._gutter(y, base), strip]) if gutter else strip.crop(0, width)

    def _gutter(self, y: int, base: Style) -> Strip:
        if y + self.scroll_offset.y == 0:
            return Strip([Segment(self.MARKER, base + self.get_component_rich_style("prompt--marker", partial=True))])
        return Strip([Segment(" " * len(self.MARKER), base)])

    def _hint_row(self, y: int, base: Style) -> Strip:
        width = self.size.width - self.gutter_width
        if y:
            return Strip.blank(self.size.width, base)
        text = self.hint
        style = base + self.get_component_rich_style("text-area--placeholder", partial=True)
        cursor = self.get_component_rich_style("text-area--cursor") if self.has_focus else style
        row = Strip([Segment(text[:1], base + cursor), Segment(text[1:], style)]).adjust_cell_length(width, base)
        return Strip.join([self._gutter(0, base), row])

    def _row(self, y: int) -> Strip:
        return self.render_line(y)

    def _refresh_size(self) -> None:
        """Scroll once more: Textual's edit moves the cursor before it knows of the new line, so it can't get there.

        Undo comes here before it moves the cursor, which may then stand outside the text: no scrolling, or it raises.
        """
        super()._refresh_size()
        row, column = self.selection.end
        if self.is_mounted and row < self.document.line_count and column <= len(self.document[row]):
            self.scroll_cursor_visible()

    # -- atomic markers

    def validate_selection(self, selection: Selection) -> Selection:
        """Keep both ends of the selection out of paste markers, moving on in the direction they came from."""
        start, end = selection
        if not len(self.pastes):
            return selection
        before = self.selection.end
        new_end = self._outside(end, to_right=end > before)
        new_start = new_end if start == end else self._outside(start, to_right=start > end)
        return Selection(new_start, new_end)

    def _outside(self, location: Location, *, to_right: bool) -> Location:
        row, column = location
        if row < self.document.line_count and (span := self.pastes.marker_around(self.document[row], column)):
            return row, span[1] if to_right else span[0]
        return location

    def _replace_via_keyboard(self, insert: str, start: Location, end: Location) -> EditResult | None:
        first, last = self._whole(start, end)
        return super()._replace_via_keyboard(insert, first, last)

    def _delete_via_keyboard(self, start: Location, end: Location) -> EditResult | None:
        first, last = self._whole(start, end)
        return super()._delete_via_keyboard(first, last)

    def _whole(self, start: Location, end: Location) -> tuple[Location, Location]:
        first, last = min(start, end), max(start, end)
        return self._outside(first, to_right=False), self._outside(last, to_right=True)

    # -- text

    @property
    def full_text(self) -> str:
        """The text with everything that was pasted in its place."""
        return self.pastes.expand(self.text)

    def insert_typed(self, text: str) -> None:
        """Put text at the cursor, over the selection if there is one, and the cursor behind it."""
        self._replace_via_keyboard(text, *self.selection)

    def replace_typed(self, text: str, start: Location, end: Location) -> None:
        """Put text in place of what stands between two places, and the cursor behind it."""
        self._replace_via_keyboard(text, start, end)

    def set_text(self, text: str, *, undoable: bool = True) -> None:
        """Replace the whole text, cursor at its end; unless undoable, what was there before is gone for good."""
        if undoable:
            self.replace(text, (0, 0), self.document.end, maintain_selection_offset=False)
        else:
            self.load_text(text)
        self.move_cursor(self.document.end)

    # -- keys of a shell's line

    def line_start(self) -> Location:
        """Return the start of the line that the cursor is in, not of its wrapped row."""
        return self.cursor_location[0], 0

    def line_end(self) -> Location:
        """Return the end of the line that the cursor is in."""
        row = self.cursor_location[0]
        return row, len(self.document[row])

    def word_left(self) -> Location:
        """Return the start of the word before the cursor, or the end of the line above."""
        row, column = self.cursor_location
        if column == 0:
            return (row - 1, len(self.document[row - 1])) if row else (0, 0)
        match = _WORD_LEFT.search(self.document[row][:column])
        return self._outside((row, match.start() if match else 0), to_right=False)

    def word_right(self) -> Location:
        """Return the end of the word behind the cursor, or the start of the line below."""
        row, column = self.cursor_location
        line = self.document[row]
        if column >= len(line):
            return (row + 1, 0) if row + 1 < self.document.line_count else (row, column)
        match = _WORD_RIGHT.match(line, column)
        return self._outside((row, match.end() if match else len(line)), to_right=True)

    def kill_start(self) -> Location:
        """Return where ctrl+u cuts to: the start of the line, or from there the end of the line above."""
        row, column = self.cursor_location
        return (row, 0) if column or not row else (row - 1, len(self.document[row - 1]))

    def kill_end(self) -> Location:
        """Return where ctrl+k cuts to: the end of the line, or from there the start of the line below."""
        row, column = self.cursor_location
        at_end = column >= len(self.document[row]) and row + 1 < self.document.line_count
        return (row + 1, 0) if at_end else self.line_end()

    def kill_to(self, location: Location) -> None:
        """Cut from the cursor to a place and keep what was cut."""
        cursor = self.cursor_location
        if not self.selection.is_empty:
            self._delete_via_keyboard(*self.selection)
            return
        first, last = self._whole(cursor, location)
        self.kills.kill(self.get_text_range(first, last), before_cursor=location < cursor)
        self._delete_via_keyboard(first, last)


def _selecting(editor: LineEditor, location: Location) -> None:
    editor.move_cursor(location, select=True)


def _delete(editor: LineEditor, location: Location) -> None:
    if editor.selection.is_empty:
        editor._delete_via_keyboard(editor.cursor_location, location)
    else:
        editor._delete_via_keyboard(*editor.selection)


EDITS: dict[str, Callable[[LineEditor], None]] = {
    "prompt.left": lambda editor: editor.move_cursor(editor.get_cursor_left_location()),
    "prompt.right": lambda editor: editor.move_cursor(editor.get_cursor_right_location()),
    "prompt.word_left": lambda editor: editor.move_cursor(editor.word_left()),
    "prompt.word_right": lambda editor: editor.move_cursor(editor.word_right()),
    "prompt.line_start": lambda editor: editor.move_cursor(editor.line_start()),
    "prompt.line_end": lambda editor: editor.move_cursor(editor.line_end()),
    "prompt.select_left": lambda editor: _selecting(editor, editor.get_cursor_left_location()),
    "prompt.select_right": lambda editor: _selecting(editor, editor.get_cursor_right_location()),
    "prompt.delete_left": lambda editor: _delete(editor, editor.get_cursor_left_location()),
    "prompt.delete_right": lambda editor: _delete(editor, editor.get_cursor_right_location()),
    "prompt.kill_word_left": lambda editor: editor.kill_to(editor.word_left()),
    "prompt.kill_word_right": lambda editor: editor.kill_to(editor.word_right()),
    "prompt.kill_line_start": lambda editor: editor.kill_to(editor.kill_start()),
    "prompt.kill_line_end": lambda editor: editor.kill_to(editor.kill_end()),
    "prompt.yank": lambda editor: editor.insert_typed(editor.kills.last),
    "prompt.undo": lambda editor: editor.undo(),
    "prompt.redo": lambda editor: editor.redo(),
    "prompt.newline": lambda editor: editor.insert_typed("\n"),
}
"""What each editing action of the key table does."""
