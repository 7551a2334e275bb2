"""Signals: whatever goes on is stopped with its processes, stored, and can be continued; the exit code is 128 + n."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.cli.server import Provider, Reply
from tests.cli.wires import CHAT, bash, calls, head, says, text_parts

STOPPERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


class Marker:
    """A FIFO that a command holds open for writing: it says when the command runs, and when all of it has gone."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def command(self) -> str:
        """A command that says so and stays, with a child that ignores SIGTERM."""
        return f"exec 9>{self.path}; echo begun; echo x >&9; (trap '' TERM INT HUP; sleep 60); sleep 60"

    def wait_until_running(self) -> None:
        assert select.select([self._reader], [], [], 15)[0]
        assert os.read(self._reader, 2) == b"x\n"

    def wait_until_gone(self) -> None:
        assert select.select([self._reader], [], [], 5)[0], "a process of the command is still there"
        assert os.read(self._reader, 1) == b""

    def close(self) -> None:
        os.close(self._reader)


@pytest.fixture
def marker(tmp_path: Path) -> Iterator[Marker]:
    made = Marker(tmp_path / "marker")
    yield made
    made.close()


def is_going_on(pinyon: Program, asked: Provider) -> None:
    """-c goes on with the one session, and every call in its next request has its result."""
    before = len(asked.requests)
    asked.play(*[says("unused")] * before, says("goes on"))
    ended = pinyon.run("-c", "-p", "again")
    assert (ended.code, ended.out) == (0, "goes on\n")
    sent = asked.requests[-1]["messages"]
    wanted = [call["id"] for message in sent for call in message.get("tool_calls") or ()]
    assert [message["tool_call_id"] for message in sent if message["role"] == "tool"] == wanted
    assert len(pinyon.sessions()) == 1


@pytest.mark.parametrize(
    ("number", "mode"), [(signal.SIGINT, "json"), (signal.SIGTERM, "text"), (signal.SIGHUP, "text")]
)
def test_a_signal_during_a_command_ends_its_tree_and_stores_what_was(
    number: signal.Signals, mode: str, pinyon: Program, asked: Provider, marker: Marker
) -> None:
    asked.play(calls(bash(marker.command())), says("never"))
    process = pinyon.start("--mode", mode, "-p", "go")
    marker.wait_until_running()
    process.send_signal(number)
    ended = pinyon.end(process)
    assert ended.code == 128 + number
    marker.wait_until_gone()
    user, answer, result, *last = pinyon.messages()
    assert (user["role"], answer["role"], result["role"]) == ("user", "assistant", "toolResult")
    assert result["isError"]
    assert "begun" in result["content"][0]["text"]
    assert [message["stopReason"] for message in last] == ["aborted"]
    if mode == "json":
        assert ended.events()[-1]["type"] == "agent_end"
    is_going_on(pinyon, asked)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_an_answer_keeps_what_came(
    number: signal.Signals, pinyon: Program, asked: Provider, release: threading.Event
) -> None:
    asked.play(Reply(head(CHAT) + text_parts(CHAT, "half of it")[0], after=release.wait))
    process = pinyon.start("--mode", "json", "-p", "go", stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    while b"half" not in (line := process.stdout.readline()):
        assert line
    process.send_signal(number)
    ended = pinyon.end(process)
    assert ended.code == 128 + number
    last = pinyon.messages()[-1]
    assert last["stopReason"] == "aborted"
    assert last["content"][0]["text"].startswith("half")
    is_going_on(pinyon, asked)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_before_the_answer_began_still_stores_the_question(
    number: signal.Signals, pinyon: Program, asked: Provider, release: threading.Event
) -> None:
    asked.play(Reply(after=release.wait))
    process = pinyon.start("-p", "go")
    asked.wait_for()
    process.send_signal(number)
    assert pinyon.end(process).code == 128 + number
    assert [message["role"] for message in pinyon.messages()] == ["user", "assistant"]


def test_a_signal_during_the_wait_for_a_retry_ends_it_at_once(pinyon: Program, wire: Provider) -> None:
    pinyon.use(wire.address, CHAT, retry={"baseDelayMs": 50_000})
    wire.play(Reply(b"", 500))
    process = pinyon.start("--mode", "json", "-p", "go", stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    while b"auto_retry_start" not in (line := process.stdout.readline()):
        assert line
    process.send_signal(signal.SIGINT)
    ended = pinyon.end(process)
    assert ended.code == 130
    assert ended.events()[-1]["type"] == "auto_retry_end"
    assert len(wire.requests) == 1


def test_a_second_signal_does_not_cut_the_storing_short(pinyon: Program, asked: Provider, marker: Marker) -> None:
    asked.play(calls(bash(marker.command())), says("never"))
    process = pinyon.start("-p", "go")
    marker.wait_until_running()
    for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM):
        process.send_signal(number)
    ended = pinyon.end(process)
    assert ended.code in (130, 143)
    marker.wait_until_gone()
    is_going_on(pinyon, asked)


@pytest.mark.parametrize("number", STOPPERS)
def test_a_signal_before_the_prompt_is_known_gives_the_same_code_and_no_word(
    number: signal.Signals, pinyon: Program, asked: Provider
) -> None:
    reader, writer = os.pipe()
    process = pinyon.start("-p", stdin=reader, stdout=subprocess.PIPE)
    os.close(reader)
    # Once a pipe's fill was taken the program reads its input; then it can only wait for more.
    os.write(writer, b"x" * 65536)
    os.write(writer, b"y" * 65536)
    process.send_signal(number)
    ended = pinyon.end(process)
    os.close(writer)
    assert (ended.code if ended.code >= 0 else 128 - ended.code) == 128 + number
    assert (ended.out, ended.err) == ("", "")


def test_hang_up_is_ignored_under_nohup(pinyon: Program, asked: Provider, release: threading.Event) -> None:
    whole = says("to the end").body
    asked.play(Reply(whole[:40], after=release.wait, rest=whole[40:]))
    process = pinyon.start("-p", "go", before="signal.signal(signal.SIGHUP, signal.SIG_IGN)")
    asked.wait_for()
    process.send_signal(signal.SIGHUP)
    release.set()
    ended = pinyon.end(process)
    assert (ended.code, ended.out) == (0, "to the end\n")


@pytest.mark.parametrize("number", STOPPERS)
def test_a_signal_ends_a_run_whose_output_nobody_reads(
    number: signal.Signals, pinyon: Program, asked: Provider
) -> None:
    asked.play(says("word " * 40_000))
    with pinyon.start("--mode", "json", "-p", "hello", stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            held = bytearray(4)
            while int.from_bytes(held, sys.byteorder) < 60_000:  # the pipe is full: the next line waits
                assert process.poll() is None
                select.select([process.stdout], [], [], 1)
                fcntl.ioctl(process.stdout, termios.FIONREAD, held)
            process.send_signal(number)
            assert process.wait(15) == 128 + number
        finally:
            process.kill()
    assert pinyon.messages()[0]["role"] == "user"
