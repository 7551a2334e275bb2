from __future__ import annotations

from renderers.diff import DiffLine, changed_words, count_changes, diff_rows, diff_texts, parse_diff
from renderers.rows import Body
from tests.renderers.draw import draw, shown, styled

DIFF = "\n".join(
    (
        "  1 import os",
        "-  9 def parse(line):",
        "+ 10 def parse(line, sep):",
        "     ...",
        "  99 # end",
        "- 100     ",
        "+-not a number",
        "\\ No newline",
    )
)


def test_the_text_form_is_read_with_signs_numbers_and_gaps() -> None:
    assert parse_diff(DIFF) == [
        DiffLine("context", "import os", 1),
        DiffLine("del", "def parse(line):", 9),
        DiffLine("add", "def parse(line, sep):", 10),
        DiffLine("gap", ""),
        DiffLine("context", "# end", 99),
        DiffLine("del", "    ", 100),
        DiffLine("add", "-not a number"),
        DiffLine("context", "\\ No newline"),
    ]
    assert count_changes(DIFF) == (2, 2)
    assert parse_diff("") == []


def test_only_as_many_lines_are_read_as_are_wanted() -> None:
    assert len(parse_diff(DIFF, 3)) == 3


def test_the_diff_of_our_own_tool_is_read_back() -> None:
    from app.tools.diff import unified_rows

    old = "".join(f"line {i}\n" for i in range(40))
    text, _ = unified_rows(old, old.replace("line 3\n", "line three\n").replace("line 30\n", ""))
    lines = parse_diff(text)
    assert [line.kind for line in lines].count("gap") == 2
    assert DiffLine("del", "line 3", 4) in lines
    assert DiffLine("add", "line three", 4) in lines
    assert count_changes(text) == (1, 2)


def test_changed_words_are_marked_and_leading_blanks_never() -> None:
    old, new = changed_words("    return a + b", "        return a - b")
    assert old == [(13, 14)]
    assert new == [(17, 18)]


def test_lines_that_have_nothing_in_common_get_no_marks() -> None:
    assert changed_words("alpha beta", "one two three") == ([], [])
    assert changed_words("", "x") == ([], [])
    assert changed_words("x " * 3000, "y " * 3000) == ([], [])


def test_word_marks_are_drawn_on_the_changed_words_alone() -> None:
    visual = Body(diff_rows(parse_diff("-1 return a + b\n+1 return a - b")))
    assert styled(visual, "on $diff-del-word") == ["+"]
    assert styled(visual, "on $diff-add-word") == ["-"]


def test_each_of_several_changed_lines_is_compared_with_its_own() -> None:
    visual = Body(diff_rows(parse_diff("-1 a = 1\n-2 b = 2\n+1 a = 3\n+2 b = 4")))
    assert styled(visual, "on $diff-del-word") == ["1", "2"]
    assert styled(visual, "on $diff-add-word") == ["3", "4"]


def test_backgrounds_end_with_the_text() -> None:
    visual = Body(diff_rows(parse_diff("+1 ab")))
    assert "".join(styled(visual, "on $diff-add-background")) == "1 + ab"


def test_numbers_signs_and_gaps_stand_in_columns_and_folded_rows_hang_under_the_text() -> None:
    rows = draw(Body(diff_rows(parse_diff(DIFF)), plain=True), 30)
    assert rows[0] == "    1   import os"
    assert rows[1] == "    9 - def parse(line):"
    assert rows[2] == "   10 + def parse(line, sep):"
    assert "⋯" in rows[3]
    narrow = draw(Body(diff_rows(parse_diff("+1 " + "abcdefghij" * 2)), plain=True), 20)
    assert narrow == ["  1 + abcdefghijabcd", "      efghij"]


def test_foreign_text_in_a_diff_is_clean() -> None:
    assert "\x1b" not in shown(Body(diff_rows([DiffLine("add", "a\x1b[31mb\tc\u2028d")])))


def test_a_diff_of_two_texts_keeps_what_is_the_same_as_context() -> None:
    lines = diff_texts("a\nb\nc\n", "a\nB\nc\n")
    assert lines == [DiffLine("context", "a"), DiffLine("del", "b"), DiffLine("add", "B"), DiffLine("context", "c")]
    assert diff_texts("", "x\ny") == [DiffLine("add", "x"), DiffLine("add", "y")]
    assert diff_texts("x", "") == [DiffLine("del", "x")]


def test_long_stretches_that_are_the_same_become_a_gap() -> None:
    same = "".join(f"{i}\n" for i in range(50))
    kinds = [line.kind for line in diff_texts("a\n" + same + "b\n", "A\n" + same + "B\n")]
    assert kinds.count("gap") == 1
    assert kinds.count("context") == 8


def test_huge_texts_are_not_compared_line_by_line_but_their_same_ends_are_left_out() -> None:
    old = ["head", *(f"{i}" for i in range(400)), "tail"]
    new = ["head", *(f"{i}" for i in reversed(range(400))), "tail"]
    lines = diff_texts("\n".join(old), "\n".join(new))
    assert [line.kind for line in lines] == ["context", *["del"] * 400, *["add"] * 400, "context"]


def test_a_quick_diff_compares_only_the_ends() -> None:
    quick = diff_texts("a\nb\nc\nd", "a\nB\nc\nD", quick=True)
    assert [line.kind for line in quick] == ["context", "del", "del", "del", "add", "add", "add"]
    assert [line.kind for line in diff_texts("a\nb\nc\nd", "a\nB\nc\nD")].count("context") == 2
