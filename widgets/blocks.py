"""The blocks of messages: user, assistant, thinking, `!` runs, summaries, notes; thin adapters, they never draw."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Literal

from widgets.block import Block, BlockKind, Density
from widgets.tool_blocks import ToolBlock

if TYPE_CHECKING:
    from textual.visual import Visual

    from renderers.markdown import MarkdownVisual
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


def rows_of(text: str, width: int) -> int:
    """About how many rows a text takes: its lines, and its length over the width."""
    return 1 + text.count("\n") + len(text) // max(1, min(width, 100))


class GrowingText:
    """A text that grows by pieces; reading it joins them once."""

    def __init__(self, text: str = "") -> None:
        self._pieces = [text] if text else []

    def append(self, piece: str) -> None:
        """Add a piece."""
        self._pieces.append(piece)

    def __str__(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""


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


class AssistantBlock(Block):
    """The model's text, whole or growing."""

    kind: ClassVar[BlockKind] = "assistant"
    indent: ClassVar[int] = 2

    def __init__(self, block_id: str, text: str = "", *, finished: bool | None = None) -> None:
        super().__init__(block_id)
        self._text = GrowingText(text)
        self._finished = bool(text) if finished is None else finished
        self._visual: MarkdownVisual | None = None

    def append(self, delta: str) -> None:
        """Add what came; costs nothing until the next frame."""
        self._text.append(delta)
        if self._visual is not None:
            self._visual.append(delta)
        self.changed()

    def finish(self) -> None:
        """No more will come: the last paragraph is laid out for good."""
        if not self._finished:
            self._finished = True
            if self._visual is not None:
                self._visual.finish()
            self.changed()

    def visual(self, density: Density, width: int, *, plain: bool = False) -> Visual:
        """The text as Markdown; the same Visual as long as it grows."""
        from renderers.markdown import MarkdownVisual

        if self._visual is None:
            self._visual = MarkdownVisual()
            self._visual.append(str(self._text))
            if self._finished:
                self._visual.finish()
        return self._visual

    def plain_text(self) -> str:
        """The Markdown as it came."""
        return str(self._text)

    def estimate_rows(self, width: int) -> int:
        """About how many rows."""
        return rows_of(str(self._text), width)

    def release(self) -> None:
        """Forget the parsed Markdown of a finished answer."""
        if self._finished:
            self._visual = None


class ThinkingBlock(Block):
    """The model's reasoning: folded to one line unless opened."""

    kind: ClassVar[BlockKind] = "thinking"
    is_steppable: ClassVar[bool] = True

    def __init__(
        self,
        block_id: str,
        text: str = "",
        *,
        streaming: bool = False,
        elapsed_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(block_id)
        self._text = GrowingText(text)
        self._streaming = streaming
        self._elapsed_s = elapsed_s
        self._clock = clock
        self._started = clock()

    @property
    def default_density(self) -> Density:
        """One line."""
        return "title"

    @property
    def is_running(self) -> bool:
        """Whether more is to come."""
        return self._streaming

    def append(self, delta: str) -> None:
        """Add what came."""
        self._text.append(delta)
        self.changed()

    def finish(self, elapsed_s: float | None = None) -> None:
        """No more will come; it took so many seconds (None: since the block was made, if it streamed)."""
        if self._streaming and elapsed_s is None:
            elapsed_s = self._clock() - self._started
        self._streaming = False
        self._elapsed_s = elapsed_s
        self.changed()

    def visual(self, density: Density, width: int, *, plain: bool = False) -> Visual:
        """One line, or the text dim and italic."""
        from renderers.messages import thinking_visual

        elapsed_s = float(int(self._clock() - self._started)) if self._streaming else self._elapsed_s
        return thinking_visual(str(self._text), density, elapsed_s, self._streaming, plain=plain)

    def plain_text(self) -> str:
        """The reasoning."""
        return str(self._text)


class BashBlock(Block):
    """A `!` run of the user's (`!!`: the model isn't told)."""

    kind: ClassVar[BlockKind] = "bash"
    is_steppable: ClassVar[bool] = True

    def __init__(
        self,
        block_id: str,
        command: str,
        output: str = "",
        *,
        exit_code: int | None = None,
        cancelled: bool = False,
        excluded: bool = False,
        full_output_path: str | None = None,
        running: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(block_id)
        self._command = command
        self._output = GrowingText(output)
        self._exit_code = exit_code
        self._cancelled = cancelled
        self._excluded = excluded
        self._full_output_path = full_output_path
        self._running = running
        self._clock = clock
        self._started = clock()
        self._elapsed_s: float | None = None

    @property
    def default_density(self) -> Density:
        """Its last rows."""
        return "preview"

    @property
    def is_running(self) -> bool:
        """Whether the command still runs."""
        return self._running

    def append(self, output: str) -> None:
        """Add output."""
        self._output.append(output)
        self.changed()

    def finish(self, exit_code: int | None, *, cancelled: bool = False, full_output_path: str | None = None) -> None:
        """The command ended."""
        self._running = False
        self._elapsed_s = self._clock() - self._started
        self._exit_code, self._cancelled, self._full_output_path = exit_code, cancelled, full_output_path
        self.changed()

    def visual(self, density: Density, width: int, *, plain: bool = False) -> Visual:
        """The command, how it went, and its last rows."""
        from renderers.messages import bash_execution_visual

        return bash_execution_visual(
            self._command,
            str(self._output),
            exit_code=self._exit_code,
            running=self._running,
            cancelled=self._cancelled,
            excluded=self._excluded,
            full_output_path=self._full_output_path,
            density=density,
            elapsed_s=float(int(self._clock() - self._started)) if self._running else self._elapsed_s,
            plain=plain,
        )

    def plain_text(self) -> str:
        """The command and its output."""
        return f"$ {self._command}\n{self._output}"

    def markdown(self) -> str:
        """The same in a fence."""
        return fenced(self.plain_text(), "console")

    def estimate_rows(self, width: int) -> int:
        """At most a preview."""
        return min(22, 1 + str(self._output).count("\n"))


class SummaryBlock(Block):
    """What a compaction or a branch that was left amounts to."""

    kind: ClassVar[BlockKind] = "summary"
    is_steppable: ClassVar[bool] = True

    def __init__(
        self, block_id: str, source: Literal["branch", "compaction"], summary: str, tokens_before: int | None = None
    ) -> None:
        super().__init__(block_id)
        self._source: Literal["branch", "compaction"] = source
        self._summary = summary
        self._tokens_before = tokens_before

    @property
    def default_density(self) -> Density:
        """One line."""
        return "title"

    def visual(self, density: Density, width: int, *, plain: bool = False) -> Visual:
        """One line, or the summary."""
        from renderers.messages import summary_visual

        return summary_visual(self._source, self._summary, self._tokens_before, density, plain=plain)

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

    def visual(self, density: Density, width: int, *, plain: bool = False) -> Visual:
        """The failure in red."""
        from renderers.messages import error_visual

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


def fenced(text: str, language: str = "") -> str:
    """The text in a Markdown fence longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
