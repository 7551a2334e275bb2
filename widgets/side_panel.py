"""The session's tree in a narrow column beside the conversation: looked at and chosen from, never changed here.

It draws what the tree screen draws, without its keys; nothing of it runs unless the tree itself changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from widgets.plain import is_plain
from widgets.prompt_keys import normalise_key
from widgets.tree_rows import TreeRows

if TYPE_CHECKING:
    from textual import events
    from textual.strip import Strip

    from app.session.tree import Tree
    from widgets.tree_text import ReadEntry

_STEPS = {"up": -1, "down": 1, "pageup": -10, "pagedown": 10, "home": -(10**9), "end": 10**9}


class SidePanel(TreeRows):
    """The path to the present place, every other branch as one row. It takes a few keys while it has the focus."""

    DEFAULT_CSS = """
    SidePanel { width: 42; border-left: solid $gauge-rest; display: none; }
    """

    @dataclass
    class Chosen(Message):
        """Enter or a click on a row."""

        entry_id: str

    @dataclass
    class Left(Message):
        """Escape, or a character that belongs to the prompt."""

        typed: str

    def follow(self, tree: Tree, read: ReadEntry) -> None:
        """Show the tree as it is now; costs nothing while out of sight or when nothing changed."""
        if not self.display:
            return
        if tree is not self.session_tree:
            self.show_tree(tree, read)
        else:
            self.tree_grew()

    @property
    def list_top(self) -> int:
        """The title has the first row."""
        return 1

    def render_line(self, y: int) -> Strip:
        """One row; the first says what this is."""
        return super().render_line(y) if y else self._strip([(self._title, "quiet")])

    @property
    def _title(self) -> str:
        lanes = self.laid_out.lanes
        count = len(lanes.all) - (0 if lanes.main.entries else 1)
        joint = ", " if is_plain(self) else " · "
        return f" tree{joint}{count:,} branch{'' if count == 1 else 'es'}"

    async def _on_key(self, event: events.Key) -> None:
        key = normalise_key(event.key)
        if key in _STEPS:
            at, rows = self.at, self.laid_out.rows
            if at is not None:
                self.select(rows[max(0, min(at + _STEPS[key], len(rows) - 1))].entry.id)
        elif key == "enter":
            if (entry := self.entry) is not None:
                self.post_message(self.Chosen(entry.id))
        elif key in ("escape", "tab"):
            self.post_message(self.Left(""))
        elif event.is_printable and event.character and "+" not in key:
            self.post_message(self.Left(event.character))
        else:
            return
        event.stop()
        event.prevent_default()

    def on_click(self, event: events.Click) -> None:
        """Choose the row."""
        event.stop()
        at = self.row_at(event.y)
        if at is not None:
            entry = self.laid_out.rows[at].entry
            self.select(entry.id)
            self.post_message(self.Chosen(entry.id))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The window goes down."""
        event.stop()
        self.scroll_list(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The window goes up."""
        event.stop()
        self.scroll_list(-3)
