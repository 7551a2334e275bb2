"""Kills `pinyon -p` with -9 at random moments, N times, and goes on with -c each time: `python scripts/kill9.py [N]`.

Exit code 1 when anything was lost, rewritten or left without a result. CI does ten of them (tests/durability).
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.cli.program import Program
from tests.cli.server import provider
from tests.cli.wires import CHAT
from tests.durability.killing import kill_once


def main() -> int:
    """Print each fault and the figures."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    places: Counter[str] = Counter()
    faults = ended = torn = snapshots = 0
    began = time.monotonic()
    for number in range(count):
        with tempfile.TemporaryDirectory(prefix="pinyon-kill9-") as name, provider() as server:
            root = Path(name)
            (root / "work").mkdir()
            for part in ("config", "data", "cache"):
                os.environ[f"PINYON_{part.upper()}_DIR"] = str(root / part)
            os.environ["HOME"] = name
            program = Program(root / "work")
            program.use(server.address, CHAT)
            killed = kill_once(program, server, seed + number)
        for fault in killed.faults:
            print(f"kill {number} (seed {seed + number}): {fault}", flush=True)
        faults += len(killed.faults)
        ended += killed.had_ended
        torn += killed.was_torn
        snapshots += killed.snapshots
        places[killed.last_entry] += not killed.had_ended
    print(f"{faults} faults in {count} kills, seed {seed}, {time.monotonic() - began:.0f} s")
    print(f"{ended} runs had ended before the kill; {torn} files had a torn end; {snapshots} snapshots checked")
    print("killed behind: " + ", ".join(f"{what} {times}" for what, times in places.most_common()))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
