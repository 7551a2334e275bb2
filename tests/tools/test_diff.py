"""Diffs: rows in the fixed form, first changed line, bounded work."""

from __future__ import annotations

import random
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from app.tools.diff import MAX_ROWS, changed_spans, unified_rows

LINES = st.lists(st.sampled_from(["a", "b", "c", "}", "", "x y"]), max_size=30)


@given(LINES, LINES)
@settings(max_examples=500, deadline=None)
def test_applying_the_spans_gives_the_new_text(old: list[str], new: list[str]) -> None:
    result: list[str] = []
    at = 0
    for old_start, old_end, new_start, new_end in changed_spans(old, new):
        assert old_start >= at
        result += old[at:old_start]
        assert len(result) == new_start
        result += new[new_start:new_end]
        at = old_end
    assert result + old[at:] == new


def test_rows_have_sign_number_and_text_with_gaps_between() -> None:
    old = "".join(f"l{n}\n" for n in range(1, 31))
    new = old.replace("l2\n", "").replace("l20\n", "l20\nnew\n")
    rows, first = unified_rows(old, new)
    assert first == 2
    assert rows.split("\n") == [
        "  1 l1",
        "- 2 l2",
        "  3 l3",
        "  4 l4",
        "  5 l5",
        "  6 l6",
        "    ...",
        " 17 l17",
        " 18 l18",
        " 19 l19",
        " 20 l20",
        "+20 new",
        " 21 l21",
        " 22 l22",
        " 23 l23",
        " 24 l24",
        "    ...",
    ]


def test_equal_texts_have_no_rows_and_changes_at_the_ends_are_told() -> None:
    assert unified_rows("a\nb", "a\nb") == ("", 0)
    assert unified_rows("", "a\n") == ("+1 a", 1)
    assert unified_rows("a\n", "") == ("-1 a", 1)
    assert unified_rows("a\n", "a\nb\n") == (" 1 a\n+2 b", 2)


def test_bytes_that_are_no_text_come_out_as_valid_unicode() -> None:
    rows, _ = unified_rows("caf\udce9", "caf\udce9!")
    assert rows == "-1 caf\ufffd\n+1 caf\ufffd!"


def test_large_and_pathological_texts_take_bounded_work() -> None:
    begun = time.process_time()
    numbers = [f"line {n}" for n in range(20_000)]
    changed = [line + "!" if n % 100 == 0 else line for n, line in enumerate(numbers)]
    assert len(list(changed_spans(numbers, changed))) == 200
    chance = random.Random(1)
    noise = ["\n".join(chance.choice("ab{}") for _ in range(20_000)) for _ in range(2)]
    rows, _ = unified_rows(noise[0], noise[1])
    assert rows.count("\n") <= MAX_ROWS
    shuffled = numbers[:]
    chance.shuffle(shuffled)
    list(changed_spans(numbers, shuffled))
    assert time.process_time() - begun < 10
