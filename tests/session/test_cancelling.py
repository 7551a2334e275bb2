"""A cancelled write is either not done at all or both in the file and in the tree."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from app.ai.messages import UserMessage
from app.session.session import Session

pytestmark = pytest.mark.anyio


class SlowDisk:
    """os.fsync that reports when it is called and returns when it is let."""

    def __init__(self) -> None:
        self.entered, self.let = threading.Event(), threading.Event()

    def fsync(self, _: int) -> None:
        self.entered.set()
        self.let.wait(10)


@pytest.mark.parametrize("kind", ["anyio", "asyncio"])
async def test_a_write_that_is_cancelled_midway_is_in_the_tree(
    kind: str, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session.create(work, work)
    await session.append_message(UserMessage(content="one"))
    disk = SlowDisk()
    monkeypatch.setattr(os, "fsync", disk.fsync)
    tasks: list[asyncio.Task[None] | None] = []
    scope = anyio.CancelScope()

    async def write() -> None:
        tasks.append(asyncio.current_task())
        with scope:
            await session.append_message(UserMessage(content="two"))

    async with anyio.create_task_group() as group:
        group.start_soon(write)
        await anyio.to_thread.run_sync(disk.entered.wait)
        threading.Timer(0.05, disk.let.set).start()
        if kind == "anyio":
            scope.cancel()
        else:
            assert tasks[0] is not None
            tasks[0].cancel()
    assert len(session.tree) == 2
    three = await session.append_message(UserMessage(content="three"))
    assert [entry.id for entry in session.tree.branch()][-1] == three
    assert len(session.tree.branch()) == 3
    await session.close()
    assert session.path is not None
    again = await Session.open(session.path)
    assert len(again.tree.branch()) == 3
    await again.close()


async def test_a_write_that_never_began_leaves_nothing(work: Path) -> None:
    session = Session.create(work, work)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await session.append_message(UserMessage(content="one"))
    assert len(session.tree) == 0
    assert list(work.iterdir()) == []
    await session.append_message(UserMessage(content="two"))
    assert len(session.tree) == 1
    await session.close()


async def test_reading_sessions_and_lists_needs_no_message_models() -> None:
    code = (
        "import sys; import app.session.session, app.session.forks, app.session.listing\n"
        "print([name for name in ('pydantic', 'httpx', 'textual') if name in sys.modules])"
    )
    done = await anyio.run_process([sys.executable, "-c", code], cwd=Path(__file__).parent.parent.parent)
    assert done.returncode == 0
    assert done.stdout == b"[]\n"
