"""What the bench measures, one function a group of rows; each gives rows of a name, values and a target. Dev only."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from bench_terminal import Terminal
from bench_world import World

LETTERS = "QXZJKVWYGBFMPTRLUHSC"
"""Letters that no answer and no part of the screen contains alone: all text of the server is lower case."""


@dataclass(slots=True)
class Row:
    """One line of the table; `target` says what architecture §7 asks, `ok` whether it is met (None: no target)."""

    name: str
    values: dict[str, float] = field(default_factory=dict)
    target: str = ""
    ok: bool | None = None


def percentile(values: list[float], share: float) -> float:
    """The value below which such a share lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def echoes(terminal: Terminal, keys: int, pause_s: float) -> tuple[list[float], list[int]]:
    """Seconds and bytes of so many keys, a pause between them; the prompt is emptied now and then."""
    times, sizes = [], []
    for number in range(keys):
        if number % len(LETTERS) == 0:
            terminal.send(b"\x15")
            terminal.run(0.2)
        taken, size = terminal.echo(LETTERS[number % len(LETTERS)])
        times.append(taken)
        sizes.append(size)
        terminal.run(pause_s)
    terminal.send(b"\x15")
    return times, sizes


def usable(terminal: Terminal, first: bytes = b"\x1b[?1049h") -> tuple[float, float]:
    """Seconds from the fork to the first frame and until a typed letter is echoed."""
    shown = 0.0
    tail = b""
    while not shown and not terminal.is_closed:
        tail += terminal.read(5.0)
        if first in tail and b"m" in tail[tail.index(first) + 400 :]:
            shown = terminal.record[-1][0]
    typed = 0
    while typed < len(LETTERS):
        taken, _ = terminal.echo(LETTERS[typed], 0.03)
        if taken < 0.03:
            break
        typed += 1
    return shown - terminal.start, terminal.record[-1][0] - terminal.start


def submit(terminal: Terminal, order: str) -> float:
    """Type a prompt and enter; gives the time of the enter."""
    terminal.send(order.encode())
    terminal.run(0.25)
    at = time.monotonic()
    terminal.send(b"\r")
    return at


def start_rows(world: World, runs: int) -> Iterator[Row]:
    """First frame, usable prompt and first request, beside the bare app, in turns."""
    bare, ours = [], []
    leaves = []
    for number in range(runs + 1):
        floor = world.bare()
        bare.append((*usable(floor), floor.cpu_s()))
        floor.close((b"\x11",))
        terminal = world.pinyon()
        ours.append((*usable(terminal), terminal.cpu_s()))
        terminal.send(b"\x15")
        name = f"start{number}"
        terminal.send(f"play id={name}".encode())
        terminal.run(0.02)
        terminal.send(b"\r")
        terminal.wait_for(f"done-{name}", 30)
        leaves.append((world.request_time(name) or 0.0) - terminal.start)
        terminal.close()
    # the first run of each fills the caches
    bare, ours, leaves = bare[1:], ours[1:], leaves[1:]
    floor_ms = statistics.median(each[1] for each in bare) * 1000
    prompt_ms = statistics.median(each[1] for each in ours) * 1000
    leave_ms = statistics.median(leaves) * 1000
    bare_cpu_ms, cpu_ms = (statistics.median(each[2] for each in runs) * 1000 for runs in (bare, ours))
    yield Row(
        "bare app: first frame, prompt",
        {"frame_ms": statistics.median(each[0] for each in bare) * 1000, "prompt_ms": floor_ms, "cpu_ms": bare_cpu_ms},
    )
    yield Row(
        "start: first frame, prompt",
        {
            "frame_ms": statistics.median(each[0] for each in ours) * 1000,
            "prompt_ms": prompt_ms,
            "cpu_ms": cpu_ms,
            "over_bare_ms": prompt_ms - floor_ms,
        },
        "bare + 200 ms",
        prompt_ms - floor_ms <= 200,
    )
    yield Row(
        "start: first request leaves",
        {"request_ms": leave_ms, "over_bare_ms": leave_ms - floor_ms},
        "bare + 500 ms",
        leave_ms - floor_ms <= 500,
    )


