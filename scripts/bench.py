"""Measure the app in a pseudo terminal against a local model server: a table, and JSON with `--json FILE`. Dev only.

    python scripts/bench.py [--quick] [--huge] [--json FILE] [GROUP ...]

Figures compare within one run: the bare Textual app is measured in the same run, in turns with ours.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
from dataclasses import asdict
from pathlib import Path

from bench_rows import Row, groups
from bench_terminal import TookTooLongError
from bench_world import World


def line(row: Row) -> str:
    """The row as a line of a Markdown table."""
    values = ", ".join(
        f"{name} {value:,.1f}" if value < 100 else f"{name} {value:,.0f}" for name, value in row.values.items()
    )
    mark = {None: "", True: "met", False: "**missed**"}[row.ok]
    return f"| {row.name} | {values} | {row.target} | {mark} |"


def main() -> int:
    """0, or 1 when a row could not be measured. A missed target is told, not an error: machines differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", help="start keys flood steady open tools resize idle (default: all)")
    parser.add_argument("--quick", action="store_true", help="fewer runs, smaller answers")
    parser.add_argument("--huge", action="store_true", help="open 100,000 entries as well")
    parser.add_argument("--json", type=Path, help="write the figures there")
    arguments = parser.parse_args()
    known = groups(quick=arguments.quick, huge=arguments.huge)
    if wrong := set(arguments.groups) - set(known):
        parser.error(f"there is no group {', '.join(sorted(wrong))}; there are {', '.join(known)}")
    machine = f"{platform.system()}, Python {platform.python_version()}, {os.cpu_count()} cores"
    print(f"{datetime.date.today()} · {machine} · load {os.getloadavg()[0]:.1f} at the start\n")
    print("| what | measured | target | |\n| --- | --- | --- | --- |", flush=True)
    rows: list[Row] = []
    failed = 0
    for name in arguments.groups or known:
        with World() as world:
            try:
                for row in known[name](world):
                    rows.append(row)
                    print(line(row), flush=True)
            except TookTooLongError as error:
                failed += 1
                print(f"| {name} | not measured | | **failed** |", flush=True)
                print(error, file=sys.stderr)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=2))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
