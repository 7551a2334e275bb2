"""All the blocks of the transcript; those that stand still are here: thin adapters, they never draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Literal

from widgets.block import Block, BlockKind, Density, rows_of
from widgets.growing_blocks import AssistantBlock, BashBlock, ThinkingBlock
from widgets.tool_blocks import ToolBlock

if TYPE_CHECKING:
    from textual.visual import Visual

    from renderers.messages import NoteLevel

__all__ = [
    "AssistantBlock",
    "BashBlock",
    "Block",
    "CustomBlock",
    "ErrorBlock",
    "InterruptedBlock",
    "NoteBlock",
    "SummaryBlock",
    "ThinkingBlock",
    "ToolBlock",
    "UserBlock",
]


class UserBlock(Block):
    """What the user said."""

    kind: ClassVar[BlockKind] = "user"

    def __init__(self, block_id: str, text: str, *, siblings: tuple[int, int] | None = None, images: int = 0) -> None:
        super().__init__(block_id)
        self._text = text
        self._siblings = siblings
        self._images = images

    @property
    def siblings(self) -> tuple[int, int] | None:
        """(place, count) among its sibling branches, counted from 1; None without any."""
        return self._siblings

    def set_siblings(self, siblings: tuple[int, int] | None) -> None:
        """Give the place among sibling branches."""
        self._siblings = siblings
        self.changed()

    def visual(self, density: Density, width: int, *, plain: bool = False) -> Visual:
        """The text behind a bar, the switch between siblings at its right."""
        from renderers.messages import user_visual

        return user_visual(self._text, siblings=self._siblings, images=self._images, plain=plain)

    def plain_text(self) -> str:
        """The text as typed."""
        return self._text

    def estimate_rows(self, width: int) -> int:
        """About how many rows."""
        return rows_of(self._text, width)


class SummaryBlock(Block):
    """What a compaction or a branch that was left amounts to."""

    kind: ClassVar[BlockKind] = "summary"
    is_steppable: ClassVar[bool] = True

    def __init__(
        self,
        block_id: str,
        source: Literal["branch", "compaction"],
        summary: str,
        tokens_before: int | None = None,
        tokens_after: int | None = None,
    ) -> None:
        super().__init__(block_id)
        self._source: Literal["branch", "compaction"] = source
        self._summary = summary
        self._tokens_before = tokens_before
        self._tokens_after = tokens_after

    @property
    def default_density(self) -> Density:
        """One line."""
        return "title"

    def visual(self, density: Density, width: int, *, plain: bool = False) -> Visual:
        """One line, or the summary."""
        from renderers.messages import summary_visual

        before, after = self._tokens_before, self._tokens_after
        return summary_visual(self._source, self._summary, before, density, tokens_after=after, plain=plain)

    def plain_text(self) -> str:
        """The summary."""
        return self._summary


class CustomBlock(Block):
    """A message of an extension's, drawn by `draw` when it brought one."""

    kind: ClassVar[BlockKind] = "custom"
    is_steppable: ClassVar[bool] = True

    def __init__(
        self, block_id: str, custom_type: str, text: str, draw: Callable[[Density, int], Visual] | None = None
    ) -> None:
        super().__init__(block_id)
        self._custom_type = custom_type
        self._text = text
        self._draw = draw

    def visual(self, density: Density, width: int, *, plain: bool = False) -> Visual:
        """Its label and text."""
        from renderers.messages import custom_visual

        if self._draw is not None:
            return self._draw(density, width)
        return custom_visual(self._custom_type, self._text, density, plain=plain)

    def plain_text(self) -> str:
        """The text."""
        return self._text

    def estimate_rows(self, width: int) -> int:
        """About how many rows."""
        return 1 + rows_of(self._text, width)


class ErrorBlock(Block):
    """A failure of the run, and what can be done."""

    kind: ClassVar[BlockKind] = "error"

    def __init__(self, block_id: str, text: str, hint: str = "") -> None:
        super().__init__(block_id)
        self._text = text
        self._hint = hint
        self._retried = ""

    def set_retried(self, *, again: bool) -> None:
        """The request was sent again: a quiet line is enough. `again`: it was not the first failure."""
        self._retried = "failed again" if again else "failed once"
        self.changed()

    def visual(self, density: Density, width: int, *, plain: bool = False) -> Visual:
        """The failure in red; one that was got over in a quiet line."""
        from renderers.messages import error_visual, retried_visual

        if self._retried:
            return retried_visual(self._retried, self._text, width, plain=plain)
        return error_visual(self._text, self._hint, plain=plain)

    def plain_text(self) -> str:
        """The message and the hint."""
        return f"{self._text}\n{self._hint}".strip("\n")


class InterruptedBlock(Block):
    """The mark under an answer that the user stopped."""

    kind: ClassVar[BlockKind] = "interrupted"

    def visual(self, density: Density, width: int, *, plain: bool = False) -> Visual:
        """One line."""
        from renderers.messages import interrupted_visual

        return interrupted_visual(plain=plain)

    def plain_text(self) -> str:
        """The word."""
        return "interrupted"


class NoteBlock(Block):
    """A remark of the app's own."""

    kind: ClassVar[BlockKind] = "note"

    def __init__(self, block_id: str, text: str, level: NoteLevel = "info") -> None:
        super().__init__(block_id)
        self._text = text
        self._level: NoteLevel = level

    def set_text(self, text: str, level: NoteLevel | None = None) -> None:
        """Say something else."""
        self._text = text
        self._level = level or self._level
        self.changed()

    def visual(self, density: Density, width: int, *, plain: bool = False) -> Visual:
        """The remark."""
        from renderers.messages import note_visual

        return note_visual(self._text, self._level, plain=plain)

    def plain_text(self) -> str:
        """The remark."""
        return self._text
