"""Small session files for tests of search, trash, export and the sessions screen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Raw = dict[str, Any]


def said(role: str, text: str, **more: Any) -> Raw:
    """A message entry's members."""
    return {"type": "message", "message": {"role": role, "content": [{"type": "text", "text": text}], **more}}


def tool_said(text: str, name: str = "bash", call: str = "c1", **more: Any) -> Raw:
    """A tool result."""
    return said("toolResult", text, toolName=name, toolCallId=call, isError=False, **more)


def write_session(
    folder: Path, name: str, entries: list[Raw], *, cwd: str = "/w", day: int = 1, parent: str | None = None
) -> Path:
    """A session file of entries in a row; an entry's own `id` and `parentId` count."""
    header: Raw = {
        "type": "session",
        "version": 3,
        "id": name,
        "timestamp": f"2026-02-{day:02}T00:00:00.000Z",
        "cwd": cwd,
    }
    if parent is not None:
        header["parentSession"] = parent
    rows = [header]
    above: str | None = None
    for number, entry in enumerate(entries):
        stamp = f"2026-02-{day:02}T00:{number // 60:02}:{number % 60:02}.000Z"
        row = {"id": f"e{number}", "parentId": above, "timestamp": stamp, **entry}
        rows.append(row)
        above = row["id"]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_bytes(b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows))
    return path


def add_lines(path: Path, *rows: Raw) -> None:
    """Append entries as lines."""
    with path.open("ab") as stream:
        for row in rows:
            stream.write(json.dumps(row).encode() + b"\n")
