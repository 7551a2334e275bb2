"""The message under construction: opens, grows and closes its blocks and emits their events; it must never know a wire.

No scratch data sits in the message. Text is appended to it at once while a block is short; a long block is joined when
it has grown by a sixteenth, and by `sync()` after each read from the network, so that the cost stays linear and the
message is current whenever anything can be awaited or cancelled.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from app.ai.arguments import ArgumentsStream, parse_partial, parse_whole, without_surrogates
from app.ai.events import (
    StreamDone,
    StreamError,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from app.ai.messages import AssistantMessage, Model, TextContent, ThinkingContent, ToolCall
from app.ai.pricing import settle_usage
from app.ai.stream import Emit
from app.errors import ModelError

_EAGER_CHARS = 16_384
Reason = Literal["stop", "length", "toolUse"]


@dataclass(slots=True)
class _Prose:
    """A text or thinking block that grows."""

    block: TextContent | ThinkingContent
    pending: list[str] = field(default_factory=list)
    pending_chars: int = 0
    length: int = 0
    half_pair: str = ""
    is_open: bool = True


@dataclass(slots=True)
class _Call:
    """A tool call that grows."""

    block: ToolCall
    arguments: ArgumentsStream = field(default_factory=ArgumentsStream)
    half_pair: str = ""
    is_open: bool = True


class MessageBuilder:
    """Builds one AssistantMessage. A block is named by its index in `message.content`."""

    def __init__(self, model: Model, emit: Emit) -> None:
        self.message = AssistantMessage(api=model.api, provider=model.provider, model=model.id)
        self._model = model
        self._emit = emit
        self._slots: list[_Prose | _Call] = []
        self._late: set[int] = set()
        self._started = False

    def start(self) -> None:
        """Tell that the provider took the request; once."""
        if not self._started:
            self._started = True
            self._emit(StreamStart(self.message))

    def identify(self, response_id: object, model: object) -> None:
        """Take the provider's name for the response (the first counts) and for the model, if it is another."""
        message = self.message
        if message.response_id is None and isinstance(response_id, str) and response_id:
            message.response_id = without_surrogates(response_id)
        if message.response_model is None and isinstance(model, str) and model and model != message.model:
            message.response_model = without_surrogates(model)

    def open_text(self) -> int:
        """Open a text block; its index."""
        index = self._add(_Prose(TextContent()))
        self._emit(TextStart(index, self.message))
        return index

    def open_thinking(self, signature: str | None = None, redacted: bool = False) -> int:
        """Open a thinking block; its index. A redacted one holds its payload in `signature`."""
        block = ThinkingContent(thinking_signature=signature)
        if redacted:
            block.redacted = True
            block.thinking = "[Reasoning redacted]"
        index = self._add(_Prose(block))
        self._emit(ThinkingStart(index, self.message))
        return index

    def open_call(self, call_id: str, name: str) -> int:
        """Open a tool call; its index. Id and name may still be empty."""
        index = self._add(_Call(ToolCall(id=without_surrogates(call_id), name=without_surrogates(name))))
        self._emit(ToolCallStart(index, self.message))
        return index

    def _add(self, slot: _Prose | _Call) -> int:
        self._slots.append(slot)
        self.message.content.append(slot.block)
        return len(self._slots) - 1

    def grow(self, index: int, piece: str) -> None:
        """Append to a text or thinking block; empty pieces are no event."""
        slot = self._slots[index]
        if not piece or not isinstance(slot, _Prose):
            return
        if slot.half_pair or not piece.isascii():
            piece = _mended(slot, piece)
            if not piece:
                return
        slot.pending.append(piece)
        slot.pending_chars += len(piece)
        if slot.length < _EAGER_CHARS or slot.pending_chars * 16 > slot.length:
            _join(slot)
        else:
            self._late.add(index)
        if isinstance(slot.block, TextContent):
            self._emit(TextDelta(index, piece, self.message))
        else:
            self._emit(ThinkingDelta(index, piece, self.message))

    def sign(self, index: int, piece: str) -> None:
        """Append to the signature of a thinking block; no event."""
        block = self._slots[index].block
        if isinstance(block, ThinkingContent) and piece:
            block.thinking_signature = (block.thinking_signature or "") + without_surrogates(piece)

    def put_signature(self, index: int, signature: str) -> None:
        """Set the signature of a block, whatever its kind; an empty one changes nothing. No event."""
        block = self._slots[index].block
        signature = without_surrogates(signature)
        if not signature:
            return
        if isinstance(block, TextContent):
            block.text_signature = signature
        elif isinstance(block, ThinkingContent):
            block.thinking_signature = signature
        else:
            block.thought_signature = signature

    def length(self, index: int) -> int:
        """How many characters of text (or of arguments' JSON) the block has received."""
        slot = self._slots[index]
        return slot.length + slot.pending_chars if isinstance(slot, _Prose) else len(slot.arguments.text())

    def grow_call(self, index: int, piece: str) -> None:
        """Append a piece of the arguments' JSON text; empty pieces are no event."""
        slot = self._slots[index]
        if not piece or not isinstance(slot, _Call):
            return
        if slot.half_pair or not piece.isascii():
            piece = _mended(slot, piece)
            if not piece:
                return
        arguments = slot.arguments.append(piece)
        if arguments is not None:
            slot.block.arguments = arguments
        self._emit(ToolCallDelta(index, piece, self.message))

    def name_call(self, index: int, call_id: str, name: str) -> None:
        """Give the call at this index the id and the name that it still lacks."""
        call = self.call(index)
        call.id = call.id or without_surrogates(call_id)
        call.name = call.name or without_surrogates(name)

    def call(self, index: int) -> ToolCall:
        """The call at this index. Raises TypeError when the block is none."""
        block = self._slots[index].block
        if not isinstance(block, ToolCall):
            raise TypeError(f"block {index} is no tool call")
        return block

    def call_text(self, index: int) -> str:
        """The arguments' JSON text so far."""
        slot = self._slots[index]
        return slot.arguments.text() if isinstance(slot, _Call) else ""

    def close(self, index: int) -> None:
        """End the block: its text is whole; a call's arguments are read, and `cut` is set when they are not sound."""
        slot = self._slots[index]
        if not slot.is_open:
            return
        self._settle(slot)
        match slot.block:
            case TextContent() as text:
                self._emit(TextEnd(index, text.text, self.message))
            case ThinkingContent() as thinking:
                self._emit(ThinkingEnd(index, thinking.thinking, self.message))
            case ToolCall() as call:
                self._emit(ToolCallEnd(index, call, self.message))

    def close_all(self) -> None:
        """End what is still open, in block order."""
        for index in range(len(self._slots)):
            self.close(index)

    def sync(self) -> None:
        """Bring the message up to date with every piece so far."""
        for index in self._late:
            slot = self._slots[index]
            if isinstance(slot, _Prose):
                _join(slot)
        self._late.clear()

    def settle(self) -> None:
        """Make the message fit to keep as it is: pieces joined, unfinished calls marked as cut. No event."""
        for slot in self._slots:
            if slot.is_open:
                self._settle(slot)
        self._late.clear()

    def _settle(self, slot: _Prose | _Call) -> None:
        slot.is_open = False
        if isinstance(slot, _Prose):
            if slot.half_pair:
                slot.pending.append("\ufffd")
                slot.half_pair = ""
            _join(slot)
            return
        text = slot.arguments.text()
        whole = parse_whole(text)
        slot.block.arguments = parse_partial(text) if whole is None else whole
        if whole is None:
            slot.block.cut = True

    def cut_last_call(self) -> None:
        """Mark a last call without any arguments as cut: the answer ended at the output limit before they came."""
        slot = self._slots[-1] if self._slots else None
        if isinstance(slot, _Call) and slot.arguments.is_blank() and not slot.block.arguments:
            slot.block.cut = True

    def settle_usage(self, total_tokens: int | None = None) -> None:
        """Work out total and cost of `message.usage`."""
        settle_usage(self._model, self.message.usage, total_tokens)

    def done(self, reason: Reason) -> AssistantMessage:
        """End well. `reason` is the provider's word; sound calls make it toolUse (architecture §2)."""
        if reason == "length":
            self.cut_last_call()
        self.close_all()
        self.sync()
        calls = self.message.tool_calls()
        if calls and not (reason == "length" and any(call.cut for call in calls)):
            reason = "toolUse"
        elif reason == "toolUse":
            reason = "stop"
        self.message.stop_reason = reason
        self._emit(StreamDone(reason, self.message))
        return self.message

    def fail(self, error: ModelError) -> AssistantMessage:
        """End with the error; what had arrived is kept."""
        self.settle()
        message = self.message
        message.stop_reason = "error"
        message.error_message = without_surrogates(str(error))
        message.error_kind = str(error.kind)
        message.retryable = error.retryable
        message.retry_after_s = error.retry_after_s
        self._emit(StreamError("error", message))
        return message


def _join(slot: _Prose) -> None:
    if not slot.pending:
        return
    text = "".join(slot.pending)
    slot.pending.clear()
    slot.pending_chars = 0
    slot.length += len(text)
    if isinstance(slot.block, TextContent):
        slot.block.text += text
    else:
        slot.block.thinking += text


def _mended(slot: _Prose | _Call, piece: str) -> str:
    """The piece without half surrogate pairs: a pair may be cut between two events (JSON escapes each half)."""
    piece = slot.half_pair + piece
    slot.half_pair = ""
    if "\ud800" <= piece[-1] <= "\udbff":
        slot.half_pair = piece[-1]
        piece = piece[:-1]
    mended: str = without_surrogates(piece)
    return mended
