"""What each request carries anyway is counted, tools and prompt apart."""

from __future__ import annotations

from pathlib import Path

from app.runtime.fixed_cost import fixed_tokens
from app.tools.builtin import builtin_tools
from app.tools.context import ToolContext


def test_prompt_and_tools_are_counted_apart_and_grow_with_what_is_in_them(work: Path) -> None:
    tools = builtin_tools(ToolContext(cwd=work))
    prompt, seven = fixed_tokens("Be brief. " * 100, tools)
    assert 150 < prompt < 450
    assert 500 < seven < 10_000
    assert fixed_tokens("", tools[:1])[1] < seven / 3
