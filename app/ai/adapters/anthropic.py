"""The Anthropic Messages wire (api `anthropic-messages`); it must never take a stream without `message_stop` for whole.

Blocks are found by the provider's own index; unknown events, blocks and deltas are passed over (spec core §1.6).
"""

from __future__ import annotations

import json
from typing import Any

from app.ai.adapters.anthropic_request import build_request
from app.ai.adapters.blocks import MessageBuilder, Reason
from app.ai.adapters.wire import WireStream
from app.ai.http_errors import fault_error, model_error
from app.ai.messages import Context, Model
from app.ai.pricing import tokens_from_wire
from app.ai.stream import AssistantStream, StreamOptions
from app.errors import ErrorKind

_REASONS: dict[str, Reason] = {
    "end_turn": "stop",
    "pause_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "toolUse",
}
_USAGE = (
    ("input_tokens", "input"),
    ("output_tokens", "output"),
    ("cache_read_input_tokens", "cache_read"),
    ("cache_creation_input_tokens", "cache_write"),
)


def open_stream(model: Model, context: Context, options: StreamOptions) -> AssistantStream:
    """A stream of one message; nothing is sent before `run`."""
    return WireStream(model, options, lambda: build_request(model, context, options), AnthropicReader)


class AnthropicReader:
    """Reads the six events that count into blocks."""

    def __init__(self, builder: MessageBuilder, host: str) -> None:
        self.finished = False
        self.ended = False
        self._builder = builder
        self._host = host
        self._word: str | None = None
        self._blocks: dict[int, int] = {}
        self._whole_inputs: dict[int, str] = {}

    def mark(self, text: str) -> bool:
        """This wire has no end mark outside JSON; imitators that send OpenAI's are let pass."""
        return text.startswith("[DONE]")

    def read(self, event: str, data: dict[str, Any]) -> None:
        """Take one event. Raises ModelError for `error`."""
        kind = data.get("type")
        place = data.get("index")
        index = place if isinstance(place, int) else 0
        match kind if isinstance(kind, str) else event:
            case "content_block_delta":
                self._delta(index, _object(data.get("delta")))
            case "content_block_start":
                self._start(index, _object(data.get("content_block")))
            case "content_block_stop":
                self._stop(index)
            case "message_start":
                self._message(_object(data.get("message")))
            case "message_delta":
                self._usage(_object(data.get("usage")))
                word = _object(data.get("delta")).get("stop_reason")
                if isinstance(word, str):
                    self._word = word
            case "message_stop":
                self.ended = self.finished = True
            case "error":
                raise fault_error(self._host, data.get("error") or data)
            case _:
                pass

    def reason(self) -> Reason:
        """The provider's word in ours. Raises ModelError for a refusal and for words that we don't know."""
        word = self._word
        if word is None:
            return "stop"
        if word in _REASONS:
            return _REASONS[word]
        if word in ("refusal", "sensitive"):
            raise model_error(ErrorKind.REFUSED, f"The model declined to answer (stop_reason {word})")
        raise model_error(ErrorKind.INTERNAL, f"{self._host} ended the answer. Provider stop_reason: {word}")

    def _message(self, wire: dict[str, Any]) -> None:
        self._builder.identify(wire.get("id"), wire.get("model"))
        self._usage(_object(wire.get("usage")))

    def _usage(self, wire: dict[str, Any]) -> None:
        if not wire:
            return
        usage = self._builder.message.usage
        for theirs, ours in _USAGE:
            if wire.get(theirs) is not None:
                setattr(usage, ours, tokens_from_wire(wire[theirs]))
        self._builder.settle_usage()

    def _start(self, index: int, wire: dict[str, Any]) -> None:
        builder = self._builder
        match wire.get("type"):
            case "text":
                self._blocks[index] = builder.open_text()
                builder.grow(self._blocks[index], _text(wire.get("text")))
            case "thinking":
                self._blocks[index] = builder.open_thinking()
                builder.grow(self._blocks[index], _text(wire.get("thinking")))
                builder.sign(self._blocks[index], _text(wire.get("signature")))
            case "redacted_thinking":
                self._blocks[index] = builder.open_thinking(_text(wire.get("data")), redacted=True)
            case "tool_use":
                self._blocks[index] = builder.open_call(_text(wire.get("id")), _text(wire.get("name")))
                if wire.get("input"):
                    # Imitators put the whole input here and send no deltas.
                    self._whole_inputs[index] = json.dumps(wire["input"], ensure_ascii=False)
            case _:
                self._blocks.pop(index, None)

    def _delta(self, index: int, wire: dict[str, Any]) -> None:
        slot = self._blocks.get(index)
        if slot is None:
            return
        match wire.get("type"):
            case "text_delta":
                self._builder.grow(slot, _text(wire.get("text")))
            case "thinking_delta":
                self._builder.grow(slot, _text(wire.get("thinking")))
            case "input_json_delta":
                self._whole_inputs.pop(index, None)
                self._builder.grow_call(slot, _text(wire.get("partial_json")))
            case "signature_delta":
                self._builder.sign(slot, _text(wire.get("signature")))
            case _:
                pass

    def _stop(self, index: int) -> None:
        slot = self._blocks.pop(index, None)
        if slot is None:
            return
        self._builder.grow_call(slot, self._whole_inputs.pop(index, ""))
        self._builder.close(slot)


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
