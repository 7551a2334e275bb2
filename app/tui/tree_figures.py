"""What a branch has cost, from its stored entries, worked out in slices so that no key waits; it must never write."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel

from app.session.entries import RawEntry, lenient_ms, message_of
from renderers.text import humanise, humanise_duration

if TYPE_CHECKING:
    from app.session.facts import IndexEntry
    from app.session.view import SessionView

SLICE_S = 0.004
"""How long bodies are read before keys get their turn again."""


@dataclass(slots=True)
class Figures:
    """Sums over entries: tokens, US dollars, and the milliseconds between the first and the last of them."""

    entries: int = 0
    input: int = 0
    output: int = 0
    cache: int = 0
    cost: float = 0.0
    duration_ms: int = 0

    def text(self) -> str:
        """In one line: "42 entries · ↑12k ↓3.4k · $0.31 · 4 m 05 s"; what is not known is left out."""
        parts = [f"{self.entries:,} {'entry' if self.entries == 1 else 'entries'}"]
        if self.input or self.output or self.cache:
            parts.append(f"↑{humanise(self.input + self.cache)} ↓{humanise(self.output)} tokens")
        if self.cost:
            parts.append(f"${self.cost:.4f}" if self.cost < 0.01 else f"${self.cost:.2f}")
        if self.duration_ms >= 1000:
            parts.append(humanise_duration(self.duration_ms / 1000))
        return " · ".join(parts)


async def figures_of(view: SessionView, entries: Sequence[IndexEntry]) -> Figures:
    """The sums over a branch; bodies of answers are read a few milliseconds at a time. Cancelled like any await."""
    figures = Figures(len(entries))
    until = time.monotonic() + SLICE_S
    for entry in entries:
        if entry.role == "assistant":
            _add(figures, usage_of(view.read(entry.id)))
            if time.monotonic() > until:
                await anyio.lowlevel.checkpoint()
                until = time.monotonic() + SLICE_S
    if entries:
        figures.duration_ms = max(0, lenient_ms(entries[-1].timestamp) - lenient_ms(entries[0].timestamp))
    await anyio.lowlevel.checkpoint()
    return figures


def usage_of(raw: RawEntry) -> dict[str, Any]:
    """The usage that an answer's entry carries; {} without."""
    usage = message_of(raw).get("usage")
    return usage if isinstance(usage, dict) else {}


def _number(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return value
    return 0


def _add(figures: Figures, usage: dict[str, Any]) -> None:
    figures.input += int(_number(usage.get("input")))
    figures.output += int(_number(usage.get("output")))
    figures.cache += int(_number(usage.get("cacheRead"))) + int(_number(usage.get("cacheWrite")))
    cost = usage.get("cost")
    figures.cost += _number(cost.get("total")) if isinstance(cost, dict) else 0


def context_tokens(view: SessionView, entry_id: str, most_steps: int = 200) -> int | None:
    """Tokens of the context at an entry, as the nearest answer above it used them; None when none says so."""
    for steps, entry in enumerate(view.tree.up(entry_id)):
        if steps > most_steps or entry.type == "compaction":
            return None
        if entry.role != "assistant" or entry.fact in ("error", "aborted"):
            continue
        usage = usage_of(view.read(entry.id))
        total = int(_number(usage.get("totalTokens")))
        total = total or sum(int(_number(usage.get(name))) for name in ("input", "output", "cacheRead", "cacheWrite"))
        if total:
            return total
    return None
