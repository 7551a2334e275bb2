"""Bash: every command ends, leaves nothing behind, and its end is told right (cases B1–B7, R6)."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from app.agent.tool import AbortSignal, AgentToolResult
from app.errors import ToolError
from app.tools.process import find_shell, run_shell
from app.tools.shell_output import ShellOutput
from app.tools.truncate import MAX_BYTES
from tests.tools.conftest import Toolbox, text_of

pytestmark = pytest.mark.anyio
MARK = "PINYON_TEST_MARK"


@pytest.fixture
def mark(box: Toolbox) -> Iterator[str]:
    """A value in the environment of all that the tools start; whatever still has it afterwards is killed."""
    value = f"{os.getpid()}-{random.random()}"
    box.context.env = {MARK: value}
    yield value
    for process in marked(value):
        os.kill(process, signal.SIGKILL)


def marked(value: str) -> list[int]:
    """The living processes with the mark."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        try:
            environment = Path(f"/proc/{name}/environ").read_bytes()
            state = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()[0]
        except OSError:
            continue
        if f"{MARK}={value}".encode() in environment and state not in b"ZX":
            found.append(int(name))
    return found


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def failure(box: Toolbox, **arguments: object) -> ToolError:
    """The error of a call that must fail; its text is valid UTF-8 and its details are JSON."""
    with pytest.raises(ToolError) as caught:
        await box.call("bash", **arguments)
    caught.value.message.encode("utf-8")
    json.dumps(caught.value.details)
    return caught.value


async def test_output_and_errors_come_in_order_without_details(box: Toolbox) -> None:
    result = await box.call("bash", command="echo one; echo two >&2; echo three")
    assert text_of(result) == "one\ntwo\nthree\n"
    assert result.details is None
    assert await box.text("bash", command="true") == "(no output)"


async def test_stdin_is_empty_and_there_is_no_terminal(box: Toolbox) -> None:
    with anyio.fail_after(5):
        text = await box.text("bash", command="cat; test -t 1 || echo none; (: </dev/tty) 2>&1 || echo closed")
    assert text.startswith("none\n")
    assert text.endswith("closed\n")


async def test_a_failing_command_raises_with_its_output_and_code(box: Toolbox) -> None:
    error = await failure(box, command="echo out; exit 3")
    assert error.message == "out\n\nCommand exited with code 3"
    assert error.details == {"exitCode": 3}
    assert (await failure(box, command="exit 1")).message == "Command exited with code 1"


async def test_a_shell_killed_by_a_signal_is_no_success(box: Toolbox) -> None:
    error = await failure(box, command="echo out; kill -9 $$")
    assert error.message == "out\n\nCommand terminated by signal 9 (SIGKILL)"


async def test_prefix_and_command_share_one_shell(box: Toolbox) -> None:
    box.context.command_prefix = "echo first; X=7"
    assert await box.text("bash", command="echo $X") == "first\n7\n"


async def test_a_missing_folder_or_shell_is_a_clear_error_and_later_calls_work(box: Toolbox, work: Path) -> None:
    (work / "gone").mkdir()
    box.context.cwd = work / "gone"
    assert await box.text("bash", command="rmdir ../gone; echo left") == "left\n"
    assert "working directory does not exist" in (await failure(box, command="pwd")).message
    (work / "gone").mkdir()
    assert "gone" in await box.text("bash", command="pwd")
    box.context.shell_path = "/no/such/shell"
    assert "ENOENT" in (await failure(box, command="pwd")).message
    box.context.shell_path = "/etc/passwd"
    assert "Could not start" in (await failure(box, command="pwd")).message


