"""Measures what snapshots cost in a made-up repository: `python scripts/snapshot_cost.py [FILES]`."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from app.session.snapshots.prune import size_bytes
from app.session.snapshots.tracker import Tracker

OLD_S = 1_700_000_000


def build(root: Path, count: int) -> None:
    """`count` files of about 1 kB, 20 to a folder, with stamps of yesterday."""
    (root / ".git").mkdir(parents=True)
    (root / ".gitignore").write_text("*.pyc\nbuild/\nnode_modules/\n__pycache__/\n*.log\n")
    for number in range(count):
        folder = root / f"pkg{number // 1000}" / f"module{number // 100 % 10}" / f"part{number // 20 % 5}"
        if number % 20 == 0:
            folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"file_{number % 20}.py"
        path.write_text(f"def function_{number}(value):\n    return value * {number}\n" * 20)
        os.utime(path, (OLD_S, OLD_S))


def timed(name: str, work: Callable[[], object], times: int = 1) -> None:
    """Print the median of some runs in milliseconds."""
    spent: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        spent.append((time.perf_counter() - began) * 1000)
    print(f"{name:58} {median(spent):9.1f} ms   (worst {max(spent):.1f})")


def main() -> None:
    """Build, measure, print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tempfile.TemporaryDirectory() as name:
        root, data = Path(name) / "repo", Path(name) / "data" / "snapshots"
        build(root, count)
        print(f"{count:,} files, {size_bytes(root) / 1e6:.1f} MB")
        tracker = Tracker(root, data)
        timed("first snapshot of the project (all is read and kept)", tracker.snapshot)
        print(f"{'store':58} {size_bytes(data) / 1e6:9.1f} MB")
        # ctimes can't be set: wait until the stamps are old enough to be trusted
        limit = time.monotonic() + 2.5
        while time.monotonic() < limit:
            pass
        timed("second snapshot (stamps are old enough now)", tracker.snapshot)
        files = [path for path in map(str, root.rglob("*")) if path.endswith(".py")]
        timed("floor: nothing but a stat of each file", lambda: [os.lstat(path) for path in files], 9)
        timed("nothing changed, full scan", lambda: tracker.snapshot(full=True), 9)
        timed("nothing changed, asking the kernel's watch", tracker.snapshot, 99)
        before = size_bytes(data)
        timed("a turn: before and after, nothing changed", lambda: (tracker.snapshot(), tracker.snapshot()), 9)
        print(f"{'disk for it':58} {size_bytes(data) - before:9} bytes")
        number = iter(range(1000))

        def edit() -> None:
            (root / "pkg0" / "module0" / "part0" / "file_1.py").write_text(f"changed {next(number)}\n")
            tracker.snapshot()

        timed("one file changed", edit, 9)
        tracker.close()
        again = Tracker(root, data)
        timed("first snapshot of a new process", again.snapshot)
        timed("first full scan of it again", lambda: again.snapshot(full=True), 5)


if __name__ == "__main__":
    main()
