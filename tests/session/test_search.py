"""Search finds exact words in every branch and tool output, keeps up with files that grow, and never lies."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from app.session.search import SearchError, SearchIndex
from app.session.search_query import Matcher, Query, parse_query, snippet
from app.session.search_text import TEXT_LIMIT
from tests.session.sessions_kit import add_lines, said, tool_said, write_session

DATA = Path(__file__).parent.parent / "data" / "sessions"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "sessions"


@pytest.fixture
def index(tmp_path: Path, root: Path) -> SearchIndex:
    return SearchIndex(tmp_path / "cache" / "search.sqlite", root)


def found(index: SearchIndex, text: str) -> list[tuple[str, str]]:
    return [(hit.path.stem, hit.entry_id) for hit in index.search(text).hits]


def test_words_are_found_in_every_branch_and_in_tool_output(index: SearchIndex, root: Path) -> None:
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "pytest -q tests/test_csv.py"}}
    answer = {"type": "message", "message": {"role": "assistant", "content": [call]}}
    write_session(
        root / "--w--",
        "one",
        [
            said("user", "the quotes are lost"),
            answer,
            tool_said("FAILED test_quotes - AssertionError"),
            {**said("assistant", "another way"), "id": "side", "parentId": "e0"},
            {"type": "compaction", "summary": "condensed words", "firstKeptEntryId": "e0", "tokensBefore": 1},
        ],
    )
    assert index.update()
    assert found(index, "quotes lost") == [("one", "e0")]
    assert found(index, "tests/test_csv.py") == [("one", "e1")]
    assert found(index, "assertionerror") == [("one", "e2")]
    assert found(index, "another") == [("one", "side")]
    assert found(index, "condensed") == [("one", "e4")]
    assert index.search("failed").hits[0].role == "bash"


def test_words_are_exact_and_phrases_bridge_white_space(index: SearchIndex, root: Path) -> None:
    write_session(root, "one", [said("user", "fix the\n  parser now"), said("assistant", "now the fix")])
    index.update()
    assert found(index, '"the parser"') == [("one", "e0")]
    assert found(index, '"parser the"') == []
    assert found(index, "prsr") == []
    assert found(index, "pars") == [("one", "e0")], "a word's beginning is enough"
    assert found(index, "FIX now") == [("one", "e1"), ("one", "e0")], "newest first"
    assert found(index, '"unbalanced') == []


def test_scripts_without_blanks_and_signs_are_found(index: SearchIndex, root: Path) -> None:
    write_session(
        root,
        "one",
        [said("user", "これは日本語のテキストです"), said("user", "a => b, c:\\x"), said("user", "größe über")],
    )
    index.update()
    assert found(index, "テキスト") == [("one", "e0")]
    assert found(index, "=>") == [("one", "e1")]
    assert found(index, "GRÖSSE") == []
    assert found(index, "Größe") == [("one", "e2")]


def test_a_regular_expression_is_bounded(index: SearchIndex, root: Path) -> None:
    write_session(root, "one", [said("user", "a" * 200 + "!"), said("user", "call foo(12)")])
    index.update()
    assert found(index, r"re:foo\(\d+\)") == [("one", "e1")]
    assert found(index, r"call re:fo+") == [("one", "e1")]
    assert "regular expression" in index.search("re:(").error
    assert "too long" in index.search("re:(a+)+$").error


def test_a_hit_is_a_line_with_its_marks(index: SearchIndex, root: Path) -> None:
    write_session(root, "one", [said("user", "x" * 300 + "\n\nmany words before \x1b[31mthe needle\x1b[0m and after")])
    index.update()
    hit = index.search("needle").hits[0]
    assert [hit.snippet[begin:end] for begin, end in hit.marks] == ["needle"]
    assert hit.snippet.isprintable()
    assert hit.snippet.startswith("…")


def test_what_grows_is_read_from_where_it_grew(index: SearchIndex, root: Path) -> None:
    path = write_session(root, "one", [said("user", "first"), said("user", "middle")])
    index.update()
    # nobody changes a session so; here it shows whether the beginning is read again
    path.write_bytes(path.read_bytes().replace(b"first", b"fresh"))
    add_lines(path, {**said("user", "second"), "id": "n1", "parentId": "e1", "timestamp": "2026-03-01T00:00:00.000Z"})
    with path.open("ab") as stream:
        stream.write(b'{"type":"message","id":"n2","parentId":"n1","mess')
    index.update()
    assert found(index, "second") == [("one", "n1")]
    assert found(index, "middle") == [("one", "e1")]
    assert found(index, "fresh") == []
    with path.open("ab") as stream:
        stream.write(b'age":{"role":"user","content":"third"}}\n')
    index.update()
    assert found(index, "third") == [("one", "n2")]


def test_a_file_that_was_replaced_or_removed_is_forgotten(index: SearchIndex, root: Path) -> None:
    path = write_session(root, "one", [said("user", "old words")])
    gone = write_session(root, "two", [said("user", "old too")])
    index.update()
    write_session(root, "one", [said("user", "new words that are longer than those before were")])
    gone.unlink()
    assert path.exists()
    index.update()
    assert found(index, "old") == []
    assert found(index, "new") == [("one", "e0")]


def test_a_hit_is_checked_against_the_file(index: SearchIndex, root: Path) -> None:
    path = write_session(root, "one", [said("user", "needle")])
    index.update()
    path.write_bytes(path.read_bytes().replace(b"needle", b"nothin"))
    assert found(index, "needle") == []


@pytest.mark.parametrize("damage", ["missing", "text", "half", "older"])
def test_an_index_that_is_lost_or_damaged_is_built_anew(
    index: SearchIndex, root: Path, tmp_path: Path, damage: str
) -> None:
    for number in range(30):
        write_session(root, f"s{number}", [said("user", f"needle {n} {'word ' * 50}") for n in range(20)])
    index.update()
    path = tmp_path / "cache" / "search.sqlite"
    if damage == "older":
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 1")
        connection.close()
    else:
        for ending in ("-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        data = path.read_bytes()
        path.unlink()
        if damage != "missing":
            path.write_bytes(b"no database" * 500 if damage == "text" else data[:4096] + b"\xff" * (len(data) - 4096))
    for _ in range(3):
        try:
            index.update()
            if len(index.search("needle").counts) == 30:
                break
        except SearchError:
            continue
    assert len(index.search("needle").counts) == 30


def test_the_folder_narrows_and_counts_tell_all(index: SearchIndex, root: Path) -> None:
    write_session(root / "a", "one", [said("user", f"needle {n}") for n in range(9)], cwd="/t/a-b")
    write_session(root / "a", "two", [said("user", "needle")], cwd="/t/a/b")
    index.update()
    result = index.search("needle", "/t/a-b")
    assert [hit.entry_id for hit in result.hits] == ["e8", "e7", "e6"]
    assert list(result.counts.values()) == [9]
    assert len(index.search("needle").counts) == 2


def test_old_and_damaged_sessions_are_indexed_and_no_byte_changes(index: SearchIndex, root: Path) -> None:
    root.mkdir()
    for file in DATA.glob("*.jsonl"):
        shutil.copy(file, root)
    before = {file.name: file.read_bytes() for file in root.iterdir()}
    done: list[tuple[int, int]] = []
    assert index.update(lambda *step: done.append(step))
    assert done[-1] == (len(before), len(before))
    assert {hit.path.stem for hit in index.search("hello").hits} >= {"cli-three-apis", "torn-last-line"}
    assert index.search("typebox").hits, "a file of version 1"
    assert {file.name: file.read_bytes() for file in root.iterdir()} == before
    seen: list[tuple[int, int]] = []
    index.update(lambda *step: seen.append(step))
    assert seen == [(0, 0)], "nothing is read twice"


def test_it_stops_when_told_and_goes_on_later(index: SearchIndex, root: Path) -> None:
    for number in range(4):
        write_session(root, f"s{number}", [said("user", "needle")])
    calls = iter([False, False, True])
    assert not index.update(stop=lambda: next(calls, True))
    assert len(index.search("needle").counts) < 4
    assert index.update()
    assert len(index.search("needle").counts) == 4


def test_two_indexes_on_one_file_agree(root: Path, tmp_path: Path) -> None:
    import threading

    for number in range(12):
        write_session(root, f"s{number}", [said("user", f"needle {n}") for n in range(50)])
    indexes = [SearchIndex(tmp_path / "search.sqlite", root) for _ in range(3)]
    threads = [threading.Thread(target=index.update) for index in indexes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(indexes[0].search("needle").counts.values()) == 600


def test_a_cache_folder_that_can_not_be_written_is_told(root: Path, tmp_path: Path) -> None:
    write_session(root, "one", [said("user", "needle")])
    (tmp_path / "file").write_text("")
    with pytest.raises(SearchError):
        SearchIndex(tmp_path / "file" / "search.sqlite", root).update()


def test_hostile_content_is_only_data(index: SearchIndex, root: Path) -> None:
    deep: object = "needle"
    for _ in range(400):
        deep = [deep]
    call = {"type": "toolCall", "id": 5, "name": ["x"], "arguments": {"a": deep, "b\udc80": None}}
    odd = {
        "type": "message",
        "message": {"role": "assistant", "content": [call, 7, None, "plain", {"type": "image", "data": "needle"}]},
    }
    import json

    path = write_session(root, "one", [said("user", 'a" OR NEAR(* \0 "')])
    with path.open("a") as stream:
        stream.write(json.dumps({**odd, "id": "odd", "parentId": None, "timestamp": 5}) + "\n")
        stream.write(
            json.dumps({**said("user", "far \ud800 needle"), "id": "f", "timestamp": "9999-01-01T00:00:00Z"}) + "\n"
        )
    index.update()
    assert {entry for _, entry in found(index, "needle")} == {"odd", "f"}
    assert found(index, 'NEAR( OR "') == [("one", "e0")]
    assert found(index, "* AND NOT") == []


def test_only_so_much_of_an_entry_is_searched(index: SearchIndex, root: Path) -> None:
    write_session(root, "one", [said("user", "head " + "x " * TEXT_LIMIT + "tail")])
    index.update()
    assert found(index, "head") == [("one", "e0")]
    assert found(index, "tail") == []


def test_queries_are_read_as_typed() -> None:
    assert parse_query('a "b  c" d') == Query(("a", "b c", "d"))
    assert parse_query("  ") == Query()
    assert not parse_query('""')
    assert parse_query("x re:a b") == Query(("x",), "a b")
    assert parse_query("care:less") == Query(("care:less",))


def test_a_snippet_keeps_places_through_what_it_drops() -> None:
    text = "a\x00\u202eb   needle\n\n\tneedle"
    spans = Matcher(parse_query("needle")).spans(text)
    assert spans is not None
    line, marks = snippet(text, spans)
    assert line == "ab needle needle"
    assert [line[begin:end] for begin, end in marks] == ["needle", "needle"]


def test_the_index_is_private(index: SearchIndex, root: Path, tmp_path: Path) -> None:
    root.mkdir()
    index.update()
    assert os.stat(tmp_path / "cache" / "search.sqlite").st_mode & 0o077 == 0
