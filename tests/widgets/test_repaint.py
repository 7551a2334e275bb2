from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from widgets.repaint import _cells, changed_span

Parts = list[tuple[str, Style | None]]
STYLES = [None, Style.parse("bold"), Style.parse("red"), Style.parse("bold")]
pieces = st.lists(st.tuples(st.text("ab ", max_size=4), st.sampled_from(STYLES)), max_size=5)


def row(parts: Parts, width: int = 12) -> Strip:
    return Strip([Segment(text, style) for text, style in parts]).adjust_cell_length(width)


@given(pieces, pieces)
def test_the_span_of_plain_rows_is_that_of_their_cells(old: Parts, new: Parts) -> None:
    one, two = row(old), row(new)
    differ = [at for at, (a, b) in enumerate(zip(_cells(one), _cells(two), strict=True)) if a != b]
    assert changed_span(one, two) == ((differ[0], differ[-1] + 1) if differ else None)
