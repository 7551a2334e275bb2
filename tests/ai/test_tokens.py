"""Counting tokens works with no network and leaves no files."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path

import pytest

from app.ai.tokens import count_tokens, estimate_tokens


@pytest.mark.parametrize(("text", "expected"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2)])
def test_the_estimate_is_a_quarter_rounded_up(text: str, expected: int) -> None:
    assert estimate_tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("hello world", 2), ("tiktoken is great!", 6), ("お誕生日おめでとう", 9), ("<|endoftext|>", 7)],
)
def test_counts_are_those_of_cl100k_base(
    text: str, expected: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert count_tokens(text) == expected
    assert list(tmp_path.iterdir()) == []


def test_a_long_run_without_a_break_and_half_a_character_are_counted() -> None:
    assert count_tokens("a" * 1_000_000) > 100_000
    assert count_tokens("\ud800") > 0