@pytest.mark.parametrize(
    "command",
    [
        "cat <<'E'\n$x `y` \\\nE\necho done",
        "echo 'hi!' \"wow!\" !x",
        "printf %s $'a\\tb\\x41'",
        "echo a\\",
        "-x",
        "echo 'unclosed",
        "x=\u00e9\U0001f642; echo ${#x} $x",
        "echo $0 $# $- | tr -d hB; f() { return 3; }; f; echo $?",
    ],
)
@pytest.mark.parametrize("padding", [0, 200_000])
async def test_the_result_is_that_of_bash(box: Toolbox, work: Path, command: str, padding: int) -> None:
    # A long command goes through a file; a comment in front makes it long without changing it.
    theirs = subprocess.run(
        ["/bin/bash", "-c", "--", command], capture_output=True, cwd=work, stdin=subprocess.DEVNULL, check=False
    )
    try:
        text = await box.text("bash", command=(f": {'x' * padding}\n" if padding else "") + command)
        code = 0
    except ToolError as error:
        text, code = error.message, (error.details or {})["exitCode"]  # type: ignore[assignment]
    assert code == theirs.returncode
    if theirs.stdout:
        assert theirs.stdout.decode() in text


async def test_what_no_shell_can_take_is_refused(box: Toolbox) -> None:
    assert "NUL" in (await failure(box, command="echo \0")).message
    assert "8 MB" in (await failure(box, command="#" * 9_000_000)).message
    assert "surrogate" in (await failure(box, command="echo \ud83d")).message


async def test_a_long_command_leaves_no_file(box: Toolbox, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(work))
    assert await box.text("bash", command=f"echo {'a' * 200_000} | wc -c; ls | wc -l") == "200001\n1\n"
    assert os.listdir(work) == []


@pytest.mark.parametrize(
    "command",
    [
        "sleep 300 & echo started",
        "(sleep 300 >/dev/null 2>&1 &) ; echo started",
        'nohup sh -c "while :; do echo t; sleep 1; done" & echo started',
        "setsid sleep 300 & echo started",
    ],
)
async def test_a_background_child_is_not_waited_for_and_not_killed(box: Toolbox, mark: str, command: str) -> None:
    before = descriptors()
    with anyio.fail_after(3):
        assert "started" in await box.text("bash", command=command)
    assert descriptors() == before
    if "sleep 300" in command:
        assert marked(mark)


async def test_a_background_child_that_never_stops_printing_is_not_followed(box: Toolbox, mark: str) -> None:
    with anyio.fail_after(3):
        assert "y\ny\n" in await box.text("bash", command="yes &")


async def test_a_pipe_left_open_is_told(box: Toolbox, mark: str) -> None:
    assert "Send its output to a file" in await box.text("bash", command="sleep 300 & echo started")
    assert await box.text("bash", command="sleep 300 >/dev/null 2>&1 & echo started") == "started\n"


@pytest.mark.parametrize(
    "command",
    [
        'echo before; trap "" TERM; sleep 60',
        'echo before; sh -c "sleep 60 | cat"',
        "echo before; setsid sleep 60; true",
        "echo before; setsid sh -c 'trap \"\" TERM; sleep 60; sleep 60'; true",
        "echo before; (sleep 60 &); sleep 60 & wait",
        'echo before; while :; do sh -c "sleep 0.01"; done',
        "echo before; kill -STOP $$",
        "echo before; exec >&- 2>&-; sleep 60",
    ],
)
async def test_a_timeout_ends_the_whole_tree(box: Toolbox, mark: str, command: str) -> None:
    before = descriptors()
    with anyio.fail_after(4):
        error = await failure(box, command=command, timeout=0.5)
    assert error.message == "before\n\nCommand timed out after 0.5 seconds"
    assert error.details == {"exitCode": None, "timedOut": True}
    assert marked(mark) == []
    assert descriptors() == before


async def test_what_is_printed_on_the_way_out_is_kept(box: Toolbox) -> None:
    error = await failure(box, command='trap "echo bye; exit" TERM; sleep 60 & wait', timeout=0.3)
    assert error.message.startswith("bye\n")


