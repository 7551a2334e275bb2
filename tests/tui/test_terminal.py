"""The terminal is put back on every way out (issue 3, item 4; cases I6)."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from tests.tui.pty_kit import Terminal

READY = "Try:"


def test_quitting_puts_the_terminal_back_and_says_how_to_come_back(work: Path) -> None:
    with Terminal(work) as terminal:
        terminal.wait_for(READY)
        assert terminal.is_on(1049)
        terminal.type(b"hello\r")
        terminal.wait_for("ctrl+t")
        terminal.type(b"\x04")
        terminal.wait_until_ended()
        assert terminal.code == 0
        assert terminal.is_put_back()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_puts_the_terminal_back_and_gives_128_and_its_number(number: signal.Signals, work: Path) -> None:
    with Terminal(work) as terminal:
        terminal.wait_for(READY)
        os.kill(terminal.pid, number)
        terminal.wait_until_ended()
        assert terminal.code == 128 + number
        assert terminal.is_put_back()
        assert "Traceback" not in terminal.words


def test_a_bug_puts_the_terminal_back_and_is_told_in_one_line(work: Path) -> None:
    break_it = (
        "import app.tui.screens.chat as chat\n"
        "def broken(*_, **__): raise ZeroDivisionError('a bug')\n"
        "chat.ChatScreen.send = broken"
    )
    with Terminal(work, before=break_it) as terminal:
        terminal.wait_for(READY)
        terminal.type(b"hello\r")
        terminal.wait_until_ended()
        assert terminal.code == 1
        assert terminal.is_put_back()
        assert "an unexpected ZeroDivisionError: a bug" in terminal.words
        assert "Traceback" not in terminal.words


@pytest.mark.parametrize("way", ["key", "signal"])
def test_stopping_gives_the_terminal_to_the_shell_and_going_on_takes_it_again(way: str, work: Path) -> None:
    with Terminal(work) as terminal:
        terminal.wait_for(READY)
        terminal.type(b"typed before")
        terminal.wait_for("typed before")
        if way == "key":
            terminal.type(b"\x1a")
        else:
            os.kill(terminal.pid, signal.SIGTSTP)
        terminal.read_until(terminal.is_stopped, "the stop")
        terminal.read_until(terminal.is_put_back, "the shell's terminal")
        seen = len(terminal.output)
        os.kill(terminal.pid, signal.SIGCONT)
        terminal.wait_for("typed before", since=seen)
        assert terminal.is_on(1049)
        terminal.type(b" and after")
        terminal.wait_for("after", since=seen)
        terminal.type(b"\x03\x03\x03")
        terminal.wait_until_ended()
        assert terminal.code == 0
        assert terminal.is_put_back()


IGNORE_HANGUP = "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
WRITE_MUCH = (
    "import app.tui.screens.chat as chat\n"
    "chat.ChatScreen.load_overrides = lambda self: self.app.call_from_thread(\n"
    "    lambda: self.set_interval(0.005, lambda: self.note('more and more')))\n"
)


@pytest.mark.parametrize("hangup", ["", IGNORE_HANGUP], ids=["told", "not told"])
@pytest.mark.parametrize("writing", ["", WRITE_MUCH], ids=["idle", "writing"])
def test_a_terminal_that_is_gone_ends_the_program(writing: str, hangup: str, work: Path) -> None:
    with Terminal(work, before=hangup + writing) as terminal:
        terminal.wait_for("more and more" if writing else READY)
        os.close(terminal.slave)
        os.close(terminal.master)
        terminal.slave = terminal.master = -1
        assert os.waitid(os.P_PID, terminal.pid, os.WEXITED | os.WNOWAIT) is not None
        assert terminal.has_ended()
        assert terminal.code == 129


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_shows_no_screen_gets_one_line(term: str, work: Path) -> None:
    with Terminal(work, env={"TERM": term}) as terminal:
        terminal.wait_until_ended()
        assert terminal.code == 2
        assert terminal.words.startswith("pinyon: ")
        assert terminal.words.count("\n") == 1
        assert b"\x1b" not in terminal.output


def test_no_colour_means_no_colour(work: Path) -> None:
    with Terminal(work, env={"NO_COLOR": "1"}) as terminal:
        terminal.wait_for(READY)
        terminal.type(b"\x04")
        terminal.wait_until_ended()
        coloured = [code for code in (b"38;2;", b"48;2;", b"38;5;") if code in terminal.output]
        greys_only = all(
            len(set(part.split(b"m")[0].split(b";")[:3])) == 1
            for code in coloured
            for part in terminal.output.split(code)[1:]
        )
        assert greys_only


def test_no_colour_leaves_the_terminals_own_colours_readable(work: Path) -> None:
    with Terminal(work, "--theme", "ansi", env={"NO_COLOR": "1"}) as terminal:
        terminal.wait_for(READY)
        terminal.type(b"hello\r")
        terminal.wait_for("I understand")
        terminal.type(b"\x04")
        terminal.wait_until_ended()
        assert not re.search(rb"\x1b\[[0-9;]*\b[34]8;", terminal.output)


def test_an_unknown_theme_is_told_before_the_screen_opens(work: Path) -> None:
    with Terminal(work, "--theme", "blue") as terminal:
        terminal.wait_until_ended()
        assert terminal.code == 2
        assert "--theme blue: there is no such theme. There are dark, light, ansi, " in terminal.words
        assert not terminal.is_on(1049)
