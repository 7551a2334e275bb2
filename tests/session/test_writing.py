"""Writing under trouble: full disks, dead writers, other programs, old formats (architecture §6)."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.ai.messages import AssistantMessage, TextContent, UserMessage
from app.errors import SessionBusyError, WriteFailedError
from app.session.file import SessionFile
from app.session.inspect import inspect
from app.session.lease import process_start
from app.session.naming import lease_path
from app.session.session import Session

DATA = Path(__file__).parent.parent / "data" / "sessions"
REPO = Path(__file__).parent.parent.parent


@contextmanager
def no_file_larger_than(limit_bytes: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def copied(name: str, folder: Path) -> Path:
    path = folder / name
    path.write_bytes((DATA / name).read_bytes())
    return path


@pytest.mark.anyio
async def test_a_half_written_line_costs_no_other_line_and_the_append_can_be_repeated(work: Path) -> None:
    session = Session.create(work, work)
    await session.append_message(UserMessage(content="one"))
    assert session.path is not None
    before = session.path.read_bytes()
    with no_file_larger_than(len(before) + 30), pytest.raises(WriteFailedError) as caught:
        await session.append_message(UserMessage(content="x" * 500))
    assert str(session.path) in str(caught.value)
    assert caught.value.hint
    assert len(session.tree) == 1
    assert len(session.path.read_bytes()) == len(before) + 30
    two = await session.append_message(UserMessage(content="x" * 500))
    three = await session.append_message(UserMessage(content="three"))
    await session.close()
    assert session.path.read_bytes().startswith(before)
    again = await Session.open(session.path)
    assert [entry.id for entry in again.tree.branch()][1:] == [two, three]
    assert len(again.tree.tips) == 1
    await again.close()


@pytest.mark.anyio
async def test_a_line_that_never_reached_the_disk_does_not_stand_there_twice(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session.create(work, work)
    one = await session.append_message(UserMessage(content="one"))
    assert session.path is not None
    before = session.path.read_bytes()

    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", broken)
        with pytest.raises(WriteFailedError, match="Input/output"):
            await session.append_message(UserMessage(content="two"))
    assert session.path.read_bytes() == before
    two = await session.append_message(UserMessage(content="two"))
    await session.close()
    assert session.notes == []
    again = await Session.open(session.path)
    assert [entry.id for entry in again.tree.entries] == [one, two]
    await again.close()


@pytest.mark.anyio
async def test_when_the_first_write_fails_no_file_is_left(work: Path) -> None:
    session = Session.create(work, work / "s")
    await session.append_model_change("p", "m")
    with no_file_larger_than(60), pytest.raises(WriteFailedError):
        await session.append_message(UserMessage(content="one"))
    assert list((work / "s").iterdir()) == []
    await session.append_message(UserMessage(content="one"))
    assert session.path is not None
    assert inspect(session.path)["types"] == {"model_change": 1, "message": 1}
    await session.close()


@pytest.mark.anyio
async def test_a_folder_that_cannot_be_made_is_named(work: Path) -> None:
    (work / "file").write_text("x")
    session = Session.create(work, work / "file" / "s")
    with pytest.raises(WriteFailedError, match="file"):
        await session.append_message(UserMessage(content="one"))
    assert session.leaf_id is None


@pytest.mark.anyio
async def test_odd_text_and_numbers_are_stored_as_json(work: Path) -> None:
    session = Session.create(work, work)
    await session.append_message(UserMessage(content="one"))
    await session.append_custom("x", {"n": float("nan"), "s": "\ud800", "t": "\0\n\u2028"})
    with pytest.raises(WriteFailedError, match="no JSON"):
        await session.append_custom("x", {"n": object()})
    assert session.path is not None
    rows = [json.loads(line) for line in session.path.read_bytes().split(b"\n")[:-1]]
    assert rows[2]["data"] == {"n": None, "s": "\ud800", "t": "\0\n\u2028"}
    await session.close()


@pytest.mark.anyio
async def test_what_another_program_appended_is_seen_and_kept(work: Path) -> None:
    session = Session.create(work, work)
    one = await session.append_message(UserMessage(content="one"))
    assert session.path is not None
    with session.path.open("ab") as stream:
        raw = {"type": "message", "id": "theirs", "parentId": one, "timestamp": "2026-01-01T00:00:00.000Z"}
        stream.write(json.dumps({**raw, "message": {"role": "user", "content": "x"}}).encode() + b"\n")
    two = await session.append_message(UserMessage(content="two"))
    assert [entry.id for entry in session.tree.entries] == [one, "theirs", two]
    assert session.leaf_id == two
    assert session.tree.parent_id(two) == one
    assert session.read("theirs")["message"]["content"] == "x"
    assert any("another program" in note for note in session.notes)
    await session.close()
    assert inspect(session.path)["tips"] == 2


@pytest.mark.parametrize("name", ["v1-large.jsonl", "v2-hook-message.jsonl"])
@pytest.mark.anyio
async def test_an_old_file_is_brought_up_at_the_first_append_and_kept(name: str, tmp_path: Path) -> None:
    path = copied(name, tmp_path)
    data = path.read_bytes()
    told = inspect(path)
    session = await Session.open(path)
    if not any("interrupted" in note for note in session.notes):
        assert path.read_bytes() == data
    ids = [entry.id for entry in session.tree.entries]
    context = session.context()
    await session.append_message(AssistantMessage(content=[TextContent(text="new")], provider="p", model="m"))
    assert session.context().messages[:-1] == context.messages
    assert [entry.id for entry in session.tree.entries][:-1] == ids
    await session.close()
    (old,) = [item for item in tmp_path.iterdir() if item.name != name]
    assert old.read_bytes() == data
    now = inspect(path)
    assert now["version"] == 3
    assert now["id"] == told["id"]
    assert now["entries"] == len(ids) + 1
    assert b"hookMessage" not in path.read_bytes()
    assert os.stat(path).st_mode & 0o777 == 0o600


@pytest.mark.anyio
async def test_the_lease_of_a_dead_process_is_taken_over_with_a_note(work: Path) -> None:
    path = copied("two-roots.jsonl", work)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    host = os.uname().nodename
    for pid, start in ((dead.pid, 1), (os.getppid(), 1)):
        lease_path(path).write_text(json.dumps({"pid": pid, "start": start, "host": host}))
        session = await Session.open(path)
        assert any(f"process {pid} ended" in note for note in session.notes)
        await session.close()
        assert not lease_path(path).exists()


@pytest.mark.anyio
async def test_the_lease_of_a_living_process_is_respected(work: Path) -> None:
    path = copied("two-roots.jsonl", work)
    parent = os.getppid()
    lease = {"pid": parent, "start": process_start(parent), "host": os.uname().nodename}
    lease_path(path).write_text(json.dumps(lease))
    with pytest.raises(SessionBusyError, match=str(parent)):
        await Session.open(path)
    assert json.loads(lease_path(path).read_text()) == lease


def test_a_lease_that_is_garbage_stops_nobody(work: Path) -> None:
    path = copied("two-roots.jsonl", work)
    for text in ("", "[]", '{"pid":"x"}', "\0"):
        lease_path(path).write_text(text)
        SessionFile.open(path).close()


WRITER = """
import sys
from pathlib import Path
from app.session.entries import new_entry, new_header
from app.session.file import SessionFile
path = Path(sys.argv[1])
file = SessionFile.open(path) if path.exists() else SessionFile(path, new_header("s", "/w"))
assert "pydantic" not in sys.modules
for number in range(100_000):
    name = f"{sys.argv[2]}-{number}"
    file.append([new_entry("message", name, None, message={"role": "user", "content": "x" * 3000})], durable=False)
    print(name, flush=True)
"""


def test_what_was_acknowledged_survives_kill_9(work: Path) -> None:
    path = work / "s.jsonl"
    acknowledged: list[str] = []
    for turn in range(3):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(turn)],
            stdout=subprocess.PIPE,
            cwd=REPO,
            env={**os.environ, "PYTHONPATH": str(REPO)},
        )
        assert writer.stdout is not None
        for _ in range(40 + turn):
            acknowledged.append(writer.stdout.readline().decode().strip())
        with pytest.raises(SessionBusyError, match=str(writer.pid)):
            SessionFile.open(path)
        writer.send_signal(signal.SIGKILL)
        writer.stdout.close()
        writer.wait()
        assert lease_path(path).exists()
    file = SessionFile.open(path)
    assert set(acknowledged) <= set(file.index.by_id)
    assert any("taken over" in note for note in file.notes)
    file.close()
