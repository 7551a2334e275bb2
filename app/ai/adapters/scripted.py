"""A model that plays given answers at a chosen pace, for tests and demos; it must never reach for the network.

Nothing in it is left to chance: the same script gives the same events (spec core §1.14, where chunks are random).
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from inspect import isawaitable
from math import ceil
from time import monotonic
from typing import Any
from weakref import WeakValueDictionary

import anyio
import anyio.lowlevel

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
from app.ai.messages import (
    AssistantBlock,
    AssistantMessage,
    Context,
    Model,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    Usage,
)
from app.ai.stream import AssistantStream, Emit, FailedStream, StreamOptions
from app.errors import ErrorKind

CHARS_PER_TOKEN = 4  # the estimate that the whole house uses (spec core §5.1)

Response = AssistantMessage | str | Callable[[Context, StreamOptions], "AssistantMessage | Awaitable[AssistantMessage]"]
Gate = Callable[[AssistantMessage], Awaitable[None]]


def text(value: str) -> TextContent:
    """A text block."""
    return TextContent(text=value)


def thinking(value: str, signature: str | None = None) -> ThinkingContent:
    """A thinking block."""
    return ThinkingContent(thinking=value, thinking_signature=signature)


def tool_call(name: str, arguments: dict[str, Any] | None = None, call_id: str | None = None) -> ToolCall:
    """A call of `name`; without `call_id` it is named in order when its answer is played (`call-1`, `call-2`, …)."""
    return ToolCall(id=call_id or "", name=name, arguments=arguments or {})


def answer(
    *blocks: AssistantBlock | str,
    stop_reason: StopReason | None = None,
    error_message: str | None = None,
    error_kind: ErrorKind | None = None,
    retryable: bool | None = None,
    usage: Usage | None = None,
) -> AssistantMessage:
    """An answer of `blocks` (a string is a text block); it stops for its calls, else by itself, unless said."""
    content = [text(block) if isinstance(block, str) else block for block in blocks]
    if stop_reason is None:
        has_calls = any(isinstance(block, ToolCall) for block in content)
        stop_reason = "error" if error_message is not None else "toolUse" if has_calls else "stop"
    return AssistantMessage(
        content=content,
        stop_reason=stop_reason,
        error_message=error_message,
        error_kind=error_kind,
        retryable=retryable,
        usage=usage or Usage(),
    )


@dataclass(frozen=True, slots=True)
class Pace:
    """How an answer arrives: tokens of 4 characters, `chunk_tokens` at once; no speed means one chunk a loop turn."""

    tokens_per_second: float | None = None
    chunk_tokens: int = 4
    gate: Gate | None = None


class PlayedStream:
    """A given answer as a stream. The answer itself is not touched: its copy grows."""

    def __init__(self, source: AssistantMessage, model: Model, pace: Pace) -> None:
        self._source = source
        self._pace = pace
        self._sent_tokens = 0
        self._started_s = 0.0
        self.message = AssistantMessage(
            api=model.api,
            provider=model.provider,
            model=model.id,
            usage=source.usage.model_copy(deep=True),
            response_id=source.response_id,
            stop_reason="stop",
        )

    async def run(self, emit: Emit) -> AssistantMessage:
        """Emit start, each block piece by piece, and one done or error; a cancellation passes through."""
        message, source = self.message, self._source
        await anyio.lowlevel.checkpoint()
        self._started_s = monotonic()
        emit(StreamStart(message))
        for index, block in enumerate(source.content):
            match block:
                case TextContent():
                    await self._play_text(index, block, emit)
                case ThinkingContent():
                    await self._play_thinking(index, block, emit)
                case ToolCall():
                    await self._play_call(index, block, emit)
        match source.stop_reason:
            case "error" | "aborted" as reason:
                message.error_message = source.error_message or f"The script ends in {reason}"
                message.error_kind, message.retryable = source.error_kind, source.retryable
                message.stop_reason, message.retry_after_s = reason, source.retry_after_s
                emit(StreamError(reason, message))
            case reason:
                message.stop_reason = reason
                emit(StreamDone(reason, message))
        return message

    async def _play_text(self, index: int, block: TextContent, emit: Emit) -> None:
        grown = TextContent(text="", text_signature=block.text_signature)
        self.message.content.append(grown)
        emit(TextStart(index, self.message))
        for piece in self._pieces(block.text):
            await self._wait(piece)
            grown.text += piece
            emit(TextDelta(index, piece, self.message))
        emit(TextEnd(index, block.text, self.message))

    async def _play_thinking(self, index: int, block: ThinkingContent, emit: Emit) -> None:
        grown = ThinkingContent(thinking="", redacted=block.redacted)
        self.message.content.append(grown)
        emit(ThinkingStart(index, self.message))
        for piece in self._pieces(block.thinking):
            await self._wait(piece)
            grown.thinking += piece
            emit(ThinkingDelta(index, piece, self.message))
        grown.thinking_signature = block.thinking_signature
        emit(ThinkingEnd(index, block.thinking, self.message))

    async def _play_call(self, index: int, block: ToolCall, emit: Emit) -> None:
        grown = ToolCall(id=block.id, name=block.name)
        self.message.content.append(grown)
        emit(ToolCallStart(index, self.message))
        for piece in self._pieces(json.dumps(block.arguments, ensure_ascii=False)):
            await self._wait(piece)
            emit(ToolCallDelta(index, piece, self.message))
        grown.arguments, grown.cut = block.arguments, block.cut
        emit(ToolCallEnd(index, grown, self.message))

    def _pieces(self, whole: str) -> Iterable[str]:
        size = max(1, self._pace.chunk_tokens) * CHARS_PER_TOKEN
        return (whole[start : start + size] for start in range(0, len(whole), size))

    async def _wait(self, piece: str) -> None:
        """Keep to the pace by the clock, so that a late chunk doesn't make the next ones late."""
        self._sent_tokens += ceil(len(piece) / CHARS_PER_TOKEN)
        speed = self._pace.tokens_per_second
        pause_s = self._started_s + self._sent_tokens / speed - monotonic() if speed else 0.0
        if pause_s > 0:
            await anyio.sleep(pause_s)
        else:
            await anyio.lowlevel.checkpoint()
        if self._pace.gate is not None:
            await self._pace.gate(self.message)


