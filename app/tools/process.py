"""One shell command from its start to its end, for the bash tool and for `!`; it must leave nothing behind.

Its input is empty, its output one pipe, its processes a session of their own. It is over when the shell has ended
and the pipe is drained; a background child that keeps the pipe open is not waited for.
"""

from __future__ import annotations

import math
import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, STDOUT

import anyio
import anyio.abc
import anyio.to_thread

from app.agent.tool import AbortSignal
from app.errors import ToolError
from app.tools.paths import os_failure, shown
from app.tools.process_tree import end_tree
from app.tools.shell_output import ShellOutput
from app.tools.text_file import check_text
from app.tools.truncate import Truncation

DRAIN_S = 0.1
UPDATE_INTERVAL_S = 0.1
READ_BYTES = 64 * 1024
# Linux refuses a single argument of 128 KiB; a longer command goes through a file.
LONGEST_ARGUMENT_BYTES = 120_000
LONGEST_COMMAND_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ShellResult:
    """How a command ended. `output` is its readable tail; `exit_code` is None when it was stopped or killed."""

    output: str
    exit_code: int | None
    cancelled: bool
    timed_out: bool
    truncated: bool
    full_output_path: str | None
    signal: int | None = None  # the signal that ended the shell, when we did not send it
    left_running: bool = False  # a background child still held the output
    truncation: Truncation | None = None
    last_line_bytes: int = 0


OnOutput = Callable[[Truncation, "str | None"], None]


async def run_shell(
    command: str,
    cwd: Path,
    *,
    output_dir: Path,
    shell_path: str | None = None,
    command_prefix: str | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    signal: AbortSignal | None = None,
    on_output: OnOutput | None = None,
) -> ShellResult:
    """Run the command to its end, a timeout or an abort by `signal` (`cancelled`); both of these end its whole tree.

    `on_output(tail, full_output_path)` is called at most ten times a second and once at the end. A cancellation of
    the caller passes through, after the tree has ended and one last `on_output`. Raises ToolError when it can't start.
    Source: spec core §3.2, §3.6.
    """
    run = _Run(ShellOutput(output_dir), on_output or (lambda tail, path: None))
    whole = f"{command_prefix}\n{command}" if command_prefix else command
    _check(whole, cwd)
    with _arguments(find_shell(shell_path), whole) as arguments:
        try:
            with (signal or AbortSignal()).guard() as scope:
                await run.start(arguments, cwd, {**os.environ, **(env or {})})
                await run.follow(timeout_s)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await run.result(cancelled=True)
            raise
        return await run.result(cancelled=scope.cancelled_caught)


def find_shell(shell_path: str | None) -> str:
    """The shell to use: the one set by the user, else bash, else sh. Raises ToolError when that is not there."""
    if shell_path:
        path = os.path.expanduser(shell_path)
        if not os.path.isfile(path):
            raise ToolError(f"The shell set in shellPath does not exist: {shown(path)} (ENOENT)")
        return path
    for candidate in ("/bin/bash", shutil.which("bash"), "/bin/sh", shutil.which("sh")):
        if candidate and os.path.isfile(candidate):
            return candidate
    raise ToolError("There is no shell: neither bash nor sh was found. Set shellPath in settings.json.")


def _check(command: str, cwd: Path) -> None:
    if "\0" in command:
        raise ToolError("The command holds a NUL character, which no shell can take; write it to a file instead.")
    check_text("The command", command)
    if len(command) > LONGEST_COMMAND_BYTES:
        raise ToolError("The command is longer than 8 MB; write it to a file and run that.")
    _check_folder(cwd)


def _check_folder(cwd: Path) -> None:
    if not cwd.is_dir():
        raise ToolError(f"The working directory does not exist: {shown(cwd)}")


@contextmanager
def _arguments(shell: str, command: str) -> Iterator[list[str]]:
    """The argument list; a long command lies in a file meanwhile and is sourced, so that $0 and the like stay."""
    data = command.encode("utf-8")
    if len(data) <= LONGEST_ARGUMENT_BYTES:
        # A leading blank keeps a command like "-x" from being taken for an option.
        yield [shell, "-c", " " + command if command[:1] in ("-", "+") else command]
        return
    try:
        descriptor, name = tempfile.mkstemp(prefix="pinyon-command-")
    except OSError as error:
        raise os_failure(error, "store the long command in", tempfile.gettempdir()) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        yield [shell, "-c", f". {shlex.quote(name)}"]
    finally:
        with suppress(OSError):  # the command itself may have cleared the folder
            os.unlink(name)


