"""The queue strip: messages that wait for the run, one row each, above the prompt; hidden when there are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.geometry import Size

from widgets.bar import Bar, Token

MAX_ROWS = 3


class QueueStrip(Bar):
    """Shows steering messages first, then follow-ups."""

    DEFAULT_CSS = """
    QueueStrip { height: auto; display: none; }
    QueueStrip.-filled { display: block; }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "queue-strip--steer", "queue-strip--follow-up", "queue-strip--text", "queue-strip--hint",
    }  # fmt: skip

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._rows: list[tuple[str, str]] = []

    def show(self, steering: Sequence[str], follow_up: Sequence[str]) -> None:
        """Show these messages from now on, in the order they will be delivered."""
        rows = [("steer", text) for text in steering] + [("follow-up", text) for text in follow_up]
        if rows == self._rows:
            return
        height_before = self.row_count
        self._rows = rows
        self.set_class(bool(rows), "-filled")
        self.refresh(layout=self.row_count != height_before)

    @property
    def row_count(self) -> int:
        """Rows drawn: one a message up to three, and one that counts the rest."""
        return min(len(self._rows), MAX_ROWS + 1)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of rows."""
        return self.row_count

    def tokens_of_row(self, y: int) -> Sequence[Token]:
        """Return the tokens of one message, or of the row that counts the rest."""
        if y >= len(self._rows):
            return []
        if y == MAX_ROWS:
            return [Token(f"  {len(self._rows) - MAX_ROWS} more", "queue-strip--hint", is_clean=True)]
        kind, text = self._rows[y]
        tokens = [
            Token(f"▸ {kind}", f"queue-strip--{kind}", weight=80),
            Token(text, "queue-strip--text", weight=90, cut="end"),
        ]
        if y == 0:
            tokens.append(Token("alt+↑ edit queue", "queue-strip--hint", weight=20, on_right=True))
        return tokens
