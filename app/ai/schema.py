"""Tool arguments against a JSON schema: the coercions of spec core §1.3 and the check; it must never change its input.

It knows the keywords that tools use (types, enum, const, objects, arrays, ranges, patterns, combinations, local
`$ref`); a keyword it does not know is no fault, since the tool looks at its arguments again anyway.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

Schema = dict[str, Any]
# A `$ref` cycle without an object in between would never end.
_MAX_REFS = 32


def with_coercions(schema: Schema, value: Any) -> Any:
    """A copy of the value in which what is of a wrong but convertible kind was converted ("5" → 5, null → "")."""
    return _coerced(schema, _copied(value), schema)


def problems_of(schema: Schema, value: Any) -> list[tuple[str, str]]:
    """What is wrong with the value, as (dotted path, reason); the path of the whole value is ""."""
    problems: list[tuple[str, str]] = []
    _check(schema, value, "", schema, problems)
    return problems


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(part) for key, part in value.items()}
    return [_copied(part) for part in value] if isinstance(value, list) else value


def _resolved(schema: Any, root: Schema) -> Schema:
    """The schema behind local references; what is not there, or no object, allows everything."""
    for _ in range(_MAX_REFS):
        if not isinstance(schema, dict):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        target: Any = root
        for step in reference.removeprefix("#").split("/")[1:]:
            target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, dict) else None
        schema = target
    return {}


def _valid(schema: Any, value: Any, root: Schema) -> bool:
    problems: list[tuple[str, str]] = []
    _check(schema, value, "", root, problems)
    return not problems


def _types(schema: Schema) -> list[str]:
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else [kind for kind in kinds if isinstance(kind, str)]


def _coerced(schema: Any, value: Any, root: Schema) -> Any:
    schema = _resolved(schema, root)
    for part in schema.get("allOf", ()):
        value = _coerced(part, value, root)
    options = schema.get("anyOf") or schema.get("oneOf") or ()
    if options and not any(_valid(option, value, root) for option in options):
        for option in options:
            candidate = _coerced(option, _copied(value), root)
            if _valid(option, candidate, root):
                value = candidate
                break
    value = _coerced_type(_types(schema), value)
    if isinstance(value, dict):
        known = schema.get("properties", {})
        rest = schema.get("additionalProperties")
        for key, part in value.items():
            if key in known:
                value[key] = _coerced(known[key], part, root)
            elif isinstance(rest, dict):
                value[key] = _coerced(rest, part, root)
    elif isinstance(value, list):
        tuples = schema.get("prefixItems", ())
        items = schema.get("items")
        for index, part in enumerate(value):
            member = tuples[index] if index < len(tuples) else items
            if isinstance(member, dict):
                value[index] = _coerced(member, part, root)
    return value


def _coerced_type(kinds: list[str], value: Any) -> Any:
    if any(_is_kind(kind, value) for kind in kinds):
        return int(value) if "integer" in kinds and isinstance(value, float) else value
    for kind in kinds:
        coerce = _COERCIONS.get(kind)
        candidate = coerce(value) if coerce else value
        if _is_kind(kind, candidate):
            return candidate
    return value


def _to_number(value: Any) -> Any:
    if value is None:
        return 0
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and len(value) < 400:
        try:
            return int(value)
        except ValueError:
            pass
        try:
            number = float(value)
        except ValueError:
            return value
        return number if math.isfinite(number) else value
    return value


def _to_integer(value: Any) -> Any:
    number = _to_number(value)
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _to_boolean(value: Any) -> Any:
    if value is None:
        return False
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower(), value)
    return bool(value) if isinstance(value, int | float) and value in (0, 1) else value


def _to_string(value: Any) -> Any:
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, bool | int | float) else value


def _to_null(value: Any) -> Any:
    return None if value == "" or value in (0, False) else value


def _from_text(value: Any) -> Any:
    """Models send lists and objects as JSON text now and then."""
    if not isinstance(value, str) or not value.strip().startswith(("[", "{")):
        return value
    try:
        return json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return value


_COERCIONS: dict[str, Callable[[Any], Any]] = {
    "number": _to_number,
    "integer": _to_integer,
    "boolean": _to_boolean,
    "string": _to_string,
    "null": _to_null,
    "array": _from_text,
    "object": _from_text,
}


def _is_kind(kind: str, value: Any) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return (isinstance(value, int) and not isinstance(value, bool)) or (
                isinstance(value, float) and value.is_integer()
            )
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "null":
            return value is None
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case _:
            return True


def _check(schema: Any, value: Any, path: str, root: Schema, problems: list[tuple[str, str]]) -> None:
    if schema is False:
        problems.append((path, "is not allowed"))
        return
    schema = _resolved(schema, root)
    kinds = _types(schema)
    if kinds and not any(_is_kind(kind, value) for kind in kinds):
        problems.append((path, f"must be {' or '.join(kinds)}"))
        return
    if "enum" in schema and value not in schema["enum"]:
        problems.append((path, f"must be one of {json.dumps(schema['enum'], ensure_ascii=False)}"))
    if "const" in schema and value != schema["const"]:
        problems.append((path, f"must be {json.dumps(schema['const'], ensure_ascii=False)}"))
    if isinstance(value, str):
        _check_text(schema, value, path, problems)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _check_number(schema, value, path, problems)
    elif isinstance(value, list):
        _check_list(schema, value, path, root, problems)
    elif isinstance(value, dict):
        _check_object(schema, value, path, root, problems)
    for part in schema.get("allOf", ()):
        _check(part, value, path, root, problems)
    for word in ("anyOf", "oneOf"):
        options = schema.get(word)
        if options and not any(_valid(option, value, root) for option in options):
            problems.append((path, "fits none of the allowed forms"))
    if "not" in schema and _valid(schema["not"], value, root):
        problems.append((path, "has a form that is not allowed"))


def _check_text(schema: Schema, value: str, path: str, problems: list[tuple[str, str]]) -> None:
    if len(value) < schema.get("minLength", 0):
        problems.append((path, f"must have at least {schema['minLength']} characters"))
    if len(value) > schema.get("maxLength", math.inf):
        problems.append((path, f"must have at most {schema['maxLength']} characters"))
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        try:
            matches = re.search(pattern, value) is not None
        except re.error:  # JSON schema uses ECMA 262 patterns; one that Python can't read is left to the tool
            matches = True
        if not matches:
            problems.append((path, f"must match the pattern {pattern}"))


def _check_number(schema: Schema, value: float, path: str, problems: list[tuple[str, str]]) -> None:
    if value < schema.get("minimum", -math.inf):
        problems.append((path, f"must be at least {schema['minimum']}"))
    if value > schema.get("maximum", math.inf):
        problems.append((path, f"must be at most {schema['maximum']}"))
    if value <= schema.get("exclusiveMinimum", -math.inf):
        problems.append((path, f"must be more than {schema['exclusiveMinimum']}"))
    if value >= schema.get("exclusiveMaximum", math.inf):
        problems.append((path, f"must be less than {schema['exclusiveMaximum']}"))


def _check_list(schema: Schema, value: list[Any], path: str, root: Schema, problems: list[tuple[str, str]]) -> None:
    if len(value) < schema.get("minItems", 0):
        problems.append((path, f"must have at least {schema['minItems']} items"))
    if len(value) > schema.get("maxItems", math.inf):
        problems.append((path, f"must have at most {schema['maxItems']} items"))
    tuples = schema.get("prefixItems", ())
    items = schema.get("items")
    for index, part in enumerate(value):
        member = tuples[index] if index < len(tuples) else items
        if member is not None:
            _check(member, part, _below(path, str(index)), root, problems)


def _check_object(
    schema: Schema, value: dict[str, Any], path: str, root: Schema, problems: list[tuple[str, str]]
) -> None:
    for key in schema.get("required", ()):
        if key not in value:
            problems.append((_below(path, key), "is required"))
    known = schema.get("properties", {})
    rest = schema.get("additionalProperties", True)
    for key, part in value.items():
        if key in known:
            _check(known[key], part, _below(path, key), root, problems)
        elif rest is False:
            problems.append((_below(path, key), "is not a known argument"))
        elif isinstance(rest, dict):
            _check(rest, part, _below(path, key), root, problems)


def _below(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
