"""Bracketed pastes: one piece of text each, whatever is in it and however it is cut; never a key."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.message import Message

from app.tui.pasting import END, START, UNENDED_S, PasteParser
from tests.tui.pty_kit import Terminal


def read(*pieces: str) -> list[Message]:
    parser = PasteParser()
    return [event for piece in pieces for event in parser.feed(piece)]


def told(found: list[Message]) -> list[str]:
    """Keys and pastes in words; empty pastes mean nothing."""
    words = []
    for event in found:
        if isinstance(event, events.Key):
            words.append(event.key)
        elif isinstance(event, events.Paste) and event.text:
            words.append(f"<{event.text}>")
    return words


@pytest.mark.parametrize(
    "text",
    ["\x1b[31mred\x1b[0m\rrm -rf\r", "a\x1b\rb", "\x1b]0;title\x07\r", "\x1b", "x\x1b[A\x1b[B\r\n", "\x1bOP\x03\x04"],
)
def test_escapes_in_a_paste_are_no_keys(text: str) -> None:
    found = read("a" + START + text + END + "b")
    assert [event.key for event in found if isinstance(event, events.Key)] == ["a", "b"]
    assert all("\x1b" not in event.text for event in found if isinstance(event, events.Paste))


def test_a_megabyte_comes_as_one_paste() -> None:
    text = "漢x\n" * 300_000
    assert told(read(START, *(text[at : at + 4096] for at in range(0, len(text), 4096)), END)) == [f"<{text}>"]


@given(st.lists(st.integers(0, 40), max_size=12))
def test_a_paste_is_the_same_wherever_reading_cuts_it(cuts: list[int]) -> None:
    data = f"k{START}one\ntwo{END}l{START}three{END}m"
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[a:b] for a, b in itertools.pairwise(places) if b > a]
    assert told(read(*pieces)) == ["k", "<one\ntwo>", "l", "<three>", "m"]


def test_keys_like_the_start_of_a_paste_stay_keys() -> None:
    assert told(read("\x1b[20~", "\x1b[2", "1~", "a")) == ["f9", "f10", "a"]


def test_a_paste_that_never_ends_gives_the_keys_back() -> None:
    parser = PasteParser()
    now = 0.0
    parser.clock = lambda: now
    assert list(parser.feed(START + "lost")) == []
    assert told(list(parser.tick())) == []
    now = UNENDED_S + 0.1
    assert told(list(parser.tick())) == ["<lost>"]
    assert told(list(parser.feed("a"))) == ["a"]


def test_the_program_sends_nothing_that_was_only_pasted(work: Path) -> None:
    with Terminal(work) as terminal:
        terminal.wait_for("Try:")
        terminal.type(b"\x1b[200~!touch one\x1b[0m\r!touch two\r\x1b[201~")
        terminal.wait_for("touch two")
        terminal.type(b"\x15\x15\x15\x15\x04")
        terminal.wait_until_ended()
    assert not list(work.iterdir())


def test_an_enter_typed_while_the_program_starts_sends() -> None:
    assert told(read("hi\n\x1b[?2026;2$y"))[:3] == ["h", "i", "enter"]
    assert told(read("a", "\n")) == ["a", "ctrl+j"]
    assert told(read("a\nb\n")) == ["a", "ctrl+j", "b", "ctrl+j"]
