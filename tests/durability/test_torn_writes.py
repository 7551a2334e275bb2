"""A process that dies in the middle of a line: compaction, tree move, branch summary, label, name (cases S1).

The kernel ends it there: with the file's size limited it writes what fits, and SIGXFSZ ends it at the next byte.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.session.inspect import inspect
from app.session.session import Session
from tests.durability.killing import torn_lines

pytestmark = pytest.mark.anyio
REPO = Path(__file__).resolve().parent.parent.parent
ACTS = {
    "compaction": "session.append_compaction('s' * 400, kept, 99)",
    "leaf": "session.move_leaf(kept)",
    "summary": "session.append_branch_summary(kept, 's' * 400)",
    "label": "session.set_label(kept, 'x' * 40)",
    "name": "session.set_name('x' * 40)",
    "message": "session.append_message(UserMessage(content='x' * 400))",
}
DYING = """
import os, resource, signal, sys
from pathlib import Path
import anyio
from app.ai.messages import UserMessage
from app.session.session import Session

async def go():
    folder = Path(sys.argv[1])
    session = Session.create(folder, folder)
    kept = await session.append_message(UserMessage(content="one"))
    await session.append_message(UserMessage(content="two"))
    print(session.path, kept, session.leaf_id, flush=True)
    size = session.path.stat().st_size + int(sys.argv[2])
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    await ({act})

anyio.run(go)
"""


@pytest.mark.parametrize("count", [1, 60])
@pytest.mark.parametrize("act", ACTS)
async def test_a_line_cut_by_the_end_of_its_process_counts_for_nothing(act: str, count: int, work: Path) -> None:
    argv = [sys.executable, "-c", DYING.replace("{act}", ACTS[act]), str(work), str(count)]
    env = {**os.environ, "PYTHONPATH": str(REPO)}
    done = subprocess.run(argv, cwd=REPO, env=env, capture_output=True, text=True, timeout=15, check=False)
    assert done.returncode == -signal.SIGXFSZ, done.stderr
    name, kept, leaf = done.stdout.split()
    path = Path(name)
    before = path.read_bytes()
    torn = before[before.rindex(b"\n") + 1 :]
    assert len(torn) == count
    assert (inspect(path)["leaf"], inspect(path)["entries"], path.read_bytes()) == (leaf, 2, before)
    session = await Session.open(path)
    assert any("ended without closing this session" in note for note in session.notes)
    await session.move_leaf(kept)
    await session.set_label(kept, "again")
    await session.close()
    after = path.read_bytes()
    assert after.startswith(before + b"\n")
    assert torn_lines(after) == [3]
    assert (inspect(path)["branch_points"], inspect(path)["labels"]) == (1, {kept: "again"})
    assert path.with_name(path.name + ".aside").read_bytes() == torn + b"\n"
    assert all(json.loads(line) for line in after[len(before) + 1 :].split(b"\n") if line)
