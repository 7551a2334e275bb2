"""What the transcript draws: one block per entry; a block must never know where it stands or how wide the screen is."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from renderers.registry import DENSITIES, Density

if TYPE_CHECKING:
    from textual.visual import Visual

__all__ = ["DENSITIES", "Block", "BlockKind", "Density", "fenced", "next_density", "rows_of"]

BlockKind = Literal[
    "user", "assistant", "thinking", "tool", "bash", "summary", "custom", "error", "interrupted", "note"
]


def next_density(density: Density) -> Density:
    """Title, preview, full, and title again (ui.md §1)."""
    return DENSITIES[(DENSITIES.index(density) + 1) % len(DENSITIES)]


class Block:
    """One entry as the transcript sees it. Whoever changes it bumps `version` and tells `Transcript.touch(id)`."""

    kind: ClassVar[BlockKind] = "note"
    is_steppable: ClassVar[bool] = False
    """Whether it knows the densities title, preview and full."""
    is_compact: ClassVar[bool] = False
    """Whether no blank row stands between two blocks of this sort."""
    indent: ClassVar[int] = 0
    """Blank cells at its left; most renderers draw their own."""

    def __init__(self, block_id: str) -> None:
        self.id = block_id
        self.version = 0

    @property
    def default_density(self) -> Density:
        """The density while nobody chose another."""
        return "full"

    @property
    def is_running(self) -> bool:
        """Whether it shows a time that goes on: the transcript's `tick()` then redraws it."""
        return False

    @property
    def siblings(self) -> tuple[int, int] | None:
        """(place, count) among its sibling branches, counted from 1; None without any."""
        return None

    def visual(self, density: Density, width: int, *, plain: bool = False) -> Visual:
        """What to draw at a width in cells; in plain mode with words for glyphs. The same Visual may come again."""
        raise NotImplementedError

    def plain_text(self) -> str:
        """The whole content as text, for copy and search."""
        raise NotImplementedError

    def markdown(self) -> str:
        """The whole content as Markdown, for copy."""
        return self.plain_text()

    def search_text(self) -> str:
        """What the search looks through."""
        return self.plain_text()

    def estimate_rows(self, width: int) -> int:
        """About how many rows it takes at a width; cheap, never below 1. Corrected when it is drawn."""
        return 1

    def release(self) -> None:
        """Forget what was built for drawing; it can be built again."""

    def changed(self) -> None:
        """Note that it is to be drawn anew."""
        self.version += 1


def rows_of(text: str, width: int) -> int:
    """About how many rows a text takes: its lines, and its length over the width."""
    return 1 + text.count("\n") + len(text) // max(1, min(width, 100))


def fenced(text: str, language: str = "") -> str:
    """The text in a Markdown fence longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
