"""One line of JSON for every event, whatever a model, a tool or an extension put into it."""

from __future__ import annotations

import json
from pathlib import Path

from app.agent.events import ToolExecutionEnd, ToolExecutionStart
from app.agent.tool import AgentToolResult
from app.modes.event_json import event_line


def refuse(word: str) -> object:
    raise AssertionError(f"{word} is no JSON")


def test_numbers_that_json_has_not_become_null() -> None:
    line = event_line(ToolExecutionStart("c1", "bash", {"timeout": float("inf"), "n": [float("nan"), 1.5]}))
    assert json.loads(line, parse_constant=refuse)["args"] == {"timeout": None, "n": [None, 1.5]}


def test_details_that_are_no_json_become_text() -> None:
    result = AgentToolResult.of_text("ok")
    result.details = {"path": Path("/x"), ("a", "tuple"): 1}
    line = event_line(ToolExecutionEnd("c1", "custom", result, False))
    assert json.loads(line, parse_constant=refuse)["result"]["details"]["path"] == "/x"


def test_an_event_is_one_line_with_any_text() -> None:
    line = event_line(ToolExecutionStart("c1", "bash", {"command": "a\nb\r\u2028\x85\x1b[31m\ud800"}))
    assert "\n" not in line
    assert "\r" not in line
    assert json.loads(line)["args"]["command"].startswith("a\nb\r\u2028")
