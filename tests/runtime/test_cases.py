"""Cases of the tools that need the whole way: model, loop, hooks, session file (cases E5, B5, W6)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.ai.adapters.scripted import answer, tool_call
from app.ai.messages import AssistantMessage
from tests.runtime.support import scripted_session

pytestmark = pytest.mark.anyio


async def test_edits_and_a_write_of_one_answer_take_effect_in_call_order(work: Path) -> None:
    def edit(old: str, new: str) -> Any:
        return tool_call("edit", {"path": "f", "edits": [{"oldText": old, "newText": new}]})

    script = [answer(edit("a", "b"), edit("b", "c d"), tool_call("write", {"path": "./f", "content": "w1"})), "done"]
    tail = [answer(tool_call("write", {"path": "f", "content": "x"}), edit("x", "y"), edit("y", "end")), "done"]
    rounds = 25
    async with scripted_session(work, [*script, *tail] * rounds) as (s, _, _):
        for _ in range(rounds):
            (work / "f").write_text("a")
            await s.prompt("one")
            assert (work / "f").read_text() == "w1"
            await s.prompt("two")
            assert (work / "f").read_text() == "end"
        results = [message for message in s.agent.state.messages if message.role == "toolResult"]
    assert len(results) == 6 * rounds
    assert not [message.text() for message in results if message.is_error]


@pytest.mark.parametrize(
    "command",
    [
        "head -c 4096 /dev/urandom",
        "printf '\\377\\376abc'",
        "printf 'a\\rb\\rc'",
        "for i in $(seq 10000); do printf '\\r%s %%' $i; done",
        "printf '\\033[2J\\033]0;t\\007x'; printf '\\xed\\xa0\\x80'",
    ],
)
async def test_whatever_bytes_a_command_prints_the_session_line_is_sound_json(work: Path, command: str) -> None:
    async with scripted_session(work, [answer(tool_call("bash", {"command": command})), "done"]) as (s, _, _):
        await s.prompt("go")
        path = s.session.path
    assert path is not None
    entries = [json.loads(line.decode("utf-8")) for line in path.read_bytes().split(b"\n") if line]
    (result,) = [e["message"] for e in entries if e["type"] == "message" and e["message"]["role"] == "toolResult"]
    text = result["content"][0]["text"]
    assert text.encode("utf-8")
    assert "\x1b" not in text
    assert "\r" not in text
    if "seq" in command:
        assert text == "10000 %"


async def test_a_wait_of_a_minute_that_the_provider_asks_for_ends_at_escape(work: Path) -> None:
    busy = AssistantMessage(stop_reason="error", error_message="busy", error_kind="rate_limit", retryable=True)
    busy.retry_after_s = 60
    async with scripted_session(work, [busy, "never"]) as (s, model, _):
        waiting = anyio.Event()
        s.subscribe(lambda event: waiting.set() if event.type == "auto_retry_start" else None)
        with anyio.fail_after(10):
            async with anyio.create_task_group() as group:
                group.start_soon(s.prompt, "go")
                await waiting.wait()
                while not s._retry.is_waiting:
                    await anyio.lowlevel.checkpoint()
                with anyio.fail_after(0.5):
                    assert s.interrupts.interrupt()
                    while s.is_busy:
                        await anyio.lowlevel.checkpoint()
        assert len(model.calls) == 1