def key_row(name: str, times: list[float], sizes: list[int], p50: float, p95: float, size: float | None = None) -> Row:
    """A row of key echoes; limits in ms and bytes."""
    values = {
        "p50_ms": percentile(times, 0.5) * 1000,
        "p95_ms": percentile(times, 0.95) * 1000,
        "bytes_key": statistics.median(sizes),
    }
    ok = values["p50_ms"] <= p50 and values["p95_ms"] <= p95 and (size is None or values["bytes_key"] <= size)
    words = f"{p50:.0f} / {p95:.0f} ms" + (f", {size:.0f} B" if size else "")
    return Row(name, values, words, ok)


def key_rows(world: World, keys: int) -> Iterator[Row]:
    """Key echo: bare, idle, over SSH, at 100 tokens/s and in a flood."""
    floor = world.bare()
    floor.settle()
    times, sizes = echoes(floor, keys, 0.05)
    floor.close((b"\x11",))
    bare = key_row("keys: bare TextArea", times, sizes, 0, 0)
    bare.target, bare.ok = "", None
    yield bare
    for ssh in (False, True):
        terminal = world.ready(ssh=ssh)
        name = "keys: idle" + (" (SSH)" if ssh else "")
        yield key_row(name, *echoes(terminal, keys, 0.05), 6, 12, 400 if ssh else 800)
        if not ssh:
            submit(terminal, f"play tokens={int(keys * 100 * 0.09) + 300} rate=100 id=steady")
            terminal.wait_for("session", 10)
            row = key_row("keys: at 100 tokens/s", *echoes(terminal, keys, 0.05), 12, 50)
            del row.values["bytes_key"]
            yield row
            terminal.send(b"\x1b")
            terminal.settle(0.5)
            submit(terminal, f"play tokens={keys * 1500} id=flood")
            terminal.wait_for("session", 10)
            row = key_row("keys: in a flood", *echoes(terminal, keys, 0.02), 50, 50)
            del row.values["bytes_key"]
            row.values["flood_still_on"] = float(world_busy(terminal))
            yield row
        terminal.close((b"\x1b", b"\x03", b"\x03", b"\x03"))


def world_busy(terminal: Terminal) -> bool:
    """Whether it still writes much."""
    before = terminal.total
    terminal.run(0.3)
    return terminal.total - before > 2000


def flood_rows(world: World, counts: list[int], kinds: tuple[str, ...] = ("prose", "fence")) -> Iterator[Row]:
    """CPU, time and bytes of whole answers as fast as they come."""
    for kind in kinds:
        first: float | None = None
        for count in counts:
            terminal = world.ready()
            before, bytes_before = terminal.cpu_s(), terminal.total
            name = f"{kind}{count}"
            began = submit(terminal, f"play kind={kind} tokens={count} id={name}")
            ended = terminal.wait_for(f"done-{name}", 120)
            terminal.settle(0.4)
            cpu, size = terminal.cpu_s() - before, terminal.total - bytes_before
            terminal.close()
            per_token = cpu / count * 1e6
            first = first or per_token
            ok = None if count < 10_000 else per_token <= 1.3 * first
            yield Row(
                f"{kind}: {count:,} tokens at once",
                {
                    "wall_s": ended - began,
                    "cpu_s": cpu,
                    "cpu_us_token": per_token,
                    "bytes_char": size / (3.85 * count),
                },
                "linear" if ok is not None else "",
                ok,
            )


def steady_rows(world: World, seconds: int) -> Iterator[Row]:
    """Bytes a token and CPU at 100 tokens a second."""
    for ssh in (False, True):
        terminal = world.ready(ssh=ssh)
        name = f"even{ssh}".lower()
        submit(terminal, f"play tokens={seconds * 100 + 600} rate=100 id={name}")
        terminal.wait_for("session", 10)
        terminal.run(3.0)
        cpu, size, began = terminal.cpu_s(), terminal.total, time.monotonic()
        terminal.run(seconds)
        taken = time.monotonic() - began
        share, per_token = (terminal.cpu_s() - cpu) / taken * 100, (terminal.total - size) / (taken * 100)
        terminal.send(b"\x1b")
        terminal.settle(0.3)
        terminal.close()
        limit = 60 if ssh else 120
        yield Row(
            "100 tokens/s" + (" (SSH)" if ssh else ""),
            {"bytes_token": per_token, "cpu_percent": share},
            f"{limit} B, 15 %",
            per_token <= limit and share <= 15,
        )


