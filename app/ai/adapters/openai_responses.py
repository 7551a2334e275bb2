"""The OpenAI Responses wire (api `openai-responses`); it must never take a stream without a terminal event for whole.

Items are found by `output_index`, or by item id; what only the `done` events hold is taken from them (spec core §1.8).
"""

from __future__ import annotations

import json
from typing import Any

from app.ai.adapters.blocks import MessageBuilder, Reason
from app.ai.adapters.openai_responses_request import build_request
from app.ai.adapters.wire import WireStream
from app.ai.http_errors import fault_error, model_error
from app.ai.messages import Context, Model, TextContent, ThinkingContent, ToolCall
from app.ai.pricing import tokens_from_wire
from app.ai.stream import AssistantStream, StreamOptions
from app.errors import ErrorKind

_TEXT = ("response.output_text.delta", "response.refusal.delta")
_THINKING = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")


def open_stream(model: Model, context: Context, options: StreamOptions) -> AssistantStream:
    """A stream of one response; nothing is sent before `run`."""
    return WireStream(model, options, lambda: build_request(model, context, options), ResponsesReader)


class ResponsesReader:
    """Reads items: a reasoning item is a thinking block, a message a text block, a function call a tool call."""

    def __init__(self, builder: MessageBuilder, host: str) -> None:
        self.finished = False
        self.ended = False
        self._builder = builder
        self._host = host
        self._slots: dict[object, int] = {}
        self._response: dict[str, Any] = {}

    def mark(self, text: str) -> bool:
        """Some servers add `[DONE]`; the terminal event has come before it."""
        return text.startswith("[DONE]")

    def read(self, event: str, data: dict[str, Any]) -> None:
        """Take one event. Raises ModelError for `error` and for a failed or cancelled response."""
        named = data.get("type")
        kind = named if isinstance(named, str) else event
        if kind in _TEXT:
            self._grow(self._slot(data, "message"), _text(data.get("delta")))
        elif kind in _THINKING:
            self._grow(self._slot(data, "reasoning"), _text(data.get("delta")))
        elif kind == "response.function_call_arguments.delta":
            slot = self._slot(data, "function_call")
            if slot >= 0:
                self._builder.grow_call(slot, _text(data.get("delta")))
        elif kind == "response.function_call_arguments.done":
            self._rest(self._slot(data, "function_call"), _text(data.get("arguments")))
        elif kind == "response.reasoning_summary_part.added":
            slot = self._slot(data, "reasoning")
            if slot >= 0 and self._builder.length(slot):
                self._builder.grow(slot, "\n\n")
        elif kind == "response.output_item.added":
            self._slot(data, "")
        elif kind == "response.output_item.done":
            self._item_done(data)
        elif kind == "error":
            raise fault_error(self._host, data.get("error") or data)
        else:
            self._whole(kind, _object(data.get("response")))

    def reason(self) -> Reason:
        """The status in our words. Raises ModelError when the answer was filtered."""
        if self._response.get("status") != "incomplete":
            return "stop"
        why = _text(_object(self._response.get("incomplete_details")).get("reason"))
        if why == "content_filter":
            raise model_error(ErrorKind.REFUSED, f"{self._host} stopped the answer (content_filter)")
        return "length"

    def _whole(self, kind: str, response: dict[str, Any]) -> None:
        self._builder.identify(response.get("id"), response.get("model"))
        if kind not in (
            "response.completed",
            "response.done",
            "response.incomplete",
            "response.failed",
            "response.cancelled",
        ):
            return
        self._usage(_object(response.get("usage")))
        if kind == "response.incomplete":
            response.setdefault("status", "incomplete")
        self._response = response
        if kind in ("response.failed", "response.cancelled") or response.get("status") in ("failed", "cancelled"):
            why = _text(_object(response.get("incomplete_details")).get("reason"))
            raise fault_error(self._host, response.get("error") or why or f"the response {kind.rpartition('.')[2]}")
        self.finished = self.ended = True

    def _slot(self, data: dict[str, Any], kind: str) -> int:
        """The block of the item that the event is about, opened now if it is new; -1 for an item we don't show."""
        item = _object(data.get("item"))
        item_id = _text(data.get("item_id")) or _text(item.get("id"))
        place = data.get("output_index")
        key: object = place if isinstance(place, int) else item_id
        slot = self._slots.get(key)
        if slot is None:
            slot = self._open(_text(item.get("type")) or kind, item, item_id)
            self._slots[key] = slot
        return slot

    def _open(self, kind: str, item: dict[str, Any], item_id: str) -> int:
        match kind:
            case "message":
                return self._builder.open_text()
            case "reasoning":
                return self._builder.open_thinking()
            case "function_call":
                call_id = _text(item.get("call_id")) or item_id
                full_id = f"{call_id}|{item_id}" if item_id and item_id != call_id else call_id
                slot = self._builder.open_call(full_id, _text(item.get("name")))
                self._builder.grow_call(slot, _text(item.get("arguments")))
                return slot
            case _:
                return -1

    def _grow(self, slot: int, piece: str) -> None:
        if slot >= 0:
            self._builder.grow(slot, piece)

    def _item_done(self, data: dict[str, Any]) -> None:
        slot = self._slot(data, "")
        if slot < 0:
            return
        item = _object(data.get("item"))
        builder = self._builder
        block = builder.message.content[slot]
        match block:
            case ToolCall():
                builder.name_call(slot, "", _text(item.get("name")))
                self._rest(slot, _text(item.get("arguments")))
            case TextContent():
                if not builder.length(slot):
                    builder.grow(slot, "".join(_parts(item.get("content"), "text", "refusal")))
                signature = {"v": 1, "id": item.get("id"), "phase": item.get("phase")}
                builder.put_signature(slot, json.dumps({key: one for key, one in signature.items() if one}))
            case ThinkingContent():
                if not builder.length(slot):
                    parts = _parts(item.get("summary"), "text") or _parts(item.get("content"), "text")
                    builder.grow(slot, "\n\n".join(parts))
                builder.put_signature(slot, json.dumps(item, ensure_ascii=False))
        builder.close(slot)

    def _rest(self, slot: int, arguments: str) -> None:
        """Give the part of whole arguments that no delta brought."""
        so_far = self._builder.call_text(slot) if slot >= 0 else ""
        if slot >= 0 and arguments.startswith(so_far):
            self._builder.grow_call(slot, arguments[len(so_far) :])

    def _usage(self, wire: dict[str, Any]) -> None:
        if not wire:
            return
        usage = self._builder.message.usage
        cached = tokens_from_wire(_object(wire.get("input_tokens_details")).get("cached_tokens"))
        usage.cache_read = cached
        usage.input = max(0, tokens_from_wire(wire.get("input_tokens")) - cached)
        usage.output = tokens_from_wire(wire.get("output_tokens"))
        self._builder.settle_usage(tokens_from_wire(wire.get("total_tokens")) or None)


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _parts(content: object, *names: str) -> list[str]:
    found = []
    for part in content if isinstance(content, list) else ():
        text = next((_object(part)[name] for name in names if _text(_object(part).get(name))), "")
        if text:
            found.append(text)
    return found
