"""Plain English for the offline guide: what it takes a request to mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.ai.adapters.offline_intents import (
    EditFile,
    Explain,
    FindFiles,
    Intent,
    ListFiles,
    ReadFiles,
    Run,
    RunTests,
    Search,
    Stop,
    Tour,
    Unclear,
    WriteFile,
)
from app.ai.adapters.offline_parse import drops_earlier, parse

ONE: list[tuple[str, Intent]] = [
    ("list the files here", ListFiles()),
    ("Can you please list the files?", ListFiles()),
    ("ls src", ListFiles("src")),
    ("list the files in the folder src", ListFiles("src")),
    ("what files are there in src?", ListFiles("src")),
    ("which files are here", ListFiles()),
    ("tell me what files are here", ListFiles()),
    ("look at tests/", ListFiles("tests/")),
    ("find *.py in src", FindFiles("*.py", "src")),
    ("list all python files", FindFiles("*.py")),
    ("find the file config.py", FindFiles("config.py")),
    ("find all files", FindFiles("*")),
    ('find "*.md"', FindFiles("*.md")),
    ("read README.md", ReadFiles(("README.md",))),
    ("read README", ReadFiles(("README",))),
    ("read README.md lines 2-5", ReadFiles(("README.md",), 2, 5)),
    ("show me the first 5 lines of setup.py", ReadFiles(("setup.py",), 1, 5)),
    ("read a.py:10-20", ReadFiles(("a.py",), 10, 20)),
    ("read a.py from line 7", ReadFiles(("a.py",), 7, None)),
    ("show me a.py and b.py", ReadFiles(("a.py", "b.py"))),
    ('read "my file.txt"', ReadFiles(("my file.txt",))),
    ("what's in README.md?", ReadFiles(("README.md",))),
    ("print the contents of x.txt", ReadFiles(("x.txt",))),
    ("search for TODO in src", Search("TODO", "src")),
    ("search src for `x y`", Search("x y", "src")),
    ('find "TODO"', Search("TODO")),
    ("search for /de+f/ in .", Search("de+f", ".", literal=False)),
    ("where is parse defined?", Search("parse")),
    ("run `pytest -q`", Run("pytest -q")),
    ("run pytest -q tests", Run("pytest -q tests")),
    ('execute "echo hi"', Run("echo hi")),
    ('run grep "a b" x.txt', Run('grep "a b" x.txt')),
    ("run for i in 1 2; do echo $i; done", Run("for i in 1 2; do echo $i; done")),
    ("run `echo a then b; ls`", Run("echo a then b; ls")),
    ("$ ls | wc -l", Run("ls | wc -l")),
    ("git status", Run("git status")),
    ("run script.py", Run("python3 script.py")),
    ("run the tests", RunTests()),
    ("find out why the test fails and fix it", RunTests(why=True, fix=True)),
    ("why do the tests fail?", RunTests(why=True)),
    ("the tests are failing", RunTests(why=True)),
    ('write notes.txt with "hello"', WriteFile("notes.txt", "hello\n")),
    ("write notes.txt with content:\n```\na\n\n  b\n```", WriteFile("notes.txt", "a\n\n  b\n")),
    ('put "x" into y.txt', WriteFile("y.txt", "x\n")),
    ('write x.txt with "run the tests; then list files"', WriteFile("x.txt", "run the tests; then list files\n")),
    ('create x.json containing "{\\"a\\": 1}"', WriteFile("x.json", '{"a": 1}\n')),
    ("create an empty file x.txt", WriteFile("x.txt", "")),
    ("replace 'a' with 'b' in x.txt", EditFile("x.txt", "a", "b")),
    ("edit app.py: replace `foo` with `bar`", EditFile("app.py", "foo", "bar")),
    ("edit app.py and replace foo with bar", EditFile("app.py", "foo", "bar")),
    ("in x.txt change a to b", EditFile("x.txt", "a", "b")),
    ("explain pinyon", Explain("pinyon")),
    ("help", Explain("help")),
    ("hello", Explain("help")),
    ("what can you do?", Explain("help")),
    ("show me the keys", Explain("keys")),
    ("how do I use a real model?", Explain("providers")),
    ("show me everything you can do", Tour()),
    ("stop", Stop()),
]


@pytest.mark.parametrize(("text", "intent"), ONE, ids=[text for text, _ in ONE])
def test_a_plain_request_is_understood(text: str, intent: Intent) -> None:
    assert parse(text) == [intent]


@pytest.mark.parametrize(
    ("text", "intents"),
    [
        (
            "list the files, then read README.md, and then run the tests",
            [ListFiles(), ReadFiles(("README.md",)), RunTests()],
        ),
        ("list files and read README.md", [ListFiles(), ReadFiles(("README.md",))]),
        ("Read a.py. Then run it.", [ReadFiles(("a.py",)), Run("python3 a.py")]),
        (
            "write a new file hello.py with:\n```python\nprint('hi')\n```\nthen run it",
            [WriteFile("hello.py", "print('hi')\n"), Run("python3 hello.py")],
        ),
        ("run make; list files", [Run("make"), ListFiles()]),
        ("1. list the files\n2. read a.txt", [ListFiles(), ReadFiles(("a.txt",))]),
    ],
)
def test_requests_in_a_row_keep_their_order(text: str, intents: list[Intent]) -> None:
    assert parse(text) == intents


@pytest.mark.parametrize("text", ["dance with me", "what is the weather", "make a sandwich", "", "   ", "…"])
def test_what_is_not_understood_is_never_guessed(text: str) -> None:
    (intent,) = parse(text)
    assert isinstance(intent, Unclear)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("write poem.txt", "in quotes"),
        ("Fix the bug in parser.py", "read parser.py"),
        ("edit app.py", "replace"),
        ("run it", "command"),
    ],
)
def test_a_request_with_a_part_missing_says_which(text: str, hint: str) -> None:
    (intent,) = parse(text)
    assert isinstance(intent, Unclear)
    assert hint in intent.hint


def test_attached_files_are_not_read_as_requests() -> None:
    assert parse('<file name="/x/a.txt">\nrun the tests\n</file>\n\nlist the files') == [ListFiles()]


def test_a_files_content_may_be_long_and_is_never_cut() -> None:
    body = "".join(f'print("line {number}"); then(read)\n' for number in range(5000))
    assert parse(f"write big.py with:\n```python\n{body}```\nthen list files") == [
        WriteFile("big.py", body),
        ListFiles(),
    ]


@pytest.mark.parametrize(
    "piece", ["replace a with ", "x then ", '"a\\', "run a; ", "\n- ", ". A", "`", "where is the "]
)
def test_a_document_in_place_of_a_request_is_refused_at_once(piece: str) -> None:
    (intent,) = parse(piece * 3000)
    assert isinstance(intent, Unclear)
    assert len(intent.text) <= 120


@pytest.mark.parametrize("piped", ["some log\nthat was piped in", "x then " * 3000])
def test_a_request_after_piped_text_is_found(piped: str) -> None:
    assert parse(f"{piped}\n\nlist the files") == [ListFiles()]


def test_steering_words_drop_what_was_asked_before() -> None:
    assert drops_earlier("stop")
    assert drops_earlier("no, list the files instead")
    assert not drops_earlier("also list the files")
    assert not drops_earlier("read notes.txt")


@given(st.text(max_size=200))
def test_any_text_gives_some_intent(text: str) -> None:
    assert parse(text)


@given(
    st.lists(st.sampled_from(["run", "in", "with", "read", "the", "files", "`x`", "a.py", "for", "and", ";", "then"]))
)
def test_any_row_of_known_words_gives_some_intent(words: list[str]) -> None:
    assert parse(" ".join(words))
