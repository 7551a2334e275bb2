"""The session files of the reference give the trees that its own readers gave (metas beside them)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.errors import NotASessionError
from app.session.inspect import inspect

DATA = Path(__file__).parent.parent / "data" / "sessions"
METAS = sorted(DATA.glob("*.meta.json"))


def test_there_are_metas() -> None:
    assert len(METAS) == 13


@pytest.mark.parametrize("meta_path", METAS, ids=lambda path: path.name.partition(".")[0])
def test_inspect_gives_what_the_reference_readers_gave(meta_path: Path, tmp_path: Path) -> None:
    meta: dict[str, Any] = json.loads(meta_path.read_text("utf-8"))
    expected = meta["expected"]
    file = tmp_path / meta_path.name.replace(".meta.json", ".jsonl")
    data = (DATA / file.name).read_bytes()
    file.write_bytes(data)
    if expected.get("error"):
        with pytest.raises(NotASessionError):
            inspect(file)
    else:
        other = next((v for k, v in meta.get("oracle", {}).items() if "differences" in k and isinstance(v, dict)), {})
        given = inspect(file)
        json.dumps(given)
        for key, value in expected.items():
            if key in ("must", "error") or value == "(random)":
                continue
            got = given[key][:400] if key == "context_roles" else given[key]
            assert got in [value, other.get(key, value)], key
    assert file.read_bytes() == data
    assert [item.name for item in tmp_path.iterdir()] == [file.name]


def test_a_context_edit_is_read_as_the_newer_reference_does(tmp_path: Path) -> None:
    given = inspect(DATA / "context-edit.jsonl")
    assert given["context_roles"] == "user,assistant,toolResult,assistant,assistant,custom,user,assistant"


def test_two_readings_of_a_file_without_ids_agree() -> None:
    assert inspect(DATA / "v1-large.jsonl") == inspect(DATA / "v1-large.jsonl")
