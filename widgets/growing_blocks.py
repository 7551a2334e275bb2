"""The blocks that grow while they are on the screen: answer, reasoning, `!` run; thin adapters, they never draw."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from widgets.block import Block, BlockKind, Density, fenced, rows_of

if TYPE_CHECKING:
    from textual.visual import Visual

    from renderers.markdown import MarkdownVisual


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

    def set_output(self, output: str) -> None:
        """Take the output so far: the tail that is kept of it."""
        self._output = GrowingText(output)
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
