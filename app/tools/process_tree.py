"""A command's whole family of processes, found and ended; it must never touch a process that is not of it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from contextlib import suppress

import anyio

GRACE_S = 0.5
_LOOK_INTERVAL_S = 0.02
Member = tuple[int, str]  # process id and start time: an id may be given away again


async def end_tree(leader: int, *, leader_alive: bool) -> None:
    """End the group that `leader` leads and all its descendants: SIGTERM, then SIGKILL to what is left after 0.5 s.

    Returns when all are gone or killed; the caller reaps the leader. Descendants that left the group are found on
    Linux by their parents and session (a daemon whose parents had ended before, in a session of its own, is not).
    """
    members = family(leader) if leader_alive else set()
    _signal_group(leader, signal.SIGTERM)
    _signal_members(members, signal.SIGTERM)
    with anyio.move_on_after(GRACE_S):
        # Nobody tells us of the end of processes that are not our children: we have to look.
        while _group_lives(leader) or any(_lives(member) for member in members):  # noqa: ASYNC110
            await anyio.sleep(_LOOK_INTERVAL_S)
        return
    members |= family(leader, *(process for process, _ in members))
    _signal_group(leader, signal.SIGKILL)
    _signal_members(members, signal.SIGKILL)


def family(leader: int, *roots: int) -> set[Member]:
    """The processes of the leader's session and all descendants of it and of `roots`, the leader left out."""
    parents: dict[int, int] = {}
    starts: dict[int, str] = {}
    found: set[int] = set()
    for process, (parent, session, started, _) in _processes():
        parents[process] = parent
        starts[process] = started
        if session == leader:
            found.add(process)
    children: dict[int, list[int]] = {}
    for process, parent in parents.items():
        children.setdefault(parent, []).append(process)
    pending = [leader, *roots, *found]
    while pending:
        for child in children.get(pending.pop(), ()):
            if child not in found:
                found.add(child)
                pending.append(child)
    found.discard(leader)
    found.discard(os.getpid())
    return {(process, starts[process]) for process in found}


def _processes() -> Iterable[tuple[int, tuple[int, int, str, str]]]:
    """Each process with its parent, session, start time and state; nothing where there is no /proc."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    for name in names:
        if name.isdecimal() and (status := _status(int(name))):
            yield int(name), status


def _status(process: int) -> tuple[int, int, str, str] | None:
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            # The name in brackets may hold anything, brackets too.
            fields = file.read().rpartition(b")")[2].split()
        return int(fields[1]), int(fields[3]), fields[19].decode(), fields[0].decode()
    except (OSError, IndexError, ValueError):
        return None


def _lives(member: Member) -> bool:
    status = _status(member[0])
    return status is not None and status[2] == member[1] and status[3] not in "ZX"


def _group_lives(leader: int) -> bool:
    """Whether the group has a member that is more than a zombie waiting for us."""
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    if not os.path.exists("/proc/self/stat"):
        return True
    # Zombies count as members; where nobody reaps orphans they stay for ever.
    status = _status(leader)
    return (status is not None and status[3] not in "ZX") or any(_lives(member) for member in family(leader))


def _signal_group(leader: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def _signal_members(members: Iterable[Member], number: signal.Signals) -> None:
    for member in members:
        if _lives(member):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(member[0], number)
