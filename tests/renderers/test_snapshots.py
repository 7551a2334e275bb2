"""Every block as text at four widths, one file a block; PINYON_UPDATE_SNAPSHOTS=1 writes them anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.visual import Visual

from renderers import messages
from renderers.folded import folded_visual
from renderers.header import render_collapsible_header, render_header
from renderers.registry import DENSITIES, render_tool
from renderers.stack import Stack
from tests.renderers.draw import HOSTILE, Block, Outcome, draw, result

FOLDER = Path(__file__).parent / "snapshots"
UPDATE = bool(os.environ.get("PINYON_UPDATE_SNAPSHOTS"))  # read here: tests run without the caller's environment
WIDTHS = (20, 40, 80, 120)

WIDE = "日本語のテキスト 👩‍👩‍👧 and ünï 👍🏽 " * 3
OUTPUT = (
    "".join(f"tests/test_{i}.py ....\n" for i in range(34))
    + "FAILED tests/test_parse.py::test_quotes\n1 failed in 0.41s\n"
)
DIFF = """\
  40 def parse(line):
  41     field = line[start:end]
- 42     out.append(field)
+ 42     if field.startswith('"'):
+ 43         field = field[1:-1]
+ 44     out.append(field)
     ...
  97 # 終わり
- 98 sep = ","
+100 sep = ";\""""
CODE = """\
import csv


def parse(line: str) -> list[str]:
\treturn [field.strip() for field in line.split(",")]  # naïve 日本
"""
GREP = (
    "src/parse.py:12: def parse(line):\nsrc/parse.py-13-     field = ''\ntests/test_parse.py:3: def parse_all():\n\n"
    "[2 matches limit reached. Use limit=4 for more]"
)


def tool(name: str, params: object, outcome: Outcome | None = None, **options: object) -> Visual:
    streaming = bool(options.pop("streaming", outcome is None))
    parts = [
        render_tool(name, params, outcome, streaming, density=density, **options).content  # type: ignore[arg-type]
        for density in DENSITIES
    ]
    return Stack(parts, gap=1)


BASH = {"command": "pytest -q tests/test_parse.py"}
EDIT = {
    "path": "src/acme/parsers/parse.py",
    "edits": [{"oldText": "out.append(field)", "newText": "out.append(field[1:-1])"}],
}
FAILED = result(OUTPUT + "\n\nCommand exited with code 1", {"exitCode": 1}, error=True, ms=2300)

