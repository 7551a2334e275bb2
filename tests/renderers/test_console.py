from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from renderers import console
from renderers.console import clean_line, head_lines, tail_lines
from renderers.text import clusters


def test_the_tail_is_the_last_lines_and_the_rest_is_counted() -> None:
    text = "".join(f"line {i}\n" for i in range(100))
    cut = tail_lines(text, 3)
    assert cut.lines == ["line 97", "line 98", "line 99"]
    assert cut.hidden == 97


def test_the_head_is_the_first_lines_and_the_rest_is_counted() -> None:
    text = "".join(f"line {i}\n" for i in range(100))
    cut = head_lines(text, 3)
    assert cut.lines == ["line 0", "line 1", "line 2"]
    assert cut.hidden == 97


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\n\n", ["a", ""]),
        ("\na", ["", "a"]),
    ],
)
def test_a_final_line_feed_ends_a_line_and_begins_no_other(text: str, lines: list[str]) -> None:
    for cut in (tail_lines(text, 10), head_lines(text, 10)):
        assert cut.lines == lines
        assert cut.hidden == 0


@given(st.lists(st.text("ab\r", max_size=4), min_size=1, max_size=12), st.integers(1, 6))
@settings(deadline=None, max_examples=60)
def test_head_and_tail_show_and_hide_all_lines_between_them(lines: list[str], limit: int) -> None:
    text = "\n".join(lines) + "\n"
    for cut in (tail_lines(text, limit), head_lines(text, limit)):
        assert len(cut.lines) + cut.hidden == len(lines)
        assert len(cut.lines) == min(limit, len(lines))


def test_a_carriage_return_overwrites_from_the_left() -> None:
    assert clean_line("a\rb\rc") == "c"
    assert clean_line("hello\rJ") == "Jello"
    assert clean_line("done\r") == "done"
    assert tail_lines("".join(f"{i} %\r" for i in range(10_000)) + "100 %\n", 5).lines == ["100 %%"]


def test_escapes_controls_and_line_separators_do_not_reach_the_screen() -> None:
    assert clean_line("\x1b[31mred\x1b[0m\x07 \x1b]0;title\x07x\x9b1mz") == "red xz"
    assert clean_line("a\u2028b\x85c") == "a b c"
    assert clean_line("a\tb") == "a   b"


def test_only_the_wanted_end_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    real = console.clean_line

    def counting(line: str, limit: int = console.LINE_LIMIT, *, keep_tail: bool = False) -> str:
        looked.append(len(line))
        return real(line, limit, keep_tail=keep_tail)

    monkeypatch.setattr(console, "clean_line", counting)
    text = "x" * 20 + "\n"
    for lines in (100, 100_000):
        looked.clear()
        tail_lines(text * lines, 5)
        assert looked == [20] * 5
        looked.clear()
        head_lines(text * lines, 5)
        assert looked == [20] * 5


def test_a_huge_line_keeps_its_end_in_the_tail() -> None:
    cut = tail_lines("start" + "y" * 300_000 + "end\n", 5, line_limit=4_000)
    assert len(cut.lines[0]) == 4_000
    assert cut.lines[0].endswith("end")


@given(
    st.lists(st.sampled_from(["a", "é", "e\u0301", "日", "👍🏽", "👩‍👩‍👧", "1️⃣"]), min_size=4, max_size=30),
    st.integers(1, 20),
)
@settings(deadline=None, max_examples=150)
def test_a_long_line_is_cut_between_clusters(parts: list[str], limit: int) -> None:
    line = "".join(parts)
    edges = {start for start, _, _ in clusters(line)} | {len(line)}
    head = clean_line(line, limit)
    assert line.startswith(head)
    assert len(head) in edges
    tail = clean_line(line, limit, keep_tail=True)
    assert line.endswith(tail)
    assert len(line) - len(tail) in edges
    (head + tail).encode("utf-8")
