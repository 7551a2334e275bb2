"""The OpenAI Chat Completions wire (api `openai-completions`), as OpenAI and its many imitators speak it.

It reads leniently what they send (spec core §1.7): calls without index or id, repeated names, content as lists,
a missing finish_reason; it must never take an error object for an answer.
"""

from __future__ import annotations

import json
from typing import Any

from app.ai.adapters.blocks import MessageBuilder, Reason
from app.ai.adapters.openai_chat_request import build_request
from app.ai.adapters.wire import WireStream
from app.ai.arguments import parse_whole
from app.ai.http_errors import fault_error, model_error
from app.ai.messages import Context, Model
from app.ai.pricing import tokens_from_wire
from app.ai.stream import AssistantStream, StreamOptions
from app.errors import ErrorKind, ModelError

_STOP = frozenset({"stop", "end", "end_turn", "eos", "eos_token", "stop_sequence", "completed"})
_LENGTH = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_TOOL_USE = frozenset({"tool_calls", "function_call", "tool_use"})
_REASONING = ("reasoning_content", "reasoning", "reasoning_text")
# The old form of a single call has no index; no real one is negative.
_OLD_CALL = -1


def open_stream(model: Model, context: Context, options: StreamOptions) -> AssistantStream:
    """A stream of one chat completion; nothing is sent before `run`."""
    return WireStream(model, options, lambda: build_request(model, context, options), ChatReader)


