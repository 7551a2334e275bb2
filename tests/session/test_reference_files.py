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


def test_a_version_1_compaction_counts_lines_with_the_header(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"type": "session", "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w"}]
    rows += [{"type": "message", "message": {"role": "user", "content": str(number)}} for number in range(4)]
    rows.append({"type": "compaction", "summary": "s", "firstKeptEntryIndex": 3, "tokensBefore": 9})
    rows.append({"type": "message", "message": {"role": "user", "content": "after"}})
    file = tmp_path / "v1.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert inspect(file)["context_roles"] == "compactionSummary,user,user,user"
    rows[5]["firstKeptEntryIndex"] = 0
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert inspect(file)["context_roles"] == "compactionSummary,user"


def write(folder: Path, *entries: dict[str, Any]) -> dict[str, Any]:
    header = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w"}
    parent = None
    rows: list[dict[str, Any]] = [header]
    for number, entry in enumerate(entries):
        rows.append({"id": str(number), "parentId": parent, "timestamp": "2026-01-01T00:00:01.000Z", **entry})
        parent = str(number)
    file = folder / "made.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return inspect(file)


def said(text: str) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "user", "content": text}}


def test_only_the_latest_compaction_counts_and_older_ones_in_its_range_give_nothing(tmp_path: Path) -> None:
    first = {"type": "compaction", "summary": "1", "firstKeptEntryId": "0", "tokensBefore": 1}
    second = {"type": "compaction", "summary": "2", "firstKeptEntryId": "1", "tokensBefore": 1}
    given = write(tmp_path, said("a"), said("b"), first, said("c"), second, said("d"))
    assert given["context_roles"] == "compactionSummary,user,user,user"
    gone = {"type": "compaction", "summary": "2", "firstKeptEntryId": "nowhere", "tokensBefore": 1}
    assert write(tmp_path, said("a"), gone, said("b"))["context_roles"] == "compactionSummary,user"


def test_names_labels_and_settings_are_the_latest(tmp_path: Path) -> None:
    given = write(
        tmp_path,
        said("a"),
        {"type": "session_info", "name": " old "},
        {"type": "label", "targetId": "0", "label": "x"},
        {"type": "label", "targetId": "0", "label": "y"},
        {"type": "label", "targetId": "1", "label": "z"},
        {"type": "label", "targetId": "1"},
        {"type": "session_info", "name": " new "},
        {"type": "thinking_level_change", "thinkingLevel": "high"},
        {"type": "model_change", "provider": "p", "modelId": "m"},
        {"type": "branch_summary", "fromId": "0", "summary": ""},
        {"type": "branch_summary", "fromId": "0", "summary": "s"},
    )
    assert (given["name"], given["labels"], given["thinkingLevel"]) == ("new", {"0": "y"}, "high")
    assert given["model"] == {"provider": "p", "modelId": "m"}
    assert given["context_roles"] == "user,branchSummary"


def test_entries_of_odd_kinds_never_raise(tmp_path: Path) -> None:
    for kind in ("message", "compaction", "branch_summary", "custom", "custom_message", "label", "session_info"):
        for value in (None, 5, "x", [], {}, [1], {"role": 5}, {"role": "user"}):
            names = (
                "message summary firstKeptEntryId tokensBefore customType content display label targetId name details"
            )
            write(tmp_path, said("a"), {"type": kind, **dict.fromkeys(names.split(), value)}, said("b"))
            write(tmp_path, said("a"), {"type": kind, "timestamp": value, "fromId": value}, said("b"))
    edits: list[Any] = [None, 5, [], {"content": 5}, {"role": "x"}]
    for edit in edits:
        write(tmp_path, said("a"), {"type": "context_edit", "targetId": "0", "replacement": edit})
