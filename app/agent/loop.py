"""The two nested loops: turns while there are tool calls or steering, again while there are follow-ups.

Event orders: spec core §2.3. It must never end without `agent_end`, leave a call without a result, or retry.
"""

from __future__ import annotations

import time
from dataclasses import replace

from app.agent.config import AgentContext, AgentLoopConfig, EventSink, MessagesHook, TurnSummary
from app.agent.events import (
    AgentEnd,
    AgentMessage,
    AgentStart,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    TurnEnd,
    TurnStart,
)
from app.agent.tool import AbortSignal, tool_spec
from app.agent.toolcalls import execute_tool_calls
from app.ai.events import AssistantMessageEvent, StreamDone, StreamError, StreamStart
from app.ai.messages import AssistantMessage, Context, ThinkingContent, ToolResultMessage
from app.ai.stream import AssistantStream
from app.errors import ErrorKind

ABORTED_TEXT = "Request was aborted"


async def run_agent_loop(
    prompts: list[AgentMessage],
    context: AgentContext,
    config: AgentLoopConfig,
    signal: AbortSignal,
    sink: EventSink,
    *,
    poll_steering_first: bool = True,
) -> list[AgentMessage]:
    """The messages that the run added, prompts first. With no prompts it continues from `context.messages`.

    Raises ValueError when there is nothing to continue from, before any event.
    """
    if not prompts:
        if not context.messages:
            raise ValueError("there is no message to continue from")
        if getattr(context.messages[-1], "role", "") == "assistant":
            raise ValueError("the last message is an answer: there is nothing to continue")
    run = _Run(context, config, signal, sink)
    await sink.emit(AgentStart())
    await sink.emit(TurnStart())
    await run.inject(prompts)
    await run.turns(poll_steering_first)
    await sink.emit(AgentEnd(run.added))
    return run.added