def open_rows(world: World, counts: list[int], keys: int) -> Iterator[Row]:
    """Open sessions: the prompt, the last words, memory, then keys in it."""
    empties = []
    for _ in range(3):
        empty = world.pinyon()
        empties.append(empty.wait_for("model bench", 30) - empty.start)
        empty.close()
    start = statistics.median(empties)
    for count in counts:
        prompts, lasts, cpus = [], [], []
        for _ in range(3 if count <= 10_000 else 1):
            terminal = world.pinyon("--session", str(world.session(count)))
            prompts.append(usable(terminal)[1])
            if not any("last words" in row for row in terminal.screen()):
                terminal.wait_for("last words", 120)
            lasts.append(terminal.record[-1][0] - terminal.start)
            cpus.append(terminal.cpu_s())
            terminal.settle(0.5, 30)
            peak = terminal.peak_mb()
            if len(prompts) < (3 if count <= 10_000 else 1):
                terminal.close()
        late = statistics.median(lasts) - start
        ok = late <= 0.5 and peak <= 150 if count == 10_000 else None
        yield Row(
            f"open {count:,} entries",
            {
                "prompt_ms": statistics.median(prompts) * 1000,
                "shown_ms": statistics.median(lasts) * 1000,
                "over_empty_ms": late * 1000,
                "cpu_ms": statistics.median(cpus) * 1000,
                "peak_mb": peak,
            },
            "" if ok is None else "empty + 500 ms, 150 MB",
            ok,
        )
        if count >= 10_000:
            yield key_row(f"keys: {count:,} entries", *echoes(terminal, keys, 0.05), 6, 12, 800)
        terminal.close()


def tool_rows(world: World) -> Iterator[Row]:
    """20 bash calls, one after the other."""
    terminal = world.ready()
    cpu, size = terminal.cpu_s(), terminal.total
    began = submit(terminal, "play tools=20 id=calls")
    ended = terminal.wait_for("done-calls", 60)
    terminal.settle()
    values = {"wall_s": ended - began, "cpu_s": terminal.cpu_s() - cpu, "kB": (terminal.total - size) / 1000}
    terminal.close()
    yield Row("20 bash calls", values, "pi: 0.45 s, 164 kB", values["wall_s"] <= 0.45 and values["kB"] <= 164)


def resize_rows(world: World) -> Iterator[Row]:
    """One change of size after a long answer."""
    terminal = world.ready()
    submit(terminal, "play tokens=5000 id=long")
    terminal.wait_for("done-long", 60)
    terminal.settle(0.5)
    times, sizes = [], []
    for columns in (100, 120, 90, 120, 80, 120):
        began, before = time.monotonic(), terminal.total
        terminal.resize(columns, 40)
        times.append(terminal.settle(0.4) - began)
        sizes.append(terminal.total - before)
    terminal.close()
    yield Row("resize", {"ms": statistics.median(times) * 1000, "kB": statistics.median(sizes) / 1000})


def idle_rows(world: World) -> Iterator[Row]:
    """Five seconds of nothing."""
    terminal = world.ready()
    terminal.settle(1.5)
    cpu, size = terminal.cpu_s(), terminal.total
    terminal.run(5.0)
    values = {"bytes": float(terminal.total - size), "cpu_ms": (terminal.cpu_s() - cpu) * 1000}
    terminal.close()
    yield Row("idle, 5 s", values, "0 B, 0 ms", values["bytes"] == 0 and values["cpu_ms"] < 15)


Group = Callable[[World], Iterator[Row]]


def groups(*, quick: bool, huge: bool) -> dict[str, Group]:
    """The groups of rows by name."""
    keys = 40 if quick else 100
    counts = [200, 2000, 10_000] + ([100_000] if huge else [])
    return {
        "start": lambda world: start_rows(world, 3 if quick else 7),
        "keys": lambda world: key_rows(world, keys),
        "flood": lambda world: flood_rows(world, [2000, 10_000] if quick else [2000, 10_000, 30_000]),
        "steady": lambda world: steady_rows(world, 6 if quick else 15),
        "open": lambda world: open_rows(world, counts[1:] if quick else counts, keys),
        "tools": tool_rows,
        "resize": resize_rows,
        "idle": idle_rows,
    }
