"""JSON with comments: every position is the user's own, every comment stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.config import jsonc


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, // one\n "b": [1, 2,], }', {"a": 1, "b": [1, 2]}),
        ('{"u": "http://x//y", "c": ",]"}', {"u": "http://x//y", "c": ",]"}),
        ('{"q": "a\\"// no", } // end', {"q": 'a"// no'}),
        ("[1, // c\n // d\n ]", [1]),
        ('\ufeff{"a": 1}', {"a": 1}),
    ],
)
def test_comments_and_trailing_commas_are_passed_over_outside_strings(text: str, value: object) -> None:
    assert jsonc.loads(text) == value


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{\n  // a comment\n  "a": nope\n}', "line 3, column 8"),
        ('{"a": 1 "b": 2}', "line 1, column 9"),
        ("/* block */ {}", "line 1, column 1"),
        ('{"a": "open', "line 1, column 7"),
    ],
)
def test_an_error_names_the_line_and_column_of_the_file(text: str, place: str) -> None:
    with pytest.raises(jsonc.JsoncError) as caught:
        jsonc.loads(text)
    assert caught.value.place == place


@pytest.mark.parametrize("text", ["NaN", "[" * 100_000, '{"a": Infinity}'])
def test_what_python_would_take_but_json_would_not_is_an_error(text: str) -> None:
    with pytest.raises(jsonc.JsoncError):
        jsonc.loads(text)


def test_setting_a_value_leaves_every_other_character() -> None:
    text = '{\n  // mine\n  "retry": { "enabled": true, "x": [1,\n 2] }, // why\n  "theme": "dark",\n}\n'
    text = jsonc.set_value(text, ("retry", "enabled"), False)
    text = jsonc.set_value(text, ("theme",), "light")
    assert text == '{\n  // mine\n  "retry": { "enabled": false, "x": [1,\n 2] }, // why\n  "theme": "light",\n}\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "b": 2\n}\n'),
        ("{}\n", '{\n  "b": 2\n}\n'),
        ("{ // none yet\n}\n", '{\n  "b": 2\n// none yet\n}\n'),
        ('{"a": 1}', '{"a": 1, "b": 2}'),
        ('{"a": 1,}', '{"a": 1, "b": 2,}'),
        ('{\n  "a": 1 // one\n}\n', '{\n  "a": 1, // one\n  "b": 2\n}\n'),
        ('{\r\n\t"a": 1, // one\r\n}', '{\r\n\t"a": 1, // one\r\n\t"b": 2\r\n}'),
        ('{\n  "a": {\n    "b": 1\n  }\n}', '{\n  "a": {\n    "b": 1\n  },\n  "b": 2\n}'),
    ],
)
def test_a_new_member_is_added_in_the_manner_of_the_file(before: str, after: str) -> None:
    assert jsonc.set_value(before, ("b",), 2) == after


def test_missing_objects_on_the_way_are_made() -> None:
    assert jsonc.loads(jsonc.set_value('{"a": 3}', ("a", "b", "c"), [1])) == {"a": {"b": {"c": [1]}}}
    assert jsonc.loads(jsonc.set_value("{}", ("a", "b"), {"c": "d"})) == {"a": {"b": {"c": "d"}}}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from("abcd"), JSON, max_size=4), st.sampled_from("abcde"), JSON, st.booleans())
def test_setting_then_reading_gives_the_value_and_all_others(
    start: dict[str, object], key: str, value: object, pretty: bool
) -> None:
    text = json.dumps(start, indent=2 if pretty else None)
    assert jsonc.loads(jsonc.set_value(text, (key,), value)) == {**start, key: value}


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"[1]", "must hold an object, not an array"), (b"{", "Expecting"), (b"\xff\xfe{", "not UTF-8")],
)
def test_a_file_that_holds_no_object_is_a_problem_that_names_it(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "models.json"
    path.write_bytes(content)
    value, problems = jsonc.read_object(path)
    assert value == {}
    assert str(path) in str(problems[0])
    assert reason in str(problems[0])


def test_a_missing_or_empty_file_is_an_empty_object(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("// nothing\n")
    assert jsonc.read_object(tmp_path / "empty") == ({}, [])
    assert jsonc.read_object(tmp_path / "missing") == ({}, [])


@pytest.mark.parametrize("line", ["/" * 4000, "// " * 2000, " " * 4000 + "/" * 4000])
def test_a_ruler_of_slashes_behind_a_comma_takes_no_time(line: str) -> None:
    assert jsonc.loads(f'{{"a": 1,{line}\n "b": 2}}') == {"a": 1, "b": 2}
