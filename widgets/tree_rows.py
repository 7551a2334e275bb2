"""The tree view as its tree, its folds and the row one stands on change: it tells where one stands, knows no keys."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from textual.message import Message

from app.session.tree import Tree
from app.session.tree_filter import TreeFilter, TreeQuery
from app.session.tree_layout import TreeLayout
from widgets.plain import is_plain
from widgets.tree_line import TreeLook
from widgets.tree_text import EntryTexts, ReadEntry
from widgets.tree_window import TreeWindow, local_now


class TreeRows(TreeWindow):
    """The half that changes what the window shows."""

    class Highlighted(Message):
        """One stands on another entry now; None: there is no row."""

        def __init__(self, entry_id: str | None) -> None:
            self.entry_id = entry_id
            super().__init__()

        def can_replace(self, message: Message) -> bool:
            """A newer one says all."""
            return isinstance(message, TreeRows.Highlighted)

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
        self._told: str | None = None

    def on_mount(self) -> None:
        """Tell where one stands; a theme's colours are in every strip."""
        self._look.plain = is_plain(self)
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self.notify_style_update())
        self._tell()

    def show_tree(self, tree: Tree, read: ReadEntry | None = None) -> None:
        """Show another tree, from its leaf."""
        self.session_tree, self._read = tree, read
        self.laid_out = TreeLayout(tree, self.laid_out.mode)
        self.selected, self._is_placed = tree.leaf_id, False
        self._look = TreeLook(tree, EntryTexts(tree, read), self._look.query, self._now())
        self.changed()

    def tree_grew(self) -> bool:
        """The tree may have changed: show how it is now; one stays where one stands, and at the leaf if one was.

        Whether anything changed.
        """
        leaf_id = self.session_tree.leaf_id
        was_here = self.at is not None and self.at == self._look.here_row
        y = self._screen_row()
        if not self.laid_out.refresh():
            return False
        self._look.texts = EntryTexts(self.session_tree, self._read)
        self._look.now = self._now()
        if was_here and leaf_id is not None:
            self.selected = leaf_id
        self.changed(y)
        return True

    def select(self, entry_id: str | None, *, reveal: bool = False) -> None:
        """Stand on an entry; with `reveal` what hides it is opened first."""
        if reveal and entry_id is not None:
            y = self._screen_row()
            if self.laid_out.reveal(entry_id):
                self.selected = entry_id
                self.changed(y)
                return
        self.selected = entry_id
        self._bring_into_view()
        self._tell()
        self.refresh()

    def changed(self, y: int | None = None) -> None:
        """Rows were built anew; the one stood on stays on screen row `y` where that is possible."""
        self._kept.clear()
        self._look.here_row = self._here()
        at = self.at
        if y is not None and at is not None:
            self._first = at - y
        self._bring_into_view()
        self._tell()
        self.refresh()

    def set_query(self, query: TreeQuery) -> None:
        """Mark what this search finds."""
        self._look.query = query
        self._kept.clear()
        self.refresh()

    def set_label_times(self, shown: bool) -> None:
        """Show when labels were set."""
        self._look.label_times = shown
        self._kept.clear()
        self.refresh()

    def set_plain(self, plain: bool) -> None:
        """Words for signs and lines (ui.md §7)."""
        self._look.plain = plain
        self._kept.clear()
        self.refresh()

    def _tell(self) -> None:
        entry = self.entry
        now = entry.id if entry is not None else None
        if now != self._told and self.is_mounted:
            self._told = now
            self.post_message(self.Highlighted(now))
