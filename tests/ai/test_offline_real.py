"""The offline guide with the real tools: every call it makes is one that they take."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.agent.tool import AbortSignal, AgentTool, tool_spec
from app.ai.adapters.offline import reply
from app.ai.arguments import validate_tool_arguments
from app.ai.messages import Context, Message, TextContent, ToolCall, ToolResultMessage, UserMessage
from app.errors import ToolError
from app.tools.builtin import builtin_tools
from app.tools.context import ToolContext


async def execute(tool: AgentTool, call: ToolCall) -> ToolResultMessage:
    message = ToolResultMessage(tool_call_id=call.id, tool_name=call.name)
    try:
        params = validate_tool_arguments(tool.name, tool.parameters, call.arguments)
        result = await tool.execute(call.id, params, AbortSignal(), lambda _: None)
        message.content, message.details = list(result.content), result.details
    except ToolError as error:
        message.content, message.details = [TextContent(text=error.message)], error.details
        message.is_error = True
    return message


async def ask(folder: Path, text: str) -> str:
    tools = {tool.name: tool for tool in builtin_tools(ToolContext(cwd=folder, output_dir=folder / ".out"))}
    messages: list[Message] = [UserMessage(content=text)]
    for _ in range(20):
        message = reply(Context(None, list(messages), [tool_spec(tool) for tool in tools.values()]))
        message.provider = "offline"
        messages.append(message)
        if not message.tool_calls():
            return message.text()
        for call in message.tool_calls():
            messages.append(await execute(tools[call.name], call))
    raise AssertionError("the guide never ends")


@pytest.mark.anyio
async def test_a_file_is_written_changed_run_and_read(work: Path) -> None:
    said = await ask(
        work,
        "write sub/hello.sh with `echo first`, then replace `first` with `second` in sub/hello.sh, "
        "then run sub/hello.sh, then read sub/hello.sh, then list sub",
    )
    assert (work / "sub" / "hello.sh").read_text() == "echo second\n"
    for part in ("```diff", "-1 echo first", "+1 echo second", "exit code 0", "\nsecond\n", "1 line", "1 entry"):
        assert part in said


@pytest.mark.anyio
async def test_files_and_lines_are_found(work: Path) -> None:
    (work / "a.py").write_text("x = 1\ny = x\n")
    (work / "b.txt").write_text("x\n")
    said = await ask(work, 'find *.py then search for "x" then search for "nowhere" then find *.rs')
    for part in ("1 path fits `*.py`", "3 matches for `x` in `.`, in 2 files", "Nothing found", "No file fits `*.rs`"):
        assert part in said


@pytest.mark.anyio
async def test_the_tour_leaves_the_folder_as_it_was(work: Path) -> None:
    (work / "mine.txt").write_text("keep\n")
    said = await ask(work, "show me everything you can do")
    assert "failed:" not in said
    assert "exit code 3" in said
    assert [path.name for path in work.iterdir()] == ["mine.txt"]


@pytest.mark.anyio
async def test_a_failing_test_is_run_and_its_place_shown(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    (work / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
    (work / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (work / "test_calc.py").write_text("from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n")
    said = await ask(work, "find out why the test fails")
    assert "exit code 1" in said
    assert "test_calc.py::test_add" in said
    assert "assert add(1, 2) == 3" in said
    said = await ask(work, "replace `a - b` with `a + b` in calc.py then run the tests")
    assert "The tests pass" in said
