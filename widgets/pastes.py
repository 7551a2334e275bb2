"""Large pastes stand in the prompt as one short marker, so that wrapping a key costs nothing; their text is never lost.

A marker looks like `[paste #1 +42 lines]` or `[paste #2 1400 chars]`. Numbers are given once in the life of a prompt
and never taken back: undo, history and the queue may bring a marker back at any time.
"""

from __future__ import annotations

import re

MAX_LINES = 10  # the reference's limits (spec ui.md §1.8): more lines, or more characters, become a marker
MAX_CHARS = 1_000

_MARKER = re.compile(r"\[paste #(\d+) (?:\+\d+ lines|\d+ chars)\]")


class Pastes:
    """The texts behind the markers of one prompt."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}  # whole marker -> text; a marker that only looks like one isn't in here
        self._last_number = 0

    def __len__(self) -> int:
        return len(self._texts)

    @staticmethod
    def is_large(text: str) -> bool:
        """True if a pasted text should become a marker."""
        return len(text) > MAX_CHARS or text.count("\n") + 1 > MAX_LINES

    def add(self, text: str) -> str:
        """Return the marker that stands for this text; the same text gets the same marker."""
        for marker, known in self._texts.items():
            if known == text:
                return marker
        self._last_number += 1
        lines = text.count("\n") + 1
        size = f"+{lines} lines" if lines > MAX_LINES else f"{len(text)} chars"
        marker = f"[paste #{self._last_number} {size}]"
        self._texts[marker] = text
        return marker

    def expand(self, text: str) -> str:
        """Return the text with each known marker replaced by what was pasted; one pass, so pasted markers stay text."""
        if not self._texts or "[paste #" not in text:
            return text
        return _MARKER.sub(lambda match: self._texts.get(match[0], match[0]), text)

    def collapse(self, text: str) -> str:
        """Return the text with known pastes, and any text too large for the prompt, replaced by markers.

        The inverse of `expand` for what comes back from history, the queue or an external editor.
        """
        if not self.is_large(text):
            return text
        for marker, known in sorted(self._texts.items(), key=lambda item: -len(item[1])):
            text = text.replace(known, marker)
        # 200 lines is what the prompt can wrap within a key's budget (TextArea: 60 ms a key at 1,000 lines).
        if len(text) > 16_000 or text.count("\n") > 200:
            return self.add(self.expand(text))
        return text

    def marker_around(self, line: str, column: int) -> tuple[int, int] | None:
        """Return the columns [first, end) of the known marker that holds this column strictly inside, or None."""
        if not self._texts or "[paste #" not in line:
            return None
        for match in _MARKER.finditer(line):
            if match.start() < column < match.end() and match[0] in self._texts:
                return match.start(), match.end()
        return None
