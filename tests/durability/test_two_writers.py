"""Several processes on one session: one writes it, the others get copies with a note; a dead one holds nobody up."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.session.inspect import inspect
from app.session.naming import lease_path
from tests.cli.program import Ended, Program
from tests.cli.server import Provider, Reply
from tests.cli.wires import bash, calls, says
from tests.durability.killing import faults_of


def together(count: int, text: str) -> Reply:
    """An answer that comes once so many have asked, so that all of them have their sessions open at once."""
    reply = says(text)
    return replace(reply, body=b"", rest=reply.body, after=threading.Barrier(count, timeout=15).wait)


def all_at_once(pinyon: Program, *prompts: str) -> list[Ended]:
    running = [pinyon.start("-c", "-p", prompt) for prompt in prompts]
    return [pinyon.end(process) for process in running]


def said(pinyon: Program, path: Path) -> list[str]:
    return [message["content"][0]["text"] for message in pinyon.messages(path) if message["role"] == "user"]


def check_shares(pinyon: Program, path: Path, before: bytes, first: str, ended: list[Ended]) -> None:
    """One of them went on in the file itself, each other one in a copy of its own, and said so.

    A copy holds what was stored by then: it may hold another's prompt, but its own is the last.
    """
    assert [(one.code, one.out) for one in ended] == [(0, "ok\n")] * len(ended)
    forked = [one for one in ended if "in use by another Pinyon" in one.err]
    assert len(forked) == len(ended) - 1
    assert len(pinyon.sessions()) == len(ended)
    told: list[str] = []
    for file in pinyon.sessions():
        prompts = said(pinyon, file)
        assert prompts[0] == first
        assert len(prompts) == 2 or file != path, "nobody else wrote to the file itself"
        told.append(prompts[-1])
        facts = inspect(file)
        snapshots = facts["types"].get("custom", 0)
        assert (facts["notes"], facts["tips"], facts["branch_len"]) == ([], 1, facts["entries"] - snapshots)
        assert not lease_path(file).exists()
    assert sorted(told) == ["a", "b", "c"][: len(ended)]
    assert faults_of(before, path.read_bytes()) == []


def test_of_three_that_continue_at_once_one_writes_and_two_get_copies(pinyon: Program, asked: Provider) -> None:
    asked.play(says("one"), together(3, "ok"))
    pinyon.run("-p", "first")
    (path,) = pinyon.sessions()
    check_shares(pinyon, path, path.read_bytes(), "first", all_at_once(pinyon, "a", "b", "c"))


def killed_in_a_call(pinyon: Program, asked: Provider) -> Path:
    """A session whose process was killed while its tool ran; the tool holds on to a FIFO until it is let go."""
    os.mkfifo(pinyon.work / "go")
    asked.play(calls(bash("read line < go")))
    process = pinyon.start("-p", "first", start_new_session=True)
    with open(pinyon.work / "go", "w"):  # opens once the tool waits for it
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    (path,) = pinyon.sessions()
    return path


def test_a_dead_process_lease_is_taken_over_with_a_note_and_its_call_closed(pinyon: Program, asked: Provider) -> None:
    path = killed_in_a_call(pinyon, asked)
    before = path.read_bytes()
    assert lease_path(path).exists()
    asked.play(says("unused"), says("ok"))
    ended = pinyon.run("-c", "-p", "again")
    assert (ended.code, ended.out) == (0, "ok\n")
    assert "ended without closing this session; its lease was taken over" in ended.err
    assert "had no result when this session ended" in ended.err
    assert pinyon.sessions() == [path]
    assert not lease_path(path).exists()
    assert faults_of(before, path.read_bytes()) == []


def test_of_two_that_find_a_dead_process_lease_one_takes_it_over(pinyon: Program, asked: Provider) -> None:
    path = killed_in_a_call(pinyon, asked)
    before = path.read_bytes()
    asked.play(says("unused"), together(2, "ok"))
    check_shares(pinyon, path, before, "first", all_at_once(pinyon, "a", "b"))


def test_a_stopped_process_still_holds_its_session(pinyon: Program, asked: Provider) -> None:
    held = threading.Event()
    asked.play(says("one"), replace(says("two"), body=b"", rest=says("two").body, after=lambda: held.wait(15)))
    pinyon.run("-p", "first")
    (path,) = pinyon.sessions()
    holder = pinyon.start("-c", "-p", "hold")
    asked.wait_for(2)
    holder.send_signal(signal.SIGSTOP)
    try:
        asked.play(*[says("unused")] * 2, says("from a copy"))
        other = pinyon.run("-c", "-p", "me too")
        assert (other.code, other.out) == (0, "from a copy\n")
        assert f"process {holder.pid}" in other.err
        assert said(pinyon, path) == ["first", "hold"]
    finally:
        holder.send_signal(signal.SIGCONT)
        held.set()
    assert pinyon.end(holder).out == "two\n"
    assert said(pinyon, path) == ["first", "hold"]


def test_sessions_begun_at_once_are_files_of_their_own(pinyon: Program, asked: Provider) -> None:
    asked.play(together(3, "ok"))
    running: list[subprocess.Popen[Any]] = [pinyon.start("-p", prompt) for prompt in "abc"]
    assert [pinyon.end(process).out for process in running] == ["ok\n"] * 3
    assert sorted(said(pinyon, path)[0] for path in pinyon.sessions()) == ["a", "b", "c"]
