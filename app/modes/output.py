"""Standard output and error of the modes without a screen: whole lines, and a reader that leaves is no error."""

from __future__ import annotations

import os
import select
import sys
from contextlib import suppress

_LOOK_MS = 100


def ensure_streams() -> None:
    """Give standard streams that were closed by our caller the null device.

    Else the next file that is opened, such as a session, takes the number, and everything printed goes into it.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is not None:
            continue
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, number)
            if null > 2:
                os.close(null)
        setattr(sys, name, open(number, mode, encoding="utf-8", errors="replace", closefd=False))  # noqa: SIM115 - stays open


def take_any_text() -> None:
    """Print UTF-8 whatever the locale says, as Output does, and never fail at a character."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")


def finished(code: int) -> int:
    """The exit code of a command that printed what it had to: `code`, 0 when the reader has left, 1 on a full disk."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output()
        return 0
    except (OSError, ValueError) as error:
        drop_output()
        complain(unwritable(error))
        return code or 1
    return code


def drop_output() -> None:
    """Send what is still buffered, and all that follows, to the null device: the interpreter's last flush is quiet."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)
    except OSError:
        pass


def unwritable(error: OSError | ValueError) -> str:
    """What to say when standard output takes nothing more."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"standard output can't be written: {reason}. Send it to another place"


class Output:
    """`closed` once standard output takes no more (what is written then is dropped); `failure`: why, unless the
    reader just left, or a signal came while it would not read.
    """

    def __init__(self) -> None:
        self.closed = False
        self.failure = ""
        self._is_interrupted = False

    def interrupt(self) -> None:
        """Wait for a reader that does not read no longer; for a signal's handler."""
        self._is_interrupted = True

    def line(self, text: str) -> None:
        """Write a line of UTF-8 (what can't be encoded is replaced) and flush it."""
        if self.closed:
            return
        try:
            self._write(sys.stdout.fileno(), text.encode("utf-8", "replace") + b"\n")
        except (OSError, ValueError) as error:
            self.closed = True
            if not isinstance(error, BrokenPipeError):
                self.failure = unwritable(error)
            drop_output()

    def _write(self, descriptor: int, data: bytes) -> None:
        """Write all of it, in pieces that never block once there is room: nothing else runs meanwhile, not even what
        a signal asks for.
        """
        sys.stdout.flush()
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT)
        view = memoryview(data)
        while view:
            if not poll.poll(_LOOK_MS):
                if self._is_interrupted:
                    self.closed = True
                    drop_output()
                    return
                continue
            with suppress(BlockingIOError):  # somebody made it so that it refuses instead of waiting
                view = view[os.write(descriptor, view[: select.PIPE_BUF]) :]


def complain(text: str) -> None:
    """One line on standard error: "pinyon: ..."; never raises."""
    try:
        sys.stderr.write("pinyon: " + " · ".join(part for part in clean(text).split("\n") if part.strip()) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass


def clean(text: str) -> str:
    """The text without control bytes: foreign text never reaches a terminal with them."""
    return printable(text.replace("\t", " ")).strip()


def printable(text: str) -> str:
    """The text without control bytes but line feeds and tabs, for a terminal."""
    return "".join(c for c in text if c in "\n\t" or (c >= " " and not "\x7f" <= c <= "\x9f"))
