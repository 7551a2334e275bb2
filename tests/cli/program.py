"""The installed program as its users meet it: a process with arguments, pipes, signals, files and an exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PINYON = str(Path(sys.executable).parent / "pinyon")
LIMIT_S = 18.0
# Starts the program with signals as a terminal gives them (test runners ignore some), after `code` has run.
LAUNCHER = """import os, signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_DFL)
{code}
os.execv(sys.argv[1], sys.argv[1:])
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended."""

    code: int
    out: str
    err: str

    def events(self) -> list[dict[str, Any]]:
        """The objects of JSON mode; every line must be one."""
        return [json.loads(line) for line in self.out.split("\n") if line]

    def complaint(self) -> str:
        """The one line on standard error."""
        lines = self.err.rstrip("\n").split("\n")
        assert len(lines) == 1, self.err
        assert lines[0].startswith("pinyon: ")
        return lines[0]


class Program:
    """Pinyon in a working folder, with an empty configuration until a test fills it."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.config = Path(os.environ["PINYON_CONFIG_DIR"])
        self.data = Path(os.environ["PINYON_DATA_DIR"])
        self.cache = Path(os.environ["PINYON_CACHE_DIR"])
        self.env: dict[str, str | None] = {}

    def configure(self, name: str, value: object) -> Path:
        """Write a file of the configuration: text as it is, everything else as JSON."""
        self.config.mkdir(parents=True, exist_ok=True)
        path = self.config / name
        path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
        return path

    def use(self, address: str, family: str, key: str = "k", **settings: object) -> None:
        """Ask the model `m` of the provider `wire` at `address`, without waits between retries."""
        base = address + ("/v1" if family == "openai-completions" else "")
        model = {"id": "m", "reasoning": True, "contextWindow": 200_000, "maxTokens": 8000}
        wire = {"baseUrl": base, "apiKey": key, "api": family, "models": [model]}
        self.configure("models.json", {"providers": {"wire": wire}})
        own = {"defaultProvider": "wire", "defaultModel": "m", "retry": {"baseDelayMs": 1, "maxRetries": 1}}
        self.configure("settings.json", {**own, **settings})

    def start(self, *argv: str, before: str = "", **how: Any) -> subprocess.Popen[bytes]:
        """The running program; standard input is empty unless `how` says otherwise.

        `before` is Python code that runs in the new process first.
        """
        env: dict[str, str] = {key: value for key, value in {**os.environ, **self.env}.items() if value is not None}
        pipes: Mapping[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "cwd": self.work,
            **how,
        }
        launch = [sys.executable, "-I", "-S", "-c", LAUNCHER.format(code=before)]
        return subprocess.Popen([*launch, PINYON, *argv], env=env, **pipes)

    def end(self, process: subprocess.Popen[bytes], stdin: bytes | None = None) -> Ended:
        """Wait for its end; it never shows a traceback."""
        try:
            out, err = process.communicate(stdin, timeout=LIMIT_S)
        except BaseException:
            process.kill()
            process.communicate()
            raise
        ended = Ended(process.returncode, (out or b"").decode("utf-8"), (err or b"").decode("utf-8"))
        assert "Traceback" not in ended.err, ended.err
        assert "unexpected" not in ended.err, ended.err
        return ended

    def run(self, *argv: str, stdin: bytes | None = None, **how: Any) -> Ended:
        """Start it and wait for its end."""
        if stdin is not None:
            how["stdin"] = subprocess.PIPE
        return self.end(self.start(*argv, **how), stdin)

    def sessions(self) -> list[Path]:
        """The session files, oldest first."""
        return sorted(self.data.rglob("*.jsonl"))

    def entries(self, path: Path | None = None) -> list[dict[str, Any]]:
        """The lines of the only session, or of the one at `path`."""
        if path is None:
            (path,) = self.sessions()
        return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]

    def messages(self, path: Path | None = None) -> list[dict[str, Any]]:
        """The stored messages."""
        return [entry["message"] for entry in self.entries(path) if entry["type"] == "message"]
