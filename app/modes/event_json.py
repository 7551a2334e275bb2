"""A SessionEvent as the reference's JSON object: camelCase, absent members left out; data in, data out."""

from __future__ import annotations

import json
from typing import Any

from app.agent.events import AgentEnd, MessageUpdate, ToolExecutionEnd, ToolExecutionUpdate, TurnEnd
from app.agent.tool import AgentToolResult
from app.ai.messages import WireModel
from app.runtime.events import SessionEvent

_CAMEL: dict[str, str] = {}


def event_json(event: SessionEvent, *, partials: bool = False) -> dict[str, Any]:
    """The object of one line. A message_update carries its delta alone unless `partials`: repeating the growing
    message is quadratic in its length.
    """
    match event:
        case MessageUpdate(message, inner):
            told = {key: _plain(value) for key, value in _members(inner) if key != "partial"}
            line: dict[str, Any] = {"type": event.type, "assistantMessageEvent": told}
            if partials:
                line["message"] = message.to_wire()
            return line
        case AgentEnd(messages):
            return {"type": event.type, "messages": [_plain(message) for message in messages]}
        case TurnEnd(message, results):
            return {
                "type": event.type,
                "message": message.to_wire(),
                "toolResults": [result.to_wire() for result in results],
            }
        case ToolExecutionUpdate() | ToolExecutionEnd():
            return {key: _plain(value) for key, value in _members(event)}
        case _:
            return {key: _plain(value) for key, value in _members(event) if value is not None}


def event_line(event: SessionEvent, *, partials: bool = False) -> str:
    """The event as one line of JSON, without a line feed. Never raises for what a model, tool or extension put in."""
    return json_line(event_json(event, partials=partials))


def json_line(value: dict[str, Any]) -> str:
    """One line of JSON: what JSON has no word for becomes null (NaN, infinities) or text (anything else)."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str, allow_nan=False)
    except (ValueError, TypeError):
        from app.session.lines import encode

        plain: dict[str, Any] = json.loads(json.dumps(value, default=str, skipkeys=True))
        return encode(plain).decode("utf-8", "replace").rstrip("\n")


def _members(event: Any) -> list[tuple[str, Any]]:
    names = type(event).__dataclass_fields__
    return [("type", event.type), *((_camel(name), getattr(event, name)) for name in names if name != "type")]


def _plain(value: Any) -> Any:
    if isinstance(value, AgentToolResult):
        result: dict[str, Any] = {"content": [block.to_wire() for block in value.content]}
        if value.details is not None:
            result["details"] = value.details
        if value.terminate:
            result["terminate"] = True
        return result
    return value.to_wire() if isinstance(value, WireModel) else value


def _camel(name: str) -> str:
    if name not in _CAMEL:
        head, *tail = name.split("_")
        _CAMEL[name] = head + "".join(part.capitalize() for part in tail)
    return _CAMEL[name]
