"""Cutting: two limits, whole lines, whole clusters, right numbers (cases R4, R6)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.tools.clusters import cut_end, cut_start
from app.tools.truncate import (
    byte_length,
    format_size,
    last_bytes,
    split_lines,
    truncate_head,
    truncate_line,
    truncate_tail,
)

CLUSTERS = ["a", "é", "e\u0301", "👍🏽", "👩‍👩‍👧", "🇩🇪", "🇫🇷", "각", "\u1100\u1161\u11a8", "x\u20dd", "❤️", "\n", "漢"]


@given(st.lists(st.sampled_from(CLUSTERS), max_size=40), st.integers(-3, 3))
@settings(max_examples=500, deadline=None)
def test_a_cut_falls_between_clusters(clusters: list[str], shift: int) -> None:
    text = "".join(clusters)
    starts = {0}
    place = 0
    for cluster in clusters:
        place += len(cluster)
        starts.add(place)
    index = max(0, len(text) // 2 + shift)
    assert cut_end(text, index) in starts
    assert cut_start(text, min(index, len(text))) in starts


@pytest.mark.parametrize("cluster", [c for c in CLUSTERS if c != "\n"])
def test_a_shortened_line_is_a_prefix_in_whole_clusters(cluster: str) -> None:
    for length in range(497, 504):
        line = "b" * (length % 7) + cluster * length
        text, is_cut = truncate_line(line)
        assert is_cut == (len(line) > 500)
        shown = text.removesuffix("... [truncated]")
        shown.encode("utf-8")
        assert line.startswith(shown)
        assert (len(shown) - length % 7) % len(cluster) == 0
        assert len(shown) <= 500


def test_a_line_of_500_characters_is_not_cut() -> None:
    assert truncate_line("x" * 500) == ("x" * 500, False)


def test_a_heap_of_marks_is_cut_rather_than_lost() -> None:
    assert len(truncate_line("a" + "\u0301" * 5000)[0]) > 400


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0B"), (1023, "1023B"), (1536, "1.5KB"), (51200, "50.0KB"), (2**21, "2.0MB")]
)
def test_sizes_are_written_with_one_decimal(size: int, text: str) -> None:
    assert format_size(size) == text


@given(st.text(alphabet="a\né🙂", max_size=60), st.integers(1, 8), st.integers(1, 40))
@settings(max_examples=500, deadline=None)
def test_head_and_tail_keep_whole_lines_within_both_limits(text: str, max_lines: int, max_bytes: int) -> None:
    lines = split_lines(text)
    for cut in (truncate_head(text, max_lines, max_bytes), truncate_tail(text, max_lines, max_bytes)):
        assert cut.total_lines == len(lines)
        assert cut.total_bytes == byte_length(text)
        assert byte_length(cut.content) <= max_bytes
        assert cut.output_bytes == byte_length(cut.content)
        assert cut.truncated == (len(lines) > max_lines or byte_length(text) > max_bytes)
        if not cut.truncated:
            assert cut.content == text
    head = truncate_head(text, max_lines, max_bytes)
    if head.truncated:
        assert head.content == "\n".join(lines[: head.output_lines])
        assert head.first_line_exceeds_limit == (byte_length(lines[0]) > max_bytes)
    tail = truncate_tail(text, max_lines, max_bytes)
    assert text.endswith(tail.content)
    assert tail.output_lines <= max_lines


def test_the_end_of_a_long_line_begins_at_a_whole_cluster() -> None:
    assert last_bytes("👍🏽" * 10, 20) == "👍🏽👍🏽"
    assert last_bytes("abc", 0) == ""
    assert unicodedata.normalize("NFC", last_bytes("e\u0301" * 9, 7)) == "éé"
