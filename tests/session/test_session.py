"""A session end to end on real files: written, read again, continued."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.ai.messages import AssistantMessage, TextContent, ToolCall, ToolResultMessage, UserMessage
from app.errors import SessionBusyError, SessionError, WriteFailedError
from app.session.messages import CompactionSummaryMessage, CustomMessage
from app.session.session import Session
from app.session.tree import UnknownEntryError

pytestmark = pytest.mark.anyio


def lines_of(path: Path | None) -> list[dict[str, Any]]:
    assert path is not None
    data = path.read_bytes()
    assert data.endswith(b"\n")
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


def user(text: str) -> UserMessage:
    return UserMessage(content=text)


def answer(text: str, *calls: ToolCall) -> AssistantMessage:
    return AssistantMessage(
        content=[TextContent(text=text), *calls],
        provider="p",
        model="m",
        stop_reason="toolUse" if calls else "stop",
    )


async def test_no_file_exists_until_something_is_said(work: Path) -> None:
    session = Session.create(work, work / "s")
    await session.append_model_change("p", "m")
    await session.append_thinking_level("high")
    assert not (work / "s").exists()
    first = await session.append_message(user("hello"))
    assert session.path is not None
    rows = lines_of(session.path)
    assert [row["type"] for row in rows] == ["session", "model_change", "thinking_level_change", "message"]
    assert rows[0]["version"] == 3
    assert rows[0]["cwd"] == str(work)
    assert rows[1]["parentId"] is None
    assert rows[3]["parentId"] == rows[2]["id"]
    assert rows[3]["id"] == first == session.leaf_id
    assert session.path.stat().st_mode & 0o777 == 0o600
    assert session.path.parent.stat().st_mode & 0o777 == 0o700
    assert session.path.name.endswith(f"_{session.id}.jsonl")
    await session.close()


async def test_a_session_reads_back_as_it_was_written(work: Path) -> None:
    session = Session.create(work, work)
    await session.append_message(user("hällo \u2028 日本"))
    await session.append_message(answer("hi"))
    await session.append_custom_message("note", "seen", display=False)
    await session.set_name("  my   name ")
    path, leaf, told = session.path, session.leaf_id, session.context()
    assert path is not None
    await session.close()
    again = await Session.open(path)
    assert again.notes == []
    assert (again.name, again.leaf_id, again.id) == ("my name", leaf, session.id)
    assert again.context() == told
    assert [type(message) for message in told.messages] == [UserMessage, AssistantMessage, CustomMessage]
    assert told.model is not None
    assert (told.model.provider, told.model.model_id) == ("p", "m")
    await again.close()
    assert "日本".encode() in path.read_bytes()


async def test_an_extensions_message_is_stored_as_the_reference_stores_it(work: Path) -> None:
    session = Session.create(work, work)
    await session.append_message(CustomMessage(custom_type="t", content="x", display=False, details={"k": None}))
    row = lines_of(session.path)[1]
    assert (row["type"], row["customType"], row["content"], row["display"]) == ("custom_message", "t", "x", False)
    assert row["details"] == {"k": None}
    (message,) = session.context().messages
    assert isinstance(message, CustomMessage)
    assert not message.display
    await session.close()


async def test_concurrent_appends_make_one_chain(work: Path) -> None:
    session = Session.create(work, work)
    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(session.append_message, user(str(number)))
    rows = lines_of(session.path)[1:]
    assert [row["parentId"] for row in rows] == [None, *(row["id"] for row in rows[:-1])]
    assert [row["message"]["content"] for row in rows] == [str(number) for number in range(20)]
    await session.close()


async def test_the_leaf_that_was_moved_is_where_the_next_opening_goes_on(work: Path) -> None:
    session = Session.create(work, work)
    one = await session.append_message(user("one"))
    two = await session.append_message(answer("two"))
    await session.append_message(user("three"))
    await session.move_leaf(two)
    path = session.path
    assert path is not None
    await session.close()
    again = await Session.open(path)
    assert again.leaf_id == two
    assert len(again.tree.tips) == 1
    other = await again.append_message(user("another three"))
    assert again.tree.parent_id(other) == two
    assert [entry.id for entry in again.tree.branch()] == [one, two, other]
    assert again.tree.branch_points == [two]
    await again.move_leaf(None)
    root = await again.append_message(user("from the start"))
    assert again.tree.parent_id(root) is None
    assert len(again.tree.roots) == 2
    with pytest.raises(UnknownEntryError):
        await again.move_leaf("nowhere")
    await again.close()


async def test_calls_without_a_result_are_closed_in_call_order_when_opened_to_write(work: Path) -> None:
    session = Session.create(work, work)
    await session.append_message(user("do"))
    calls = [ToolCall(id=f"c{number}", name="bash") for number in range(3)]
    await session.append_message(answer("on it", *calls))
    await session.append_message(ToolResultMessage(tool_call_id="c1", tool_name="bash"))
    path = session.path
    assert path is not None
    await session.close()
    before = path.read_bytes()
    looked = await Session.open(path, read_only=True)
    await looked.close()
    assert path.read_bytes() == before
    again = await Session.open(path)
    results = [message for message in again.context().messages if isinstance(message, ToolResultMessage)]
    assert [result.tool_call_id for result in results] == ["c1", "c0", "c2"]
    assert [result.is_error for result in results] == [False, True, True]
    assert "interrupted" in results[1].text()
    assert len(again.notes) == 1
    await again.close()
    assert path.read_bytes().startswith(before)
    third = await Session.open(path)
    assert third.notes == []
    await third.close()


async def test_a_second_writer_is_refused_and_may_look(work: Path) -> None:
    session = Session.create(work, work)
    await session.append_message(user("mine"))
    assert session.path is not None
    with pytest.raises(SessionBusyError, match=str(os.getpid())):
        await Session.open(session.path)
    looked = await Session.open(session.path, read_only=True)
    assert len(looked.tree) == 1
    with pytest.raises(SessionError, match="look at"):
        await looked.append_message(user("no"))
    await looked.close()
    await session.close()
    second = await Session.open(session.path)
    assert second.notes == []
    await second.close()
    assert sorted(item.suffix for item in work.iterdir()) == [".jsonl"]


async def test_an_in_memory_session_writes_nothing(work: Path) -> None:
    session = Session.in_memory(work)
    await session.append_message(user("hi"))
    first = await session.append_message(answer("ho"))
    await session.append_message(user("again"))
    await session.append_compaction("short", first, 1000)
    assert isinstance(session.context().messages[0], CompactionSummaryMessage)
    assert len(session.context().messages) == 3
    await session.set_label(first, "here")
    assert session.tree.labels[first].text == "here"
    await session.set_label(first, " ")
    assert session.tree.labels == {}
    await session.close()
    assert list(work.iterdir()) == []


async def test_a_folder_that_is_gone_fails_the_append_and_another_place_goes_on(work: Path) -> None:
    session = Session.create(work, work / "old")
    await session.append_message(user("one"))
    assert session.path is not None
    for item in session.path.parent.iterdir():
        item.unlink()
    session.path.parent.rmdir()
    size = len(session.tree)
    with pytest.raises(WriteFailedError, match="gone"):
        await session.append_message(answer("two"))
    assert len(session.tree) == size
    new = await session.move_to(work / "new")
    await session.append_message(answer("two"))
    assert [row["type"] for row in lines_of(new)] == ["session", "message", "message"]
    assert len(session.context().messages) == 2
    await session.close()
    assert [item.name for item in (work / "new").iterdir()] == [new.name]
