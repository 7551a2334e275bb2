"""Measure the core from outside, without a screen: start-up, and CPU and memory of a 30,000-token reply.

usage: python scripts/measure_core.py [PINYON]      (default: the console script beside this Python)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any

TOKENS = 30_000
ROUNDS = 7


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    line = {"id": "r", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}
    line["choices"][0]["finish_reason"] = finish  # type: ignore[index]
    return b"data: " + json.dumps(line).encode() + b"\n\n"


def reply(tokens: int) -> bytes:
    """A reply of so many tokens of 4 characters, one an event, with a paragraph every 200 tokens."""
    words = (chunk({"content": "\n\nnew" if number % 200 == 199 else " tok"}) for number in range(tokens))
    return chunk({"role": "assistant", "content": ""}) + b"".join(words) + chunk({}, "stop") + b"data: [DONE]\n\n"


def serve(body: bytes) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def home_for(folder: Path, address: str | None) -> dict[str, str]:
    """An environment with a configuration of its own; with `address` its model is asked, else the offline guide."""
    config = folder / "config"
    config.mkdir(parents=True)
    if address is not None:
        model = {"id": "m", "contextWindow": 1_000_000, "maxTokens": 100_000}
        provider = {"baseUrl": address + "/v1", "apiKey": "k", "api": "openai-completions", "models": [model]}
        (config / "models.json").write_text(json.dumps({"providers": {"local": provider}}))
        (config / "settings.json").write_text(json.dumps({"defaultProvider": "local", "defaultModel": "m"}))
    names = {"CONFIG": config, "DATA": folder / "data", "CACHE": folder / "cache"}
    own = {f"PINYON_{name}_DIR": str(path) for name, path in names.items()}
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "TERM": "dumb", **own}


class Figures:
    """Wall and CPU time in ms, peak memory in MB, bytes printed: of one run."""

    def __init__(self, argv: list[str], env: dict[str, str], cwd: Path) -> None:
        started = time.perf_counter()
        process = subprocess.Popen(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        assert process.stdout is not None
        self.bytes = len(process.stdout.read())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.wall_ms = (time.perf_counter() - started) * 1000
        self.cpu_ms = (usage.ru_utime + usage.ru_stime) * 1000
        self.memory_mb = usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024 * 1024)
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(argv)}: exit code {process.returncode}")


def row(name: str, make: Callable[[], Figures], rounds: int) -> Figures:
    runs = [make() for _ in range(rounds)]
    best = min(runs, key=lambda run: run.cpu_ms)
    wall = [run.wall_ms for run in runs]
    print(f"{name:<44}{min(wall):>9.0f}{median(wall):>9.0f}{best.cpu_ms:>9.0f}{best.memory_mb:>9.0f}{best.bytes:>12,}")
    return best


def main() -> None:
    pinyon = sys.argv[1] if len(sys.argv) > 1 else str(Path(sys.executable).parent / "pinyon")
    print(f"{'':<44}{'wall':>9}{'median':>9}{'CPU':>9}{'memory':>9}{'printed':>12}")
    print(f"{'':<44}{'ms':>9}{'ms':>9}{'ms':>9}{'MB':>9}{'bytes':>12}")
    with tempfile.TemporaryDirectory(prefix="pinyon-measure-") as scratch:
        base = Path(scratch)
        work = base / "work"
        work.mkdir()
        offline = home_for(base / "offline", None)
        row("bare Python", partial(Figures, [sys.executable, "-c", "pass"], offline, work), ROUNDS)
        row("--version (budget 60 ms)", partial(Figures, [pinyon, "--version"], offline, work), ROUNDS)
        row("--help", partial(Figures, [pinyon, "--help"], offline, work), ROUNDS)
        ask = [pinyon, "-p", "list the files here"]
        row("-p on the offline guide, one tool", partial(Figures, ask, offline, work), ROUNDS)
        for tokens in (1, TOKENS // 10, TOKENS):
            server = serve(reply(tokens))
            online = home_for(base / f"online-{tokens}", f"http://127.0.0.1:{server.server_address[1]}")
            rounds = 3 if tokens == TOKENS else ROUNDS
            name = f"{tokens:,} token{'s' if tokens > 1 else ''}"
            row(f"-p, {name}", partial(Figures, [pinyon, "-p", "go"], online, work), rounds)
            argv = [pinyon, "--mode", "json", "-p", "go"]
            row(f"--mode json, {name}", partial(Figures, argv, online, work), rounds)
            server.shutdown()
            server.server_close()


if __name__ == "__main__":
    main()
