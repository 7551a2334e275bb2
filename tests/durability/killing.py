"""Kills a run of the program at some moment, goes on with -c, and says what was lost; used by scripts/kill9.py too."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import threading
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.session.inspect import inspect
from app.session.snapshots.model import SnapshotError
from app.session.snapshots.store import SnapshotStore, project_store
from tests.cli.program import Program
from tests.cli.server import Provider, Reply
from tests.cli.wires import bash, calls, says

LONGEST_S = 1.2
PAUSE_S = 0.04
Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Killed:
    """One kill: what was wrong, whether the run had ended before it, where in the file it fell, snapshots checked."""

    faults: tuple[str, ...]
    had_ended: bool
    last_entry: str
    was_torn: bool
    snapshots: int


def entries_in(data: bytes) -> list[Entry]:
    """The lines of a session file that are whole."""
    found: list[Entry] = []
    for line in data.split(b"\n"):
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def torn_lines(data: bytes) -> list[int]:
    """Numbers of the lines that hold something and can't be read."""
    numbers: list[int] = []
    for number, line in enumerate(data.split(b"\n")):
        try:
            json.loads(line or b"0")
        except ValueError:
            numbers.append(number)
    return numbers


def messages_in(data: bytes) -> list[Entry]:
    return [entry["message"] for entry in entries_in(data) if entry["type"] == "message"]


def faults_of(before: bytes, after: bytes) -> list[str]:
    """What is wrong with a session file that was killed (`before`) and gone on with (`after`)."""
    found: list[str] = []
    torn, last = torn_lines(before), before.count(b"\n")
    if any(number != last for number in torn):
        found.append(f"broken lines {torn} of {last}")
    if not after.startswith(before):
        found.append("earlier bytes were rewritten")
    if torn_lines(after) != torn:
        found.append(f"broken lines {torn_lines(after)}, before {torn}")
    entries = entries_in(after)
    known: set[str] = set()
    for entry in entries[1:]:
        if entry["parentId"] is not None and entry["parentId"] not in known:
            found.append(f"entry {entry['id']} hangs on nothing")
        if entry["id"] in known:
            found.append(f"entry {entry['id']} stands twice")
        known.add(entry["id"])
    answers = [message for message in messages_in(after) if message["role"] == "assistant"]
    asked = Counter(part["id"] for answer in answers for part in answer["content"] if part["type"] == "toolCall")
    given = Counter(message["toolCallId"] for message in messages_in(after) if message["role"] == "toolResult")
    if asked != given:
        found.append(f"calls {dict(asked)} but results {dict(given)}")
    return found


def faults_of_snapshots(data: bytes, snapshots: Path, work: Path) -> list[str]:
    """Snapshot entries whose files can't be told any more."""
    store = SnapshotStore(project_store(snapshots, work.resolve()), work)
    found: list[str] = []
    for entry in entries_in(data):
        if entry.get("customType") == "pinyon.snapshot":
            try:
                manifest = store.load(entry["data"]["manifest"])
                for state in manifest.files.values():
                    store.packs.read(state.digest)
            except (OSError, SnapshotError) as error:
                found.append(f"snapshot {entry['id']}: {error}")
    return found


def paced(reply: Reply, pause: threading.Event) -> Reply:
    """The same answer, its second half a moment later."""
    middle = len(reply.body) // 2
    return replace(reply, body=reply.body[:middle], rest=reply.body[middle:], after=lambda: pause.wait(PAUSE_S))


def script(pause: threading.Event) -> list[Reply]:
    """Answers with one call or two, and a long text; longer than the latest kill in all."""
    steps: list[Reply] = []
    command = "sleep 0.08; echo {name} | tee {name}.txt"
    for number in range(6):
        names = [f"{number}{letter}" for letter in "ab"[: 1 + number % 2]]
        wanted = [bash(command.format(name=name), f"c{name}") for name in names]
        steps.append(paced(calls(*wanted), pause))
    return [*steps, paced(says("words " * 400), pause)]


def kill_once(program: Program, provider: Provider, seed: int) -> Killed:
    """Start a run, kill -9 it at a random moment after its first request, go on with -c."""
    chance = random.Random(seed)
    pause = threading.Event()
    provider.play(*script(pause))
    process = program.start("-p", "do it", start_new_session=True, stdout=subprocess.DEVNULL)
    provider.wait_for(1)
    try:
        process.wait(chance.random() * LONGEST_S)
        had_ended = True
    except subprocess.TimeoutExpired:
        had_ended = False
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    pause.set()
    faults = [f"the run ended with {process.returncode}"] if had_ended and process.returncode else []
    (path,) = program.sessions()
    before = path.read_bytes()
    asked = [message for message in provider.requests[-1]["messages"] if message["role"] not in ("system", "developer")]
    if len(asked) > len(messages_in(before)):
        faults.append(f"{len(asked)} messages were sent but only {len(messages_in(before))} are kept")
    provider.play(*[says("unused")] * len(provider.requests), says("goes on"))
    again = program.run("-c", "-p", "again")
    if (again.code, again.out) != (0, "goes on\n"):
        faults.append(f"-c gave {again.code}, {again.out[-80:]!r}, {again.err[-200:]!r}")
    after = path.read_bytes()
    faults += faults_of(before, after)
    faults += faults_of_snapshots(after, program.data / "snapshots", program.work)
    facts = inspect(path)
    ours = sum(str(entry.get("customType", "")).startswith("pinyon.") for entry in entries_in(after))
    if program.sessions() != [path] or facts["tips"] != 1 or facts["branch_len"] + ours != facts["entries"]:
        faults.append(f"no single branch: {facts}")
    last = entries_in(before)[-1]
    where = str(last.get("message", last).get("role", last["type"]))
    return Killed(tuple(faults), had_ended, where, bool(torn_lines(before)), ours)
