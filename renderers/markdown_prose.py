"""A paragraph that may be very long: what is far behind its end is parsed and wrapped once.

The source is cut at a blank where no marker is open, so the parts read as the whole would; a paragraph that never
offers such a place is cut anyway, and read as a whole once more when it closes.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from renderers.markdown_rows import Row, wrap

CHUNK_CHARS = 600
FORCED_CHARS = 4 * CHUNK_CHARS

_EDGE_UNDERSCORE = re.compile(r"(?<!\w)_|_(?!\w)")


class ProseFlow:
    """Lays out lines of one paragraph at a width; `advance` gives rows that are final, `rest` those after them."""

    def __init__(self, inline: Callable[[str], list[Row]], width_cells: int) -> None:
        self._inline = inline
        self._width = width_cells
        self._line = 0
        self._char = 0
        self._carry: Row = []
        """Pieces of the row that the part before began."""

    def advance(self, lines: list[str]) -> list[Row]:
        """Return the rows that have become final since the last call. Lines may grow, but not change."""
        final: list[Row] = []
        source = self._source(lines)
        while len(source) > 2 * CHUNK_CHARS:
            cut = _cut(source)
            if not cut:
                break
            rows = self._wrapped(source[:cut])
            self._carry = rows.pop()
            skip = 1 if source[cut] in " \n" else 0
            if skip and self._carry:
                self._carry = [*self._carry, (" ", self._carry[-1][1])]
            final += rows
            self._move(source[: cut + skip])
            source = source[cut + skip :]
        return final

    def rest(self, lines: list[str]) -> list[Row]:
        """Return the rows of everything that isn't final."""
        return self._wrapped(self._source(lines).rstrip(" "))

    def _source(self, lines: list[str]) -> str:
        if self._line >= len(lines):
            return ""
        return "\n".join([lines[self._line][self._char :], *lines[self._line + 1 :]])

    def _move(self, taken: str) -> None:
        feeds = taken.count("\n")
        if feeds:
            self._line += feeds
            self._char = len(taken) - taken.rfind("\n") - 1
        else:
            self._char += len(taken)

    def _wrapped(self, source: str) -> list[Row]:
        first, *more = self._inline(source)
        rows = wrap([*self._carry, *first], self._width)
        for row in more:
            rows.extend(wrap(row, self._width))
        return rows


def _cut(source: str) -> int:
    """Where to part the source: at a blank outside of any marker if there is one, 0 if it should wait."""
    end = 2 * CHUNK_CHARS
    for _ in range(24):
        at = max(source.rfind(" ", CHUNK_CHARS, end), source.rfind("\n", CHUNK_CHARS, end))
        if at < 0:
            break
        if source[at - 1] not in " \\" and source[at + 1 : at + 2] not in (" ", "\n") and _is_balanced(source[:at]):
            return at
        end = at
    if len(source) < FORCED_CHARS:
        return 0
    at = source.rfind(" ", CHUNK_CHARS, 2 * CHUNK_CHARS)
    return at if at > 0 else 2 * CHUNK_CHARS


def _is_balanced(part: str) -> bool:
    return (
        part.count("`") % 2 == 0
        and part.count("*") % 2 == 0
        and part.count("~~") % 2 == 0
        and part.count("[") == part.count("]")
        and part.count("<") == part.count(">")
        and len(_EDGE_UNDERSCORE.findall(part)) % 2 == 0
    )
