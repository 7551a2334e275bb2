"""Copies of sessions, and whose session a file is (spec core §4.7, §4.9, cases S3)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import anyio
import pytest

from app.ai.messages import AssistantMessage, TextContent, UserMessage
from app.errors import SessionError
from app.session.forks import branch_off, clone, fork_before, fork_from
from app.session.inspect import inspect
from app.session.listing import find_session, list_sessions, most_recent, read_info
from app.session.naming import folder_name, project_folder
from app.session.session import Session

pytestmark = pytest.mark.anyio

DATA = Path(__file__).parent.parent / "data" / "sessions"


def answer(text: str) -> AssistantMessage:
    return AssistantMessage(content=[TextContent(text=text)], provider="p", model="m")


async def branched(folder: Path) -> tuple[Session, list[str]]:
    session = Session.create(folder, folder / "s")
    ids = [await session.append_message(UserMessage(content="one"))]
    ids.append(await session.append_message(answer("two")))
    ids.append(await session.set_label(ids[1], "mark"))
    ids.append(await session.append_message(UserMessage(content="three")))
    await session.move_leaf(ids[0])
    ids.append(await session.append_message(answer("other two")))
    return session, ids


async def test_a_fork_has_every_line_and_another_identity(work: Path) -> None:
    session, ids = await branched(work)
    assert session.path is not None
    before = session.path.read_bytes()
    fork = await fork_from(session.path, "/elsewhere", work / "f")
    assert fork.path is not None
    assert session.path.read_bytes() == before
    assert fork.path.read_bytes().split(b"\n")[1:] == before.split(b"\n")[1:]
    assert (fork.cwd, fork.header["parentSession"]) == ("/elsewhere", str(session.path))
    assert fork.id != session.id
    assert fork.leaf_id == ids[4]
    assert any("fork" in note for note in fork.notes)
    await fork.append_message(UserMessage(content="on"))
    await fork.close()
    await session.close()


async def test_a_fork_of_a_damaged_or_old_file_is_sound(work: Path) -> None:
    for name in ("torn-last-line", "v1-large", "v2-hook-message"):
        fork = await fork_from(DATA / f"{name}.jsonl", work, work / name)
        assert fork.path is not None
        await fork.close()
        given, told = inspect(fork.path), inspect(DATA / f"{name}.jsonl")
        assert (given["version"], given["notes"], given["set_aside"]) == (3, [], 0)
        assert given["context_roles"].startswith(told["context_roles"])
        for line in fork.path.read_bytes().split(b"\n")[:-1]:
            json.loads(line)


async def test_a_branch_alone_keeps_ids_and_the_labels_on_it(work: Path) -> None:
    session, ids = await branched(work)
    off = await branch_off(session, ids[3])
    assert [entry.id for entry in off.tree.branch()][:3] == [ids[0], ids[1], ids[3]]
    assert {target: label.text for target, label in off.tree.labels.items()} == {ids[1]: "mark"}
    assert off.tree.labels[ids[1]].timestamp == session.tree.labels[ids[1]].timestamp
    assert off.path is not None
    assert inspect(off.path)["roots"] == 1
    other = await clone(session)
    assert [entry.id for entry in other.tree.branch()] == [ids[0], ids[4]]
    assert other.tree.labels == {}
    for item in (session, off, other):
        await item.close()


async def test_what_we_noted_at_entries_is_looked_through_and_goes_with_a_branch(work: Path) -> None:
    session, ids = await branched(work)
    version = session.tree.version
    note = await session.append_custom("pinyon.snapshot", {"files": 1})
    assert session.leaf_id == ids[4]
    assert session.tree.version > version
    assert [(entry.id, entry.fact) for entry in session.tree.own_at(ids[4])] == [(note, "pinyon.snapshot")]
    assert note not in {entry.id for entry in session.tree.entries}
    on = await session.append_message(UserMessage(content="on"))
    assert [entry.id for entry in session.tree.branch()] == [ids[0], ids[4], on]
    off = await clone(session)
    assert off.tree.own_at(ids[4])[0].id == note
    assert off.read(note)["data"] == {"files": 1}
    assert off.tree.own_at(ids[0]) == []
    assert (off.leaf_id, len(off.tree.tips)) == (on, 1)
    for item in (session, off):
        await item.close()


async def test_entries_that_the_reference_put_under_our_own_hang_on_what_those_stand_at(tmp_path: Path) -> None:
    def row(entry_id: str, parent: str | None, **more: object) -> str:
        return json.dumps({"id": entry_id, "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z", **more}) + "\n"

    said = {"type": "message", "message": {"role": "user", "content": "x"}}
    leaf = {"type": "custom", "customType": "pinyon.leaf"}
    file = tmp_path / "x.jsonl"
    file.write_text(
        row("s", None, type="session", version=3, cwd="/w")
        + row("a", None, **said)
        + row("b", "a", **said)
        + row("l", "a", **leaf)
        + row("c", "l", **said)
        + row("r", None, **leaf)
        + row("d", "r", **said)
    )
    session = await Session.open(file, read_only=True)
    assert [session.tree.parent_id(entry.id) for entry in session.tree.entries] == [None, "a", "a", None]
    assert session.tree.branch_points == [None, "a"]
    await session.close()


async def test_a_fork_before_a_user_message_gives_its_text_back(work: Path) -> None:
    session, ids = await branched(work)
    forked, text = await fork_before(session, ids[3])
    assert text == "three"
    assert forked.tree.branch()[-2].id == ids[1]
    empty, text = await fork_before(session, ids[0])
    assert (text, empty.leaf_id, empty.is_stored) == ("one", None, False)
    assert empty.header["parentSession"] == str(session.path)
    with pytest.raises(SessionError, match="user"):
        await fork_before(session, ids[1])
    for item in (session, forked, empty):
        await item.close()


async def test_a_session_belongs_to_the_folder_in_its_header(tmp_path: Path) -> None:
    root = tmp_path / "sessions"
    places = [str(tmp_path / "a-b"), str(tmp_path / "a/b"), str(tmp_path / "a_b"), "/t/" + "x/" * 150 + "end"]
    assert folder_name(places[0]) == folder_name(places[1])
    assert folder_name(places[3]) != folder_name(places[3] + "x")
    made: dict[str, str] = {}
    for place in places:
        session = Session.create(place, project_folder(place, root))
        await session.append_message(UserMessage(content=f"in {place}"))
        made[place] = session.id
        await session.close()
    for place in places:
        recent = most_recent(place, root)
        assert recent is not None
        info = read_info(recent)
        assert info is not None
        assert (info.id, info.cwd) == (made[place], place)
        assert [item.id for item in list_sessions(place, root)] == [made[place]]
        assert find_session(made[place], place, root).is_here
        assert not find_session(made[place], "/other", root).is_here
    assert most_recent("/t/nowhere", root) is None
    assert len(list_sessions(None, root)) == 4


async def test_the_last_written_session_is_the_most_recent(work: Path) -> None:
    sessions = [Session.create(work, work / "s") for _ in range(3)]
    for age, session in enumerate(sessions):
        await session.append_message(UserMessage(content="x"))
        await session.close()
        assert session.path is not None
        os.utime(session.path, (1000 - age, 1000 - age))
    assert most_recent(str(work), work / "s") == sessions[0].path


async def test_an_id_prefix_must_mean_one_session(work: Path) -> None:
    for name in ("abc1", "abc2", "b"):
        session = Session.create(work, work / "s", session_id=name)
        await session.append_message(UserMessage(content="x"))
        await session.close()
    with pytest.raises(SessionError, match="2 sessions"):
        find_session("abc", str(work), work / "s")
    with pytest.raises(SessionError, match="no session"):
        find_session("zz", str(work), work / "s")
    with pytest.raises(SessionError, match="no session"):
        find_session("", str(work), work / "s")
    found = find_session("abc2", str(work), work / "s")
    assert read_info(found.path) is not None
    assert find_session(str(found.path), "/elsewhere").is_here is False
    missing = find_session("new.jsonl", str(work))
    assert (missing.path, missing.exists) == (work / "new.jsonl", False)


async def test_a_list_reads_name_first_message_and_time_from_both_ends(work: Path) -> None:
    session = Session.create(work, work / "s")
    await session.append_message(UserMessage(content="first \u202e\x1b[31m " + "long " * 20_000))
    await session.append_message(answer("y" * 100_000))
    await session.set_name("the name")
    assert session.path is not None
    info = read_info(session.path)
    assert info is not None
    assert info.first_message.startswith("first \u202e\x1b[31m long")
    assert (info.name, info.has_lease, info.message_count) == ("the name", True, None)
    await session.close()
    small = read_info(DATA / "two-roots.jsonl")
    assert small is not None
    assert (small.first_message, small.message_count, small.has_lease) == ("first try", 4, False)
    assert small.modified_ms == small.created_ms
    empty = read_info(DATA / "header-only.jsonl")
    assert empty is not None
    assert (empty.first_message, empty.message_count) == ("(no messages)", 0)


async def test_a_list_passes_over_what_is_no_session(work: Path) -> None:
    folder = work / "s" / "--x--"
    folder.mkdir(parents=True)
    for item in DATA.glob("*.jsonl"):
        (folder / item.name).write_bytes(item.read_bytes())
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "dir.jsonl").mkdir()
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "dangling.jsonl").symlink_to("nowhere")
    assert len(list_sessions(None, work / "s")) == 12
    assert list_sessions(None, work / "none") == []


@pytest.mark.parametrize("cwd", ["/a\0b", "/a\ud800b", "\0", 5, None])
async def test_a_header_with_an_impossible_folder_hides_no_other_session(work: Path, cwd: object) -> None:
    root = work / "s"
    mine = Session.create(work, root)
    await mine.append_message(UserMessage(content="mine"))
    await mine.close()
    odd = {"type": "session", "version": 3, "id": "odd", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": cwd}
    (root / "odd.jsonl").write_text(json.dumps(odd) + "\n")
    os.mkfifo(root / "pipe.jsonl")
    assert most_recent(str(work), root) == mine.path
    assert [info.path for info in list_sessions(str(work), root)] == [mine.path]
    assert len(list_sessions(None, root)) == 2
    assert not find_session(str(root / "odd.jsonl"), str(work), root).is_here
    with anyio.fail_after(10):
        opened = await Session.open(root / "odd.jsonl")
    assert not opened.cwd_exists
    await opened.close()
