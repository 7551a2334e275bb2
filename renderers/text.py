"""Foreign text made safe and measured in cells, for all that is drawn; it never styles, never reads markup."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from itertools import accumulate

from rich.cells import cell_len, split_graphemes

TAB_CELLS = 4
ELLIPSIS = "…"

# Whole sequences first, so that their parameters don't stay behind as text. A string sequence (OSC, DCS, SOS, PM, APC)
# ends at BEL or ST; one that never ends loses its introducer only, so that no text can be hidden behind it.
_SEQUENCE = re.compile(
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\n]*(?:\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b[ -/]+[0-~]"
    r"|\x1b[0-OQ-WYZ\\`-~]"
)
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_NEWLINE = re.compile("\r\n|[\r\x85\u2028\u2029]")
_REPLACED = {0, *range(0xD800, 0xE000)}
_SHOWN = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}


def sanitise(text: str) -> str:
    """Return text that a terminal can only print: printable characters, "\\n" and "\\t".

    Escape sequences (7 and 8 bit) and other control characters go, every kind of line end becomes "\\n", NUL and lone
    surrogates become U+FFFD, invisible marks go, and characters that turn the direction of text are shown as <U+202E>,
    for they hide what code really says. Idempotent. Source: ECMA-48, UAX #9.
    """
    if _UNSAFE.search(text) is None:
        return text
    return _UNSAFE.sub(_visible, _SEQUENCE.sub("", _NEWLINE.sub("\n", text)))


def _visible(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code in _REPLACED:
        return "\ufffd"
    return f"<U+{code:04X}>" if code in _SHOWN else ""


def one_line(text: str, limit_chars: int = 2_000) -> str:
    """Return the text on one line, sanitised, each run of white space one blank; only its first part if it is huge."""
    return " ".join(sanitise(text[: limit_chars * 2]).split())[:limit_chars]


def expand_tabs(text: str, tab_cells: int = TAB_CELLS) -> str:
    """Return the text with each tab filled up to the next stop, counted in cells from the start of its line."""
    if "\t" not in text:
        return text
    lines: list[str] = []
    for line in text.split("\n"):
        parts = line.split("\t")
        done = parts[0]
        for part in parts[1:]:
            done += " " * (tab_cells - cell_len(done) % tab_cells) + part
        lines.append(done)
    return "\n".join(lines)


def cell_width(text: str) -> int:
    """Return the width in cells as Textual counts it, so that our rows and its strips agree."""
    return cell_len(text)


def clusters(text: str) -> list[tuple[int, int, int]]:
    """Return (start, end, cells) of each user-perceived character, in order and without gaps.

    Builds on rich's splitter and joins what it leaves apart: the two halves of a flag, and Indic conjuncts.
    """
    if text.isascii():
        return [(index, index + 1, 1 if character >= " " else 0) for index, character in enumerate(text)]
    joined: list[tuple[int, int, int]] = []
    flag_open = False
    for start, end, cells in split_graphemes(text)[0]:
        is_flag_half = 0x1F1E6 <= ord(text[start]) <= 0x1F1FF
        if joined and ((is_flag_half and flag_open) or _joins(text, start)):
            before = joined[-1]
            joined[-1] = (before[0], end, before[2] + cells)
            flag_open = False
        else:
            joined.append((start, end, cells))
            flag_open = is_flag_half and end == start + 1
    return joined


def _joins(text: str, start: int) -> bool:
    if text[start] < "\u0300":
        return False
    return (
        unicodedata.category(text[start]) in ("Mn", "Mc", "Me")
        or text[start - 1] == "\u200d"
        or unicodedata.combining(text[start - 1]) == 9  # a virama joins the next consonant
    )


def cut_cells(text: str, width_cells: int, ellipsis: str = ELLIPSIS) -> str:
    """Return the text if it fits, else its longest start in whole clusters that fits together with the ellipsis."""
    if cell_len(text) <= width_cells:
        return text
    room = width_cells - cell_len(ellipsis)
    if room < 0:
        return ""
    return _head(text, room) + ellipsis


def _head(text: str, room: int) -> str:
    used = 0
    # A cluster of no width is possible but rare: the slice is a bound for huge texts, not the cut.
    text = text[: 16 * room + 64]
    for start, _, cells in clusters(text):
        used += cells
        if used > room:
            return text[:start]
    return text


def _tail(text: str, room: int) -> str:
    used = 0
    spans = clusters(text)
    for start, end, cells in reversed(spans):
        used += cells
        if used > room:
            return text[end:]
        if start == 0:
            break
    return text


def cut_middle(path: str, width_cells: int) -> str:
    """Return the path if it fits, else with its middle replaced by "…": its end is kept whole as long as it can be."""
    if cell_len(path) <= width_cells:
        return path
    if width_cells <= 0:
        return ""
    room = width_cells - 1
    name_at = max(path.rfind("/"), path.rfind("\\"))
    name = path[name_at:] if name_at > 0 else path
    if cell_len(name) >= room:
        return ELLIPSIS + _tail(path, room)
    kept = max(cell_len(name), (2 * room) // 3)
    end = _tail(path, kept)
    return _head(path, room - cell_len(end)) + ELLIPSIS + end


_WORD = re.compile(r"[^ \t]+[ \t]*|[ \t]+")


def break_offsets(line: str, width_cells: int, *, words: bool = True) -> list[int]:
    """Return the character offsets where rows of one line begin, without the first (0).

    Rows are broken between words, words that don't fit and wide scripts between clusters; with words=False every row
    is filled (code). Blanks at a break stay with the row before, where they may stand past the width. Below 1 cell: [].
    """
    if width_cells < 1 or (len(line) <= width_cells and line.isascii()):
        return []
    if not words:
        return _fold(line, 0, 0, width_cells)[0]
    offsets: list[int] = []
    column = 0
    for found in _WORD.finditer(line):
        word = found[0]
        bare = word.rstrip(" \t")
        cells = cell_len(bare)
        if column + cells <= width_cells:
            column += cells + len(word) - len(bare)
            continue
        start = found.start()
        is_wide = cells > len(bare)
        if column and not is_wide:
            offsets.append(start)
            column = 0
        if cells > width_cells or is_wide:
            more, column = _fold(bare, start, column, width_cells)
            offsets.extend(more)
        else:
            column = cells
        column += len(word) - len(bare)
    return offsets


def _fold(text: str, start: int, column: int, width: int) -> tuple[list[int], int]:
    if text.isascii() and not column:
        offsets = list(range(start + width, start + len(text), width))
        return offsets, len(text) - (offsets[-1] - start if offsets else 0)
    offsets = []
    for begin, _, cells in clusters(text):
        if column + cells > width and column:
            offsets.append(start + begin)
            column = 0
        column += cells
    return offsets, column


def wrap_cells(text: str, width_cells: int) -> list[str]:
    """Return the rows of sanitised text at that width, broken between words, no blanks at row ends. Never empty."""
    rows: list[str] = []
    for line in expand_tabs(text).split("\n"):
        offsets = break_offsets(line, width_cells)
        for begin, end in zip([0, *offsets], [*offsets, len(line)], strict=True):
            rows.append(line[begin:end].rstrip(" "))
    return rows


def humanise(number: float) -> str:
    """Return a count in at most five characters: 950, 12.3k, 340k, 1.2M."""
    for factor, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= factor * 0.9995:
            scaled = number / factor
            return f"{scaled:.0f}{unit}" if abs(scaled) >= 99.95 else f"{scaled:.1f}".removesuffix(".0") + unit
    return f"{number:.0f}"


def humanise_bytes(size_bytes: float) -> str:
    """Return a size with its unit, in steps of 1024: 812 B, 1.4 kB, 3 MB."""
    steps = list(accumulate([1024] * 4, lambda a, b: a * b))
    at = bisect_right(steps, size_bytes * 1.0005)
    if not at:
        return f"{size_bytes:.0f} B"
    scaled = size_bytes / steps[at - 1]
    text = f"{scaled:.0f}" if scaled >= 99.95 else f"{scaled:.1f}".removesuffix(".0")
    return f"{text} {('kB', 'MB', 'GB', 'TB')[at - 1]}"


def humanise_duration(seconds: float) -> str:
    """Return a time for people: 40 ms, 2.3 s, 42 s, 4 m 05 s, 1 h 02 m."""
    if seconds < 0.0995:
        return f"{max(0.0, seconds) * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} m {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} m"
