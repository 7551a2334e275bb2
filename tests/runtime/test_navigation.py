"""Moves in the tree and from session to session: where they lead, and that a failed one changes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from app.agent.agent import AgentBusyError
from app.ai.adapters.scripted import answer, tool_call
from app.ai.messages import AssistantMessage, Context
from app.ai.stream import StreamOptions
from app.errors import ErrorKind, ModelError, SessionError
from app.runtime import navigation, switching
from app.runtime.agent_session import AgentSession
from app.runtime.events import EditorText, SessionEvent, SessionSwitched
from app.session.listing import most_recent
from app.session.naming import project_folder
from app.session.session import Session
from app.session.summary_text import SUMMARISER
from app.session.tree import UnknownEntryError
from tests.runtime.support import scripted_session

pytestmark = pytest.mark.anyio


def said(session: AgentSession, text: str) -> str:
    """The id of the entry whose message begins so."""
    return next(entry.id for entry in session.session.tree.entries if entry.preview.startswith(text))


def texts(session: AgentSession) -> list[str]:
    return [getattr(m, "summary", "") or _text(m) for m in session.agent.state.messages]


def _text(message: object) -> str:
    content = getattr(message, "content", "")
    return content if isinstance(content, str) else "".join(getattr(block, "text", "") for block in content)


def switches(events: list[SessionEvent]) -> list[SessionSwitched]:
    return [event for event in events if isinstance(event, SessionSwitched)]


def content(session: AgentSession) -> bytes:
    path = session.session.path
    assert path is not None
    return path.read_bytes()


async def test_going_to_a_users_message_moves_to_its_parent_and_gives_its_text(work: Path) -> None:
    async with scripted_session(work, ["one", "two", "three"]) as (s, model, events):
        await s.prompt("first")
        await s.prompt("second")
        moved = await navigation.go_to(s, said(s, "second"))
        assert (moved.moved, moved.leaf_id, moved.editor_text) == (True, said(s, "one"), "second")
        assert texts(s) == ["first", "one"]
        assert switches(events) == [SessionSwitched("tree", "second")]
        await s.prompt("another second")
        assert [_text(m) for m in model.calls[-1].messages] == ["first", "one", "another second"]
        assert len(s.session.tree.siblings(said(s, "another second"))) == 2


async def test_going_to_the_first_message_goes_before_everything_said(work: Path) -> None:
    async with scripted_session(work, ["one"]) as (s, _, _):
        await s.prompt("first")
        moved = await navigation.go_to(s, said(s, "first"))
        assert moved.leaf_id == s.session.tree.parent_id(said(s, "first"))
        assert texts(s) == []


async def test_going_to_an_answer_leaves_the_prompt_alone_and_survives_a_restart(work: Path) -> None:
    async with scripted_session(work, ["one", "two"]) as (s, _, events):
        await s.prompt("first")
        await s.prompt("second")
        moved = await navigation.go_to(s, said(s, "one"))
        assert moved.editor_text is None
        assert switches(events)[0].editor_text is None
    async with scripted_session(work, [], continue_=True) as (s, _, _):
        assert texts(s) == ["first", "one"]


async def test_the_present_place_is_judged_by_the_nearest_message(work: Path) -> None:
    async with scripted_session(work, ["one"]) as (s, _, events):
        await s.prompt("first")
        await navigation.set_label(s, said(s, "one"), "here")
        before = content(s)
        moved = await navigation.go_to(s, said(s, "one"))
        assert not moved.moved
        assert content(s) == before
        assert switches(events) == []
        assert navigation.abandoned(s, said(s, "one")).entries == 0


async def test_a_question_without_an_answer_is_here_and_can_still_be_edited(work: Path) -> None:
    async with scripted_session(work, ["one"]) as (s, _, _):
        await s.prompt("first")
        await s.session.move_leaf(said(s, "first"))
        s.load_context()
        assert not (await navigation.go_to(s, said(s, "first"))).moved
        edited = await navigation.go_to(s, said(s, "first"), edit=True)
        assert (edited.moved, edited.editor_text) == (True, "first")


async def test_what_would_be_left_behind_is_counted(work: Path) -> None:
    async with scripted_session(work, ["one" * 100, "two" * 100]) as (s, _, _):
        await s.prompt("first")
        await s.prompt("second")
        behind = navigation.abandoned(s, said(s, "first"))
        assert behind.entries == 3
        assert behind.tokens == 75 + 2 + 75
        leaf = s.session.leaf_id
        await navigation.go_to(s, said(s, "one"))
        assert leaf is not None
        assert navigation.abandoned(s, leaf) == navigation.Abandoned(0, 0)


async def test_a_summary_of_the_branch_stands_at_the_new_place_and_carries_the_label(work: Path) -> None:
    (work / "a.txt").write_text("alpha")
    script = ["one", answer(tool_call("read", {"path": "a.txt"})), "two", "## Goal\nlearnt", "three"]
    async with scripted_session(work, script) as (s, model, _):
        await s.prompt("first")
        await s.prompt("second")
        target = said(s, "second")
        parent = s.session.tree.parent_id(target)
        moved = await navigation.go_to(s, target, summarise="mind the tests", label="way 1")
        assert moved.summary_id is not None
        entry = s.session.read(moved.summary_id)
        assert (entry["type"], entry["parentId"]) == ("branch_summary", parent)
        assert entry["details"] == {"readFiles": ["a.txt"], "modifiedFiles": []}
        assert s.session.tree.labels[moved.summary_id].text == "way 1"
        asked = model.calls[3]
        assert asked.system_prompt == SUMMARISER
        text = _text(asked.messages[0])
        assert "Additional focus: mind the tests" in text
        assert "second" not in text.split("</conversation>")[0]
        assert "two" in text
        assert "alpha" not in text
        await s.prompt("again")
        sent = [_text(m) for m in model.calls[-1].messages]
        assert "learnt" in sent[2]
        assert sent[3] == "again"


async def test_no_summary_is_paid_for_when_nothing_is_left_behind(work: Path) -> None:
    async with scripted_session(work, ["one", "two"]) as (s, model, _):
        await s.prompt("first")
        await s.prompt("second")
        tip = s.session.leaf_id
        assert tip is not None
        await navigation.go_to(s, said(s, "one"))
        moved = await navigation.go_to(s, tip, summarise="plain")
        assert moved.moved
        assert moved.summary_id is None
        assert len(model.calls) == 2


async def test_escape_stops_the_summary_and_nothing_has_moved(work: Path) -> None:
    async def stop(_context: Context, _options: StreamOptions) -> AssistantMessage:
        assert session.interrupts.label == "stop summarising"
        session.submit("typed meanwhile")
        session.interrupts.interrupt()
        await anyio.sleep_forever()
        raise AssertionError

    async with scripted_session(work, ["one", "two", stop]) as (session, _, events):
        await session.prompt("first")
        await session.prompt("second")
        before, leaf = content(session), session.session.leaf_id
        moved = await navigation.go_to(session, said(session, "first"), summarise="plain", label="x")
        assert (moved.moved, moved.aborted) == (False, True)
        assert (content(session), session.session.leaf_id) == (before, leaf)
        assert texts(session) == ["first", "one", "second", "two"]
        assert switches(events) == []
        assert [event.text for event in events if isinstance(event, EditorText)] == ["typed meanwhile"]


async def test_a_failed_summary_is_an_error_and_nothing_has_moved(work: Path) -> None:
    failed = answer(error_message="no such model", error_kind=ErrorKind.NOT_FOUND)
    async with scripted_session(work, ["one", "two", failed]) as (s, _, events):
        await s.prompt("first")
        await s.prompt("second")
        before = content(s)
        with pytest.raises(ModelError, match="no such model"):
            await navigation.go_to(s, said(s, "one"), summarise="plain")
        assert content(s) == before
        assert switches(events) == []
        assert not s.is_busy


async def test_an_unknown_entry_is_refused(work: Path) -> None:
    async with scripted_session(work, ["one"]) as (s, _, _):
        await s.prompt("first")
        with pytest.raises(UnknownEntryError):
            await navigation.go_to(s, "nowhere")


@pytest.mark.parametrize(
    "move",
    [
        lambda s: navigation.go_to(s, said(s, "one")),
        lambda s: switching.fork(s, said(s, "one")),
        lambda s: switching.clone(s),
        lambda s: switching.new_session(s),
        lambda s: navigation.set_label(s, said(s, "one"), "x"),
    ],
    ids=["go", "fork", "clone", "new", "label"],
)
async def test_while_a_turn_runs_a_move_is_refused_with_a_reason(
    work: Path, move: Callable[[AgentSession], object]
) -> None:
    refused: list[str] = []

    async def during(_context: Context, _options: StreamOptions) -> AssistantMessage:
        with pytest.raises(AgentBusyError) as caught:
            await move(session)  # type: ignore[misc]
        refused.append(str(caught.value))
        return answer("two")

    async with scripted_session(work, ["one", during]) as (session, _, _):
        await session.prompt("first")
        await session.prompt("second")
        assert len(refused) == 1
        assert "at work" in refused[0]
        assert texts(session)[-1] == "two"


async def test_a_move_can_stop_the_turn_first(work: Path) -> None:
    started = anyio.Event()

    async def endless(_context: Context, _options: StreamOptions) -> AssistantMessage:
        started.set()
        await anyio.sleep_forever()
        raise AssertionError

    async with scripted_session(work, ["one", endless]) as (s, _, _):
        await s.prompt("first")
        s.submit("second")
        await started.wait()
        moved = await navigation.go_to(s, said(s, "one"), stop_first=True)
        assert moved.moved
        assert texts(s) == ["first", "one"]
        stored = [json.loads(line) for line in content(s).split(b"\n") if line]
        assert [e["message"].get("stopReason") for e in stored if e["type"] == "message"] == [
            None, "stop", None, "aborted"
        ]  # fmt: skip


async def test_jumps_lead_back_and_forward(work: Path) -> None:
    async with scripted_session(work, ["one", "two", "three"]) as (s, _, _):
        await s.prompt("first")
        await s.prompt("second")
        tip = s.session.leaf_id
        await navigation.go_to(s, said(s, "one"))
        assert (await navigation.back(s)).leaf_id == tip
        assert texts(s)[-1] == "two"
        assert (await navigation.forward(s)).leaf_id == said(s, "one")
        assert not (await navigation.forward(s)).moved
        await s.prompt("third")
        assert (await navigation.back(s)).leaf_id == tip


async def test_a_sibling_is_entered_at_its_newest_tip_past_bookkeeping(work: Path) -> None:
    async with scripted_session(work, ["one", "two", "three", "vier"]) as (s, _, _):
        await s.prompt("first")
        await s.prompt("second")
        await navigation.go_to(s, said(s, "second"))
        await s.session.append_thinking_level("low")
        await s.prompt("third")
        await s.prompt("fourth")
        siblings = [said(s, "second"), said(s, "third")]
        assert navigation.message_siblings(s.session.tree, said(s, "third")) == siblings
        assert (await navigation.switch_sibling(s, said(s, "third"), 1)).leaf_id == said(s, "two")
        assert texts(s) == ["first", "one", "second", "two"]
        assert (await navigation.switch_sibling(s, said(s, "second"), -1)).leaf_id == said(s, "vier")
        assert not (await navigation.switch_sibling(s, said(s, "first"), 1)).moved


async def test_a_fork_goes_on_in_a_new_file_and_leaves_the_old_one_alone(work: Path) -> None:
    async with scripted_session(work, ["one", "two", "three"]) as (s, model, events):
        await s.prompt("first")
        await s.prompt("second")
        old, before = s.session, content(s)
        assert await switching.fork(s, said(s, "second")) == "second"
        assert s.session is not old
        assert s.session.header["parentSession"] == str(old.path)
        assert texts(s) == ["first", "one"]
        assert switches(events) == [SessionSwitched("fork", "second")]
        await s.prompt("other")
        assert model.options[-1].session_id == s.session.id
        assert old.path is not None
        assert old.path.read_bytes() == before
        async with await _opened(old.path) as again:  # its lease is free
            assert not again.is_read_only


class _Closing:
    def __init__(self, session: Session) -> None:
        self._session = session

    async def __aenter__(self) -> Session:
        return self._session

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()


async def _opened(path: Path) -> _Closing:
    return _Closing(await Session.open(path))


async def test_a_clone_holds_the_present_branch(work: Path) -> None:
    async with scripted_session(work, ["one", "two"]) as (s, _, _):
        await s.prompt("first")
        await s.prompt("second")
        await navigation.go_to(s, said(s, "one"))
        await switching.clone(s)
        assert texts(s) == ["first", "one"]
        assert "second" not in [entry.preview for entry in s.session.tree.entries]


async def test_a_new_session_is_empty_and_the_old_one_can_be_opened_again(work: Path) -> None:
    async with scripted_session(work, ["one", "two"]) as (s, model, events):
        await s.prompt("first")
        old = s.session.path
        assert old is not None
        await switching.new_session(s)
        assert texts(s) == []
        assert s.totals.input + s.totals.cache_read + s.totals.cache_write == 0
        await s.prompt("second")
        assert [_text(m) for m in model.calls[-1].messages] == ["second"]
        assert await switching.open_other(s, old)
        assert texts(s) == ["first", "one"]
        assert not await switching.open_other(s, old)
        assert [event.reason for event in switches(events)] == ["new", "resume"]


async def test_a_session_of_another_folder_is_opened_only_when_told_so(work: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    async with scripted_session(elsewhere, ["one"]) as (s, _, _):
        await s.prompt("there")
        path = s.session.path
    assert path is not None
    async with scripted_session(work, ["two"]) as (s, _, events):
        await s.prompt("here")
        with pytest.raises(SessionError, match="elsewhere"):
            await switching.open_other(s, path)
        assert texts(s) == ["here", "two"]
        assert switches(events) == []
        assert await switching.open_other(s, path, here=True)
        assert texts(s) == ["there", "one"]


@pytest.mark.parametrize("way", ["new", "clone", "fork"])
async def test_what_begins_behind_a_session_of_another_folder_belongs_to_this_one(
    work: Path, tmp_path: Path, way: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    async with scripted_session(elsewhere, ["one"]) as (s, _, _):
        await s.prompt("there")
        path = s.session.path
    assert path is not None
    async with scripted_session(work, ["two", "three"]) as (s, _, _):
        assert await switching.open_other(s, path, here=True)
        match way:
            case "new":
                await switching.new_session(s)
            case "clone":
                await switching.clone(s)
            case _:
                await switching.fork(s, s.session.tree.roots[0].id)
        await s.prompt("here")
        assert s.session.cwd == str(work)
        assert s.session.path is not None
        assert s.session.path.parent == project_folder(str(work))
    assert most_recent(str(work)) == s.session.path
    assert most_recent(str(elsewhere)) == path


async def test_a_session_that_cannot_be_opened_leaves_the_present_one(work: Path) -> None:
    other = work / "no.jsonl"
    other.write_text("nothing of a session\n")
    async with scripted_session(work, ["one", "two"]) as (s, _, _):
        await s.prompt("first")
        with pytest.raises(SessionError):
            await switching.open_other(s, other)
        await s.prompt("second")
        assert texts(s) == ["first", "one", "second", "two"]


@pytest.mark.parametrize("checkpoints", range(0, 40, 2))
async def test_cancelled_at_any_point_a_move_is_either_whole_or_not_there(work: Path, checkpoints: int) -> None:
    async with scripted_session(work, ["one", "two", "many words " * 30]) as (s, _, events):
        await s.prompt("first")
        await s.prompt("second")
        leaf = s.session.leaf_id
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:

                async def cut() -> None:
                    for _ in range(checkpoints):
                        await anyio.lowlevel.checkpoint()
                    scope.cancel()

                group.start_soon(cut)
                await navigation.go_to(s, said(s, "second"), summarise="plain", label="x")
        has_moved = s.session.leaf_id != leaf
        assert len(switches(events)) == int(has_moved)
        assert s.agent.state.messages == s.session.context().messages
        assert len(s.session.tree.labels) == int(has_moved)
        assert s.jumps.can_go_back is has_moved
        assert not s.is_busy
        assert s.interrupts.label is None


async def test_a_move_is_refused_while_a_command_of_the_users_runs(work: Path) -> None:
    async with scripted_session(work, ["one"]) as (s, _, _):
        await s.prompt("first")
        leaf = s.session.leaf_id
        running = anyio.Event()
        s.subscribe(lambda event: running.set() if event.type == "bash_output" else None)
        s.start(s.bash.run, "echo begun; read -r never", False)
        await running.wait()
        with pytest.raises(AgentBusyError, match="command"):
            await navigation.go_to(s, said(s, "first"))
        assert s.session.leaf_id == leaf
        assert (await navigation.go_to(s, said(s, "first"), stop_first=True)).moved
