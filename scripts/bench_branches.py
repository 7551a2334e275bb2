"""Branches in long sessions: open, keys, tree, a step in it, a switch of branch. Dev only.

usage: python scripts/bench_branches.py [COUNT ...]      default: 10000 100000
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from pathlib import Path

from bench import line
from bench_rows import Row, echoes, percentile
from bench_terminal import Terminal
from bench_world import World, entries

BRANCHES = 200


def branched(world: World, count: int) -> Path:
    """A session file of about so many entries with 200 side branches; the newest leaves at the last request."""
    main = entries(count - 2 * BRANCHES, world.work)
    step = max(4, len(main) // BRANCHES // 4 * 4)
    lines: list[dict[str, object]] = []
    last_request = max(n for n, entry in enumerate(main) if dict(entry.get("message") or {}).get("role") == "user")  # type: ignore[call-overload]
    for number, entry in enumerate(main):
        if number and ((number - 1) % step == 0 or number == last_request):
            parent = entry["parentId"]
            for kind, source in (("a", entry), ("b", main[number + 3 if number + 3 < len(main) else number - 1])):
                copy = {**source, "id": f"{kind}{number:07x}", "parentId": parent}
                parent = copy["id"]
                lines.append(copy)
        lines.append(entry)
    path = world.home / f"branched-{count}.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in lines))
    return path


def answered(terminal: Terminal, data: bytes) -> float:
    """Seconds from a key to the first bytes that it brings about."""
    began = time.monotonic()
    terminal.send(data)
    while not terminal.read(2.0) and time.monotonic() - began < 10:
        pass
    taken = terminal.record[-1][0] - began
    terminal.settle(0.1, 2)
    return taken


def calm(terminal: Terminal) -> None:
    """Wait until the program rests: what is read behind the first screen is not part of what follows."""
    for _ in range(60):
        before = terminal.cpu_s()
        terminal.run(0.5)
        if terminal.cpu_s() - before < 0.03:
            return


def rows(world: World, count: int) -> list[Row]:
    """The rows of one length."""
    opened = []
    for last in (False, False, True) if count <= 10_000 else (True,):
        terminal = world.pinyon("--session", str(branched(world, count)))
        opened.append(terminal.wait_for("last words", 180) - terminal.start)
        if not last:
            terminal.close()
    at_once, _ = echoes(terminal, 20, 0.05)
    calm(terminal)
    found = [Row(f"open {count:,} entries, 200 branches", {"shown_ms": statistics.median(opened) * 1000})]
    values = {"p50_ms": percentile(at_once, 0.5) * 1000, "p95_ms": percentile(at_once, 0.95) * 1000}
    found.append(Row(f"key right after, {count:,} entries", values))
    times, sizes = echoes(terminal, 40, 0.05)
    values = {"p50_ms": percentile(times, 0.5) * 1000, "p95_ms": percentile(times, 0.95) * 1000}
    values["bytes"] = statistics.median(sizes)
    found.append(Row(f"key, {count:,} entries", values, "6 / 12 ms", values["p50_ms"] <= 6 and values["p95_ms"] <= 12))
    terminal.settle(0.5)
    trees = []
    for _ in range(5):
        began = time.monotonic()
        terminal.send(b"\x14")
        trees.append(terminal.wait_for("here", 30) - began)
        terminal.settle(0.5)
        if len(trees) < 5:
            terminal.send(b"\x1b")
            terminal.settle(0.5)
    first, again = trees[0] * 1000, statistics.median(trees[1:]) * 1000
    target = "200 ms" if count <= 20_000 else ""
    found.append(
        Row(
            f"tree, {count:,} entries", {"first_ms": first, "again_ms": again}, target, first <= 200 if target else None
        )
    )
    steps = [answered(terminal, b"\x1b[A") for _ in range(30)]
    ms = {"p50_ms": percentile(steps, 0.5) * 1000, "p95_ms": percentile(steps, 0.95) * 1000}
    found.append(Row(f"tree step, {count:,} entries", ms, "30 ms", ms["p95_ms"] <= 30))
    terminal.send(b"\x1b")
    terminal.settle(0.5)
    terminal.send(b"\x1b[1;5A")  # ctrl+up: walk the blocks
    terminal.settle(0.3)
    terminal.send(b"K")
    terminal.settle(0.5)
    switches = []
    for number in range(6):
        began = time.monotonic()
        terminal.send(b"h")
        switches.append(terminal.wait_for("1/2" if number % 2 == 0 else "2/2", 60) - began)
        terminal.settle(1.0, 60)
    values = {"first_ms": switches[0] * 1000, "again_ms": statistics.median(switches[1:]) * 1000}
    found.append(Row(f"branch switch, {count:,} entries", {**values, "peak_mb": terminal.peak_mb()}))
    terminal.close()
    return found


def main() -> None:
    """Measure and print a table."""
    print(f"load {os.getloadavg()[0]:.1f}\n\n| what | measured | target | |\n| --- | --- | --- | --- |", flush=True)
    for count in map(int, sys.argv[1:] or ("10000", "100000")):
        with World() as world:
            for row in rows(world, count):
                print(line(row), flush=True)


if __name__ == "__main__":
    main()
