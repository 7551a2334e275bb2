"""A set of tools in a folder of its own, called as the loop calls them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pydantic import BaseModel

from app.agent.tool import AbortSignal, AgentTool, AgentToolResult
from app.ai.messages import TextContent
from app.tools.builtin import builtin_tools
from app.tools.context import ToolContext
from app.tools.grep import GrepTool


def text_of(result: AgentToolResult) -> str:
    """The text blocks of a result, which must be valid UTF-8 and JSON."""
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    text.encode("utf-8")
    json.dumps(result.details)
    return text


@dataclass
class Toolbox:
    """The tools of one working folder; `updates` are those of the last call."""

    context: ToolContext
    use_ripgrep: bool = False
    updates: list[AgentToolResult] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tools: dict[str, AgentTool] = {tool.name: tool for tool in builtin_tools(self.context)}
        self.tools["grep"] = GrepTool(self.context, use_ripgrep=self.use_ripgrep)

    async def call(self, name: str, **arguments: object) -> AgentToolResult:
        """One call: arguments mended and validated, then executed."""
        tool = self.tools[name]
        schema = tool.parameters
        assert isinstance(schema, type)
        assert issubclass(schema, BaseModel)
        params = schema.model_validate(tool.prepare_arguments(arguments))
        self.updates = []
        return await tool.execute("call-1", params, AbortSignal(), self.updates.append)

    async def text(self, name: str, **arguments: object) -> str:
        """The text of one call."""
        return text_of(await self.call(name, **arguments))


@pytest.fixture
def box(work: Path, tmp_path: Path) -> Toolbox:
    """The tools in an empty working folder."""
    return Toolbox(ToolContext(cwd=work, output_dir=tmp_path / "output"))


@pytest.fixture
def nobody(work: Path) -> Iterator[None]:
    """Run as a user whom file modes bind; a superuser becomes `nobody` for the test."""
    if os.geteuid() != 0:
        yield
        return
    os.chown(work, 65534, 65534)
    folder = work.parent
    while folder != folder.parent and folder.name != "tmp":
        os.chmod(folder, 0o755)
        folder = folder.parent
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
