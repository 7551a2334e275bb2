"""Files follow branches: snapshots hang at the right entries, and any node's files come back."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.agent.config import BeforeToolCall, BeforeToolCallResult
from app.agent.tool import AbortSignal
from app.ai.adapters.scripted import answer, tool_call
from app.config import paths
from app.runtime.agent_session import AgentSession
from app.runtime.events import SessionNote
from app.runtime.file_history import FileHistory
from app.runtime.file_places import FilePlaces
from app.session.forks import clone
from app.session.snapshots.model import SnapshotError
from tests.runtime.support import scripted_session

pytestmark = pytest.mark.anyio


def writes(*files: tuple[str, str]) -> Any:
    return answer(*(tool_call("write", {"path": path, "content": text}) for path, text in files))


def runs(command: str) -> Any:
    return answer(tool_call("bash", {"command": command}))


@asynccontextmanager
async def with_files(work: Path, script: list[Any], **options: Any) -> AsyncIterator[tuple[AgentSession, FileHistory]]:
    async with scripted_session(work, script, **options) as (session, _, events):
        history = session.files
        assert history is not None
        session.subscribe(lambda event: None)
        yield session, history
        assert not [event.text for event in events if isinstance(event, SessionNote) and "not kept" in event.text]


def snapshots(session: AgentSession) -> list[dict[str, Any]]:
    path = session.session.path
    assert path is not None
    entries = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    return [entry["data"] for entry in entries if entry.get("customType") == "pinyon.snapshot"]


def text(work: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(work.iterdir())}


def ids(session: AgentSession, role: str) -> list[str]:
    return [entry.id for entry in session.session.tree.entries if entry.role == role]


async def test_a_turn_that_only_reads_takes_no_snapshot(work: Path) -> None:
    (work / "a").write_text("1")
    script = [answer(tool_call("read", {"path": "a"}), tool_call("ls", {})), "done"]
    async with with_files(work, script) as (session, _):
        await session.prompt("look")
        assert snapshots(session) == []
    assert not (paths.data_dir() / "snapshots").exists()


async def test_before_and_after_a_turn_that_writes_hang_at_its_entries_and_the_leaf_stays_right(work: Path) -> None:
    (work / "a").write_text("1")
    async with with_files(work, [writes(("a", "2"), ("b", "new")), "done"]) as (session, files):
        await session.prompt("write")
        data = snapshots(session)
        assert [one["phase"] for one in data] == ["before", "after"]
        assert data[1]["parent"] == data[0]["manifest"]
        assert data[1]["changed"] == {"created": 1, "changed": 1, "deleted": 0}
        user, call, last = ids(session, "user")[0], ids(session, "assistant")[0], ids(session, "assistant")[1]
        assert session.session.leaf_id == last
        assert session.session.tree.get(last).parent_id == ids(session, "toolResult")[-1]
        for entry_id, a in (
            (None, b"1"),
            (user, b"1"),
            (call, b"1"),
            (last, b"2"),
            (ids(session, "toolResult")[1], b"2"),
        ):
            manifest = await files.files_at(entry_id)
            assert manifest is not None
            assert files._files.packs.read(manifest.files["a"].digest) == a
        found = await files.changes_between(user, last)
        assert [(c.path, c.kind, c.added, c.removed) for c in found] == [("a", "changed", 1, 1), ("b", "created", 1, 0)]
        assert (await files.diff("a", user, last)).split("\n") == ["-1 1", "+1 2"]


async def test_a_turn_that_changed_nothing_leaves_no_entry(work: Path) -> None:
    (work / "a").write_text("1")
    async with with_files(work, [runs("true"), "done", runs("true"), "done"]) as (session, _):
        await session.prompt("nothing")
        assert [one["phase"] for one in snapshots(session)] == ["before"]
        await session.prompt("again")
        assert len(snapshots(session)) == 1


async def test_a_stopped_turn_is_kept_as_it_was_left(work: Path) -> None:
    async with with_files(work, [runs("echo half > a; touch started; sleep 20")]) as (session, files):
        async with anyio.create_task_group() as group:
            group.start_soon(session.prompt, "go")
            with anyio.fail_after(10):
                while not (work / "started").exists():
                    await anyio.sleep(0.01)
            session.stop_run()
        manifest = await files.files_at(session.session.leaf_id)
        assert manifest is not None
        assert set(manifest.files) == {"a", "started"}


async def test_an_earlier_hook_is_asked_first_and_a_blocked_call_takes_no_snapshot(work: Path) -> None:
    async with scripted_session(work, [runs("echo x > a"), "done"]) as (session, _, _):

        async def never(call: BeforeToolCall, signal: AbortSignal) -> BeforeToolCallResult:
            return BeforeToolCallResult(True, "no")

        assert session.files is not None
        session.files.recorder.detach()
        session.agent.config.before_tool_call = never
        files = FileHistory(session)
        files.attach()
        await session.prompt("go")
        assert snapshots(session) == []
        assert text(work) == {}
        await files.close()


async def test_three_branches_compare_restore_undo_take(work: Path) -> None:
    (work / "a").write_text("1\n2\n3\n4\n5\n")
    script = [
        writes(("b", "first")),
        "one",
        writes(("a", "one\n2\n3\n4\n5\n")),
        "two",
        writes(("a", "1\n2\n3\n4\nfive\n"), ("c", "third")),
        "three",
    ]
    async with with_files(work, script) as (session, files):
        await session.prompt("start")
        fork = session.session.leaf_id
        base = text(work)
        await session.prompt("try one way")
        left = session.session.leaf_id
        assert left is not None
        left_text = text(work)

        await session.session.move_leaf(fork)
        session.load_context()
        plan = await files.preview(fork)
        assert [(f.path, f.kind) for f in plan.files] == [("a", "changed")]
        assert (await files.plan_diff(plan, "a")).split("\n")[:2] == ["-1 one", "+1 1"]
        await files.apply(plan)
        assert text(work) == base
        assert session.session.leaf_id == fork
        await session.prompt("try another")
        right = session.session.leaf_id
        assert right is not None
        right_text = text(work)

        between = await files.changes_between(left, right)
        assert [(c.path, c.kind, c.added, c.removed) for c in between] == [
            ("a", "changed", 2, 2),
            ("c", "created", 1, 0),
        ]
        assert [c.path for c in await files.branch_changes(left, fork)] == ["a"]
        assert [c.path for c in await files.branch_changes(right, fork)] == ["a", "c"]

        await files.apply(await files.preview(left))
        assert text(work) == left_text
        manifest = await files.files_at(right)
        assert manifest is not None
        assert "c" in manifest.files, "a restore at a leaf does not change what the leaf had left"
        await files.apply(await files.preview_undo())
        assert text(work) == right_text
        await files.apply(await files.preview_undo())
        assert text(work) == left_text, "an undo is undone like any restore"
        await files.apply(await files.preview(right))

        taken = await files.take(left)
        assert [(f.path, f.is_merged) for f in taken.files] == [("a", True)]
        assert "+1 one" in await files.plan_diff(taken, "a")
        assert [(c.path, c.added, c.removed) for c in await files.plan_changes(taken)] == [("a", 1, 1)]
        await files.apply(taken)
        assert text(work)["a"] == "one\n2\n3\n4\nfive\n"
        await files.apply(await files.preview_undo())
        assert text(work) == right_text
        await files.apply(await files.preview(None))
        assert text(work) == {"a": "1\n2\n3\n4\n5\n"}, "before the first entry"


async def test_a_branch_begun_without_restoring_is_taken_by_what_it_did(work: Path) -> None:
    (work / "a").write_text("1")
    async with with_files(work, [writes(("b", "left")), "one", writes(("c", "right")), "two"]) as (session, files):
        await session.prompt("left")
        left = session.session.leaf_id
        assert left is not None
        await session.session.move_leaf(None)
        session.load_context()
        await session.prompt("right")
        right = session.session.leaf_id
        assert right is not None
        assert [c.path for c in await files.branch_changes(right, None)] == ["c"]
        manifest = await files.files_at(ids(session, "user")[1])
        assert manifest is not None
        assert set(manifest.files) == {"a", "b"}
        await files.apply(await files.preview(left))
        taken = await files.take(right, left)
        assert [f.path for f in taken.files] == ["c"]


async def test_what_the_user_changed_between_turns_is_skipped_unless_the_agent_changed_it_again(work: Path) -> None:
    for name in ("agent", "user", "both"):
        (work / name).write_text("1")
    script = [writes(("agent", "2"), ("both", "2")), "one", writes(("both", "3")), "two"]
    async with with_files(work, script) as (session, files):
        await session.prompt("first")
        for name in ("user", "both"):
            (work / name).write_text("mine")
        await session.prompt("second")
        (work / "late").write_text("mine")
        plan = await files.preview(None)
        assert [f.path for f in plan.files] == ["agent", "both"]
        assert [(one.path, one.is_foreign) for one in plan.skipped] == [("late", True), ("user", True)]
        plan = await files.preview(None, overwrite=["user"])
        assert [f.path for f in plan.files] == ["agent", "both", "user"]


async def test_the_users_own_command_is_kept_with_its_message(work: Path) -> None:
    async with with_files(work, ["hello"]) as (session, files):
        await session.prompt("hi")
        before = session.session.leaf_id
        async with files.command():
            await session.bash.run("echo x > a", False)
        assert [one["phase"] for one in snapshots(session)] == ["before", "after"]
        assert session.session.tree.get(session.session.leaf_id or "").role == "bashExecution"
        assert [c.path for c in await files.changes_between(before, session.session.leaf_id)] == ["a"]


async def test_a_command_at_an_older_entry_does_not_change_what_that_entry_left(work: Path) -> None:
    async with with_files(work, [writes(("a", "1")), "one", writes(("a", "2")), "two"]) as (session, files):
        await session.prompt("first")
        older = session.session.leaf_id
        then = await files.files_at(older)
        await session.prompt("second")
        await session.session.move_leaf(older)
        async with files.command():
            await session.bash.run("true", False)
        now = await files.files_at(older)
        assert now is not None
        assert then is not None
        assert now.id == then.id
        after_command = await files.files_at(session.session.leaf_id)
        assert after_command is not None
        assert after_command.id != then.id, "the files were not restored when the leaf moved"


async def test_a_session_opened_again_knows_its_files(work: Path) -> None:
    (work / "a").write_text("1")
    async with with_files(work, [writes(("a", "2")), "done"]) as (session, _):
        await session.prompt("go")
    async with with_files(work, [], continue_=True) as (session, files):
        plan = await files.preview(ids(session, "user")[0])
        assert [f.path for f in plan.files] == ["a"]
        await files.apply(plan)
    assert text(work) == {"a": "1"}


async def test_a_clone_of_a_branch_keeps_its_files_and_not_a_restore_that_came_later(work: Path) -> None:
    script = [writes(("a", "1")), "one", writes(("a", "2")), "two", "three"]
    async with with_files(work, script) as (session, files):
        await session.prompt("first")
        fork = session.session.leaf_id
        await session.prompt("second")
        tip = session.session.leaf_id
        assert tip is not None
        await session.session.move_leaf(None)
        session.load_context()
        await session.session.move_leaf(fork)
        await files.apply(await files.preview(None))
        await session.session.move_leaf(tip)
        copy = await clone(session.session)
        places = FilePlaces(copy)
        for entry in copy.tree.branch(tip):
            one, other = files.places.at(entry.id), places.at(entry.id)
            assert one is not None
            assert other is not None
            assert one.manifest_id == other.manifest_id
        await copy.close()


async def test_warming_up_leaves_nothing_to_read_for_the_first_turn(work: Path) -> None:
    (work / "a").write_text("1")
    async with with_files(work, [writes(("a", "2")), "done"]) as (session, files):
        await files.warm()
        assert session.session.path is None or not session.session.path.exists()
        usage = await files.usage()
        assert 0 < usage.total_bytes < usage.limits.max_total_bytes
        await session.prompt("go")
        assert [one["phase"] for one in snapshots(session)] == ["before", "after"]


async def test_files_are_not_restored_while_a_turn_runs(work: Path) -> None:
    (work / "a").write_text("1")
    async with with_files(work, [writes(("a", "2")), "done", runs("touch started; sleep 20")]) as (session, files):
        await session.prompt("go")
        plan = await files.preview(None)
        async with anyio.create_task_group() as group:
            group.start_soon(session.prompt, "more")
            with anyio.fail_after(10):
                while not (work / "started").exists():
                    await anyio.sleep(0.01)
            with pytest.raises(SnapshotError, match="while a turn runs"):
                await files.apply(plan)
            session.stop_run()


@pytest.mark.parametrize("why", ["home", "off", "disk"])
async def test_without_snapshots_tools_work_and_one_note_says_why_unless_it_was_wished(
    work: Path, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why == "home":
        monkeypatch.setenv("HOME", str(work))
    elif why == "off":
        folder = Path(os.environ["PINYON_CONFIG_DIR"])
        folder.mkdir(parents=True)
        (folder / "settings.json").write_text('{"snapshots": {"enabled": false}}')
    else:
        paths.ensure_private_dir(paths.data_dir())
        (paths.data_dir() / "snapshots").write_text("a file in the way")
    script = [writes(("a", "1")), writes(("a", "2")), "done"]
    async with scripted_session(work, script) as (session, _, events):
        files = session.files
        assert files is not None
        await session.prompt("go")
        notes = [event.text for event in events if isinstance(event, SessionNote)]
        assert (work / "a").read_text() == "2"
        assert len([note for note in notes if "not kept for restoring" in note]) == (why != "off")
        with pytest.raises(SnapshotError):
            await files.preview(None)


async def test_what_is_typed_while_files_are_restored_runs_on_the_restored_files(work: Path) -> None:
    (work / "a").write_text("1")
    async with with_files(work, [writes(("a", "2")), "done", runs("cat a"), "seen"]) as (session, files):
        await session.prompt("write")
        plan = await files.preview(None)
        async with anyio.create_task_group() as group:
            group.start_soon(files.apply, plan)
            while not session.is_busy:
                await anyio.lowlevel.checkpoint()
            session.submit("look")
            with pytest.raises(SnapshotError, match="while a turn runs"):
                await files.apply(plan)
        with anyio.fail_after(10):
            while session.is_busy or session.agent.has_queued_messages():
                await anyio.sleep(0.005)
        results = [message.text() for message in session.agent.state.messages if message.role == "toolResult"]
        assert results[-1].strip() == "1"
        assert [one["phase"] for one in snapshots(session)][2] == "restore"
