"""Code keeps its text whatever the lexer does, and gets colours by token name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from renderers.code import LIMIT_LINES, highlight_lines, highlight_rows, language_of
from renderers.markdown_rows import plain

PYTHON = 'def f(x):\n    """Doc\n    more."""\n    return x + 1  # note\n'


@pytest.mark.parametrize("language", ["python", "PYTHON", "js", "json", "bash", "diff", "html", "nonesuch", ""])
def test_lines_come_back_as_they_were(language: str) -> None:
    assert [content.plain for content in highlight_lines(PYTHON, language)] == PYTHON.removesuffix("\n").split("\n")


def test_a_string_over_lines_is_one_colour() -> None:
    rows = highlight_rows(PYTHON, "python")
    assert rows[2][-1][1] == "$code-string"
    assert ("def", "$code-keyword") in rows[0]
    assert ("# note", "italic $code-comment") in rows[3]


def test_code_above_the_bound_is_plain() -> None:
    rows = highlight_rows("x = 1\n" * (LIMIT_LINES + 1), "python")
    assert len(rows) == LIMIT_LINES + 1
    assert {style for row in rows for _, style in row} == {"$code-text"}
    assert highlight_rows("a = " + "1" * 5_000, "python")[0][0][1] == "$code-text"


def test_foreign_code_is_sanitised_and_its_tabs_are_cells() -> None:
    assert [content.plain for content in highlight_lines("\tx\x1b[31m = '\u202e'\r\ny", "python")] == [
        "    x = '<U+202E>'",
        "y",
    ]


def test_empty_code_is_one_empty_line_and_empty_lines_stay() -> None:
    assert [plain(row) for row in highlight_rows("", "python")] == [""]
    assert [plain(row) for row in highlight_rows("\n\nx\n\n", "python")] == ["", "", "x", ""]


@pytest.mark.parametrize(
    ("name", "language"),
    [("src/a.py", "python"), ("C:\\x\\b.rs", "rust"), ("Dockerfile", "docker"), ("x.nonesuch", "")],
)
def test_a_file_name_says_its_language(name: str, language: str) -> None:
    assert language_of(name) == language


def test_nothing_heavy_is_imported_before_the_first_text() -> None:
    code = "import sys, renderers.markdown, renderers.code; print({'pygments', 'markdown_it'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("language", ["diff", "ini", "console", "python", "make"])
def test_the_last_line_is_coloured_as_if_another_came_after_it(language: str) -> None:
    line = {"diff": "+2 b", "ini": "[part]", "console": "$ ls", "python": "# word", "make": "# word"}[language]
    alone, followed = highlight_lines(line, language), highlight_lines(f"{line}\n{line}\n", language)
    assert [str(span.style) for span in alone[-1].spans] == [str(span.style) for span in followed[0].spans]
    assert len(alone) == 1
    assert len(followed) == 2
