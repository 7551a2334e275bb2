"""Signals before a mode has its own way with them: the process ends at once, without a word, with the right code."""

from __future__ import annotations

import os
import signal
from types import FrameType

_STOPPERS = ("SIGINT", "SIGTERM", "SIGHUP")


def end_at_once() -> None:
    """Let a stopping signal end the process with 128 + n: nothing is at stake yet, and no traceback is due.

    A hang-up that is ignored (nohup) stays ignored. What is installed later, such as a mode's own handler, wins.
    """
    for name in _STOPPERS:
        number = getattr(signal, name, None)
        if number is not None and not (name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN):
            signal.signal(number, _end)


def give_back() -> None:
    """Put Python's own habits back, for a face that deals with signals itself."""
    for name in _STOPPERS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is _end:
            signal.signal(number, signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL)


def _end(number: int, _frame: FrameType | None) -> None:
    os._exit(128 + number)
