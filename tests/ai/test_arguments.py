"""Tool arguments: read while they stream, sound only when whole, coerced and checked before a tool sees them."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from app.ai.arguments import ArgumentsStream, parse_partial, parse_whole, validate_tool_arguments
from app.ai.messages import ToolCall
from app.errors import ToolError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("  \n", {}),
        ("null", {}),
        ("{}", {}),
        ('{"a": 1}', {"a": 1}),
        ('{"a": 1}}', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('{"a": "tab\there"}', {"a": "tab\there"}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
        (r'{"a": "\d+ C:\Users"}', {"a": r"\d+ C:\Users"}),
        (r'{"a": "\u00zz"}', {"a": r"\u00zz"}),
        (r'{"a": "\ud83c\udf32 \ud83c"}', {"a": "🌲 \ufffd"}),
        ('{"a": NaN, "b": 1e999}', {"a": None, "b": None}),
    ],
)
def test_whole_arguments_are_read_and_mended(text: str, expected: dict[str, Any]) -> None:
    assert parse_whole(text) == expected
    json.dumps(parse_whole(text), ensure_ascii=False, allow_nan=False).encode("utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"a"',
        '{"a":',
        '{"path":"',
        '{"a": 1',
        '{"a": tr',
        "[1]",
        "7",
        '"x"',
        '{"a": 1} {"b": 2}',
        "nonsense",
        "[" * 9999,
    ],
)
def test_cut_or_broken_arguments_are_never_sound(text: str) -> None:
    assert parse_whole(text) is None
    assert isinstance(parse_partial(text), dict)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"path": "src/ma', {"path": "src/ma"}),
        ('{"path": "a\\', {"path": "a"}),
        ('{"path": "a\\u00', {"path": "a"}),
        ('{"path": "a\\ud83c\\udf', {"path": "a\ufffd"}),
        ('{"path": "a", "con', {"path": "a"}),
        ('{"path": "a", "content":', {"path": "a"}),
        ('{"n": 12', {}),
        ('{"n": 12, "t": tru', {"n": 12}),
        ('{"edits": [{"old": "x", "new": "y"}, {"old": "z', {"edits": [{"old": "x", "new": "y"}, {"old": "z"}]}),
        ('{"a": {"b": [1, 2', {"a": {"b": [1]}}),
        ('{"a": ' + "[" * 5000, {}),
    ],
)
def test_partial_arguments_show_what_is_there(text: str, expected: dict[str, Any]) -> None:
    found = parse_partial(text)
    if "[" * 200 in text:
        assert set(found) <= {"a"}
    else:
        assert found == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), JSON), st.booleans(), st.data())
def test_any_object_is_read_whole_and_no_prefix_raises(value: dict[str, Any], ascii_only: bool, draws: Any) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert parse_whole(text) == value
    assert parse_partial(text) == value
    cut = text[: draws.draw(st.integers(0, len(text)))]
    assert set(parse_partial(cut)) <= set(value)


@given(st.text())
def test_nothing_makes_the_parsers_raise(text: str) -> None:
    assert isinstance(parse_partial(text), dict)
    assert isinstance(parse_partial('{"a": ' + text), dict)
    parse_whole(text)


def test_arguments_that_could_not_be_written_again_are_not_sound() -> None:
    for depth, is_sound in ((50, True), (99, True), (101, False), (300, False), (5000, False)):
        text = '{"a":' + "[" * depth + "]" * depth + "}"
        assert (parse_whole(text) is not None) is is_sound, depth
        call = ToolCall(arguments=parse_whole(text) or parse_partial(text))
        json.dumps(call.to_wire())
        call.model_dump_json()
    wide = {"a": [[{"x": [n]}] for n in range(500)]}
    assert parse_whole(json.dumps(wide)) == wide


def test_reading_a_growing_call_costs_a_fixed_multiple_of_its_length() -> None:
    def characters_read(length: int) -> int:
        stream = ArgumentsStream()
        stream.append('{"content": "')
        total = 0
        for at in range(length):
            if stream.append("x") is not None:
                total += at
        return total

    assert characters_read(40_000) < 10 * 40_000
    assert characters_read(40_000) < 5 * characters_read(10_000)


class Args(BaseModel):
    path: str
    limit: int | None = None
    mode: Literal["a", "b"] = "a"
    many: bool = False
    tags: list[str] = Field(default_factory=list)


def test_a_model_gets_converted_arguments_and_the_given_ones_stay() -> None:
    given_args = {"path": 5, "limit": "10", "many": "true", "tags": '["x", "y"]'}
    before = dict(given_args)
    assert validate_tool_arguments("t", Args, given_args) == Args(path="5", limit=10, many=True, tags=["x", "y"])
    assert given_args == before
    assert validate_tool_arguments("t", Args, {"path": None, "limit": None}) == Args(path="", limit=None)


def test_bad_arguments_are_told_with_path_and_what_was_received() -> None:
    with pytest.raises(ToolError) as caught:
        validate_tool_arguments("read", Args, {"limit": "ten", "mode": "c"})
    text = caught.value.message
    assert text.startswith('Validation failed for tool "read":\n  - ')
    assert "  - path: " in text
    assert "  - limit: " in text
    assert "  - mode: " in text
    assert text.endswith('Received arguments:\n{\n  "limit": "ten",\n  "mode": "c"\n}')


def of_type(kind: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"v": {"type": kind, **more}}, "required": ["v"]}


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("number", None, 0),
        ("number", "1.5", 1.5),
        ("integer", "7", 7),
        ("integer", 7.0, 7),
        ("integer", True, 1),
        ("boolean", None, False),
        ("boolean", "false", False),
        ("boolean", 1, True),
        ("string", None, ""),
        ("string", 5, "5"),
        ("string", True, "true"),
        ("null", "", None),
        ("null", 0, None),
        (["integer", "null"], None, None),
        (["integer", "string"], "5", "5"),
        ("object", '{"a": 1}', {"a": 1}),
    ],
)
def test_a_schema_converts_what_can_be_converted(kind: Any, value: Any, expected: Any) -> None:
    found = validate_tool_arguments("t", of_type(kind), {"v": value})["v"]
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, "1.5"),
        ({"type": "integer"}, "x"),
        ({"type": "boolean"}, "yes"),
        ({"type": "boolean"}, 2),
        ({"enum": ["a", "b"]}, "c"),
        ({"const": 1}, 2),
        ({"type": "string", "minLength": 2}, "a"),
        ({"type": "string", "pattern": "^a+$"}, "b"),
        ({"type": "number", "maximum": 3}, 4),
        ({"type": "array", "maxItems": 1}, [1, 2]),
        ({"type": "array", "items": {"type": "integer"}}, [1, "x"]),
        ({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, "x"),
        ({"not": {"type": "string"}}, "x"),
        (False, 1),
    ],
)
def test_a_schema_refuses_what_does_not_fit(schema: Any, value: Any) -> None:
    with pytest.raises(ToolError, match="v"):
        validate_tool_arguments("t", {"type": "object", "properties": {"v": schema}}, {"v": value})


def test_combined_schemas_take_the_first_form_that_fits() -> None:
    schema = {
        "type": "object",
        "properties": {
            "v": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
            "w": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "x": {"allOf": [{"type": "integer"}, {"minimum": 2}]},
            "r": {"$ref": "#/$defs/n"},
        },
        "additionalProperties": {"type": "string"},
        "$defs": {"n": {"type": "object", "properties": {"k": {"type": "integer"}}, "additionalProperties": False}},
    }
    args = {"v": ["1", 2], "w": None, "x": "3", "r": {"k": "4"}, "rest": 5}
    assert validate_tool_arguments("t", schema, args) == {"v": [1, 2], "w": None, "x": 3, "r": {"k": 4}, "rest": "5"}
    with pytest.raises(ToolError, match=r"r\.z: is not a known argument"):
        validate_tool_arguments("t", schema, {"r": {"z": 1}})


def test_a_missing_member_is_told_under_its_own_path_and_the_top_is_root() -> None:
    with pytest.raises(ToolError, match="  - v: is required"):
        validate_tool_arguments("t", of_type("string"), {})
    with pytest.raises(ToolError, match="  - root: "):
        validate_tool_arguments("t", {"not": {"type": "object"}}, {})


def test_a_reference_to_itself_ends() -> None:
    assert validate_tool_arguments("t", {"properties": {"v": {"$ref": "#/properties/v"}}}, {"v": 1}) == {"v": 1}


def test_a_huge_argument_is_not_repeated_whole() -> None:
    with pytest.raises(ToolError) as caught:
        validate_tool_arguments("write", of_type("integer"), {"v": "x" * 100_000})
    assert len(caught.value.message) < 5000
