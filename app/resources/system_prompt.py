"""The system prompt, built from parts in a fixed order (spec core §7.1); it must never differ between two turns
of the same day, tools and files, since providers cache it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from app.agent.tool import AgentTool
from app.resources.context_files import ContextFile

IDENTITY = (
    "You are a coding agent inside Pinyon, a terminal program. You help its user with work on the files of the "
    "working folder: you read and search, edit and write files, and run commands, and you say what you found and did."
)
SEARCH_TOOLS = ("grep", "find", "ls")


@dataclass(frozen=True, slots=True)
class PromptParts:
    """What the prompt is made of; `custom` replaces identity, tools and guidelines."""

    cwd: Path
    today: date
    tools: Sequence[AgentTool] = ()
    custom: str | None = None
    append: str | None = None
    context_files: Sequence[ContextFile] = field(default_factory=tuple)


def build_system_prompt(parts: PromptParts) -> str:
    """The whole text."""
    blocks = [parts.custom.strip()] if parts.custom is not None else _own_blocks(parts.tools)
    if parts.append:
        blocks.append(parts.append.strip())
    if parts.context_files:
        blocks.append("# Project Context\n\nThe user wrote these files for you. Keep to what they say.")
        blocks += [f"## {file.path}\n\n{file.text.strip()}" for file in parts.context_files]
    cwd = str(parts.cwd).replace("\\", "/")
    blocks.append(f"Current date: {parts.today.isoformat()}\nCurrent working directory: {cwd}")
    return "\n\n".join(block for block in blocks if block)


def _own_blocks(tools: Sequence[AgentTool]) -> list[str]:
    lines = [f"- {tool.name}: {' '.join(tool.prompt_snippet.split())}" for tool in tools if tool.prompt_snippet]
    return [
        IDENTITY,
        "Available tools:\n" + ("\n".join(lines) or "(none)"),
        "There may be further tools of the user's own beside these.",
        "Guidelines:\n" + "\n".join(f"- {rule}" for rule in _guidelines(tools)),
    ]


def _guidelines(tools: Sequence[AgentTool]) -> list[str]:
    names = {tool.name for tool in tools}
    rules: list[str] = []
    if "bash" in names:
        if names.intersection(SEARCH_TOOLS):
            rules.append("Look around with grep, find and ls rather than with bash: they skip what git ignores.")
        else:
            rules.append("Use bash to look around (ls, grep, find).")
    for tool in tools:
        rules += [rule.strip() for rule in tool.prompt_guidelines if rule.strip()]
    rules += ["Be brief.", "Name the files you speak of by their paths."]
    return list(dict.fromkeys(rules))
