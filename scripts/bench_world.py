"""Where a bench runs: a home of its own, the model server, made-up sessions. Dev only; nothing outside its folder."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

from bench_server import WORDS, tokens
from bench_terminal import Terminal

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


class World:
    """A context manager; `work` is the folder that the program is started in."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="pinyon-bench-"))
        self.work = self.home / "work"
        self.log = self.home / "requests.log"
        self.sessions: dict[int, Path] = {}

    def __enter__(self) -> World:
        self.work.mkdir()
        port = self.home / "port"
        self.server = subprocess.Popen([sys.executable, str(HERE / "bench_server.py"), str(port), str(self.log)])
        end = time.monotonic() + 10
        while not (port.exists() and port.read_text()) and time.monotonic() < end:
            time.sleep(0.02)
        config = self.home / "config"
        config.mkdir()
        model = {"id": "bench", "name": "bench", "contextWindow": 100_000_000, "maxTokens": 100_000}
        provider = {
            "baseUrl": f"http://127.0.0.1:{port.read_text()}/v1",
            "api": "openai-completions",
            "apiKey": "none",
            "models": [model],
        }
        (config / "models.json").write_text(json.dumps({"providers": {"bench": provider}}))
        (config / "settings.json").write_text(json.dumps({"defaultProvider": "bench", "defaultModel": "bench"}))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.kill()
        self.server.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def env(self, *, ssh: bool = False) -> dict[str, str]:
        """A plain environment with this home."""
        env = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
        env |= {"HOME": str(self.home), "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
        for name in ("CONFIG", "DATA", "CACHE"):
            env[f"PINYON_{name}_DIR"] = str(self.home / name.lower())
        env["NO_PROXY"] = "127.0.0.1"
        if ssh:
            env |= {"SSH_CONNECTION": "127.0.0.1 1 127.0.0.1 22", "SSH_TTY": "/dev/pts/0"}
        return env

    def pinyon(self, *arguments: str, ssh: bool = False, columns: int = 120, rows: int = 40) -> Terminal:
        """The app, just started."""
        argv = [sys.executable, "-m", "app", *arguments]
        env = {**self.env(ssh=ssh), "PYTHONPATH": str(ROOT)}
        script = Path(sys.executable).with_name("pinyon")
        if script.exists():
            argv = [str(script), *arguments]
        return Terminal(argv, env, self.work, columns=columns, rows=rows)

    def bare(self) -> Terminal:
        """The floor, just started, with the same frames a second."""
        env = {**self.env(), "TEXTUAL_FPS": "30", "TEXTUAL_ANIMATIONS": "none"}
        return Terminal([sys.executable, str(HERE / "bench_bare.py")], env, self.work)

    def ready(self, *arguments: str, ssh: bool = False) -> Terminal:
        """The app with its session open and all quiet."""
        terminal = self.pinyon(*arguments, ssh=ssh)
        terminal.wait_for("bench", 60)
        terminal.settle(0.5)
        return terminal

    def request_time(self, name: str) -> float | None:
        """When the first request of an order arrived."""
        for line in self.log.read_text().split("\n") if self.log.exists() else ():
            if line and (entry := json.loads(line))["id"] == name:
                return float(entry["t"])
        return None

    def session(self, count: int) -> Path:
        """A session file of so many entries: requests, answers, bash calls with their results."""
        if count not in self.sessions:
            path = self.home / f"{count}.jsonl"
            path.write_text("".join(json.dumps(entry) + "\n" for entry in entries(count, self.work)))
            self.sessions[count] = path
        copy = self.home / f"{count}-{time.monotonic_ns()}.jsonl"
        shutil.copy(self.sessions[count], copy)
        return copy


def entries(count: int, cwd: Path) -> list[dict[str, object]]:
    """The header and `count` entries of one branch; the last one says "the last words"."""
    chance = random.Random(3)
    answer = list(tokens("prose", 4000))
    stamp = "2026-11-01T10:00:00.000Z"
    made: list[dict[str, object]] = [
        {"type": "session", "version": 3, "id": f"bench-{count}", "timestamp": stamp, "cwd": str(cwd)}
    ]
    usage = {"input": 500, "output": 80, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 580}
    usage["cost"] = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "total"), 0)  # type: ignore[assignment]
    for number in range(count):
        step, call = number % 4, f"call_{number // 4}"
        at = chance.randrange(0, 3800)
        prose: list[dict[str, object]] = [{"type": "text", "text": "".join(answer[at : at + 120])}]
        message: dict[str, object]
        if number == count - 1:
            step, prose = 3, [{"type": "text", "text": "these are the last words"}]
        if step == 0:
            message = {"role": "user", "content": " ".join(chance.choices(WORDS, k=12))}
        elif step == 2:
            output = "\n".join(" ".join(chance.choices(WORDS, k=6)) for _ in range(20))
            message = {"role": "toolResult", "toolCallId": call, "toolName": "bash", "isError": False}
            message["content"] = [{"type": "text", "text": output}]
        else:
            message = {"role": "assistant", "api": "openai-completions", "provider": "bench", "model": "bench"}
            message |= {"usage": usage, "stopReason": "toolUse" if step == 1 else "stop"}
            arguments = {"command": f"ls {number}"}
            tool = {"type": "toolCall", "id": call, "name": "bash", "arguments": arguments}
            message["content"] = [*prose, tool] if step == 1 else prose
        message["timestamp"] = 1793527200000 + number
        parent = f"{number:08x}" if number else None
        made.append(
            {"type": "message", "id": f"{number + 1:08x}", "parentId": parent, "timestamp": stamp, "message": message}
        )
    return made
