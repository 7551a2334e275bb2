"""Standard output and error of the modes without a screen: whole lines, and a reader that leaves is no error."""

from __future__ import annotations

import os
import sys


class Output:
    """`closed` once the reader of standard output has gone; what is written then is dropped."""

    def __init__(self) -> None:
        self.closed = False

    def line(self, text: str) -> None:
        """Write a line of UTF-8 (what can't be encoded is replaced) and flush it."""
        if self.closed:
            return
        try:
            sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
            sys.stdout.buffer.flush()
        except (OSError, ValueError):
            self.close()

    def close(self) -> None:
        """Take note that nobody reads any more, so that the interpreter's last flush says nothing."""
        self.closed = True
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        except OSError:
            pass


def complain(text: str) -> None:
    """One line on standard error: "pinyon: ..."; never raises."""
    try:
        sys.stderr.write("pinyon: " + " · ".join(part for part in clean(text).split("\n") if part.strip()) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass


def clean(text: str) -> str:
    """The text without control bytes: foreign text never reaches a terminal with them."""
    return "".join(c for c in text if c == "\n" or (c >= " " and not "\x7f" <= c <= "\x9f")).strip()
