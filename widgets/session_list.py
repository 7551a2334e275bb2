"""The list of sessions with its search field and keys; it must never read a file or change a session.

It takes every key it knows in the order they were typed, and posts what only a screen can do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.geometry import Offset
from textual.message import Message

from widgets.prompt_keys import normalise_key
from widgets.session_keys import IN_FIELD, session_key_table
from widgets.session_rows import SessionRow
from widgets.session_rows_view import SessionRowsView
from widgets.tree_field import LineField

if TYPE_CHECKING:
    from textual import events

_FAR = 1_000_000


class SessionList(SessionRowsView, can_focus=True):
    """A search field above rows; `selected` is a row's id and stays through every change of the rows."""

    @dataclass
    class Asked(Message):
        """A key wants something done with the row stood on ("" when there is none)."""

        action: str
        row_id: str

    @dataclass
    class Highlighted(Message):
        """Another row is stood on."""

        row_id: str

    @dataclass
    class QueryChanged(Message):
        """Other words are looked for."""

        text: str

    def __init__(self, *, query: str = "", current: str = "", id: str | None = None) -> None:  # noqa: A002
        super().__init__(query, current, id)
        self._keys = session_key_table()

    # -- rows and the choice

    @property
    def query_text(self) -> str:
        """What is looked for."""
        return self._field.text

    def show_rows(self, rows: Sequence[SessionRow]) -> None:
        """Show these instead; the choice stays, or goes to the nearest row when it is gone."""
        at = self._place.get(self.selected, 0)
        self.rows = rows
        self._place = {row.id: place for place, row in enumerate(rows) if row.id}
        if self.selected not in self._place:
            self._select(self._nearest(at, 1))
        self.refresh()

    def show_remark(self, text: str, empty: str) -> None:
        """What stands right of the search field, and in the place of rows when there are none."""
        if (text, empty) != (self.remark, self.empty):
            self.remark, self.empty = text, empty
            self.refresh()

    @property
    def row(self) -> SessionRow | None:
        """The row stood on."""
        at = self._place.get(self.selected)
        return self.rows[at] if at is not None else None

    def _nearest(self, at: int, step: int) -> str:
        for direction in (step, -step):
            place = min(max(at, 0), len(self.rows) - 1)
            while 0 <= place < len(self.rows):
                if self.rows[place].id:
                    return self.rows[place].id
                place += direction
        return ""

    def _select(self, row_id: str) -> None:
        if row_id != self.selected:
            self.selected = row_id
            self.post_message(self.Highlighted(row_id))
            self.refresh()

    def move(self, step: int) -> None:
        """Stand on another row; projects' lines are passed over, ends stop."""
        at = self._place.get(self.selected, 0) + step
        self._select(self._nearest(at, 1 if step > 0 else -1))

    def move_project(self, step: int) -> None:
        """Stand on the first session of the next project, or of this one and the one before."""
        at = self._place.get(self.selected, 0) + (0 if step > 0 else -2)
        while 0 <= at < len(self.rows) and self.rows[at].id:
            at += step
        if 0 <= at < len(self.rows):
            self._select(self._nearest(at, 1))

    # -- keys and mouse

    def use_keys(self, overrides: Mapping[str, Sequence[str]]) -> None:
        """Bind actions of `SESSIONS_ACTIONS` to other keys."""
        self._keys = session_key_table(overrides)

    @property
    def cursor_screen_offset(self) -> Offset:
        """Where the row stood on, or the search field while it is typed in, is on the screen."""
        at = 0 if self.is_searching else 1 + self._place.get(self.selected, 0) - self._first
        return self.content_region.offset + Offset(1, at)

    async def _on_key(self, event: events.Key) -> None:
        key = normalise_key(event.key)
        action = self._keys.get(key, "")
        if self.is_searching and (event.is_printable or action not in IN_FIELD):
            before = self._field.text
            if not self._field.press(key, event.character if event.is_printable else None):
                return
            self._field_changed(before)
        elif action:
            self._act(action.removeprefix("sessions."))
        else:
            return
        event.stop()
        event.prevent_default()

    def _act(self, name: str) -> None:
        page = max(1, self._room - 1)
        moves = {"up": -1, "down": 1, "page_up": -page, "page_down": page, "top": -_FAR, "bottom": _FAR}
        match name:
            case "next_project" if self.is_searching:
                self._search_mode(False)
            case "next_project" | "previous_project":
                self.move_project(1 if name == "next_project" else -1)
            case "search":
                self._search_mode(True)
            case "leave":
                self._leave()
            case _ if name in moves:
                self.move(moves[name])
            case _:
                self.post_message(self.Asked(name, self.selected))

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        before = self._field.text
        self._field.insert(event.text)
        self._search_mode(True)
        self._field_changed(before)

    def _leave(self) -> None:
        """Escape: first the search, then the screen."""
        if self.is_searching or self._field.text:
            before = self._field.text
            self._field = LineField()
            self._search_mode(False)
            self._field_changed(before)
        else:
            self.post_message(self.Asked("close", self.selected))

    def _search_mode(self, on: bool) -> None:
        self.is_searching = on
        self.refresh()

    def _field_changed(self, before: str) -> None:
        self.refresh()
        if self._field.text != before:
            self.post_message(self.QueryChanged(self._field.text))

    def on_click(self, event: events.Click) -> None:
        """Stand on the row that was clicked; a click on the row stood on opens it."""
        event.stop()
        at = self._first + event.y - 1
        if event.y == 0:
            self._search_mode(True)
        elif 0 <= at < len(self.rows) and (row_id := self.rows[at].id):
            if row_id == self.selected:
                self.post_message(self.Asked("open", row_id))
            self._select(row_id)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Move on by the wheel."""
        event.stop()
        self.move(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Move back by the wheel."""
        event.stop()
        self.move(-3)