class ChatReader:
    """Reads chunks into one thinking block, one text block and any number of calls."""

    def __init__(self, builder: MessageBuilder, host: str) -> None:
        self.finished = False
        self.ended = False
        self._builder = builder
        self._host = host
        self._word = ""
        self._text: int | None = None
        self._thinking: int | None = None
        self._by_index: dict[int, int] = {}
        self._by_id: dict[str, int] = {}
        self._last_call: int | None = None
        self._encrypted: dict[str, str] = {}

    def mark(self, text: str) -> bool:
        """`[DONE]` ends the stream."""
        if text.startswith("[DONE]"):
            self.ended = True
            return True
        return False

    def read(self, event: str, data: dict[str, Any]) -> None:
        """Take one chunk. Raises ModelError when it holds an error object."""
        self._builder.identify(data.get("id"), data.get("model"))
        choices = data.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if isinstance(choice, dict) and choice.get("index") in (0, None):
            self._choice(choice)
        usage = data.get("usage") or (choice.get("usage") if isinstance(choice, dict) else None)
        if isinstance(usage, dict):
            self._usage(usage)
        fault = data.get("error") or (choice.get("error") if isinstance(choice, dict) else None)
        if fault:
            raise fault_error(self._host, fault)

    def reason(self) -> Reason:
        """The provider's word in ours. Raises ModelError when it means that there is no sound answer."""
        for call_id, detail in self._encrypted.items():
            if call_id in self._by_id:
                self._builder.put_signature(self._by_id[call_id], detail)
        word = self._word.lower()
        if not word or word in _STOP:
            return "stop"
        if word in _LENGTH:
            return "length"
        if word in _TOOL_USE:
            return "toolUse"
        raise _finish_error(self._host, self._word)

    def _choice(self, choice: dict[str, Any]) -> None:
        delta = choice.get("delta")
        if delta is None and not self._builder.message.content:
            delta = choice.get("message")
        if isinstance(delta, dict):
            self._delta(delta)
        word = choice.get("finish_reason")
        if isinstance(word, str) and word:
            self._word = word
            self.finished = True

    def _delta(self, delta: dict[str, Any]) -> None:
        for field in _REASONING:
            piece = delta.get(field)
            if isinstance(piece, str) and piece:
                self._think(piece, field)
                break
        content = delta.get("content")
        if isinstance(content, str):
            self._say(content)
        elif isinstance(content, list):
            for part in content:
                self._part(part)
        refusal = delta.get("refusal")
        if isinstance(refusal, str):
            self._say(refusal)
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                self._call(call.get("index"), call.get("id"), call.get("function"))
        old_call = delta.get("function_call")
        if isinstance(old_call, dict):
            self._call(_OLD_CALL, None, old_call)
        details = delta.get("reasoning_details")
        for detail in details if isinstance(details, list) else ():
            if isinstance(detail, dict) and detail.get("type") == "reasoning.encrypted" and detail.get("id"):
                self._encrypted[str(detail["id"])] = json.dumps(detail, ensure_ascii=False)

    def _part(self, part: object) -> None:
        """A member of a content list (Mistral): text, or thinking as a text or as a list of texts."""
        if isinstance(part, str):
            self._say(part)
        if not isinstance(part, dict):
            return
        if isinstance(part.get("text"), str) and part.get("type") in ("text", "output_text", None):
            self._say(part["text"])
        elif isinstance(part.get("refusal"), str):
            self._say(part["refusal"])
        elif part.get("type") in ("thinking", "reasoning"):
            thoughts = part.get("thinking") or part.get("text")
            for thought in thoughts if isinstance(thoughts, list) else (thoughts,):
                text = thought.get("text") if isinstance(thought, dict) else thought
                if isinstance(text, str):
                    self._think(text, None)

    def _say(self, piece: str) -> None:
        if not piece:
            return
        if self._text is None:
            self._text = self._builder.open_text()
        self._builder.grow(self._text, piece)

    def _think(self, piece: str, field: str | None) -> None:
        if not piece:
            return
        if self._thinking is None:
            self._thinking = self._builder.open_thinking(signature=field)
        self._builder.grow(self._thinking, piece)

    def _call(self, index: object, call_id: object, function: object) -> None:
        members: dict[str, Any] = function if isinstance(function, dict) else {}
        name = members.get("name") if isinstance(members.get("name"), str) else ""
        known_id = call_id if isinstance(call_id, str) else ""
        place = index if isinstance(index, int) and not isinstance(index, bool) else None
        slot = self._slot_of(place, known_id, name or "")
        if slot is None:
            slot = self._builder.open_call(known_id, name or "")
        self._builder.name_call(slot, known_id, name or "")
        if place is not None:
            self._by_index[place] = slot
        if known_id:
            self._by_id.setdefault(known_id, slot)
        self._last_call = slot
        arguments = members.get("arguments")
        if isinstance(arguments, dict | list):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if isinstance(arguments, str):
            self._builder.grow_call(slot, arguments)

    def _slot_of(self, place: int | None, call_id: str, name: str) -> int | None:
        """The call that a piece belongs to, None for a new one.

        By index, then by id. Some servers number all parallel calls 0, others send a fresh id with every piece: a new
        id begins a new call only together with a name, and only when the call before it is whole.
        """
        if place is not None:
            slot = self._by_index.get(place)
        elif call_id in self._by_id:
            return self._by_id[call_id]
        else:
            slot = self._last_call
        if slot is None:
            return None
        call = self._builder.call(slot)
        is_other = bool(call_id and call.id and call_id != call.id) or (place is None and not call_id)
        if is_other and name and call.name and self._is_complete(slot):
            return self._by_id.get(call_id) if call_id else None
        return slot

    def _is_complete(self, slot: int) -> bool:
        return parse_whole(self._builder.call_text(slot)) is not None

    def _usage(self, wire: dict[str, Any]) -> None:
        """Input without what came from the cache; output with reasoning (it is already in completion_tokens)."""
        usage = self._builder.message.usage
        details = wire.get("prompt_tokens_details")
        details = details if isinstance(details, dict) else {}
        cached = tokens_from_wire(details.get("cached_tokens")) or tokens_from_wire(wire.get("prompt_cache_hit_tokens"))
        written = tokens_from_wire(details.get("cache_write_tokens"))
        usage.cache_write = written
        usage.cache_read = max(0, cached - written)
        usage.input = max(0, tokens_from_wire(wire.get("prompt_tokens")) - usage.cache_read - written)
        usage.output = tokens_from_wire(wire.get("completion_tokens"))
        self._builder.settle_usage()


def _finish_error(host: str, word: str) -> ModelError:
    match word.lower():
        case "content_filter" | "safety" | "refusal" | "recitation":
            kind = ErrorKind.REFUSED
        case "network_error" | "error" | "insufficient_system_resource" | "abort":
            kind = ErrorKind.SERVER
        case _:
            kind = ErrorKind.INTERNAL
    return model_error(kind, f"{host} ended the answer. Provider finish_reason: {word}")
