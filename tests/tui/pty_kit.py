"""The program in a pseudo terminal of its own: what it wrote, how the terminal stands, how it ended."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Takes the terminal as its own and signals as a shell gives them (test runners ignore some).
LAUNCH = """import fcntl, os, signal, sys, termios
sys.path.insert(0, {root!r})
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP): signal.signal(number, signal.SIG_DFL)
{before}
from app.cli.main import run
sys.exit(run(sys.argv[1:]))
"""
ESCAPES = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[<=>?]?[0-9;:]*[ -/]*[@-~]|\x1b[ -/]*[0-~]")


class Terminal:
    """A program just started; `before` is Python that runs in it first. Use `with`: it is killed at the end."""

    def __init__(self, work: Path, *argv: str, before: str = "", env: dict[str, str] | None = None) -> None:
        self.output = b""
        self.status: int | None = None
        # The program's side stays open here, so that its modes can be read after it ended.
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH.format(root=str(ROOT), before=before), *argv],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            cwd=work,
            env={**os.environ, **(env or {})},
            start_new_session=True,
        )
        self.pid = self.process.pid
        self.modes = termios.tcgetattr(self.slave)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self.process.returncode = self.status or 0  # it was waited for here
        for descriptor in (self.master, self.slave):
            if descriptor >= 0:
                os.close(descriptor)

    def read_until(self, is_so: Callable[[], bool], what: str, seconds: float = 10) -> None:
        """Take what it writes until something is so."""
        end = time.monotonic() + seconds
        while not is_so():
            left = end - time.monotonic()
            assert left > 0, f"{what} did not come:\n{self.words[-3000:]}"
            if select.select([self.master], [], [], min(left, 0.05))[0]:
                self.output += os.read(self.master, 65536)

    def wait_for(self, text: str, since: int = 0) -> None:
        """Wait until it has written these words."""
        self.read_until(lambda: text in ESCAPES.sub(b"", self.output[since:]).decode("utf-8", "replace"), repr(text))

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self.master, keys)

    def has_ended(self, options: int = os.WNOHANG) -> bool:
        """Whether it has ended; its exit code is then `code`."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, options)
            if pid and not os.WIFSTOPPED(status):
                self.status = status
        return self.status is not None

    def is_stopped(self) -> bool:
        """Whether it was stopped (as by ctrl+z in a shell)."""
        pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
        return bool(pid) and os.WIFSTOPPED(status)

    def wait_until_ended(self) -> None:
        """Wait for its end and take all that it wrote."""
        self.read_until(self.has_ended, "the end")
        while select.select([self.master], [], [], 0.05)[0]:
            self.output += os.read(self.master, 65536)

    @property
    def code(self) -> int:
        """The exit code."""
        assert self.status is not None
        return os.waitstatus_to_exitcode(self.status)

    @property
    def words(self) -> str:
        """All that was written, without escape sequences."""
        return ESCAPES.sub(b"", self.output).decode("utf-8", "replace")

    def is_on(self, mode: int) -> bool:
        """Whether a mode of the terminal (1049: the other screen, 25: the cursor …) was last switched on."""
        found = re.findall(rb"\x1b\[\?%d([hl])" % mode, self.output)
        return bool(found) and found[-1] == b"h"

    def is_put_back(self) -> bool:
        """Whether the terminal is as a shell wants it: modes, main screen, cursor, no mouse, no paste brackets."""
        off = (1049, 2004, 1000, 1002, 1003, 1006, 1004, 2026, 2048)
        keyboard = self.output.rfind(b"\x1b[<u") > self.output.rfind(b"\x1b[>") or b"\x1b[>" not in self.output
        same = termios.tcgetattr(self.slave)[:4] == self.modes[:4]
        return same and self.is_on(25) and not any(self.is_on(mode) for mode in off) and keyboard
