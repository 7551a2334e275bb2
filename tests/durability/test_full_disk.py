"""No room, no folder, no permission in a run: told on standard error, nothing torn, later gone on with."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.cli.server import Provider
from tests.cli.wires import bash, calls, says
from tests.durability.killing import faults_of, messages_in, torn_lines


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kB, for those who may mount one."""
    folder = tmp_path / "small"
    folder.mkdir()
    argv = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "none", str(folder)]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=10, check=False)
    except OSError as error:
        pytest.skip(f"there is no mount: {error}")
    if done.returncode:
        pytest.skip(f"mounting is not allowed: {done.stderr.strip()}")
    yield folder
    run("umount", "-l", str(folder))


def goes_on(pinyon: Program, asked: Provider, *argv: str) -> None:
    asked.play(*[says("unused")] * len(asked.requests), says("goes on"))
    ended = pinyon.run(*argv, "-c", "-p", "again")
    assert (ended.code, ended.out) == (0, "goes on\n"), ended.err
    sent = asked.requests[-1]["messages"]
    wanted = [call["id"] for message in sent for call in message.get("tool_calls") or ()]
    assert [message["tool_call_id"] for message in sent if message["role"] == "tool"] == wanted


def test_a_full_disk_stops_the_run_and_with_room_again_it_goes_on(
    pinyon: Program, asked: Provider, small_disk: Path
) -> None:
    place = ("--session-dir", str(small_disk / "sessions"))
    fill = f"cat /dev/zero > {small_disk}/ballast"
    asked.play(calls(bash(f"{fill} 2>/dev/null; echo full")), says("x" * 9000), says("never asked for"))
    ended = pinyon.run(*place, "-p", "fill it")
    assert ended.code == 1
    assert "the disk is full" in ended.complaint()
    (path,) = (small_disk / "sessions").glob("*.jsonl")
    before = path.read_bytes()
    assert torn_lines(before) in ([], [before.count(b"\n")])
    assert messages_in(before)[0]["content"][0]["text"] == "fill it"
    full = pinyon.run(*place, "-c", "-p", "still full?")
    assert full.code == 1
    assert "the disk is full" in full.err
    still = path.read_bytes()
    assert still.startswith(before)
    (small_disk / "ballast").unlink()
    goes_on(pinyon, asked, *place)
    assert faults_of(still, path.read_bytes()) == []


def test_an_answer_that_has_no_room_is_still_printed(pinyon: Program, asked: Provider, small_disk: Path) -> None:
    place = ("--session-dir", str(small_disk / "sessions"))
    asked.play(says("kept " + "x" * 90_000))
    ended = pinyon.run(*place, "-p", "a long one")
    assert ended.code == 1
    assert "the disk is full" in ended.complaint()
    assert ended.out.startswith("kept xxx")


def test_a_data_folder_that_fills_up_stops_the_run_and_with_room_again_it_goes_on(
    pinyon: Program, asked: Provider, small_disk: Path
) -> None:
    pinyon.data = small_disk / "data"
    pinyon.env["PINYON_DATA_DIR"] = str(pinyon.data)
    (pinyon.work / "kept.txt").write_text("before")
    ballast = pinyon.data / "ballast"
    asked.play(calls(bash(f"cat /dev/zero > {ballast} 2>/dev/null; echo after > kept.txt")), says("x" * 9000))
    ended = pinyon.run("-p", "fill it")
    assert ended.code == 1
    assert "the disk is full" in ended.err
    (path,) = pinyon.sessions()
    before = path.read_bytes()
    assert torn_lines(before) in ([], [before.count(b"\n")])
    ballast.unlink()
    goes_on(pinyon, asked)
    assert faults_of(before, path.read_bytes()) == []


def test_on_a_full_disk_nothing_is_asked_and_without_a_session_it_answers(
    pinyon: Program, asked: Provider, small_disk: Path
) -> None:
    subprocess.run(["sh", "-c", f"cat /dev/zero > {small_disk}/ballast"], capture_output=True, timeout=10, check=False)
    asked.play(says("ok"))
    ended = pinyon.run("--session-dir", str(small_disk / "sessions"), "-p", "hello")
    assert ended.code == 1
    assert "the disk is full" in ended.complaint()
    assert asked.requests == []
    assert list(small_disk.rglob("*.jsonl")) == []
    assert pinyon.run("--no-session", "-p", "hello").out == "ok\n"


def test_a_session_folder_removed_in_a_run_stops_it_and_the_next_run_begins_anew(
    pinyon: Program, asked: Provider
) -> None:
    asked.play(calls(bash(f"rm -rf {pinyon.data}/sessions")), says("never asked for"))
    ended = pinyon.run("-p", "remove it")
    assert ended.code == 1
    assert "its folder is gone" in ended.complaint()
    assert len(asked.requests) == 1, "nothing is asked that could not be kept"
    assert pinyon.sessions() == [], "a removed session does not come back in part"
    goes_on(pinyon, asked)
    assert len(pinyon.sessions()) == 1


def test_a_file_removed_or_put_in_anothers_place_in_a_run_stops_it(pinyon: Program, asked: Provider) -> None:
    asked.play(calls(bash(f"cd {pinyon.data}/sessions/*; mv *.jsonl kept; cp kept other.jsonl; rm kept")), says("no"))
    ended = pinyon.run("-p", "swap it")
    assert ended.code == 1
    assert "is gone" in ended.complaint()
    goes_on(pinyon, asked)
    (path,) = pinyon.sessions()
    assert path.name == "other.jsonl"


def run(*argv: str) -> None:
    subprocess.run(argv, timeout=10, check=True)


def unwritable(path: Path) -> Callable[[], None]:
    """Make a folder or file unwritable, for root as well; gives how to undo it."""
    done = subprocess.run(["chattr", "+i", str(path)], capture_output=True, text=True, timeout=10, check=False)
    if done.returncode == 0:
        return lambda: run("chattr", "-i", str(path))
    if os.geteuid() == 0:
        pytest.skip(f"root may write anywhere, and chattr is not allowed: {done.stderr.strip()}")
    mode = path.stat().st_mode
    path.chmod(0o555 if path.is_dir() else 0o444)
    return lambda: path.chmod(mode)


def test_a_folder_that_may_not_be_written_is_told_before_anything_is_asked(pinyon: Program, asked: Provider) -> None:
    folder = pinyon.work.parent / "locked"
    folder.mkdir()
    undo = unwritable(folder)
    try:
        asked.play(says("ok"))
        ended = pinyon.run("--session-dir", str(folder), "-p", "hello")
        assert ended.code == 1
        assert "permission denied" in ended.complaint()
        assert asked.requests == []
    finally:
        undo()


def test_a_session_that_may_not_be_written_is_told_and_a_fork_goes_on(pinyon: Program, asked: Provider) -> None:
    asked.play(says("one"), says("two"))
    pinyon.run("-p", "first")
    (path,) = pinyon.sessions()
    before = path.read_bytes()
    undo = unwritable(path)
    try:
        ended = pinyon.run("-c", "-p", "second")
        assert ended.code == 1
        assert "permission denied" in ended.err
        assert len(asked.requests) == 1
        assert path.read_bytes() == before
        forked = pinyon.run("--fork", str(path), "-p", "second")
        assert (forked.code, forked.out) == (0, "two\n")
    finally:
        undo()