class ScriptedModel:
    """A model with a script: each call takes the next response. `calls` and `options` keep what was asked, in order.

    A response is a message (see `answer`), a string, or a function of context and options that gives a message, now or
    awaited. `gate` is awaited before each chunk with the message so far: a test can hold the stream there.
    """

    def __init__(
        self,
        responses: Iterable[Response] = (),
        tokens_per_second: float | None = None,
        chunk_tokens: int = 4,
        *,
        model: Model | None = None,
        gate: Gate | None = None,
    ) -> None:
        self.model = model or scripted_model()
        self.calls: list[Context] = []
        self.options: list[StreamOptions] = []
        self._responses = deque(responses)
        self._pace = Pace(tokens_per_second, chunk_tokens, gate)
        self._called_tools = 0
        self._prompts: dict[str, str] = {}
        _LIVE[(self.model.provider, self.model.id)] = self

    @property
    def pending(self) -> int:
        """How many responses are left."""
        return len(self._responses)

    def append(self, *responses: Response) -> None:
        """Add responses at the end of the script."""
        self._responses.extend(responses)

    def stream_fn(self, model: Model, context: Context, options: StreamOptions) -> AssistantStream:
        """The StreamFn of this model: takes the next response; with none left, a stream that says so."""
        self.calls.append(Context(context.system_prompt, list(context.messages), list(context.tools)))
        self.options.append(options)
        if not self._responses:
            return FailedStream(model, "The scripted model has no more responses", ErrorKind.INTERNAL)
        return _ScriptedStream(self, self._responses.popleft(), model, context, options)

    async def prepare(self, response: Response, context: Context, options: StreamOptions) -> AssistantMessage:
        """The message to play: calls named, usage estimated where none is given. Raises what the function does."""
        if isinstance(response, str):
            response = answer(response)
        if not isinstance(response, AssistantMessage):
            given = response(context, options)
            response = await given if isawaitable(given) else given
        message = response.model_copy(deep=True)
        for call in message.tool_calls():
            self._called_tools += 1
            call.id = call.id or f"call-{self._called_tools}"
        if not message.usage.total_tokens and not message.usage.input:
            message.usage = self._estimate(message, context, options)
        return message

    def _estimate(self, message: AssistantMessage, context: Context, options: StreamOptions) -> Usage:
        prompt = prompt_text(context)
        usage = Usage(input=_tokens(prompt), output=_tokens(_wire(message.content)))
        if options.session_id and options.cache_retention != "none":
            before = self._prompts.get(options.session_id, "")
            usage.cache_read = _tokens(prompt[: _common_prefix(before, prompt)])
            usage.cache_write = usage.input - usage.cache_read
            usage.input = 0
            self._prompts[options.session_id] = prompt
        usage.total_tokens = usage.input + usage.output + usage.cache_read + usage.cache_write
        return usage

    @property
    def pace(self) -> Pace:
        """How its answers arrive."""
        return self._pace


class _ScriptedStream:
    def __init__(
        self, owner: ScriptedModel, response: Response, model: Model, context: Context, options: StreamOptions
    ) -> None:
        self._owner, self._response = owner, response
        self._model, self._context, self._options = model, context, options

    async def run(self, emit: Emit) -> AssistantMessage:
        try:
            message = await self._owner.prepare(self._response, self._context, self._options)
        except Exception as error:
            failed = FailedStream(self._model, f"The script's function raised: {error}", ErrorKind.INTERNAL)
            return await failed.run(emit)
        return await PlayedStream(message, self._model, self._owner.pace).run(emit)


_LIVE: WeakValueDictionary[tuple[str, str], ScriptedModel] = WeakValueDictionary()


def scripted_model(model_id: str = "scripted-1", *, reasoning: bool = False) -> Model:
    """The description of a scripted model: text and images, 128,000 tokens, no price."""
    return Model(
        id=model_id,
        name=model_id,
        api="pinyon-scripted",
        provider="scripted",
        reasoning=reasoning,
        input=["text", "image"],
    )


def open_stream(model: Model, context: Context, options: StreamOptions) -> AssistantStream:
    """The next answer of the living ScriptedModel with this provider and id; a failed stream when there is none."""
    script = _LIVE.get((model.provider, model.id))
    if script is None:
        return FailedStream(model, f"No script is loaded for {model.provider}/{model.id}", ErrorKind.NOT_FOUND)
    return script.stream_fn(model, context, options)


def prompt_text(context: Context) -> str:
    """A request as one text, for estimates only."""
    parts = [context.system_prompt or ""]
    parts += [_wire(message) for message in context.messages]
    parts += [json.dumps([tool.name, tool.description, tool.parameters]) for tool in context.tools]
    return "\n".join(parts)


def _wire(value: Any) -> str:
    blocks = value if isinstance(value, list) else [value]
    return "".join(json.dumps(block.to_wire(), ensure_ascii=False) for block in blocks)


def _tokens(value: str) -> int:
    return ceil(len(value) / CHARS_PER_TOKEN)


def _common_prefix(one: str, two: str) -> int:
    for index, (a, b) in enumerate(zip(one, two, strict=False)):
        if a != b:
            return index
    return min(len(one), len(two))
