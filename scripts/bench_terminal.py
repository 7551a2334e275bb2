"""A program in a pseudo terminal, its output recorded with times. Dev only; the emulator (pyte) is fed afterwards.

The record is raw while the program runs: an emulator of Python's speed would be measured instead of the program.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
ESCAPES = re.compile(
    rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[P_^X][^\x1b]*\x1b\\|\x1b\[[<=>?]?[0-9;:]*[ -/]*[@-~]|\x1b[ -/]*[0-~]"
)
NOT_FOR_PYTE = re.compile(rb"\x1b\[[<=>][0-9;:]*[ -/]*[@-~]|\x1b\[\?[0-9;:]*\$p|\x1b[P_^X][^\x1b]*\x1b\\")


class TookTooLongError(Exception):
    """What was waited for did not come."""


class Terminal:
    """`start` is the monotonic time of the fork; `record` has (time, bytes) in order."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, *, columns: int = 120, rows: int = 40):
        self.record: list[tuple[float, bytes]] = []
        self.columns, self.rows = columns, rows
        self.is_closed = False
        self.exit_code: int | None = None
        self._seen = b""
        self.start = time.monotonic()
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                modes = termios.tcgetattr(0)
                modes[3] &= ~termios.ECHO  # the line discipline's echo is not the program's
                termios.tcsetattr(0, termios.TCSANOW, modes)
                os.chdir(cwd)
                os.execvpe(argv[0], list(argv), dict(env))
            finally:
                os._exit(127)
        os.set_blocking(self.descriptor, False)

    # Output

    def read(self, timeout_s: float) -> bytes:
        """The next output, b"" when none comes in time."""
        if self.is_closed or not select.select([self.descriptor], [], [], max(0.0, timeout_s))[0]:
            return b""
        try:
            data = os.read(self.descriptor, 1 << 18)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self.is_closed = True
            return b""
        self.record.append((time.monotonic(), data))
        if b"\x1b[?2026$p" in data:
            self.send(b"\x1b[?2026;2$y")
        return data

    def run(self, seconds: float) -> None:
        """Record for so long."""
        end = time.monotonic() + seconds
        while not self.is_closed and (left := end - time.monotonic()) > 0:
            self.read(left)

    def settle(self, quiet_s: float = 0.3, limit_s: float = 10.0) -> float:
        """Record until it is quiet for so long; gives the time of the last output."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end and self.read(quiet_s):
            pass
        return self.record[-1][0] if self.record else self.start

    def wait_for(self, text: str, timeout_s: float = 20.0) -> float:
        """The time at which a text was written whole in one run of output, escape sequences aside."""
        needle, tail, end = text.encode(), b"", time.monotonic() + timeout_s
        while time.monotonic() < end and not self.is_closed:
            data = self.read(min(0.5, end - time.monotonic()))
            tail = tail[-4096:] + data
            if data and needle in ESCAPES.sub(b"", tail):
                return self.record[-1][0]
        raise TookTooLongError(f"{text!r} did not come; the screen:\n" + "\n".join(self.screen()))

    def screen(self) -> list[str]:
        """The rows as a terminal shows them now."""
        import pyte

        screen = pyte.Screen(self.columns, self.rows)
        pyte.ByteStream(screen).feed(NOT_FOR_PYTE.sub(b"", b"".join(data for _, data in self.record)))
        return [row.rstrip() for row in screen.display]

    @property
    def total(self) -> int:
        """Bytes written so far."""
        return sum(len(data) for _, data in self.record)

    # Input

    def send(self, data: bytes) -> None:
        """Type."""
        while data and not self.is_closed:
            try:
                data = data[os.write(self.descriptor, data) :]
            except BlockingIOError:
                self.read(0.01)
            except OSError:
                return

    def echo(self, letter: str, timeout_s: float = 5.0) -> tuple[float, int]:
        """Type a letter that is nowhere else in the output; gives (seconds, bytes written) until it is shown."""
        before, began = self.total, time.monotonic()
        self.send(letter.encode())
        tail = b""
        while (left := began + timeout_s - time.monotonic()) > 0 and not self.is_closed:
            data = self.read(left)
            tail = tail[-64:] + data
            if letter.encode() in ESCAPES.sub(b"", tail):
                return self.record[-1][0] - began, self.total - before
        return timeout_s, self.total - before

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        self.columns, self.rows = columns, rows
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    # The process

    def cpu_s(self) -> float:
        """CPU seconds of the program and of the children it has waited for."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return sum(int(field) for field in fields[11:15]) / TICKS_PER_S

    def peak_mb(self) -> float:
        """The most memory it ever held, in MB."""
        try:
            found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{self.pid}/status").read_text())
        except OSError:
            return 0.0
        return int(found.group(1)) / 1024 if found else 0.0

    def close(self, keys: Sequence[bytes] = (b"\x03", b"\x03", b"\x03")) -> int | None:
        """Leave by keys, then by force; gives the exit code."""
        for key in keys:
            self.send(key)
            self.run(0.1)
        for number in (0, signal.SIGTERM, signal.SIGKILL):
            if number and self.exit_code is None:
                os.kill(self.pid, number)
            if self.reap(2.0):
                break
        os.close(self.descriptor)
        return self.exit_code

    def reap(self, timeout_s: float) -> bool:
        """Whether the program ended in time; takes its exit code."""
        end = time.monotonic() + timeout_s
        while self.exit_code is None and time.monotonic() < end:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.exit_code = os.waitstatus_to_exitcode(status)
            elif self.is_closed:
                time.sleep(0.01)
        return self.exit_code is not None