class _Run:
    """One command's process and pipe."""

    def __init__(self, output: ShellOutput, on_output: OnOutput) -> None:
        self._output = output
        self._on_output = on_output
        self._process: anyio.abc.Process | None = None
        self._pipe = -1
        self._ended = anyio.Event()  # the pipe's end
        self._unreported = False
        self._next_report = 0.0
        self._timed_out = False
        self._left_running = False

    async def start(self, arguments: list[str], cwd: Path, env: Mapping[str, str]) -> None:
        """Start the shell. Raises ToolError when the system refuses."""
        self._pipe, writer = os.pipe()
        os.set_blocking(self._pipe, False)
        try:
            with anyio.CancelScope(shield=True):
                self._process = await anyio.open_process(
                    arguments, stdin=DEVNULL, stdout=writer, stderr=STDOUT, cwd=cwd, env=env, start_new_session=True
                )
        except OSError as error:
            self._close()
            _check_folder(cwd)
            raise os_failure(error, "start", arguments[0]) from error
        finally:
            os.close(writer)

    async def follow(self, timeout_s: float | None) -> None:
        """Read until the shell has ended and the pipe is drained; on a timeout or cancellation end the tree first."""
        process = self._process
        assert process is not None
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._pump)
                with anyio.move_on_after(math.inf if timeout_s is None else timeout_s) as limit:
                    await process.wait()
                if limit.cancelled_caught:
                    self._timed_out = True
                    await self._end_tree(process)
                with anyio.move_on_after(DRAIN_S):
                    await self._ended.wait()
                self._left_running = not self._ended.is_set()
                group.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                if process.returncode is None:
                    await self._end_tree(process)
                await self._drain()
                self._close()

    async def _end_tree(self, process: anyio.abc.Process) -> None:
        with anyio.CancelScope(shield=True):
            await end_tree(process.pid, leader_alive=process.returncode is None)
            with anyio.move_on_after(2):
                await process.wait()

    async def _pump(self) -> None:
        while True:
            if self._unreported:
                # Later than that a pause in the output would keep back what is there.
                with anyio.move_on_after(max(0.0, self._next_report - anyio.current_time())) as pause:
                    await anyio.wait_readable(self._pipe)
                if pause.cancelled_caught:
                    self._report()
                    continue
            else:
                await anyio.wait_readable(self._pipe)
            if not await self._read():
                self._ended.set()
                return
            if anyio.current_time() >= self._next_report:
                self._report()

    async def _read(self) -> bool:
        """Take what is there now; False at the pipe's end."""
        try:
            data = os.read(self._pipe, READ_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if not data:
            return False
        if self._output.is_spilling(len(data)):
            with anyio.CancelScope(shield=True):  # what was taken out of the pipe is nowhere else
                await anyio.to_thread.run_sync(self._output.keep_raw, data)
        else:
            self._output.keep_raw(data)
        self._output.feed(data)
        self._unreported = True
        return True

    async def _drain(self) -> None:
        """Take what still lies in the pipe, at most a pipe's fill: a background child may write for ever."""
        for _ in range(16):
            try:
                data = os.read(self._pipe, READ_BYTES)
            except OSError:
                return
            if not data:
                return
            self._output.keep_raw(data)
            self._output.feed(data)
            self._unreported = True

    def _report(self) -> None:
        self._unreported = False
        self._next_report = anyio.current_time() + UPDATE_INTERVAL_S
        path = self._output.path
        self._on_output(self._output.tail(), str(path) if path else None)

    def _close(self) -> None:
        os.close(self._pipe)

    async def result(self, *, cancelled: bool) -> ShellResult:
        """The end: the tail, the code, the file."""
        process = self._process
        tail = await anyio.to_thread.run_sync(self._output.finish)
        path = str(self._output.path) if self._output.path else None
        self._on_output(tail, path)
        code = process.returncode if process else None
        stopped = cancelled or self._timed_out
        return ShellResult(
            output=tail.content,
            exit_code=None if stopped or code is None or code < 0 else code,
            cancelled=cancelled,
            timed_out=self._timed_out,
            truncated=tail.truncated,
            full_output_path=path,
            signal=-code if code is not None and code < 0 and not stopped else None,
            left_running=self._left_running and not stopped,
            truncation=tail,
            last_line_bytes=self._output.last_line_bytes,
        )
