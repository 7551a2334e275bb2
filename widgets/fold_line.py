"""The one line of a closed fold group; it only asks the renderer for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

if TYPE_CHECKING:
    from textual.visual import Visual

    from widgets.block import Block


def fold_line(blocks: Sequence[Block], *, plain: bool = False) -> Visual:
    """One line for several calls."""
    return Content(f"  ✓ {len(blocks)} calls ▸")
