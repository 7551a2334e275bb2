"""The block of one tool call, from its first argument to its result; it never knows how the tool looks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

from renderers.folded import is_foldable
from renderers.registry import ToolOutcome, default_density
from widgets.block import Block, BlockKind, Density, fenced

if TYPE_CHECKING:
    from textual.visual import Visual


class ToolBlock(Block):
    """A tool call. `id` is the call's id. Without a result and not streaming it never ran (a foreign session)."""

    kind: ClassVar[BlockKind] = "tool"
    is_steppable: ClassVar[bool] = True
    is_compact: ClassVar[bool] = True

    def __init__(
        self,
        block_id: str,
        name: str,
        params: Mapping[str, object] | None = None,
        result: ToolOutcome | None = None,
        *,
        streaming: bool = False,
        started_at: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(block_id)
        self.name = name
        self.params: Mapping[str, object] = params if params is not None else {}
        self.result = result
        self._streaming = streaming or started_at is not None
        self._started_at = started_at
        self._clock = clock
        self._frame = 0

    @property
    def default_density(self) -> Density:
        """What suits the tool and how it went (ui.md §1)."""
        return default_density(self.name, is_error=self.is_error)

    @property
    def is_error(self) -> bool:
        """Whether the call failed."""
        return not self._streaming and getattr(self.result, "is_error", False) is True

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._streaming and self._started_at is not None

    @property
    def is_foldable(self) -> bool:
        """Whether it is a read-only call that succeeded."""
        return not self._streaming and is_foldable(self.name, self.result)

    def set_params(self, params: Mapping[str, object]) -> None:
        """Take the arguments as far as they came."""
        self.params = params
        self._streaming = self.result is None
        self.changed()

    def start(self, started_at: float | None = None) -> None:
        """The tool runs, since `started_at` on the block's clock (None: now)."""
        self._streaming = True
        self._started_at = self._clock() if started_at is None else started_at
        self.changed()

    def set_partial(self, result: ToolOutcome) -> None:
        """Take the result so far."""
        self.result = result
        self._streaming = True
        self.changed()

    def set_result(self, result: ToolOutcome) -> None:
        """The call ended with this."""
        self.result = result
        self._streaming = False
        self.changed()

    def visual(self, density: Density, width: int, *, plain: bool = False) -> Visual:
        """The call as its renderer draws it."""
        from renderers.registry import render_tool

        elapsed_s = None
        if self.is_running and self._started_at is not None:
            elapsed_s = float(int(self._clock() - self._started_at))
        return render_tool(
            self.name, self.params, self.result, self._streaming, density=density, elapsed_s=elapsed_s, plain=plain
        ).content

    def plain_text(self) -> str:
        """The call's name, its arguments, and what it gave."""
        return "\n".join(filter(None, (self._call_text(), self.output_text())))

    def markdown(self) -> str:
        """The same with the output in a fence."""
        output = self.output_text()
        return f"**{self.name}** `{self._call_text()}`" + (f"\n\n{fenced(output)}" if output else "")

    def output_text(self) -> str:
        """The text the tool gave so far."""
        if self.result is None:
            return ""
        texts = [getattr(part, "text", None) for part in self.result.content or ()]
        return "\n".join(text for text in texts if isinstance(text, str))

    def _call_text(self) -> str:
        for key in ("command", "path", "pattern", "file_path"):
            value = self.params.get(key)
            if isinstance(value, str):
                return f"{self.name} {value}"
        import json

        if not self.params:
            return self.name
        return f"{self.name} {json.dumps(dict(self.params), ensure_ascii=False, default=str)}"

    def estimate_rows(self, width: int) -> int:
        """One row as a title, six as a preview."""
        return 1 if self.default_density == "title" else 6
