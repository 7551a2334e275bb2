"""One writer a session: a lock on the file and a lease beside it; it must never touch the file's bytes.

The lock (flock) ends with its process, whatever happens. The lease names the process for people, and stands in for
the lock where a file system has none (architecture §6).
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.errors import SessionBusyError
from app.session.entries import iso_now
from app.session.naming import lease_path

FORK_HINT = "Look at it read-only, work on in a fork of it, or close it there"


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that a lease names; `start` is its start time in clock ticks since boot, None where unknown."""

    pid: int
    start: int | None
    host: str

    def is_alive(self) -> bool:
        """Whether this very process runs here; one of another machine is taken for alive."""
        if self.host != socket.gethostname():
            return True
        start = process_start(self.pid)
        if start is not None:
            return self.start is None or start == self.start
        if Path("/proc/self/stat").exists():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            return True
        return True


def process_start(pid: int) -> int | None:
    """When a process began, in clock ticks since boot; None when there is none or it can't be told."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
        # the name in brackets may hold anything, so count from the last bracket: field 22 of proc(5)
        return int(stat[stat.rindex(b")") + 2 :].split()[19])
    except (OSError, ValueError, IndexError):
        return None


def read_holder(session: Path) -> Holder | None:
    """Whom the lease beside a session names; None when there is none that can be read."""
    try:
        raw = json.loads(lease_path(session).read_bytes())
        start = raw.get("start")
        return Holder(int(raw["pid"]), start if isinstance(start, int) else None, str(raw["host"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def lock(descriptor: int, session: Path) -> bool:
    """Lock the file. True: locked. False: this file system has no locks. Raises SessionBusyError when it is held."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise busy(session, read_holder(session)) from error
    except OSError:
        return False
    return True


def busy(session: Path, holder: Holder | None) -> SessionBusyError:
    """The error for a session that another process writes."""
    who = f" (process {holder.pid} on {holder.host})" if holder is not None else ""
    return SessionBusyError(f"the session {session.name} is in use by another Pinyon{who}", FORK_HINT)


def take(session: Path, locked: bool) -> list[str]:
    """Write our lease; gives notes. Raises SessionBusyError when the one there is of a living process.

    Call it with the lock held (`locked`), or on a file system without locks.
    """
    notes: list[str] = []
    holder = read_holder(session)
    ours = Holder(os.getpid(), process_start(os.getpid()), socket.gethostname())
    if holder is not None and holder != ours:
        elsewhere = holder.host != ours.host
        # a lock that we could get proves that a holder on another machine is gone
        if holder.is_alive() and not (elsewhere and locked):
            raise busy(session, holder)
        notes.append(f"process {holder.pid} ended without closing this session; its lease was taken over")
    text = json.dumps({"pid": ours.pid, "start": ours.start, "host": ours.host, "time": iso_now()})
    try:
        descriptor = os.open(lease_path(session), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        if not locked:
            notes.append(f"no lease could be written beside this session ({error.strerror}): open it only once")
    return notes


def release(session: Path) -> None:
    """Take our lease away; another's stays. Never raises."""
    holder = read_holder(session)
    if holder is not None and holder.pid == os.getpid() and holder.host == socket.gethostname():
        with suppress(OSError):
            lease_path(session).unlink()
