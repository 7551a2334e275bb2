"""Where a text may be cut so that no emoji or combining cluster is torn; it must never measure cells."""

from __future__ import annotations

import unicodedata

ZERO_WIDTH_JOINER = "\u200d"
# A cluster longer than this is noise ("zalgo"): then the cut may fall inside it rather than lose the text.
LONGEST_CLUSTER_CHARS = 64


def cut_end(text: str, index: int) -> int:
    """The last boundary at or before `index`: `text[:result]` is whole clusters. 0 when the first is longer."""
    index = min(index, len(text))
    for back in range(min(index, LONGEST_CLUSTER_CHARS) + 1):
        if is_boundary(text, index - back):
            return index - back
    return index


def cut_start(text: str, index: int) -> int:
    """The first boundary at or after `index`: `text[result:]` is whole clusters."""
    for forward in range(min(len(text) - index, LONGEST_CLUSTER_CHARS) + 1):
        if is_boundary(text, index + forward):
            return index + forward
    return index


def is_boundary(text: str, index: int) -> bool:
    """Whether no cluster goes across `index` (after UAX #29: marks, joiners, modifiers, flags, Hangul, CR LF)."""
    if index <= 0 or index >= len(text):
        return True
    before, after = text[index - 1], text[index]
    if before == "\r" and after == "\n":
        return False
    if before < "\u0300" and after < "\u0300":
        return True
    if _extends(after) or before == ZERO_WIDTH_JOINER:
        return False
    if _is_regional(before) and _is_regional(after):
        start = index
        while start > 0 and _is_regional(text[start - 1]):
            start -= 1
        return (index - start) % 2 == 0
    return not _is_hangul_pair(before, after)


def _extends(char: str) -> bool:
    code = ord(char)
    return (
        char in (ZERO_WIDTH_JOINER, "\u200c")
        or 0xFE00 <= code <= 0xFE0F
        or 0x1F3FB <= code <= 0x1F3FF
        or 0xE0020 <= code <= 0xE007F
        or unicodedata.category(char) in ("Mn", "Me", "Mc")
        or char in "\uff9e\uff9f"
    )


def _is_regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _is_hangul_pair(before: str, after: str) -> bool:
    first, second = ord(before), ord(after)
    vowel, tail = 0x1160 <= second <= 0x11A7, 0x11A8 <= second <= 0x11FF
    if 0x1100 <= first <= 0x115F:
        return vowel or 0x1100 <= second <= 0x115F or 0xAC00 <= second <= 0xD7A3
    if 0xAC00 <= first <= 0xD7A3:
        return tail or (vowel and (first - 0xAC00) % 28 == 0)
    return (0x1160 <= first <= 0x11A7 and (vowel or tail)) or (0x11A8 <= first <= 0x11FF and tail)
