"""Compaction in a session: thresholds, overflow, on demand; a stopped or failed one changes nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.agent.agent import AgentBusyError
from app.agent.config import AfterToolCallResult
from app.ai.adapters.scripted import ScriptedModel, answer, scripted_model, tool_call
from app.ai.messages import AssistantMessage, Context, Usage
from app.ai.stream import StreamOptions
from app.errors import ErrorKind, ModelError, WriteFailedError
from app.runtime.agent_session import AgentSession
from app.runtime.events import CompactionEnd, CompactionStart, EditorText, SessionEvent, SessionNote, WriteFailed
from app.session.compaction import NothingToCompactError
from app.session.messages import CompactionSummaryMessage
from app.session.summary_text import SUMMARISER
from tests.runtime.support import kinds, scripted_session

pytestmark = pytest.mark.anyio
WINDOW = 128_000


def settings(**groups: Any) -> None:
    folder = Path(os.environ["PINYON_CONFIG_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(json.dumps(groups))


def used(tokens: int, *blocks: Any) -> AssistantMessage:
    """An answer that reports so many tokens in all."""
    return answer(*(blocks or ("answer",)), usage=Usage(input=tokens - 10, output=10, total_tokens=tokens))


def overflow() -> AssistantMessage:
    return answer(error_message="prompt is too long: 200000 tokens > 128000", error_kind=ErrorKind.OVERFLOW)


def is_summary(context: Context) -> bool:
    return context.system_prompt == SUMMARISER


def stored(session: AgentSession) -> bytes:
    path = session.session.path
    assert path is not None
    return path.read_bytes()


def starts(events: list[SessionEvent]) -> list[str]:
    return [event.reason for event in events if isinstance(event, CompactionStart)]


def ends(events: list[SessionEvent]) -> list[CompactionEnd]:
    return [event for event in events if isinstance(event, CompactionEnd)]


def request_text(context: Context) -> str:
    return json.dumps([message.to_wire() for message in context.messages])


SMALL = {"keepRecentTokens": 5}
LONG = "long words of an answer, long enough to be cut from the rest of it " * 4


async def test_compacting_on_demand_keeps_the_newest_and_stores_one_entry(work: Path) -> None:
    settings(compaction=SMALL)
    async with scripted_session(work, [LONG, "second", "## Goal\nto test", "third"]) as (s, model, events):
        await s.prompt("first question")
        await s.prompt("second question")
        before = stored(s)
        end = await s.compaction.run("mind the tests")
        assert end.result is not None
        assert stored(s).startswith(before)
        asked = model.calls[2]
        assert is_summary(asked)
        assert "Additional focus: mind the tests" in request_text(asked)
        assert "first question" in request_text(asked)
        assert asked.tools == []
        assert [m.role for m in s.agent.state.messages] == ["compactionSummary", "user", "assistant"]
        assert s.totals.context_tokens is None
        entry = s.session.read(s.session.leaf_id or "")
        assert entry["type"] == "compaction"
        assert entry["summary"] == "## Goal\nto test"
        assert entry["tokensBefore"] == end.result["tokensBefore"] > 0
        await s.prompt("third question")
        assert "to test" in request_text(model.calls[3])
        assert "first question" not in request_text(model.calls[3])
        assert s.totals.context_tokens is not None
    assert starts(events) == ["manual"]
    assert "first question" in before.decode()


async def test_over_the_threshold_a_prompt_is_sent_after_a_compaction(work: Path) -> None:
    settings(compaction=SMALL)
    script = [LONG, used(WINDOW - 1000), "summary", "third"]
    async with scripted_session(work, script) as (s, model, events):
        await s.prompt("one")
        await s.prompt("two")
        assert starts(events) == []
        last = await s.prompt("three")
        assert last is not None
        assert last.text() == "third"
        assert [is_summary(call) for call in model.calls] == [False, False, True, False]
    assert starts(events) == ["threshold"]
    order = kinds(events)
    assert order.index("compaction_end") < len(order) - order[::-1].index("agent_start") - 1


async def test_between_turns_a_run_is_compacted_and_goes_on_inside_the_same_prompt(work: Path) -> None:
    (work / "a.txt").write_text("alpha\n" * 50)
    settings(compaction=SMALL)
    read = tool_call("read", {"path": "a.txt"})
    script = [used(5000, LONG, read), used(WINDOW - 1000, LONG, read), "summary", "done"]
    async with scripted_session(work, script) as (s, model, events):
        last = await s.prompt("read it twice")
        assert last is not None
        assert last.text() == "done"
        assert [is_summary(call) for call in model.calls] == [False, False, True, False]
        assert [m.role for m in s.agent.state.messages] == [
            "compactionSummary", "assistant", "toolResult", "assistant"
        ]  # fmt: skip
    assert starts(events) == ["threshold"]
    assert ends(events)[0].result is not None


async def test_a_last_answer_is_not_compacted_before_it_is_needed(work: Path) -> None:
    settings(compaction=SMALL)
    async with scripted_session(work, [LONG, used(WINDOW - 1000)]) as (s, model, events):
        await s.prompt("one")
        await s.prompt("two")
        assert len(model.calls) == 2
    assert starts(events) == []


async def test_a_queued_message_makes_the_run_go_on_after_a_compaction(work: Path) -> None:
    settings(compaction=SMALL)

    def late(_context: Context, _options: StreamOptions) -> AssistantMessage:
        session.submit("and this", behavior="follow_up")
        return used(WINDOW - 1000)

    async with scripted_session(work, [LONG, late, "summary", "third"]) as (session, model, events):
        await session.prompt("one")
        last = await session.prompt("two")
        assert last is not None
        assert last.text() == "third"
        assert "and this" in request_text(model.calls[-1])
        assert session.agent.has_queued_messages() is False
    assert starts(events) == ["threshold"]


async def test_a_batch_that_ends_the_run_is_not_continued(work: Path) -> None:
    settings(compaction=SMALL)
    (work / "a.txt").write_text("alpha")
    script = [LONG, used(WINDOW - 1000, tool_call("read", {"path": "a.txt"}))]
    async with scripted_session(work, script) as (s, model, events):

        async def terminate(*_: Any) -> AfterToolCallResult:
            return AfterToolCallResult(terminate=True)

        await s.prompt("one")
        s.agent.config.after_tool_call = terminate
        await s.prompt("two")
        assert len(model.calls) == 2
    assert starts(events) == []


async def test_with_the_setting_off_nothing_is_compacted_by_itself(work: Path) -> None:
    settings(compaction={**SMALL, "enabled": False})
    async with scripted_session(work, [LONG, used(WINDOW - 1000), overflow(), "by hand"]) as (s, _, events):
        for text in ("one", "two", "three"):
            await s.prompt(text)
        assert starts(events) == []
        assert (await s.compaction.run()).result is not None


async def test_an_overflow_is_compacted_away_and_asked_again_inside_the_prompt(work: Path) -> None:
    async with scripted_session(work, [LONG, overflow(), "summary", "fits now"]) as (s, model, events):
        await s.prompt("one")
        last = await s.prompt("two")
        assert last is not None
        assert last.text() == "fits now"
        roles = [m.role for m in model.calls[-1].messages]
        assert roles[-1] == "user"
        assert "two" in request_text(model.calls[-1])
        assert not s.is_busy
        kept = [e["message"] for e in map(json.loads, stored(s).split(b"\n")[:-1]) if e["type"] == "message"]
        assert "prompt is too long" in kept[3]["errorMessage"]
    (end,) = ends(events)
    assert (end.reason, end.will_retry) == ("overflow", True)


async def test_a_second_overflow_in_a_row_ends_with_the_error_and_is_not_compacted_again(work: Path) -> None:
    async with scripted_session(work, [LONG, overflow(), "summary", overflow(), LONG, "last"]) as (s, model, events):
        await s.prompt("one")
        last = await s.prompt("two")
        assert last is not None
        assert last.stop_reason == "error"
        assert [is_summary(call) for call in model.calls] == [False, False, True, False]
    assert starts(events) == ["overflow"]
    first, second = ends(events)
    assert first.result is not None
    assert (second.result, second.aborted) == (None, False)
    assert "still too long" in (second.error_message or "")


async def test_a_silent_overflow_is_recovered_once_and_does_not_loop(work: Path) -> None:
    def full() -> AssistantMessage:
        return answer("cut off", usage=Usage(input=WINDOW + 1, total_tokens=WINDOW + 1))

    async with scripted_session(work, [LONG, full(), "summary", full()]) as (s, model, events):
        await s.prompt("one")
        await s.prompt("two")
        assert len(model.calls) == 4
    assert starts(events) == ["overflow"]


async def test_an_overflow_of_another_model_is_not_ours(work: Path) -> None:
    async with scripted_session(work, [LONG, "two", "three"]) as (s, model, events):
        await s.prompt("one")
        foreign = overflow()
        foreign.provider, foreign.model = "elsewhere", "large"
        await s.keep(foreign)
        await s.prompt("two")
        assert len(model.calls) == 2
    assert starts(events) == []


async def test_escape_stops_a_compaction_and_the_prompt_goes_on_as_it_was(work: Path) -> None:
    settings(compaction=SMALL)

    async def stop(_context: Context, _options: StreamOptions) -> AssistantMessage:
        assert session.interrupts.label == "stop compacting"
        session.interrupts.interrupt()
        await anyio.sleep_forever()
        raise AssertionError

    async with scripted_session(work, [LONG, used(WINDOW - 1000), stop, "third"]) as (session, model, events):
        await session.prompt("one")
        await session.prompt("two")
        last = await session.prompt("three")
        assert last is not None
        assert last.text() == "third"
        assert "one" in request_text(model.calls[-1])
        assert b'"compaction"' not in stored(session)
    (end,) = ends(events)
    assert (end.aborted, end.result, end.error_message) == (True, None, None)


async def test_a_compaction_stopped_between_turns_lets_the_run_go_on_and_is_not_tried_again(work: Path) -> None:
    settings(compaction=SMALL)
    (work / "a.txt").write_text("alpha")
    read = tool_call("read", {"path": "a.txt"})

    async def stop(_context: Context, _options: StreamOptions) -> AssistantMessage:
        session.interrupts.interrupt()
        await anyio.sleep_forever()
        raise AssertionError

    script = [used(9000, LONG, read), used(WINDOW - 1000, read), stop, used(WINDOW - 900, read), "done"]
    async with scripted_session(work, script) as (session, model, events):
        last = await session.prompt("go")
        assert last is not None
        assert last.text() == "done"
        assert [m.role for m in model.calls[-1].messages] == ["user"] + ["assistant", "toolResult"] * 3
    assert starts(events) == ["threshold"]


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (answer(error_message="no such model", error_kind=ErrorKind.NOT_FOUND), "no such model"),
        (answer("half a summ", stop_reason="length"), "cut off"),
        (answer("  "), "no summary"),
    ],
    ids=["error", "cut", "empty"],
)
async def test_a_failed_summary_changes_nothing_and_says_why(
    work: Path, failure: AssistantMessage, message: str
) -> None:
    settings(compaction=SMALL)
    async with scripted_session(work, [LONG, "two", failure]) as (s, _, events):
        await s.prompt("one")
        await s.prompt("two")
        before, known = stored(s), list(s.agent.state.messages)
        with pytest.raises(ModelError, match=message):
            await s.compaction.run()
        assert (stored(s), s.agent.state.messages) == (before, known)
        assert not s.is_busy
        assert s.interrupts.label is None
    (end,) = ends(events)
    assert end.result is None
    assert message in (end.error_message or "")


async def test_a_passing_failure_of_the_summary_is_asked_again(work: Path) -> None:
    settings(compaction=SMALL, retry={"baseDelayMs": 1})
    busy = answer(error_message="overloaded", error_kind=ErrorKind.OVERLOADED, retryable=True)
    async with scripted_session(work, [LONG, "two", busy, "summary"]) as (s, _, _):
        await s.prompt("one")
        await s.prompt("two")
        assert (await s.compaction.run()).result is not None


async def test_nothing_to_compact_is_refused_without_a_request(work: Path) -> None:
    settings(compaction=SMALL)
    async with scripted_session(work, [LONG, "two", "summary"]) as (s, model, events):
        with pytest.raises(NothingToCompactError):
            await s.compaction.run()
        await s.prompt("one")
        await s.prompt("two")
        await s.compaction.run()
        with pytest.raises(NothingToCompactError, match="just been compacted"):
            await s.compaction.run()
        assert len(model.calls) == 3
    assert starts(events) == ["manual"]


async def test_while_a_turn_runs_it_is_refused_or_stops_the_turn(work: Path) -> None:
    settings(compaction=SMALL)
    started = anyio.Event()

    async def endless(_context: Context, _options: StreamOptions) -> AssistantMessage:
        started.set()
        await anyio.sleep_forever()
        raise AssertionError

    async with scripted_session(work, [LONG, "two", endless, "summary"]) as (s, _, _):
        await s.prompt("one")
        await s.prompt("two")
        s.submit("three")
        await started.wait()
        with pytest.raises(AgentBusyError):
            await s.compaction.run()
        assert (await s.compaction.run(stop_first=True)).result is not None


async def test_what_is_typed_meanwhile_is_sent_after_it(work: Path) -> None:
    settings(compaction=SMALL)

    def summary(_context: Context, _options: StreamOptions) -> AssistantMessage:
        session.submit("first of them")
        session.submit("second of them", behavior="follow_up")
        return answer("summary")

    script = [LONG, "two", summary, "three", "four"]
    async with scripted_session(work, script) as (session, model, _):
        await session.prompt("one")
        await session.prompt("two")
        await session.compaction.run()
        assert "first of them" in request_text(model.calls[3])
        assert "second of them" in request_text(model.calls[4])
        assert not session.agent.has_queued_messages()


async def test_what_is_typed_meanwhile_comes_back_when_it_is_stopped(work: Path) -> None:
    settings(compaction=SMALL)

    async def summary(_context: Context, _options: StreamOptions) -> AssistantMessage:
        session.submit("typed")
        session.interrupts.interrupt()
        await anyio.sleep_forever()
        raise AssertionError

    async with scripted_session(work, [LONG, "two", summary]) as (session, model, events):
        await session.prompt("one")
        await session.prompt("two")
        assert (await session.compaction.run()).aborted
        assert len(model.calls) == 3
    assert [event.text for event in events if isinstance(event, EditorText)] == ["typed"]


async def test_a_summary_that_cannot_be_stored_changes_nothing(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings(compaction=SMALL)
    async with scripted_session(work, [LONG, "two", "summary"]) as (s, _, events):
        await s.prompt("one")
        await s.prompt("two")
        known = list(s.agent.state.messages)

        def full(*_: object, **__: object) -> None:
            raise WriteFailedError("the disk is full")

        monkeypatch.setattr(s.session.file, "append", full)
        with pytest.raises(WriteFailedError):
            await s.compaction.run()
        assert s.agent.state.messages == known
    assert any(isinstance(event, WriteFailed) for event in events)


@pytest.mark.parametrize("checkpoints", range(0, 40, 2))
async def test_cancelled_at_any_point_it_is_either_whole_or_not_there(work: Path, checkpoints: int) -> None:
    settings(compaction=SMALL)
    async with scripted_session(work, [LONG, "two", "many words " * 30]) as (s, _, events):
        await s.prompt("one")
        await s.prompt("two")
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:

                async def cut() -> None:
                    for _ in range(checkpoints):
                        await anyio.lowlevel.checkpoint()
                    scope.cancel()

                group.start_soon(cut)
                await s.compaction.run()
        lines = stored(s).split(b"\n")[:-1]
        is_there = json.loads(lines[-1])["type"] == "compaction"
        assert s.agent.state.messages == s.session.context().messages
        assert isinstance(s.agent.state.messages[0], CompactionSummaryMessage) is is_there
        assert not s.is_busy
        assert s.interrupts.label is None
        assert len(ends(events)) == len(starts(events))


async def test_the_setting_chooses_who_writes_the_summary(work: Path) -> None:
    config = Path(os.environ["PINYON_CONFIG_DIR"])
    settings(compaction={**SMALL, "model": "scripted/cheap"})
    models = {
        "providers": {
            "scripted": {"api": "pinyon-scripted", "baseUrl": "http://x", "apiKey": "k", "models": [{"id": "cheap"}]}
        }
    }
    (config / "models.json").write_text(json.dumps(models))
    asked: list[str] = []
    async with scripted_session(work, [LONG, "two"]) as (s, model, _):
        await s.prompt("one")
        await s.prompt("two")
        scripted = s.agent.config.stream_fn

        def watched(wanted: Any, context: Context, options: StreamOptions) -> Any:
            asked.append(wanted.id)
            return scripted(wanted, context, options)

        s.agent.config.stream_fn = watched
        model.append("summary")
        await s.compaction.run()
        assert s.agent.state.model.id == "scripted-1"
    assert asked == ["cheap"]


@pytest.mark.parametrize(("reasoning", "level"), [(False, None), (True, "high")])
async def test_a_reasoning_model_summarises_at_the_sessions_level(
    work: Path, reasoning: bool, level: str | None
) -> None:
    settings(compaction=SMALL)
    scripted = ScriptedModel([LONG, "two", "summary"], model=scripted_model(reasoning=reasoning))
    async with scripted_session(work, [], scripted=scripted) as (s, model, _):
        s.agent.state.thinking_level = "high"
        await s.prompt("one")
        await s.prompt("two")
        await s.compaction.run()
        assert model.options[2].reasoning == level


async def test_the_cost_of_a_summary_counts_and_the_sums_outlive_it(work: Path) -> None:
    settings(compaction=SMALL)
    async with scripted_session(work, [used(900, LONG), used(1000), used(70, "summary")]) as (s, _, _):
        await s.prompt("one")
        await s.prompt("two")
        await s.compaction.run()
        assert s.totals.input + s.totals.output == 1970
    async with scripted_session(work, [], continue_=True) as (s, _, _):
        assert s.totals.context_tokens is None


async def test_old_tool_outputs_are_left_out_before_a_summary_is_paid_for(work: Path) -> None:
    settings(pruning={"keepTokens": 100})
    (work / "a.txt").write_text("alpha " * 8000)
    read = tool_call("read", {"path": "a.txt"})
    script = [used(30_000, read), used(60_000, read), used(WINDOW - 15_000, read), used(80_000, read), "done"]
    async with scripted_session(work, script) as (s, model, events):
        await s.prompt("read it")
        before, after, last = (request_text(call) for call in model.calls[2:5])
        assert "is left out here" not in before
        assert after.count("is left out here") == 2
        assert last.count("is left out here") == 2
        assert b"is left out here" not in stored(s)
        assert all("left out" not in str(getattr(m, "content", "")) for m in s.agent.state.messages)
    notes = [event.text for event in events if isinstance(event, SessionNote)]
    assert len(notes) == 1
    assert notes[0].startswith("2 old tool outputs (")
    assert notes[0].endswith("tokens) are left out of requests")
    assert starts(events) == []


async def test_with_pruning_off_everything_is_sent_and_the_summary_comes(work: Path) -> None:
    settings(pruning={"enabled": False}, compaction=SMALL)
    (work / "a.txt").write_text("alpha " * 8000)
    read = tool_call("read", {"path": "a.txt"})
    script = [used(30_000, LONG, read), used(60_000, read), used(WINDOW - 15_000, read), "summary", "done"]
    async with scripted_session(work, script) as (s, model, events):
        await s.prompt("read it")
        assert "is left out here" not in request_text(model.calls[-1])
    assert starts(events) == ["threshold"]


async def test_leaving_while_a_summary_is_written_does_not_hang_and_stores_nothing(work: Path) -> None:
    settings(compaction=SMALL)
    started = anyio.Event()

    async def endless(_context: Context, _options: StreamOptions) -> AssistantMessage:
        started.set()
        await anyio.sleep_forever()
        raise AssertionError

    async with scripted_session(work, [LONG, "two", endless]) as (s, _, events):
        await s.prompt("one")
        await s.prompt("two")
        before = stored(s)
        s.start(s.compaction.run)
        await started.wait()
    assert stored(s) == before
    assert [end.aborted for end in ends(events)] == [True]
