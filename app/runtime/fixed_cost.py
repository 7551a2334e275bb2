"""What every request of a session carries before anything is said: system prompt, context files, tools; in tokens."""

from __future__ import annotations

import json
from collections.abc import Sequence

from app.agent.tool import AgentTool, tool_spec
from app.ai.tokens import count_tokens


def fixed_tokens(system_prompt: str, tools: Sequence[AgentTool]) -> tuple[int, int]:
    """(tokens of the system prompt, tokens of the tools' descriptions), counted in cl100k_base: other models differ by
    some per cent. The first call takes about half a second: for a thread.
    """
    specs = [tool_spec(tool) for tool in tools]
    told = json.dumps([[spec.name, spec.description, spec.parameters] for spec in specs], ensure_ascii=False)
    return count_tokens(system_prompt), count_tokens(told)
