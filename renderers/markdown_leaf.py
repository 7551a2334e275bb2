"""What Markdown's block structure is made of: leaves with their source lines, and the containers they stand in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

LeafKind = Literal["paragraph", "heading", "code", "indented", "html", "table", "rule"]


@dataclass(slots=True, eq=False)
class Container:
    """A quote, or a list item with the marker that is drawn for it and the indent its content has."""

    is_item: bool
    indent: int = 0
    marker: str = ""
    list_id: int = -1


@dataclass(slots=True, eq=False)
class Leaf:
    """One paragraph, heading, code block, table or rule: its source lines, and how it stands in the whole."""

    kind: LeafKind
    path: tuple[Container, ...]
    fresh: int
    """Containers from this index on begin with this leaf: their markers stand on its first row."""
    gap: bool
    """An empty row stands before it."""
    lines: list[str] = field(default_factory=list)
    closed: bool = False
    level: int = 0
    language: str = ""
    fence: str = ""
    fence_indent: int = 0
    held_blanks: int = 0
    shared: int = 0
    """Containers that the leaf before stands in too: their bars go through the gap."""


_CELL_END = re.compile(r"(?<!\\)\|")


def split_cells(line: str) -> list[str]:
    """Return the cells of one table row, trimmed; an escaped bar belongs to its cell."""
    text = line.strip(" \t")
    text = text.removeprefix("|")
    cells = _CELL_END.split(text)
    if len(cells) > 1 and not cells[-1].strip(" \t"):
        cells.pop()
    return [cell.strip(" \t").replace("\\|", "|") for cell in cells]