class _Run:
    """One run's state."""

    def __init__(self, context: AgentContext, config: AgentLoopConfig, signal: AbortSignal, sink: EventSink) -> None:
        self.context = context
        self.config = config
        self.signal = signal
        self.sink = sink
        self.added: list[AgentMessage] = []
        self._specs = [tool_spec(tool) for tool in context.tools]

    async def inject(self, messages: list[AgentMessage]) -> None:
        for message in messages:
            await self.sink.emit(MessageStart(message))
            await self.sink.emit(MessageEnd(message))
            self.context.messages.append(message)
            self.added.append(message)

    async def turns(self, poll_steering_first: bool) -> None:
        pending = await self._poll("get_steering_messages") if poll_steering_first else []
        first = True
        while True:
            more = True
            while more or pending:
                if not first:
                    await self.sink.emit(TurnStart())
                first = False
                await self.inject(pending)
                message = await self._answer()
                if message.stop_reason in ("error", "aborted"):
                    await self.sink.emit(TurnEnd(message, []))
                    return
                results, more = await self._run_calls(message)
                await self.sink.emit(TurnEnd(message, results))
                if await self._should_stop(message, results, more):
                    return
                pending = await self._poll("get_steering_messages")
            pending = await self._poll("get_follow_up_messages")
            if not pending:
                return

    async def _run_calls(self, message: AssistantMessage) -> tuple[list[ToolResultMessage], bool]:
        """The results in call order, and whether the model must be asked again."""
        if not message.tool_calls():
            return [], False
        batch = await execute_tool_calls(message, self.context, self.config, self.signal, self.sink)
        self.context.messages.extend(batch.results)
        self.added.extend(batch.results)
        return batch.results, not batch.terminate

    async def _answer(self) -> AssistantMessage:
        """Ask the model once; the final message is in the context and was announced by message_start and _end."""
        stream: AssistantStream | None = None
        refused: AssistantMessage | None = None
        with self.signal.guard():  # a hook may wait for a key command: an abort ends that as well
            try:
                stream = await self._open_stream()
            except _HookError as error:
                refused = self._failed(str(error))
        if stream is None:
            return await self._finish(refused or self._aborted(None), started=False)
        started = False
        failure: Exception | None = None
        partial: AssistantMessage | None = None
        clock = _ThinkingClock()
        with self.signal.guard() as scope:

            def on_event(event: AssistantMessageEvent) -> None:
                nonlocal started, failure, partial
                if failure is not None or isinstance(event, StreamDone | StreamError):
                    return
                try:
                    if isinstance(event, StreamStart):
                        started, partial = True, event.partial
                        self.sink.emit_now(MessageStart(event.partial))
                    else:
                        partial = event.partial
                        clock.note(event)
                        self.sink.emit_now(MessageUpdate(event.partial, event))
                except Exception as error:  # a listener failed: stop the stream here, raise it below
                    failure = error
                    scope.cancel()

            message = await stream.run(on_event)
        if failure is not None:
            raise failure
        if scope.cancelled_caught:
            message = self._aborted(partial)
        return await self._finish(message, started=started)

    async def _finish(self, message: AssistantMessage, *, started: bool) -> AssistantMessage:
        if not started:
            await self.sink.emit(MessageStart(message))
        await self.sink.emit(MessageEnd(message))
        self.context.messages.append(message)
        self.added.append(message)
        return message

    async def _open_stream(self) -> AssistantStream:
        config = self.config
        hook = "transform_context"
        try:
            messages = self.context.messages
            if config.transform_context:
                messages = await config.transform_context(list(messages), self.signal)
            hook = "convert_to_llm"
            request = Context(self.context.system_prompt or None, config.convert_to_llm(messages), self._specs)
            hook = "get_api_key"
            options = config.options
            if config.get_api_key:
                auth = await config.get_api_key(config.model)
                if auth is not None:
                    options = replace(options, api_key=auth.api_key, headers={**options.headers, **auth.headers})
            hook = "stream_fn"
            return config.stream_fn(config.model, request, options)
        except Exception as error:
            self._report(hook, error)
            raise _HookError(f"{error}" if hook == "get_api_key" else f"{hook} failed: {error}") from error

    async def _should_stop(self, message: AssistantMessage, results: list[ToolResultMessage], more: bool) -> bool:
        hook = self.config.should_stop_after_turn
        if hook is None:
            return False
        try:
            return await hook(TurnSummary(message, results, self.context, self.added, more))
        except Exception as error:
            self._report("should_stop_after_turn", error)
            return False

    async def _poll(self, name: str) -> list[AgentMessage]:
        hook: MessagesHook | None = getattr(self.config, name)
        if hook is None:
            return []
        try:
            return await hook()
        except Exception as error:
            self._report(name, error)
            return []

    def _report(self, hook: str, error: Exception) -> None:
        if self.config.on_hook_error:
            self.config.on_hook_error(hook, error)

    def _blank(self) -> AssistantMessage:
        model = self.config.model
        return AssistantMessage(api=model.api, provider=model.provider, model=model.id)

    def _failed(self, text: str) -> AssistantMessage:
        message = self._blank()
        message.stop_reason = "error"
        message.error_message = text
        message.error_kind = ErrorKind.INTERNAL
        message.retryable = False
        return message

    def _aborted(self, partial: AssistantMessage | None) -> AssistantMessage:
        message = partial or self._blank()
        message.stop_reason = "aborted"
        message.error_message = ABORTED_TEXT
        return message


class _ThinkingClock:
    """Writes how long each thinking block took, up to whatever came after it."""

    def __init__(self) -> None:
        self._open: tuple[ThinkingContent, float] | None = None

    def note(self, event: AssistantMessageEvent) -> None:
        if event.type == "thinking_start":
            block = event.partial.content[event.content_index]
            if isinstance(block, ThinkingContent):
                self._open = (block, time.monotonic())
        elif self._open is not None and event.type in ("thinking_end", "text_start", "toolcall_start"):
            block, began = self._open
            block.duration_ms = int((time.monotonic() - began) * 1000)
            self._open = None


class _HookError(Exception):
    """A guarded hook failed before the request could leave."""
