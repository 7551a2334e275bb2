"""A red row over the prompt for what must not be overlooked; hidden when there is nothing to say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from widgets.bar import Bar, Token


class Banner(Bar):
    """Shows one text and what can be done."""

    DEFAULT_CSS = """
    Banner { height: 1; display: none; }
    Banner.-shown { display: block; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"banner--text", "banner--hint"}

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._text = self._hint = ""

    def show(self, text: str, hint: str = "") -> None:
        """Say this; "" hides the row."""
        if (text, hint) == (self._text, self._hint):
            return
        self._text, self._hint = text, hint
        self.set_class(bool(text), "-shown")
        self.refresh(layout=True)

    def tokens_of_row(self, y: int) -> Sequence[Token]:
        """The text at the left, the hint at the right."""
        return [
            Token(f"✗ {self._text}", "banner--text", weight=80, cut="end", least_cells=16),
            Token(self._hint, "banner--hint", weight=90, on_right=True, cut="end"),
        ]
