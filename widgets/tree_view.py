"""The tree of a session with its keys: walking, folding, filters, search, labels; it must never change a session.

What a key asks for beyond that is posted (`Asked`, `LabelChosen`, `Left`); the screen does it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from textual import events
from textual.message import Message

from app.session.tree import Tree
from app.session.tree_filter import TreeFilter
from app.session.tree_folds import child_point, fold, parent_point, unfold
from widgets.prompt_keys import normalise_key
from widgets.tree_keys import tree_key_table
from widgets.tree_search import TreeSearch
from widgets.tree_text import ReadEntry
from widgets.tree_window import local_now

ASKS = ("go", "edit", "fork", "diff", "compare", "take", "restore", "copy")
"""Actions that only the screen can do with the entry one stands on."""
SCREEN_ACTIONS = ("back", "forward", "preview_up", "preview_down", "help")

MARGIN_KEPT = 2
"""Rows of the page before that stay in sight after a page."""


class TreeView(TreeSearch):
    """Takes every key it knows, in the order they were typed."""

    class Asked(Message):
        """A key wants something done: `action` is one of ASKS with the entry stood on, or of SCREEN_ACTIONS."""

        def __init__(self, action: str, entry_id: str | None) -> None:
            self.action = action
            self.entry_id = entry_id
            super().__init__()

    class ModeChanged(Message):
        """Another filter."""

        def __init__(self, mode: TreeFilter) -> None:
            self.mode = mode
            super().__init__()

    class Left(Message):
        """Escape, with no search to end."""

    def __init__(
        self,
        tree: Tree,
        read: ReadEntry | None = None,
        *,
        mode: TreeFilter = TreeFilter.DEFAULT,
        now: Callable[[], datetime] = local_now,
        id: str | None = None,  # noqa: A002  # Textual's own name
    ) -> None:
        super().__init__(tree, read, mode=mode, now=now, id=id)
        self._keys = tree_key_table()

    def set_keys(self, overrides: Mapping[str, Sequence[str]]) -> None:
        """Bind actions of `TREE_ACTIONS` to other keys."""
        self._keys = tree_key_table(overrides)

    # Keys and mouse

    async def _on_key(self, event: events.Key) -> None:
        key = normalise_key(event.key)
        if self._field is not None:
            taken = self._press_in_field(self._field, key, event.character)
        else:
            taken = self._press(self._keys.get(key, ""))
        if taken:
            event.stop()
            event.prevent_default()

    def _press(self, action_id: str) -> bool:
        action = action_id.removeprefix("tree.")
        if not action:
            return False
        if action in ASKS:
            if (entry := self.entry) is not None:
                self.post_message(self.Asked(action, entry.id))
        elif action in SCREEN_ACTIONS:
            self.post_message(self.Asked(action, None))
        elif action.startswith("filter_"):
            self._press_filter(action.removeprefix("filter_"))
        else:
            self._walk(action)
        return True

    def _walk(self, action: str) -> None:
        page = max(1, self.list_rows - MARGIN_KEPT)
        moves = {"up": -1, "down": 1, "page_up": -page, "page_down": page, "top": -(10**9), "bottom": 10**9}
        if action in moves:
            self.move(moves[action])
        elif action == "search":
            self.begin_search()
        elif action == "next_hit":
            self.go_to_hit(1)
        elif action == "previous_hit":
            self.go_to_hit(-1)
        elif action == "label":
            self.begin_label()
        elif action == "label_times":
            self.set_label_times(not self._look.label_times)
        elif action == "leave":
            self._leave()
        elif (at := self.at) is not None:
            steps = {"fold": fold, "unfold": unfold, "parent_point": parent_point, "child_point": child_point}
            y, built = at - self._first, self.laid_out.built
            target = steps[action](self.laid_out, at)
            if self.laid_out.built == built:
                self.select(target)
            else:
                self.selected = target
                self.changed(y)

    def _leave(self) -> None:
        if self._look.query.is_empty and not self._look.query.problem:
            self.post_message(self.Left())
        else:
            self.end_search()

    def _press_filter(self, name: str) -> None:
        modes = list(TreeFilter)
        if name == "next":
            self.set_mode(modes[(modes.index(self.laid_out.mode) + 1) % len(modes)])
            return
        mode = TreeFilter(name.replace("_", "-"))
        self.set_mode(TreeFilter.DEFAULT if mode is self.laid_out.mode else mode)

    def on_click(self, event: events.Click) -> None:
        """Stand on the row; a click on the row one stands on opens or folds it."""
        event.stop()
        at = self.row_at(event.y)
        if at is None:
            return
        row = self.laid_out.rows[at]
        if at == self.at:
            self._walk("unfold" if row.is_folded else "fold")
        else:
            self.select(row.entry.id)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The window goes down."""
        event.stop()
        self.scroll_list(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The window goes up."""
        event.stop()
        self.scroll_list(-3)

    # Walking

    def move(self, step: int) -> None:
        """Stand on another row; the ends stop it."""
        at = self.at
        if at is not None:
            rows = self.laid_out.rows
            self.select(rows[max(0, min(at + step, len(rows) - 1))].entry.id)

    def set_mode(self, mode: TreeFilter) -> None:
        """Filter; one stands where one stood, or on the nearest ancestor that is shown."""
        y = self._screen_row()
        self.laid_out.set_mode(mode)
        self.changed(y)
        self.post_message(self.ModeChanged(mode))
