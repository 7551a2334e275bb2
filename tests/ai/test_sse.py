"""Events come out of bytes the same however the bytes are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.ai.sse import SseEvent, SseParser
from app.errors import ErrorKind, ModelError


def parse(*pieces: bytes) -> list[SseEvent]:
    parser = SseParser()
    events = [event for piece in pieces for event in parser.feed(piece)]
    return events + parser.flush()


def data(*pieces: bytes) -> list[str]:
    return [event.data for event in parse(*pieces)]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_every_line_end_of_the_standard_ends_a_line(end: bytes) -> None:
    body = end.join([b"event: a", b"data: 1", b"data: 2", b"", b"data:3", b"", b""])
    expected = [SseEvent("a", "1\n2"), SseEvent("message", "3")]
    assert parse(body) == expected
    assert parse(*(body[at : at + 1] for at in range(len(body)))) == expected


def test_an_event_is_told_at_its_blank_line_and_not_later() -> None:
    parser = SseParser()
    assert parser.feed(b"data: 1\r\n\r") == [SseEvent("message", "1")]
    assert parser.feed(b"\ndata: 2\n") == []
    assert parser.feed(b"\n") == [SseEvent("message", "2")]


def test_a_crlf_cut_between_two_reads_is_one_line_end() -> None:
    assert data(b"data: 1\r", b"\ndata: 2\r", b"\n\r", b"\n") == ["1\n2"]


def test_a_last_event_without_a_blank_line_counts() -> None:
    assert data(b"data: 1\n\ndata: 2\n") == ["1", "2"]
    assert data(b"data: 1\n\ndata: 2") == ["1", "2"]


def test_unicode_line_separators_are_text() -> None:
    text = "a\u2028b\u2029c\u0085d\x0be\x0cf"
    assert data(f"data: {text}\n\n".encode()) == [text]


def test_a_character_cut_between_two_reads_is_whole() -> None:
    body = "data: 🌲é\n\n".encode()
    for at in range(len(body)):
        assert data(body[:at], body[at:]) == ["🌲é"]


def test_a_byte_order_mark_comments_and_unknown_fields_are_passed_over() -> None:
    assert data(b"\xef\xbb", b"\xbfdata: 1\n: ping\nid: 7\nretry: 3\ndata\nnonsense\n\n:\n\n") == ["1\n"]


def test_an_event_without_data_is_none() -> None:
    assert parse(b"event: ping\n\ndata: 1\n\n") == [SseEvent("message", "1")]


def test_only_one_space_after_the_colon_is_taken_away() -> None:
    assert data(b"data:  x\n\n") == [" x"]


@pytest.mark.parametrize("line", [b"data: " + b"x" * 600, b"data: xx\n" * 300])
def test_an_event_over_the_limit_is_an_error(line: bytes) -> None:
    parser = SseParser(limit_bytes=500)
    pieces = [line[at : at + 50] for at in range(0, len(line), 50)]
    with pytest.raises(ModelError) as caught:
        any(parser.feed(piece) for piece in pieces)
    assert caught.value.kind is ErrorKind.GARBAGE
    assert caught.value.retryable is False


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8")), min_size=1), st.data())
def test_any_cut_gives_the_same_events(lines: list[str], draws: st.DataObject) -> None:
    body = "".join(f"data: {line}\n\n" for line in lines).encode()
    at = draws.draw(st.integers(0, len(body)))
    assert data(body[:at], body[at:]) == lines
