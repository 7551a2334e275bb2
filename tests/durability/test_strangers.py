"""A program that knows no lock of ours (pi is one) appends while we do: no line is lost, glued or overlooked."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from app.session.entries import new_entry, new_header
from app.session.file import SessionFile
from app.session.log import SessionLog
from tests.durability.killing import torn_lines

COUNT = 1500
# One write a line on a descriptor that appends, as Node's appendFileSync does it.
STRANGER = """
import json, os, sys
descriptor = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[2])):
    entry = {"type": "message", "id": f"s{number}", "parentId": None, "timestamp": "2026-01-01T00:00:00.000Z",
             "message": {"role": "user", "content": "x" * 200}}
    os.write(descriptor, (json.dumps(entry) + "\\n").encode())
"""


def test_what_a_stranger_writes_between_our_lines_is_seen(work: Path) -> None:
    path = work / "s.jsonl"
    file = SessionFile(path, new_header("s", str(work)))
    said = {"role": "user", "content": "hi"}
    file.append([new_entry("message", "o", None, message=said)], durable=False)
    argv = [sys.executable, "-c", STRANGER, str(path), str(COUNT)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as stranger:
        assert stranger.stdin is not None
        assert stranger.stdout is not None
        stranger.stdout.readline()
        stranger.stdin.write(b"go\n")
        stranger.stdin.close()
        told: list[str] = []
        number = 0
        while stranger.poll() is None or number < COUNT:
            raw = new_entry("message", f"o{number}", None, message=said)
            told += [entry.id for entry in file.append([raw], durable=False)[1]]
            number += 1
    told += [entry.id for entry in file.append([new_entry("message", "last", None, message=said)], durable=False)[1]]
    assert told == [f"s{number}" for number in range(COUNT)]
    log = SessionLog.read(path)
    assert [entry.id for entry in file.index.entries] == [entry.id for entry in log.index.entries]
    assert [file.body(entry) for entry in file.index.entries] == [log.body(entry) for entry in log.index.entries]
    assert torn_lines(path.read_bytes()) == []
    assert json.loads(log.line(log.index.entries[-1]))["id"] == "last"
    log.close()
    file.close()
