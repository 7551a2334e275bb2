"""The header: where we are, which model answers, and how full its context is; one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from renderers.text import humanise
from widgets.bar import Bar, Token
from widgets.plain import is_plain

GAUGE_CELLS = 10


@dataclass(frozen=True, slots=True)
class HeaderState:
    """What the header says. `folder` with ~ for home; `branch` with * when changed; tokens None = not known yet."""

    folder: str = ""
    branch: str = ""
    title: str = ""
    model: str = ""
    thinking: str = ""
    context_tokens: int | None = None
    context_window: int | None = None
    notice: str = ""


def _in_thousands(tokens: int) -> str:
    """Return a window's size as it is spoken: 200 thousand, 1 million."""
    if tokens >= 1_000_000:
        return f"{tokens / 1_000_000:.3g} million"
    return f"{tokens / 1000:.0f} thousand" if tokens >= 1000 else str(tokens)


def gauge_style(share: float | None) -> str:
    """Return the style for a filled share (0 to 1) of the context: over 90 % error, over 70 % warning."""
    if share is None or share <= 0.7:
        return "header--gauge"
    return "header--gauge-error" if share > 0.9 else "header--gauge-warning"


class Header(Bar):
    """Shows a HeaderState."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "header--brand", "header--folder", "header--branch", "header--title", "header--model", "header--notice",
        "header--context", "header--gauge", "header--gauge-warning", "header--gauge-error", "header--gauge-rest",
    }  # fmt: skip

    def __init__(self, state: HeaderState | None = None, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.state = state or HeaderState()

    def show(self, state: HeaderState) -> None:
        """Show this from now on; nothing is repainted that did not change."""
        if state != self.state:
            self.state = state
            self.refresh()

    def tokens_of_row(self, y: int) -> Sequence[Token]:
        """Return the tokens; under 80 cells neither branch nor gauge."""
        state, wide = self.state, self.size.width >= 80
        tokens = [
            Token(
                "▲ pinyon" if self.size.width >= 60 else "▲",
                "header--brand",
                weight=75 if self.size.width >= 60 else 20,
            ),
            Token(state.folder, "header--folder", weight=60, cut="middle", least_cells=12, cut_weight=25),
            Token(state.branch if wide else "", "header--branch", weight=40, cut="end", least_cells=12, cut_weight=15),
            Token(state.title, "header--title", weight=50, cut="end", least_cells=12, cut_weight=10),
            Token(state.notice, "header--notice", weight=90, on_right=True, cut="end", cut_weight=28),
        ]
        joint = " thinking " if is_plain(self) else " · "
        model = f"{state.model}{joint}{state.thinking}" if state.model and state.thinking else state.model
        tokens.append(Token(model, "header--model", weight=80, on_right=True, cut="end", least_cells=20))
        return tokens + self._fullness(wide)

    def _fullness(self, wide: bool) -> list[Token]:
        state = self.state
        if not state.context_window:
            return []
        share = None if state.context_tokens is None else state.context_tokens / state.context_window
        percent = "?" if share is None else f"{share:.0%}"
        style = gauge_style(share)
        said = "header--context" if style == "header--gauge" else style
        if is_plain(self):
            whole = f" of {_in_thousands(state.context_window)}" if wide else ""
            return [Token(f"context {percent.replace('%', ' %')}{whole}", said, weight=70, on_right=True)]
        if not wide:
            return [Token(percent, said, weight=70, on_right=True)]
        filled = 0 if share is None else max(0, min(GAUGE_CELLS, round(share * GAUGE_CELLS)))
        if share and not filled:
            filled = 1
        return [
            Token("▰" * filled, style, weight=45, on_right=True, gap=3),
            Token("▱" * (GAUGE_CELLS - filled), "header--gauge-rest", weight=45, on_right=True, gap=0 if filled else 3),
            Token(f"{percent} of {humanise(state.context_window)}", said, weight=70, on_right=True, gap=1),
        ]
