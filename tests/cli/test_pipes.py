"""Standard input and output in every state: what is piped in counts, a reader that leaves ends the run quietly."""

from __future__ import annotations

import json
import os
import subprocess
import threading

import pytest

from tests.cli.program import Program
from tests.cli.server import Provider, Reply
from tests.cli.wires import CHAT, bash, calls, head, says, text_parts

MEGABYTE = 1_000_000


def prompt(asked: Provider) -> str:
    """The user's text in the last request."""
    content = asked.requests[-1]["messages"][-1]["content"]
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def test_piped_text_files_and_messages_are_joined_in_that_order(pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    (pinyon.work / "a.txt").write_text("of the file\n")
    ended = pinyon.run("-p", "@a.txt", "first", "second", stdin=b"piped\n")
    assert (ended.code, ended.out) == (0, "ok\n")
    file = pinyon.work / "a.txt"
    assert prompt(asked) == f'piped\n\n<file name="{file}">\nof the file\n\n</file>\n\nfirst\n\nsecond'


@pytest.mark.parametrize(
    "text", ["---\ntitle: x\n---\nhello", "-x is what?", "@nobody knows [red]me[/]", "\x1b[31mü 日本 🎉"]
)
def test_odd_text_reaches_the_model_as_it_is(text: str, pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    assert pinyon.run("-p", text).code == 0
    assert prompt(asked) == text


def test_a_megabyte_of_input_arrives_whole(pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    assert pinyon.run("-p", stdin=b"0123456789" * (MEGABYTE // 10)).code == 0
    assert len(prompt(asked)) == MEGABYTE


def test_binary_input_is_no_crash_and_the_session_stays_readable(pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    assert pinyon.run("-p", "what is it?", stdin=bytes(range(256)) * 64).code == 0
    assert prompt(asked).endswith("what is it?")
    assert len(pinyon.messages()) == 2


@pytest.mark.parametrize(
    ("argv", "stdin"), [((), b""), (("-p",), b" \n\t\n"), (("-p", "  ", "\n"), b""), (("--mode", "json"), b"\n")]
)
def test_no_text_at_all_is_a_usage_error(argv: tuple[str, ...], stdin: bytes, pinyon: Program) -> None:
    ended = pinyon.run(*argv, stdin=stdin)
    assert (ended.code, ended.out) == (2, "")
    assert "no prompt" in ended.complaint()
    assert not pinyon.data.exists()


@pytest.mark.parametrize("closed", ["0", "0, 1, 2", "0, 2"])
def test_closed_descriptors_are_no_crash(closed: str, pinyon: Program, asked: Provider) -> None:
    asked.play(calls(bash("cat; echo from the shell; echo to stderr >&2")), says("ok"))
    close = f"for number in ({closed},): os.close(number)"
    ended = pinyon.run("-p", "go", before=close)
    assert ended.code == 0
    assert ended.out == ("" if "1" in closed else "ok\n")
    assert "from the shell" in pinyon.messages()[2]["content"][0]["text"]
    assert len(pinyon.messages()) == 4
    # What the program opened in the place of a standard descriptor must not take its messages.
    for path in pinyon.sessions():
        for line in path.read_text("utf-8").split("\n")[:-1]:
            json.loads(line)


def test_a_message_does_not_wait_for_an_input_that_nobody_closes(pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    reader, writer = os.pipe()
    ended = pinyon.end(pinyon.start("-p", "hello", stdin=reader))
    os.close(reader)
    os.close(writer)
    assert (ended.code, ended.out) == (0, "ok\n")
    assert "left unread" in ended.complaint()


@pytest.mark.parametrize("mode", ["text", "json"])
def test_an_output_closed_from_the_start_ends_quietly(mode: str, pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    ended = pinyon.run("--mode", mode, "-p", "hello", before="os.close(1)", stdout=subprocess.DEVNULL)
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize("mode", ["text", "json"])
def test_a_reader_that_has_left_ends_the_run_quietly(mode: str, pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    reader, writer = os.pipe()
    os.close(reader)
    process = pinyon.start("--mode", mode, "-p", "hello", stdout=writer)
    os.close(writer)
    ended = pinyon.end(process)
    assert (ended.code, ended.err) == (0, "")


def test_a_reader_that_leaves_in_the_middle_stops_the_run_and_keeps_what_came(
    pinyon: Program, asked: Provider, release: threading.Event
) -> None:
    started, closing = text_parts(CHAT, "a first part, ")
    asked.play(Reply(head(CHAT) + started + closing, after=release.wait, rest=says("and the rest").body))
    process = pinyon.start("--mode", "json", "-p", "hello")
    assert process.stdout is not None
    while b"a fi" not in (line := process.stdout.readline()):
        assert line
    process.stdout.close()
    process.stdout = None
    release.set()
    ended = pinyon.end(process)
    assert (ended.code, ended.err) == (0, "")
    assert pinyon.messages()[-1]["content"][0]["text"].startswith("a first part")


@pytest.mark.parametrize(
    "argv",
    [("--help",), ("--version",), ("-h", "--no-session"), ("--list-models",), ("sessions",), ("sessions", "--json")],
)
def test_every_command_bears_a_reader_that_has_left(argv: tuple[str, ...], pinyon: Program) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = pinyon.start(*argv, stdout=writer)
    os.close(writer)
    ended = pinyon.end(process)
    assert (ended.code, ended.err) == (0, "")


def test_a_full_output_device_is_a_failure_that_is_told(pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    with open("/dev/full", "wb") as full:
        ended = pinyon.run("-p", "hello", stdout=full)
    assert ended.code == 1
    assert "standard output" in ended.complaint()
    assert pinyon.messages()[-1]["content"][0]["text"] == "ok"


def test_a_terminal_gets_no_control_bytes_of_the_answer_and_a_pipe_gets_all(pinyon: Program, asked: Provider) -> None:
    text = "a\ttab \x1b]0;title\x07\x1b[31mred\x9b0m"
    asked.play(says(text))
    assert pinyon.run("-p", "hello").out == text + "\n"
    master, slave = os.openpty()
    ended = pinyon.end(pinyon.start("-p", "hello", stdout=slave))
    os.close(slave)
    shown = os.read(master, 4096).decode()
    os.close(master)
    assert ended.code == 0
    assert "]0;title[31mred0m" in shown
    assert not {"\x1b", "\x07", "\x9b"}.intersection(shown)
