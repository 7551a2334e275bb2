"""Bodies in the two wire families, for the test provider: the same things said in each."""

from __future__ import annotations

import json
from typing import Any

from tests.cli.server import Reply

CHAT, ANTHROPIC = "openai-completions", "anthropic-messages"
Call = tuple[str, str, dict[str, Any]]
"""Id, tool, arguments."""


def _chat(delta: dict[str, Any], finish: str | None = None) -> bytes:
    line = {"id": "r1", "object": "chat.completion.chunk", "choices": [{"delta": delta, "finish_reason": finish}]}
    line["choices"][0]["index"] = 0  # type: ignore[index]
    return b"data: " + json.dumps(line).encode() + b"\n\n"


def _event(kind: str, **members: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n".encode()


def pieces(text: str) -> list[str]:
    return [text[at : at + 4] for at in range(0, len(text), 4)]


def head(family: str) -> bytes:
    """What an answer begins with."""
    if family == CHAT:
        return _chat({"role": "assistant", "content": ""})
    message = {"id": "m1", "type": "message", "role": "assistant", "content": [], "model": "m"}
    return _event("message_start", message={**message, "usage": {"input_tokens": 5, "output_tokens": 1}})


def text_parts(family: str, text: str, index: int = 0) -> tuple[bytes, bytes]:
    """A text block up to its last delta, and its end."""
    if family == CHAT:
        return b"".join(_chat({"content": piece}) for piece in pieces(text)), b""
    deltas = [
        _event("content_block_delta", index=index, delta={"type": "text_delta", "text": piece})
        for piece in pieces(text)
    ]
    start = _event("content_block_start", index=index, content_block={"type": "text", "text": ""})
    return start + b"".join(deltas), _event("content_block_stop", index=index)


def thinking_block(family: str, text: str) -> bytes:
    """A thinking block at place 0."""
    if family == CHAT:
        return b"".join(_chat({"reasoning_content": piece}) for piece in pieces(text))
    deltas = [
        _event("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": piece})
        for piece in pieces(text)
    ]
    start = _event("content_block_start", index=0, content_block={"type": "thinking", "thinking": "", "signature": ""})
    signed = _event("content_block_delta", index=0, delta={"type": "signature_delta", "signature": "c2ln"})
    return start + b"".join(deltas) + signed + _event("content_block_stop", index=0)


def call_block(family: str, index: int, call: Call) -> bytes:
    call_id, name, arguments = call
    raw = pieces(json.dumps(arguments))
    if family == CHAT:
        begun = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
        return _chat({"tool_calls": [begun]}) + b"".join(
            _chat({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}) for piece in raw
        )
    deltas = [
        _event("content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": piece})
        for piece in raw
    ]
    block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    start = _event("content_block_start", index=index, content_block=block)
    return start + b"".join(deltas) + _event("content_block_stop", index=index)


def end(family: str, reason: str = "stop") -> bytes:
    """The provider's word for the end and the end mark; `reason`: stop, tool or length."""
    if family == CHAT:
        word = {"stop": "stop", "tool": "tool_calls", "length": "length"}[reason]
        return _chat({}, word) + b"data: [DONE]\n\n"
    word = {"stop": "end_turn", "tool": "tool_use", "length": "max_tokens"}[reason]
    delta = {"stop_reason": word, "stop_sequence": None}
    return _event("message_delta", delta=delta, usage={"output_tokens": 7}) + _event("message_stop")


def says(text: str, family: str = CHAT, *, think: str = "", reason: str = "stop") -> Reply:
    """A whole answer of text."""
    before = thinking_block(family, think) if think else b""
    body, closing = text_parts(family, text, 1 if think else 0)
    return Reply(head(family) + before + body + closing + end(family, reason))


def calls(*wanted: Call, family: str = CHAT) -> Reply:
    """A whole answer of tool calls."""
    blocks = [call_block(family, index, call) for index, call in enumerate(wanted)]
    return Reply(head(family) + b"".join(blocks) + end(family, "tool"))


def cut(text: str, family: str = CHAT) -> Reply:
    """An answer that breaks off in the middle."""
    return Reply(head(family) + text_parts(family, text)[0], is_whole=False)


def bash(command: str, call_id: str = "c1") -> Call:
    return call_id, "bash", {"command": command}
