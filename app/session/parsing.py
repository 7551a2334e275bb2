"""Raw message objects of a file as message models, however odd they are (cases S5); it must never raise."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ValidationError

from app.session.messages import BUILTIN_MODELS, AgentMessage, OpaqueMessage, message_type

RawMessage = dict[str, Any]
# Each round mends at least one member; a message with more faults than this is kept as it is and not understood.
_ROUNDS = 32


def parse_message(raw: object) -> AgentMessage:
    """The message in `raw` (a JSON object). Never raises.

    A member of a wrong kind is left out and gets its default; a block that fits no kind becomes a text that names it.
    A role nobody knows, or no object at all, gives an OpaqueMessage, which is kept and never sent.
    """
    if not isinstance(raw, dict):
        return OpaqueMessage()
    role = raw.get("role")
    model: type[BaseModel] | None = None
    if isinstance(role, str):
        model = BUILTIN_MODELS.get(role)
        if model is None and (known := message_type(role)) is not None:
            model = known.model
    message = _validated(model, raw) if model is not None else None
    return message if message is not None else _opaque(raw)


def _opaque(raw: RawMessage) -> OpaqueMessage:
    try:
        return OpaqueMessage.model_validate(raw)
    except (ValidationError, RecursionError):
        return OpaqueMessage(role=str(raw.get("role", "")).encode("utf-8", "replace").decode("utf-8"))


def _validated(model: type[BaseModel], raw: RawMessage) -> AgentMessage | None:
    try:
        return model.model_validate(raw)
    except Exception:  # validators meet what nobody foresaw, a registered model's are foreign code: mend and try again
        mended = _sound_text(raw)
        if raw.get("role") in BUILTIN_MODELS:
            mended = _sound_blocks(mended)
    for _ in range(_ROUNDS):
        try:
            return model.model_validate(mended)
        except ValidationError as error:
            if not _mend(mended, error):
                return None
        except Exception:  # no place is named, so there is nothing to take out
            return None
    return None


def _sound_blocks(raw: RawMessage) -> RawMessage:
    """The message with every block that its role can't hold turned into a text that names the kind."""
    content = raw.get("content")
    if isinstance(content, list):
        fitting = ("text", "thinking", "toolCall") if raw.get("role") == "assistant" else ("text", "image")
        raw["content"] = [block if _kind(block) in fitting else _named(block) for block in content]
    return raw


def _kind(block: object) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) else "unknown"


def _named(block: object) -> RawMessage:
    return {"type": "text", "text": block if isinstance(block, str) else f"[{_kind(block)} block]"}


def _sound_text(raw: RawMessage) -> RawMessage:
    """A deep copy without what no model takes: lone surrogates become `?`, infinities and NaN null."""
    try:
        text = json.dumps(raw, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
        copy = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, TypeError, RecursionError):
        return dict(raw)
    return copy if isinstance(copy, dict) else dict(raw)


def _mend(raw: RawMessage, error: ValidationError) -> bool:
    """Take out what the deepest faults name. False when nothing was found to take out."""
    places = sorted((_place(raw, fault["loc"]) for fault in error.errors(include_url=False)), key=len, reverse=True)
    if not places or not places[0]:
        return False
    deepest = len(places[0])
    for place in places:
        if len(place) == deepest:
            _take_out(raw, place)
    return True


def _place(raw: RawMessage, loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The part of pydantic's location that exists in `raw`: names of union members in it are passed over."""
    node: Any = raw
    place: list[int | str] = []
    for number, step in enumerate(loc):
        if isinstance(node, dict) and step == node.get("type") and number + 1 < len(loc):
            continue  # the tag of a block, which may well have a member of the same name
        inside = isinstance(node, list) and isinstance(step, int) and step < len(node)
        if inside or (isinstance(node, dict) and step in node):
            node = node[step]
            place.append(step)
    return tuple(place)


def _take_out(raw: RawMessage, place: tuple[int | str, ...]) -> None:
    node: Any = raw
    for step in place[:-1]:
        try:
            node = node[step]
        except (KeyError, IndexError, TypeError):
            return
    last = place[-1]
    if isinstance(node, list) and isinstance(last, int) and last < len(node):
        node[last] = _named(node[last])
    elif isinstance(node, dict) and last in node:
        del node[last]
