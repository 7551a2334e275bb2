"""Sessions put away come back whole, pins are kept, damage is told line by line, repair and import only copy."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.config.paths import data_dir
from app.errors import NotASessionError, SessionBusyError, SessionError, WriteFailedError
from app.session.doctor import examine, repair
from app.session.importing import import_session, pi_root
from app.session.inspect import inspect
from app.session.listing import list_sessions
from app.session.naming import aside_path, lease_path, project_folder
from app.session.pins import load_pins, toggle_pin
from app.session.session import Session
from app.session.trash import bring_back, is_in_use, put_away
from tests.session.sessions_kit import said, write_session

DATA = Path(__file__).parent.parent / "data" / "sessions"


def test_a_session_in_the_trash_is_whole_and_comes_back(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s", "one", [said("user", "hi")])
    aside_path(path).write_bytes(b"torn")
    data = path.read_bytes()
    moved = put_away(path)
    assert not path.exists()
    assert not aside_path(path).exists()
    assert moved.place.read_bytes() == data
    assert list(data_dir().rglob("*.jsonl")) == []
    assert os.stat(moved.place.parent).st_mode & 0o077 == 0
    note = json.loads(moved.place.with_name(moved.place.name + ".json").read_text())
    assert note["path"] == str(path)
    assert bring_back(moved) == path
    assert path.read_bytes() == data
    assert aside_path(path).read_bytes() == b"torn"
    assert list(moved.place.parent.iterdir()) == []


def test_two_sessions_of_one_name_are_both_kept_in_the_trash(tmp_path: Path) -> None:
    first = put_away(write_session(tmp_path, "one", [said("user", "first")]))
    second = put_away(write_session(tmp_path, "one", [said("user", "second")]))
    assert first.place != second.place
    assert b"first" in first.place.read_bytes()
    bring_back(second)
    with pytest.raises(SessionError, match="stays in the trash"):
        bring_back(first)
    assert b"first" in first.place.read_bytes()


@pytest.mark.anyio
async def test_a_session_in_use_is_not_moved(tmp_path: Path) -> None:
    path = write_session(tmp_path, "one", [said("user", "hi")])
    assert not is_in_use(path)
    session = await Session.open(path)
    assert is_in_use(path)
    with pytest.raises(SessionBusyError):
        put_away(path)
    await session.close()
    assert not is_in_use(path)
    lease_path(path).write_text(json.dumps({"pid": 2**22 + 5, "start": 1, "host": os.uname().nodename}))
    assert not is_in_use(path), "its process is dead"
    put_away(path)
    assert not lease_path(path).exists()


def test_pins_are_kept_in_order_and_a_damaged_list_is_not_overwritten() -> None:
    assert load_pins() == []
    assert toggle_pin("a")
    assert toggle_pin("b")
    assert not toggle_pin("a")
    assert load_pins() == ["b"]
    (data_dir() / "pins.json").write_text("{damaged")
    assert load_pins() == []
    with pytest.raises(SessionError, match="damaged"):
        toggle_pin("c")
    assert (data_dir() / "pins.json").read_text() == "{damaged"


def damaged(folder: Path) -> Path:
    path = write_session(folder, "bad", [said("user", "one"), said("assistant", "two"), said("user", "three")])
    lines = path.read_bytes().split(b"\n")[:-1]
    orphan = json.dumps({**said("user", "lost"), "id": "o", "parentId": "nowhere", "timestamp": "2026-01-01T00:00:00Z"})
    lines[2:2] = [b"{broken", lines[1], b"\0\0\0\0", orphan.encode(), b"[1]", lines[0]]
    path.write_bytes(b"\n".join([*lines, b'{"type":"mess']))
    return path


def test_damage_is_told_line_by_line(tmp_path: Path) -> None:
    path = damaged(tmp_path)
    before = path.read_bytes()
    found = examine(path)
    assert [finding.line for finding in found] == [3, 4, 5, 6, 7, 8, 11]
    texts = [finding.text for finding in found]
    for text, part in zip(
        texts,
        ["no JSON", "stands in line 2", "zero bytes", "parent nowhere", "no entry", "second", "torn"],
        strict=True,
    ):
        assert part in text
    assert path.read_bytes() == before


def test_a_repaired_copy_is_sound_and_the_original_stays(tmp_path: Path) -> None:
    path = damaged(tmp_path)
    before = path.read_bytes()
    copy = repair(path)
    assert copy.name == "bad.repaired.jsonl"
    assert path.read_bytes() == before
    assert examine(copy) == []
    one, other = inspect(path), inspect(copy)
    for key in ("types", "leaf", "tips", "roots", "branch_len", "context_roles"):
        assert one[key] == other[key], key
    with pytest.raises(WriteFailedError):
        repair(path)
    with pytest.raises(SessionError):
        repair(path, path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("file", sorted(DATA.glob("*.jsonl")), ids=lambda file: file.stem)
def test_reference_files_are_examined_and_repaired(file: Path, tmp_path: Path) -> None:
    if file.stem == "not-a-session":
        with pytest.raises(NotASessionError):
            examine(file)
        return
    examine(file)
    copy = repair(file, tmp_path / "copy.jsonl")
    assert examine(copy) == []
    one, other = inspect(file), inspect(copy)
    for key in ("types", "leaf", "branch_points", "tips", "roots", "context_roles", "name", "labels"):
        assert one[key] == other[key], key


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 900), at=st.integers(0, 900), junk=st.binary(max_size=6))
def test_any_damage_is_told_or_harmless_and_can_be_repaired(tmp_path: Path, cut: int, at: int, junk: bytes) -> None:
    path = write_session(tmp_path, "x", [said("user", "one"), said("assistant", "two"), said("user", "three")])
    data = path.read_bytes()
    data = data[: len(data) - cut] if cut < len(data) - 150 else data
    path.write_bytes(data[:at] + junk + data[at:])
    try:
        examine(path)
    except NotASessionError:
        return
    out = tmp_path / "out.jsonl"
    out.unlink(missing_ok=True)
    repair(path, out)
    assert [finding for finding in examine(out) if finding.is_harm] == []


def test_an_entry_below_our_bookkeeping_is_no_ring(tmp_path: Path) -> None:
    own = {"type": "custom", "customType": "pinyon.leaf"}
    path = write_session(tmp_path, "one", [own, said("user", "hi")])
    assert examine(path) == []
    copy = repair(path)
    assert [json.loads(line).get("parentId") for line in copy.read_bytes().split(b"\n")[1:3]] == [None, "e0"]


def test_an_import_is_a_copy_under_its_folder(tmp_path: Path) -> None:
    source = tmp_path / "theirs.jsonl"
    shutil.copy(DATA / "cli-three-apis.jsonl", source)
    before = source.read_bytes()
    copy = import_session(source)
    assert source.read_bytes() == before
    assert copy.read_bytes().split(b"\n")[1:] == before.split(b"\n")[1:]
    assert [info.path for info in list_sessions("/home/dev/proj00")] == [copy]
    with pytest.raises(SessionError, match="here already"):
        import_session(source)


def test_an_import_can_belong_here(tmp_path: Path) -> None:
    copy = import_session(DATA / "v1-large.jsonl", str(tmp_path))
    assert [info.path for info in list_sessions(str(tmp_path))] == [copy]
    assert inspect(copy)["version"] == 3
    with pytest.raises(NotASessionError):
        import_session(DATA / "not-a-session.jsonl")


def test_the_folder_of_pi_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert pi_root() == Path.home() / ".pi" / "agent" / "sessions"
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path))
    assert pi_root() == tmp_path / "sessions"


@pytest.mark.parametrize("stamp", ["/../../../evil", "../evil", "/evil/x", "a\0b", "2026/01/01", "語" * 200])
def test_an_imported_session_stays_in_its_folder_whatever_its_header_says(tmp_path: Path, stamp: str) -> None:
    source = tmp_path / "foreign.jsonl"
    header = {"type": "session", "version": 3, "id": "語" * 80, "timestamp": stamp, "cwd": str(tmp_path)}
    source.write_text(json.dumps(header) + "\n", encoding="utf-8")
    copy = import_session(source)
    assert copy.parent == project_folder(str(tmp_path))
    assert copy.resolve().parent == copy.parent.resolve()