async def test_an_abort_ends_the_tree_and_the_last_update_says_so(box: Toolbox, mark: str) -> None:
    stop = AbortSignal()
    seen = anyio.Event()
    updates: list[AgentToolResult] = []

    def update(result: AgentToolResult) -> None:
        updates.append(result)
        if "ready" in text_of(result):
            seen.set()

    tool = box.tools["bash"]
    before = descriptors()
    async with anyio.create_task_group() as group:

        async def run() -> None:
            with stop.guard() as scope:
                params = tool.parameters.model_validate({"command": "echo ready; sleep 60 | cat"})  # type: ignore[union-attr]
                await tool.execute("1", params, stop, update)
            assert scope.cancelled_caught

        group.start_soon(run)
        with anyio.fail_after(5):
            await seen.wait()
            stop.abort()
    assert text_of(updates[-1]) == "ready\n\nCommand aborted"
    assert marked(mark) == []
    assert descriptors() == before


async def test_a_users_command_that_is_aborted_is_a_normal_result(work: Path, tmp_path: Path) -> None:
    stop = AbortSignal()
    result = await run_shell(
        "echo ready; sleep 60",
        work,
        output_dir=tmp_path,
        signal=stop,
        on_output=lambda tail, path: stop.abort() if "ready" in tail.content else None,
    )
    assert (result.output, result.cancelled, result.exit_code, result.timed_out) == ("ready\n", True, None, False)


async def test_updates_come_while_it_runs_and_are_throttled(box: Toolbox) -> None:
    await box.call("bash", command="for i in $(seq 2000); do echo $i; done; sleep 0.3; echo end")
    texts = [text_of(update) for update in box.updates]
    assert texts[0] == ""
    assert any(text and not text.endswith("end\n") for text in texts)
    assert texts[-1].endswith("end\n")
    assert len(texts) < 12


async def test_a_long_last_line_is_shown_by_its_end_and_kept_whole_in_a_file(box: Toolbox) -> None:
    result = await box.call("bash", command='printf a; head -c 300000 /dev/zero | tr "\\0" x')
    text, _, note = text_of(result).rpartition("\n\n")
    assert text == "x" * MAX_BYTES
    assert note.startswith("[Showing the last 50.0KB of line 1 (line is 293.0KB). Full output: ")
    path = Path(result.details["fullOutputPath"])
    assert path.stat().st_size == 300_001
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert result.details["truncation"]["lastLinePartial"] is True


async def test_a_long_line_in_the_middle_is_shown_by_its_end(box: Toolbox) -> None:
    text = await box.text("bash", command='echo first; head -c 300000 /dev/zero | tr "\\0" x; echo; echo last')
    assert "xxx\nlast\n\n[Showing lines 2-3 of 3 (50.0KB limit); line 2 is cut, only its end is shown." in text


@pytest.mark.parametrize("lines", [1999, 2000, 2001, 2500, 20_000])
async def test_line_ranges_are_right_and_never_reversed(box: Toolbox, lines: int) -> None:
    text = await box.text("bash", command=f"seq {lines}")
    found = re.search(r"Showing lines (\d+)-(\d+) of (\d+)", text)
    if lines <= 2000:
        assert found is None
        return
    assert found
    first, last, total = map(int, found.groups())
    assert first <= last == total == lines
    assert text.split("\n")[0] == str(first)


async def test_everything_is_in_the_file_byte_for_byte(box: Toolbox) -> None:
    result = await box.call("bash", command="seq 100000; printf '\\377\\033[31mx\\r\\n'")
    expected = "".join(f"{n}\n" for n in range(1, 100_001)).encode() + b"\xff\x1b[31mx\r\n"
    assert Path(result.details["fullOutputPath"]).read_bytes() == expected


