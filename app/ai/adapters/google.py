"""The Gemini wire (api `google-generative-ai`); it must never take a blocked prompt for an empty answer.

A part is a thought only when it says so; a signature alone does not make it one (spec core §1.9).
"""

from __future__ import annotations

import json
from typing import Any

from app.ai.adapters.blocks import MessageBuilder, Reason
from app.ai.adapters.google_request import build_request
from app.ai.adapters.wire import WireStream
from app.ai.http_errors import fault_error, model_error
from app.ai.messages import Context, Model
from app.ai.pricing import tokens_from_wire
from app.ai.stream import AssistantStream, StreamOptions
from app.errors import ErrorKind

_REASONS: dict[str, Reason] = {"STOP": "stop", "MAX_TOKENS": "length"}
# Asked again, the model may well do better.
_FUMBLED = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"})
_FAILED = frozenset({"OTHER", "TOO_MANY_TOOL_CALLS"})


def open_stream(model: Model, context: Context, options: StreamOptions) -> AssistantStream:
    """A stream of one generated content; nothing is sent before `run`."""
    return WireStream(model, options, lambda: build_request(model, context, options), GoogleReader)


class GoogleReader:
    """Reads the parts of the first candidate into blocks; a change between thought and text closes the open one."""

    def __init__(self, builder: MessageBuilder, host: str) -> None:
        self.finished = False
        self.ended = False
        self._builder = builder
        self._host = host
        self._word = ""
        self._why = ""
        self._open: int | None = None
        self._is_thought = False
        self._call_ids: set[str] = set()

    def mark(self, text: str) -> bool:
        """This wire has no end mark."""
        return text.startswith("[DONE]")

    def read(self, event: str, data: dict[str, Any]) -> None:
        """Take one chunk. Raises ModelError for an error and for a blocked prompt."""
        self._builder.identify(data.get("responseId"), data.get("modelVersion"))
        self._usage(_object(data.get("usageMetadata")))
        if data.get("error"):
            raise fault_error(self._host, data["error"])
        candidates = data.get("candidates")
        candidate = _object(candidates[0]) if isinstance(candidates, list) and candidates else {}
        parts = _object(candidate.get("content")).get("parts")
        for part in parts if isinstance(parts, list) else ():
            self._part(_object(part))
        word = candidate.get("finishReason")
        if isinstance(word, str) and word and word != "FINISH_REASON_UNSPECIFIED":
            self._word = word
            self._why = _text(candidate.get("finishMessage"))
            self.finished = True
        blocked = _object(data.get("promptFeedback")).get("blockReason")
        if blocked:
            raise model_error(ErrorKind.REFUSED, f"{self._host} refused the request (blockReason {blocked})")

    def reason(self) -> Reason:
        """The provider's word in ours. Raises ModelError for every word but STOP and MAX_TOKENS."""
        if self._word in _REASONS:
            return _REASONS[self._word]
        kind = ErrorKind.REFUSED
        if self._word in _FUMBLED:
            kind = ErrorKind.GARBAGE
        elif self._word in _FAILED:
            kind = ErrorKind.SERVER
        why = f": {self._why}" if self._why else ""
        raise model_error(kind, f"{self._host} ended the answer. Provider finishReason: {self._word}{why}")

    def _part(self, part: dict[str, Any]) -> None:
        signature = _text(part.get("thoughtSignature"))
        call = part.get("functionCall")
        if isinstance(call, dict):
            self._close()
            self._call(call, signature)
            return
        text = part.get("text")
        if not isinstance(text, str):
            return
        is_thought = part.get("thought") is True
        if self._open is not None and is_thought != self._is_thought and text:
            self._close()
        if self._open is None:
            if not text and not signature:
                return
            self._open = self._builder.open_thinking() if is_thought else self._builder.open_text()
            self._is_thought = is_thought
        self._builder.grow(self._open, text)
        self._builder.put_signature(self._open, signature)

    def _close(self) -> None:
        if self._open is not None:
            self._builder.close(self._open)
            self._open = None

    def _call(self, call: dict[str, Any], signature: str) -> None:
        builder = self._builder
        name = _text(call.get("name"))
        call_id = _text(call.get("id"))
        if not call_id or call_id in self._call_ids:
            call_id = f"{name}_{builder.message.timestamp}_{len(self._call_ids) + 1}"
        self._call_ids.add(call_id)
        slot = builder.open_call(call_id, name)
        builder.grow_call(slot, json.dumps(call.get("args") or {}, ensure_ascii=False))
        builder.put_signature(slot, signature)
        builder.close(slot)

    def _usage(self, wire: dict[str, Any]) -> None:
        if not wire:
            return
        usage = self._builder.message.usage
        cached = tokens_from_wire(wire.get("cachedContentTokenCount"))
        usage.cache_read = cached
        usage.input = max(0, tokens_from_wire(wire.get("promptTokenCount")) - cached)
        usage.output = tokens_from_wire(wire.get("candidatesTokenCount")) + tokens_from_wire(
            wire.get("thoughtsTokenCount")
        )
        self._builder.settle_usage(tokens_from_wire(wire.get("totalTokenCount")) or None)


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