BLOCKS: dict[str, Callable[[], Visual]] = {
    "header": lambda: Stack(
        [
            *(render_header(state, "⚙", "Extracting notes.pdf") for state in ("inprogress", "complete", "error")),
            *(render_collapsible_header("complete", "⚙", "Extracted text", expanded=x) for x in (True, False)),
        ]
    ),
    "bash_failed": lambda: tool("bash", BASH, FAILED),
    "bash_running": lambda: tool("bash", BASH, result(OUTPUT[:300]), streaming=True, elapsed_s=1.2, frame=2),
    "bash_pending": lambda: tool("bash", {"command": "pyte"}),
    "bash_script": lambda: tool("bash", {"command": "cat <<'E'\n日本\n[/]\nE"}, result("日本\n[/]\n", ms=40)),
    "bash_plain": lambda: tool("bash", BASH, FAILED, plain=True),
    "read": lambda: tool("read", {"path": "src/acme/parsers/parse.py", "offset": 9, "limit": 5}, result(CODE)),
    "read_image": lambda: tool("read", {"path": "docs/chart.png"}, Outcome([Block(data="A" * 90_000)])),
    "read_failed": lambda: tool("read", {"path": "src/nope.py"}, result("src/nope.py: no such file", error=True)),
    "edit_planned": lambda: tool("edit", EDIT),
    "edit": lambda: tool("edit", EDIT, result("Replaced 2 blocks", {"diff": DIFF, "firstChangedLine": 42})),
    "edit_failed": lambda: tool("edit", EDIT, result("The text to replace was not found in parse.py", {}, error=True)),
    "edit_plain": lambda: tool("edit", EDIT, result("ok", {"diff": DIFF}), plain=True),
    "write_coming": lambda: tool("write", {"path": "src/acme/new.py", "content": CODE * 3}),
    "write": lambda: tool("write", {"path": "src/acme/new.py", "content": CODE * 3}, result("Wrote 300 bytes")),
    "grep": lambda: tool("grep", {"pattern": "def parse", "path": "."}, result(GREP, {"matchLimitReached": 2})),
    "find": lambda: tool("find", {"pattern": "**/*.py", "path": "src"}, result("a.py\n日本/b.py\n[red]c.py\n")),
    "ls": lambda: tool("ls", {"path": "src/acme"}, result("parsers/\nREADME.md\n")),
    "default": lambda: tool("weather", {"city": "København", "days": [1, 2]}, result('{"sky": "☀️", "t": [3, 4]}')),
    "default_failed": lambda: tool("weather", {"city": "x" * 90}, result("503 from the service", error=True)),
    "folded": lambda: Stack(
        [folded_visual([("read", {"path": str(i)}) for i in range(4)] + [("grep", {}), ("find", {})], plain=plain)
         for plain in (False, True)]
    ),
    "user": lambda: messages.user_visual(
        "The CSV test fails since yesterday. Find out why and fix it.\n" + WIDE, siblings=(2, 3), images=1
    ),
    "user_plain": lambda: messages.user_visual("Fix it.", siblings=(2, 3), plain=True),
    "assistant": lambda: messages.assistant_visual(
        "I'll look at the **failing test** first.\n\n- one\n- two\n\n```python\ndef f(): pass\n```\n\n" + WIDE
    ),
    "thinking": lambda: Stack(
        [messages.thinking_visual("First I look.\n" + WIDE + "\n" + WIDE, density, 4.2) for density in DENSITIES]
        + [messages.thinking_visual("", "title", 2.0, True)],
        gap=1,
    ),
    "bash_execution": lambda: Stack(
        [
            messages.bash_execution_visual("git status", OUTPUT, exit_code=0, excluded=True, elapsed_s=2.0),
            messages.bash_execution_visual("make", "", exit_code=2),
            messages.bash_execution_visual("sleep 9", "so far", running=True, elapsed_s=3.0),
            messages.bash_execution_visual("sleep 9", "so far", cancelled=True, plain=True),
        ],
        gap=1,
    ),
    "summary": lambda: Stack(
        [messages.summary_visual("compaction", "## Goal\n\nFix the parser.", 12_345, density) for density in DENSITIES]
        + [messages.summary_visual("branch", "Tried csv.reader.", density="full")],
        gap=1,
    ),
    "custom": lambda: messages.custom_visual("deploy", "Deployed to **staging** [red]x[/]."),
    "notes": lambda: Stack(
        [
            messages.error_visual("overloaded_error: the provider is busy", "it is tried again in 8 s; esc stops"),
            messages.interrupted_visual(),
            *(messages.note_visual("copied by OSC 52", level) for level in ("info", "success", "warning", "error")),
            *(messages.note_visual("copied", level, plain=True) for level in ("info", "success", "warning", "error")),
            messages.error_visual("busy", "wait", plain=True),
            messages.interrupted_visual(plain=True),
        ]
    ),
    "hostile": lambda: Stack(
        [messages.user_visual(text) for text in HOSTILE]
        + [tool("bash", {"command": text}, result(text)) for text in HOSTILE]
    ),
}  # fmt: skip


def picture(visual: Visual) -> str:
    parts = []
    for width in WIDTHS:
        parts.append(f"== {width} ==")
        parts.extend(draw(visual, width))
    return "\n".join(parts) + "\n"


@pytest.mark.parametrize("name", sorted(BLOCKS))
def test_a_block_looks_as_it_did(name: str) -> None:
    path = FOLDER / f"{name}.txt"
    text = picture(BLOCKS[name]())
    if UPDATE:
        path.write_text(text, encoding="utf-8")
    assert path.exists(), "no snapshot yet: PINYON_UPDATE_SNAPSHOTS=1 writes it"
    assert text == path.read_text(encoding="utf-8")


def test_every_snapshot_has_its_block() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(BLOCKS)
