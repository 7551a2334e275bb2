"""Each tool's real result is read by its own renderer: that pair shares nothing but `details` and the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from app.agent.tool import AbortSignal, AgentTool, AgentToolResult
from app.errors import ToolError
from app.tools.builtin import builtin_tools
from app.tools.context import ToolContext
from renderers.registry import Density, render_tool
from tests.renderers.draw import Outcome, draw


async def call(folder: Path, name: str, density: Density = "preview", /, **params: object) -> list[str]:
    """The rows of a call that was really run in `folder`."""
    tool: AgentTool = next(tool for tool in builtin_tools(ToolContext(folder)) if tool.name == name)
    assert isinstance(tool.parameters, type)
    arguments: BaseModel = tool.parameters.model_validate(params)
    partials: list[AgentToolResult] = []
    try:
        found = await tool.execute("id", arguments, AbortSignal(), partials.append)
        outcome = Outcome(list(found.content), found.details)
    except ToolError as error:
        outcome = Outcome([*AgentToolResult.of_text(str(error)).content], error.details, is_error=True)
    for partial in partials:
        assert draw(render_tool(name, params, partial, True, density=density, elapsed_s=1.0).content, 80)
    return draw(render_tool(name, params, outcome, False, density=density).content, 80)


@pytest.mark.anyio
async def test_read(work: Path) -> None:
    (work / "a.py").write_text("".join(f"x = {i}\n" for i in range(30)))
    rows = await call(work, "read", path="a.py", offset=5, limit=3)
    assert rows[0].startswith("  ✓ read  a.py:5-7")
    assert "3 lines" in rows[0]
    assert rows[1:4] == ["    │ 5 x = 4", "    │ 6 x = 5", "    │ 7 x = 6"]
    assert "offset=8" in rows[4]
    assert (await call(work, "read", path="nope.py"))[0].startswith("  ✗ read")


@pytest.mark.anyio
async def test_bash(work: Path) -> None:
    rows = await call(work, "bash", command="echo one; echo two; exit 3")
    assert "exit 3" in rows[0]
    assert rows[1:] == ["    │ one", "    │ two"]
    rows = await call(work, "bash", command="for i in $(seq 3000); do echo $i; done")
    assert "3,000 lines" in rows[0]
    assert "    │ 3000" in rows
    assert any("[Showing lines 1001-3000 of 3000." in row for row in rows)


@pytest.mark.anyio
async def test_edit_and_write(work: Path) -> None:
    (work / "a.py").write_text("a = 1\nb = 2\n")
    rows = await call(work, "edit", path="a.py", edits=[{"oldText": "b = 2", "newText": "b = 3"}])
    assert rows[0].startswith("  ✓ edit  a.py +1 −1")
    assert rows[1:] == ["    │ 1   a = 1", "    │ 2 - b = 2", "    │ 2 + b = 3"]
    rows = await call(work, "edit", path="a.py", edits=[{"oldText": "nothing like it", "newText": "b"}])
    assert rows[0].startswith("  ✗ edit")
    assert len(rows) > 1
    rows = await call(work, "write", path="a.py", content="a = 1\nb = 4\n")
    assert "+1 −1" in rows[0]
    rows = await call(work, "write", path="new.py", content="z = 1\n")
    assert "1 line" in rows[0]
    assert rows[1:] == ["    │ 1 z = 1"]


@pytest.mark.anyio
async def test_grep_find_and_ls(work: Path) -> None:
    (work / "src").mkdir()
    (work / "src" / "a.py").write_text("def one():\n    pass\ndef two():\n")
    (work / "b.txt").write_text("nothing\n")
    rows = await call(work, "grep", pattern="def \\w+")
    assert "2 matches" in rows[0]
    assert rows[1:] == ["    │ src/a.py", "    │     1 def one():", "    │     3 def two():"]
    assert "no matches" in (await call(work, "grep", pattern="absent"))[0]
    assert "1+ matches" in (await call(work, "grep", pattern="def", limit=1))[0]
    rows = await call(work, "find", pattern="**/*.py")
    assert "1 file " in rows[0]
    assert rows[1:] == ["    │ src/a.py"]
    assert "no files" in (await call(work, "find", pattern="*.rs"))[0]
    rows = await call(work, "ls")
    assert "2 entries" in rows[0]
    assert "1+ entries" in (await call(work, "ls", limit=1))[0]
    (work / "empty").mkdir()
    assert "empty" in (await call(work, "ls", path="empty"))[0]
