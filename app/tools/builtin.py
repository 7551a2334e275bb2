"""The built-in tools in their order; the one place that knows them all."""

from __future__ import annotations

from app.agent.tool import AgentTool
from app.tools.bash import BashTool
from app.tools.context import ToolContext
from app.tools.edit import EditTool
from app.tools.find import FindTool
from app.tools.grep import GrepTool
from app.tools.ls import LsTool
from app.tools.read import ReadTool
from app.tools.write import WriteTool


def builtin_tools(context: ToolContext) -> list[AgentTool]:
    """All seven, all active by default (architecture §6): read, bash, edit, write, grep, find, ls."""
    return [
        ReadTool(context),
        BashTool(context),
        EditTool(context),
        WriteTool(context),
        GrepTool(context),
        FindTool(context),
        LsTool(context),
    ]
