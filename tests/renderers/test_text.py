"""Foreign text is safe to print and is cut between clusters, in cells."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from renderers.text import (
    break_offsets,
    cell_width,
    clusters,
    cut_cells,
    cut_middle,
    expand_tabs,
    humanise,
    humanise_bytes,
    humanise_duration,
    one_line,
    sanitise,
    wrap_cells,
)

FAMILY = "\U0001f468‍\U0001f469‍\U0001f467"
FLAG = "\U0001f1e9\U0001f1ea"
THUMB = "\U0001f44d\U0001f3fd"
CLUSTERS = ["a", " ", "é", "é", FAMILY, FLAG, THUMB, "❤️", "日", "각", "1️⃣", "क्षि", "█"]
TEXTS = st.lists(st.sampled_from(CLUSTERS), max_size=12)
HOSTILE = st.text(st.characters() | st.sampled_from("\x1b\x9b\x9d[];m\x07\r\n\t\u202e\u2066\ud800\x00"), max_size=40)


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x07", "link"),
        ("\x1b]52;c;aGk=\x07after", "after"),
        ("\x1bPq#0\x1b\\sixel", "sixel"),
        ("\x1b(Bcharset\x1b7\x1b8", "charset"),
        ("\x1b]0;a title that never ends", "]0;a title that never ends"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("nul\x00 half\ud800", "nul\ufffd half\ufffd"),
        ("user\u202etxt.exe", "user<U+202E>txt.exe"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("bell\x07 back\x08", "bell back"),
        ("tab\tand\nfeed stay", "tab\tand\nfeed stay"),
    ],
)
def test_text_keeps_nothing_that_moves_a_terminal(hostile: str, shown: str) -> None:
    assert sanitise(hostile) == shown


@given(HOSTILE)
@settings(max_examples=200, deadline=None, database=None)
def test_sanitised_text_has_no_control_or_bidi_character_and_stays_as_it_is(text: str) -> None:
    safe = sanitise(text)
    assert not [c for c in safe if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]
    assert not [c for c in safe if unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI")]
    assert sanitise(safe) == safe
    safe.encode("utf-8")


def test_one_line_is_one_line() -> None:
    hostile = "first\x1b[2J\r\n\tmessage \u202e" + "x" * 10_000
    line = one_line(hostile, 80)
    assert line.startswith("first message <U+202E>xxx")
    assert len(line) == 80
    assert "\n" not in line


@given(TEXTS, st.integers(0, 16))
@settings(max_examples=300, deadline=None, database=None)
def test_a_cut_falls_between_clusters(parts: list[str], width: int) -> None:
    text = "".join(parts)
    cut = cut_cells(text, width)
    assert cell_width(cut) <= width
    cut.encode("utf-8")
    if cut != text:
        kept = cut.removesuffix("…")
        starts = {0, *(start for start, _, _ in clusters(text))}
        assert text.startswith(kept)
        assert len(kept) in starts
        assert cut.endswith("…") or not cut


@pytest.mark.parametrize("cluster", [FAMILY, FLAG, THUMB, "❤️", "é", "각", "क्षि"])
def test_a_cluster_is_never_halved(cluster: str) -> None:
    text = "ab" + cluster + "cd" + cluster
    for width in range(cell_width(text) + 2):
        kept = cut_cells(text, width).removesuffix("…")
        assert kept.count(cluster[0]) == kept.count(cluster)


@given(TEXTS, st.integers(1, 9))
@settings(max_examples=200, deadline=None, database=None)
def test_wrapped_rows_fit_and_lose_no_character(parts: list[str], width: int) -> None:
    text = "".join(parts)
    rows = wrap_cells(text, width)
    assert rows
    assert all(cell_width(row) <= max(width, 2) for row in rows)
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")


def test_wide_script_is_broken_anywhere_and_words_are_not() -> None:
    assert wrap_cells("hello world 日本語日本語 a", 7) == ["hello", "world", "日本語", "日本語", "a"]
    assert wrap_cells("one\n\ntwo", 10) == ["one", "", "two"]
    assert break_offsets("aaaa bbbb", 4, words=False) == [4, 8]


def test_the_end_of_a_path_is_kept() -> None:
    path = "src/deep/down/parse_the_file.py"
    for width in range(len(path)):
        cut = cut_middle(path, width)
        assert cell_width(cut) <= width
        assert path.endswith(cut.rpartition("…")[2])
    assert cut_middle(path, 26) == "src/dee…/parse_the_file.py"
    assert cut_middle("short.py", 20) == "short.py"


def test_tabs_reach_the_next_stop_in_cells() -> None:
    assert expand_tabs("a\tb\n日\tc\n\td") == "a   b\n日  c\n    d"


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0"), (950, "950"), (999.6, "1k"), (12_345, "12.3k"), (340_000, "340k"), (999_960, "1M"), (1_200_000, "1.2M")],
)
def test_numbers_stay_short(number: float, shown: str) -> None:
    assert humanise(number) == shown


def test_sizes_and_times_are_said_for_people() -> None:
    assert [humanise_bytes(size) for size in (0, 812, 1024, 1434, 3 * 2**20)] == [
        "0 B",
        "812 B",
        "1 kB",
        "1.4 kB",
        "3 MB",
    ]
    times = (0.04, 2.34, 9.96, 59.7, 245, 3720)
    assert [humanise_duration(time) for time in times] == ["40 ms", "2.3 s", "10 s", "1 m 00 s", "4 m 05 s", "1 h 02 m"]
