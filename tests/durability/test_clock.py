"""A clock that stands still or goes backwards: order comes from the file and its parents, never from times."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from app.ai.messages import AssistantMessage, TextContent, UserMessage
from app.session.forks import clone
from app.session.inspect import inspect
from app.session.listing import list_sessions
from app.session.messages import CompactionSummaryMessage
from app.session.session import Session

pytestmark = pytest.mark.anyio
NOW_S = 1_800_000_000.0


class Clock:
    """Gives `now`, `step` later at each look."""

    def __init__(self, step: float) -> None:
        self.now, self.step = NOW_S, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


async def walk(folder: Path) -> tuple[Session, list[str]]:
    session = Session.create(folder, folder)
    ids = [await session.append_message(UserMessage(content="one"))]
    ids.append(await session.append_message(AssistantMessage(content=[TextContent(text="two")])))
    ids.append(await session.append_message(UserMessage(content="three")))
    await session.move_leaf(ids[1])
    ids.append(await session.append_message(UserMessage(content="another three")))
    await session.set_label(ids[0], "old")
    await session.set_label(ids[0], "new")
    await session.set_name("first name")
    await session.set_name("last name")
    return session, ids


@pytest.mark.parametrize("step", [0.0, -0.001, -3600.0], ids=["still", "slowly-back", "hours-back"])
async def test_a_tree_is_the_same_whatever_the_clock_says(
    step: float, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", Clock(step))
    session, ids = await walk(work)
    assert session.path is not None
    await session.close()
    again = await Session.open(session.path)
    assert [entry.id for entry in again.tree.children(ids[1])] == ids[2:]
    assert [getattr(message, "role", "") for message in again.context().messages] == ["user", "assistant", "user"]
    assert (again.name, again.tree.labels[ids[0]].text) == ("last name", "new")
    await again.append_compaction("short", ids[3], 9)
    await again.append_message(UserMessage(content="after it"))
    first, kept, after = again.context().messages
    assert isinstance(first, CompactionSummaryMessage)
    assert [getattr(message, "content", "") for message in (kept, after)] == ["another three", "after it"]
    copy = await clone(again)
    assert copy.context() == again.context()
    for one in (copy, again):
        await one.close()
    assert inspect(session.path)["notes"] == []


async def test_sessions_of_the_same_millisecond_are_two(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", Clock(0.0))
    made = [(await walk(work))[0] for _ in range(5)]
    assert len({session.id for session in made}) == len({session.path for session in made}) == 5
    for session in made:
        await session.close()
    found = list_sessions(str(work), work)
    assert {info.id for info in found} == {session.id for session in made}
