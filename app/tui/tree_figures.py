"""What a branch has cost, from its stored entries, worked out in slices so that no key waits; it must never write."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel

from app.session.entries import RawEntry, lenient_ms, message_of
from renderers.text import humanise, humanise_duration

if TYPE_CHECKING:
    from app.session.facts import IndexEntry
    from app.session.tree_lanes import Lane
    from app.session.view import SessionView

SLICE_S = 0.004
"""How long bodies are read before keys get their turn again."""
PIECE = 500
"""Entries whose sums are kept at once: what a cancellation can lose."""


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


class BranchSums:
    """Sums of the branches of a tree, kept while one walks: a branch that grew is only read on from where it was.

    What was summed up before a cancellation is kept as well. Lanes that were cut anew begin anew.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, Figures]] = {}

    def known(self, lane: Lane) -> Figures | None:
        """The sums of the whole lane; None when some of it was not read yet."""
        done = self._done(lane)
        return done if done.entries == len(lane.entries) else None

    async def of(self, view: SessionView, lane: Lane) -> Figures:
        """The sums of the whole lane, a few milliseconds at a time."""
        done = self._done(lane)
        while done.entries < len(lane.entries):
            piece = lane.entries[done.entries : done.entries + PIECE]
            more = await figures_of(view, piece)
            done = replace(
                more,
                entries=done.entries + more.entries,
                input=done.input + more.input,
                output=done.output + more.output,
                cache=done.cache + more.cache,
                cost=done.cost + more.cost,
                duration_ms=max(0, lenient_ms(piece[-1].timestamp) - lenient_ms(lane.entries[0].timestamp)),
            )
            self._known[lane.key] = piece[-1].id, done
        return done

    def _done(self, lane: Lane) -> Figures:
        last_id, figures = self._known.get(lane.key, ("", Figures()))
        count = figures.entries
        if 0 < count <= len(lane.entries) and lane.entries[count - 1].id == last_id:
            return figures
        return Figures()


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