async def test_a_disk_that_refuses_does_not_stop_the_command(box: Toolbox, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    box.context.output_dir = tmp_path / "file"
    result = await box.call("bash", command="seq 30000; echo end")
    assert "end\n\n[Showing lines" in text_of(result)
    assert "was not stored" in text_of(result)
    assert "fullOutputPath" not in result.details


async def test_colours_go_and_carriage_returns_leave_the_last_state(box: Toolbox) -> None:
    assert await box.text("bash", command=r'printf "a\rb\rc"') == "c"
    assert await box.text("bash", command=r'printf "\033[1;31mred\033[0m \033]0;title\007x\033(B\n"') == "red x\n"
    assert await box.text("bash", command=r'for i in $(seq 10000); do printf "\r%d%%" $i; done; echo') == "10000%\n"
    assert await box.text("bash", command=r'printf "10%%\r50%%\r"; printf "a\r\nb\r\r\nc\b\v\n"') == "a\nb\nc\n"


async def test_bytes_that_are_no_text_are_shown_as_replacements(box: Toolbox) -> None:
    assert await box.text("bash", command=r'printf "\377\376abc"') == "\ufffd\ufffdabc"
    await box.text("bash", command="head -c 4096 /dev/urandom")
    await box.text("bash", command="head -c 400000 /dev/urandom")


async def test_the_environment_is_passed_on_as_it_is(box: Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_VALUE", "here")
    box.context.env = {"MORE": "too"}
    assert await box.text("bash", command="echo $SOME_VALUE $MORE ${PYTHONPATH-unset}") == "here too unset\n"


async def test_without_bash_sh_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_shell(None) == "/bin/bash"
    real = os.path.isfile
    monkeypatch.setattr("os.path.isfile", lambda path: "bash" not in str(path) and real(path))
    assert find_shell(None) == shutil.which("sh", path="/bin")


async def test_memory_stays_bounded_for_any_output(tmp_path: Path) -> None:
    script = (
        "import anyio, resource, sys; from pathlib import Path\n"
        "from app.tools.process import run_shell\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "for command in ('yes | head -c 50000000', 'head -c 20000000 /dev/zero | tr \"\\\\0\" x'):\n"
        "    async def run():\n"
        "        return await run_shell(command, Path('/'), output_dir=Path(sys.argv[1]))\n"
        "    result = anyio.run(run)\n"
        "    assert result.truncated and result.exit_code == 0, result\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    result = await anyio.run_process([sys.executable, "-c", script, str(tmp_path / "out")], cwd=Path.cwd())
    assert int(result.stdout) < 16_000, "kilobytes"


def fed(data: bytes, sizes: list[int]) -> ShellOutput:
    """The output after the bytes came in pieces of these sizes, over and over."""
    output = ShellOutput(Path("/nonexistent"))
    at = turn = 0
    while at < len(data):
        size = sizes[turn % len(sizes)]
        output.feed(data[at : at + size])
        at += size
        turn += 1
    output.feed(b"", final=True)
    return output


async def test_how_the_bytes_are_cut_into_pieces_changes_nothing() -> None:
    data = "é🙂\x1b[38;5;1mred\x1b[0m\r\np 1\rp 22\rdone\r\n\x1b]8;;url\x1b\\link\x1b]8;;\x07\x1bMend\r".encode()
    expected = "é🙂red\ndone\nlinkend"
    for sizes in ([1], [2], [3], [5, 1], [1000]):
        assert fed(data, sizes).tail().content == expected


async def test_a_sequence_that_never_ends_does_not_swallow_the_output() -> None:
    tail = fed(b"\x1b]0;" + b"x" * 10_000 + b"end", [100]).tail().content
    assert tail.endswith("end")
    assert fed(b"abc\x1b[", [1]).tail().content == "abc["


async def test_totals_are_exact_however_much_is_dropped() -> None:
    data = b"".join(b"%d\n" % n for n in range(200_000)) + b"x" * 400_000
    tail = fed(data, [4096]).tail()
    assert (tail.total_lines, tail.total_bytes) == (200_001, len(data))
    tail = fed(data + b"\nend\n", [4096]).tail()
    assert (tail.total_lines, tail.total_bytes) == (200_002, len(data) + 5)


async def test_a_long_command_may_clear_the_folder_it_lies_in(
    box: Toolbox, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(work))
    assert await box.text("bash", command="rm -f pinyon-command-*; echo done #" + "x" * 200_000) == "done\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
async def test_an_output_folder_of_someone_elses_is_not_used(box: Toolbox, tmp_path: Path) -> None:
    (tmp_path / "output").mkdir()
    os.chown(tmp_path / "output", 65534, 65534)
    text = await box.text("bash", command="seq 100000")
    assert "The full output was not stored" in text
    assert list((tmp_path / "output").iterdir()) == []
