"""A screen that shows a typed key at once instead of with its next frame; it must never know what was typed.

Textual gathers repaints for a frame's length: a key typed while an answer streams waits for half a frame, over SSH (15
frames a second) for 33 ms on average. This leans on private members of Textual 8; without them keys come with frames.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from textual.screen import Screen

if TYPE_CHECKING:
    from textual import events
    from textual.widget import Widget

SHORTEST_S = 1 / 60
"""Between two such repaints: a key held down or a paste arriving in pieces must not cost a repaint a piece."""


class KeysFirst(Screen[None]):
    """Repaints at once when the widget that is typed in has changed."""

    _typed_in: Widget | None = None
    _painted_at = 0.0

    async def _on_idle(self, event: events.Idle) -> None:
        if self._typed_in is not None and self._typed_in in self._dirty_widgets:
            now = time.monotonic()
            if now - self._painted_at >= SHORTEST_S:
                self._painted_at = now
                event.prevent_default()
                self._on_timer_update()
                return
        await super()._on_idle(event)
