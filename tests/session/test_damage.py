"""Damaged files: what is sound loads, nothing raises, reading changes nothing, writing adds whole lines (cases S1)."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import NotASessionError
from app.session.context import build_context
from app.session.file import SessionFile
from app.session.inspect import inspect
from app.session.log import SessionLog
from app.session.session import Session
from app.session.tree import Tree

DATA = Path(__file__).parent.parent / "data" / "sessions"
HEADER = b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}\n'


def entry(entry_id: str, parent: str | None, text: str = "hi", **more: Any) -> bytes:
    raw = {
        "type": "message",
        "id": entry_id,
        "parentId": parent,
        "timestamp": "2026-01-01T00:00:01.000Z",
        "message": {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1},
        **more,
    }
    return json.dumps(raw, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def load(data: bytes, folder: Path) -> dict[str, Any]:
    file = folder / "x.jsonl"
    file.write_bytes(data)
    try:
        return inspect(file)
    finally:
        assert file.read_bytes() == data


def ids(data: bytes, folder: Path) -> list[str]:
    file = folder / "y.jsonl"
    file.write_bytes(data)
    log = SessionLog.read(file)
    try:
        return [item.id for item in log.index.entries]
    finally:
        log.close()


THREE = entry("a", None) + entry("b", "a") + entry("c", "b")


@pytest.mark.parametrize(
    ("data", "expected", "set_aside"),
    [
        pytest.param(HEADER + THREE.replace(b"\n", b"\r\n"), ["a", "b", "c"], 0, id="crlf"),
        pytest.param(HEADER + b"\n\n \n" + THREE + b"\n", ["a", "b", "c"], 0, id="blank-lines"),
        pytest.param(b"\xef\xbb\xbf" + HEADER + THREE, ["a", "b", "c"], 0, id="bom"),
        pytest.param(HEADER + THREE[:-1], ["a", "b", "c"], 0, id="no-final-newline"),
        pytest.param(HEADER + entry("a", None, "x\u2028y\u2029z\x85"), ["a"], 0, id="line-separators"),
        pytest.param(HEADER + entry("a", None) + b"\0" * 4096 + entry("b", "a"), ["a", "b"], 0, id="zeros-before"),
        pytest.param(HEADER + entry("a", None) + b"\0" * 99, ["a"], 1, id="zeros-at-the-end"),
        pytest.param(HEADER + entry("a", None) + entry("b", "a")[:40] + entry("c", "a"), ["a", "c"], 1, id="glued"),
        pytest.param(HEADER + entry("a", None)[:-1] + entry("b", "a"), ["a", "b"], 1, id="two-on-a-line"),
        pytest.param(entry("a", None) + HEADER + entry("b", "a"), ["a", "b"], 0, id="header-second"),
        pytest.param(HEADER + entry("a", None) + HEADER + entry("b", "a"), ["a", "b"], 1, id="header-twice"),
        pytest.param(HEADER + entry("a", None) * 3 + entry("b", "a"), ["a", "b"], 0, id="doubled"),
        pytest.param(HEADER + b'[1]\n"x"\n5\nnull\n{}\n{"id":"q"}\n' + THREE, ["a", "b", "c"], 6, id="other-json"),
        pytest.param(HEADER + b"[" * 100_000 + b"\n" + THREE, ["a", "b", "c"], 1, id="nested-too-deeply"),
        pytest.param(HEADER + b"\xff\xfe\x00\n" + THREE, ["a", "b", "c"], 1, id="no-utf-8"),
    ],
)
def test_what_is_sound_loads(data: bytes, expected: list[str], set_aside: int, tmp_path: Path) -> None:
    assert ids(data, tmp_path) == expected
    assert load(data, tmp_path)["set_aside"] == set_aside


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"hello", b'{"a":1}\n' + HEADER, b'{"type":"session","id":5}\n' + THREE, b"\0" * 50, HEADER[:30]],
    ids=["empty", "blank", "text", "json-first", "id-no-string", "zeros", "cut-header"],
)
def test_what_is_no_session_is_refused_and_left_alone(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(data)
    for opening in (SessionLog.read, SessionFile.open):
        with pytest.raises(NotASessionError, match="not a session"):
            opening(file)
    assert file.read_bytes() == data
    assert [item.name for item in tmp_path.iterdir()] == ["x.jsonl"]


def test_a_folder_or_a_pipe_is_no_session(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    for path in (tmp_path, tmp_path / "pipe.jsonl"):
        with pytest.raises(NotASessionError):
            SessionFile.open(path)


def test_orphans_and_rings_become_roots(tmp_path: Path) -> None:
    data = HEADER + entry("a", "gone") + entry("b", "c") + entry("c", "b") + entry("d", "d") + entry("e", "c")
    given = load(data, tmp_path)
    assert given["roots"] == 3
    assert given["leaf"] == "e"
    assert given["branch_len"] == 3
    assert any("no parent" in note for note in given["notes"])


def test_an_entry_with_the_id_of_another_is_kept_under_a_new_one(tmp_path: Path) -> None:
    data = HEADER + entry("a", None, "one") + entry("a", None, "two") + entry("b", "a")
    found = ids(data, tmp_path)
    assert (len(found), found[1], found[2]) == (3, "a", "b")
    assert ids(data, tmp_path) == found
    given = load(data, tmp_path)
    assert (given["entries"], given["roots"], given["branch_len"]) == (3, 2, 2)
    own_child = HEADER + entry("a", None, "one") + entry("a", "a", "two") + entry("b", "a")
    assert load(own_child, tmp_path)["branch_len"] == 3


def test_a_deep_branch_is_walked_without_recursion(tmp_path: Path) -> None:
    rows = [entry("0", None), *(entry(str(number), str(number - 1)) for number in range(1, 5000))]
    given = load(HEADER + b"".join(rows), tmp_path)
    assert given["branch_len"] == given["context_messages"] == 5000


@pytest.mark.anyio
async def test_after_a_torn_tail_the_next_entry_has_a_line_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "torn.jsonl"
    data = (DATA / "torn-last-line.jsonl").read_bytes()
    file.write_bytes(data)
    session = await Session.open(file)
    await session.set_name("whole")
    await session.close()
    after = file.read_bytes()
    assert after.startswith(data + b"\n")
    good = bad = 0
    for line in after.split(b"\n")[1:-1]:
        try:
            json.loads(line)
            good += 1
        except ValueError:
            bad += 1
    assert (good, bad) == (12, 1)
    torn = data[data.rindex(b"\n") + 1 :]
    assert (tmp_path / "torn.jsonl.aside").read_bytes() == torn + b"\n"
    assert inspect(file)["name"] == "whole"
    again = await Session.open(file)
    await again.set_name("again")
    await again.close()
    assert (tmp_path / "torn.jsonl.aside").read_bytes() == torn + b"\n"


def tree_file(draw: Callable[..., Any]) -> tuple[list[bytes], list[str]]:
    count = draw(st.integers(1, 12))
    rows: list[bytes] = []
    names: list[str] = []
    for number in range(count):
        parent = draw(st.sampled_from([None, *names])) if names else None
        text = draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
        names.append(f"id{number}")
        rows.append(entry(names[-1], parent, text))
    return rows, names


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_no_damage_raises_loses_a_sound_entry_or_changes_the_file(data: st.DataObject) -> None:
    rows, _ = tree_file(data.draw)
    lines = [HEADER, *rows]
    for _ in range(data.draw(st.integers(0, 3))):
        one, other = data.draw(st.integers(0, len(lines) - 1)), data.draw(st.integers(0, len(lines) - 1))
        if data.draw(st.booleans()):
            lines[one], lines[other] = lines[other], lines[one]
        else:
            lines.insert(one, lines[other])
    blob = b"".join(lines)
    cut = data.draw(st.integers(0, len(blob)))
    blob = blob[:cut]
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(blob)))
        blob = blob[:at] + data.draw(st.sampled_from([b"\0\0", b"\n", b"\r\n", b"\xff", b"{", b'"'])) + blob[at:]
    sound: set[str] = set()
    has_header = False
    for line in blob.split(b"\n"):
        try:
            raw = json.loads(line)
        except ValueError:
            continue
        # the damage may have hit the name of a member: JSON still, but no entry and no header
        if not isinstance(raw, dict) or not isinstance(raw.get("type"), str) or "id" not in raw:
            continue
        if raw["type"] == "session":
            has_header = True
        else:
            sound.add(raw["id"])
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "x.jsonl"
        file.write_bytes(blob)
        try:
            log = SessionLog.read(file)
        except NotASessionError:
            assert not has_header
        else:
            tree = Tree(log.index.entries)
            reached = {item.id for tip in tree.tips for item in tree.branch(tip.id)}
            assert reached == {item.id for item in tree.entries}
            assert sound <= reached
            for item in tree.entries:
                assert log.body(item)["id"] == item.id
                build_context(tree, item.id, log.body)
            log.close()
        assert file.read_bytes() == blob
        assert os.listdir(name) == ["x.jsonl"]


@settings(max_examples=40, deadline=None)
@given(steps=st.lists(st.tuples(st.sampled_from("amlnb"), st.integers(0, 50)), min_size=1, max_size=25))
def test_any_walk_of_tree_operations_reads_back_as_the_same_tree(steps: list[tuple[str, int]]) -> None:
    import anyio

    from app.ai.messages import UserMessage

    async def walk(folder: Path) -> None:
        session = Session.create(folder, folder)
        said = [await session.append_message(UserMessage(content="0"), sync=False)]
        for step, number in steps:
            target = said[number % len(said)]
            match step:
                case "a":
                    said.append(await session.append_message(UserMessage(content=str(number)), sync=False))
                case "m":
                    await session.move_leaf(target if number % 7 else None)
                case "l":
                    await session.set_label(target, str(number) if number % 3 else None)
                case "n":
                    await session.set_name(str(number))
                case "b":
                    said.append(await session.append_branch_summary(target, "s"))
        assert session.path is not None
        leaf = session.leaf_id
        await session.close()
        again = await Session.open(session.path, read_only=True)
        for tree in (session.tree, again.tree):
            assert {item.id for tip in tree.tips for item in tree.branch(tip.id)} == {e.id for e in tree.entries}
        assert again.leaf_id == leaf
        assert again.notes == []
        assert again.tree.labels == session.tree.labels
        assert again.name == session.name
        assert [e.id for e in again.tree.entries] == [e.id for e in session.tree.entries]
        assert (
            again.tree.branch() == []
            if leaf is None
            else [e.id for e in again.tree.branch()] == [e.id for e in session.tree.branch()]
        )
        await again.close()

    with tempfile.TemporaryDirectory() as name:
        anyio.run(walk, Path(name))
