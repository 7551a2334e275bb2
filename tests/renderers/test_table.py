"""Columns share the width fairly, cells wrap, and nothing is wider than the screen."""

from __future__ import annotations

import pytest

from renderers.markdown_rows import Row, plain, row_width
from renderers.table import column_widths, parse_aligns, stacked_row, table_row, table_rule


def cells(*texts: str) -> list[Row]:
    return [[(text, "")] if text else [] for text in texts]


def test_a_column_that_needs_little_gives_the_rest_to_the_others() -> None:
    rows = [cells("id", "x" * 200, "y" * 30)]
    assert column_widths(rows, 60) == [2, 26, 26]
    assert column_widths([cells("a", "bb")], 60) == [1, 2]


@pytest.mark.parametrize("width", range(1, 40))
def test_a_table_row_fits(width: int) -> None:
    row = cells("日本語", "some words here", "", "x" * 30)
    widths = column_widths([row], width)
    lines = table_row(row, widths, []) if widths else stacked_row(row, row, width)
    assert lines
    assert all(row_width(line) <= max(width, 2) for line in lines)
    assert sum(plain(line).count("x") for line in lines) >= 30


def test_cells_are_aligned_and_wrapped() -> None:
    row = cells("a", "b", "one two")
    aligns = parse_aligns([":--", ":-:", "--:"])
    assert aligns == ["left", "center", "right"]
    assert [plain(line) for line in table_row(row, [3, 3, 4], aligns)] == ["a   │  b  │  one", "    │     │  two"]
    assert plain(table_rule([3, 3, 4])) == "────┼─────┼─────"


def test_a_row_may_have_fewer_cells_than_columns() -> None:
    assert [plain(line) for line in table_row(cells("a"), [2, 2], [])] == ["a  │ "]


def test_no_columns_are_no_table() -> None:
    assert column_widths([], 20) == []
    assert table_row([], [], []) == []
