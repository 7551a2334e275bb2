"""kill -9 while a conversation is condensed: before the summary is stored nothing has changed, after it all has."""

from __future__ import annotations

import json
import os
import signal
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from app.session.inspect import inspect
from tests.cli.program import Program
from tests.cli.server import Provider, Reply
from tests.cli.wires import says
from tests.durability.killing import faults_of

LONG = "words and " * 1200


@pytest.fixture
def long_session(pinyon: Program, asked: Provider) -> Path:
    """A session that is too large for its model: the next prompt has it condensed first."""
    models = json.loads((pinyon.config / "models.json").read_text())
    models["providers"]["wire"]["models"][0]["contextWindow"] = 6000
    pinyon.configure("models.json", models)
    pinyon.configure("settings.json", {"defaultProvider": "wire", "defaultModel": "m"})
    asked.play(says(LONG))
    assert pinyon.run("-p", "first").code == 0
    asked.play(says("unused"), says(LONG))
    (path,) = pinyon.sessions()
    assert "compaction" not in inspect(path)["types"]
    return path


def kill_at(pinyon: Program, asked: Provider, request: int, *replies: Reply) -> None:
    """Kill a run when the given request has come, which is answered no further."""
    go = threading.Event()
    held = says("never told")
    before = len(asked.requests)
    asked.play(*[says("unused")] * before, *replies, replace(held, rest=held.body, body=b"", after=lambda: go.wait(15)))
    process = pinyon.start("-c", "-p", "second", start_new_session=True)
    asked.wait_for(before + request)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    go.set()


def test_killed_while_the_summary_is_written_nothing_is_condensed(
    pinyon: Program, asked: Provider, long_session: Path
) -> None:
    kill_at(pinyon, asked, 1)
    before = long_session.read_bytes()
    assert "compaction" not in inspect(long_session)["types"]
    asked.play(*[says("unused")] * len(asked.requests), says("SUMMARY"), says("goes on"))
    ended = pinyon.run("-c", "-p", "again")
    assert (ended.code, ended.out) == (0, "goes on\n")
    assert inspect(long_session)["context_roles"].startswith("compactionSummary")
    assert "SUMMARY" in json.dumps(asked.requests[-1]["messages"])
    assert faults_of(before, long_session.read_bytes()) == []


def test_killed_behind_the_summary_it_is_not_asked_for_again(
    pinyon: Program, asked: Provider, long_session: Path
) -> None:
    kill_at(pinyon, asked, 2, says("SUMMARY"))
    before = long_session.read_bytes()
    assert inspect(long_session)["types"]["compaction"] == 1
    asked.play(*[says("unused")] * len(asked.requests), says("goes on"))
    ended = pinyon.run("-c", "-p", "again")
    assert (ended.code, ended.out) == (0, "goes on\n")
    facts = inspect(long_session)
    assert facts["types"]["compaction"] == 1
    assert facts["context_roles"].startswith("compactionSummary")
    assert facts["context_roles"].endswith("user,user,assistant"), "the killed question is still there"
    assert faults_of(before, long_session.read_bytes()) == []
