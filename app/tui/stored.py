"""A stored branch in parts, so that a long one is shown at once and filled in behind; it never draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.session.facts import IndexEntry
    from app.session.messages import AgentMessage
    from app.session.session import Session

AT_ONCE = 200
"""Entries shown at once: more than fit on any screen."""
PIECE = 100
"""Entries added between two keys: 2 ms when their messages are parsed already, else 4."""
FURTHEST = 400


def part_start(branch: Sequence[IndexEntry], end: int, size: int) -> int:
    """Where the part of about `size` entries before `end` begins: at a user's message, so that no call is cut off its
    result and no line of folded calls falls in two; in a very long turn at an answer.
    """
    start = max(0, end - size)
    furthest = max(0, start - FURTHEST)
    for role in ("user", "assistant"):
        for place in range(start, furthest - 1, -1):
            if place == 0 or branch[place].role == role:
                return place
    return furthest


def messages_of(
    session: Session, entries: Sequence[IndexEntry]
) -> tuple[list[tuple[str, AgentMessage]], dict[str, tuple[int, int]]]:
    """Entry ids with their messages, and for requests with siblings which of how many each is (from 1)."""
    found: list[tuple[str, AgentMessage]] = []
    siblings: dict[str, tuple[int, int]] = {}
    for entry in entries:
        message = session.message(entry.id)
        if message is None:
            continue
        found.append((entry.id, message))
        if entry.role == "user" and (place := place_among_siblings(session, entry.id)) is not None:
            siblings[entry.id] = place
    return found, siblings


def place_among_siblings(session: Session, entry_id: str) -> tuple[int, int] | None:
    """(place, count) of a message among those that could stand in its place, from 1; None when it is the only one."""
    from app.runtime.navigation import message_siblings

    others = message_siblings(session.tree, entry_id)
    return (others.index(entry_id) + 1, len(others)) if len(others) > 1 and entry_id in others else None
