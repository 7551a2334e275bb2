"""A batch of tool calls: announced, checked, run in sequence or side by side, each with exactly one result.

Orders: spec core §2.3. It must never run a call whose arguments were cut, and never leave one without a result.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import anyio

from app.agent.config import AfterToolCall, AgentContext, AgentLoopConfig, BeforeToolCall, EventSink
from app.agent.events import (
    MessageEnd,
    MessageStart,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
)
from app.agent.tool import AbortSignal, AgentTool, AgentToolResult
from app.ai.messages import AssistantMessage, TextContent, ToolCall, ToolResultMessage
from app.errors import ToolError

ABORTED = "Operation aborted"
CUT = (
    "This call was not run: its arguments were cut off before they were complete. "
    "Call the tool again with complete arguments, in smaller pieces if they are long."
)


@dataclass(slots=True)
class Batch:
    """The results in call order; `terminate` when every one of them asks for it."""

    results: list[ToolResultMessage]
    terminate: bool


@dataclass(slots=True)
class _Outcome:
    result: AgentToolResult
    is_error: bool
    duration_ms: int | None = None


@dataclass(slots=True)
class _Ready:
    """A call that may run."""

    tool: AgentTool
    args: Any


async def execute_tool_calls(
    message: AssistantMessage, context: AgentContext, config: AgentLoopConfig, signal: AbortSignal, sink: EventSink
) -> Batch:
    """Run the calls of `message`. One tool with execution_mode "sequential" makes the whole batch so."""
    calls = message.tool_calls()
    tools = {tool.name: tool for tool in context.tools}
    modes = {tools[call.name].execution_mode for call in calls if call.name in tools}
    batch = _Batch(message, tools, context, config, signal, sink)
    if config.tool_execution == "sequential" or "sequential" in modes:
        outcomes = await batch.run_in_sequence(calls)
    else:
        outcomes = await batch.run_side_by_side(calls)
    return Batch(outcomes[0], bool(calls) and all(outcome.result.terminate for outcome in outcomes[1]))


class _Batch:
    def __init__(
        self,
        message: AssistantMessage,
        tools: dict[str, AgentTool],
        context: AgentContext,
        config: AgentLoopConfig,
        signal: AbortSignal,
        sink: EventSink,
    ) -> None:
        self.message = message
        self.tools = tools
        self.context = context
        self.config = config
        self.signal = signal
        self.sink = sink

    async def run_in_sequence(self, calls: list[ToolCall]) -> tuple[list[ToolResultMessage], list[_Outcome]]:
        messages, outcomes = [], []
        for call in calls:
            prepared = await self._start(call)
            outcome = await self._run(call, prepared) if isinstance(prepared, _Ready) else prepared
            await self._end(call, outcome)
            messages.append(await self._announce(call, outcome))
            outcomes.append(outcome)
        return messages, outcomes

    async def run_side_by_side(self, calls: list[ToolCall]) -> tuple[list[ToolResultMessage], list[_Outcome]]:
        outcomes: list[_Outcome | None] = [None] * len(calls)
        ready: list[tuple[int, _Ready]] = []
        for index, call in enumerate(calls):
            prepared = await self._start(call)
            if isinstance(prepared, _Ready):
                ready.append((index, prepared))
            else:
                outcomes[index] = prepared
                await self._end(call, prepared)
        ends = anyio.Lock()  # listeners see one event at a time

        async def run_one(index: int, prepared: _Ready) -> None:
            outcome = await self._run(calls[index], prepared)
            outcomes[index] = outcome
            async with ends:
                await self._end(calls[index], outcome)

        if len(ready) == 1:
            await run_one(*ready[0])
        else:
            try:
                async with anyio.create_task_group() as group:
                    for index, prepared in ready:
                        group.start_soon(run_one, index, prepared)
            except BaseExceptionGroup as error:  # a listener failed: the run ends by its first exception
                raise _first(error) from error
        done = [outcome for outcome in outcomes if outcome is not None]
        messages: list[ToolResultMessage] = []
        failure: Exception | None = None
        for call, outcome in zip(calls, done, strict=True):
            try:
                messages.append(await self._announce(call, outcome))
            except Exception as error:  # what the others did is told all the same: it can't be had again
                failure = failure or error
        if failure is not None:
            raise failure
        return messages, done

    async def _start(self, call: ToolCall) -> _Ready | _Outcome:
        await self.sink.emit(ToolExecutionStart(call.id, call.name, call.arguments))
        try:
            return await self._prepare(call)
        except Exception as error:
            return _failed(_text(error), getattr(error, "details", None))

    async def _prepare(self, call: ToolCall) -> _Ready | _Outcome:
        from app.ai.arguments import validate_tool_arguments

        if self.signal.aborted:
            return _failed(ABORTED)
        tool = self.tools.get(call.name)
        if tool is None:
            known = ", ".join(self.tools) or "none"
            return _failed(f"Tool {call.name} not found. Tools on offer: {known}.")
        if call.cut:
            return _failed(CUT)
        args = validate_tool_arguments(call.name, tool.parameters, tool.prepare_arguments(call.arguments))
        hook = self.config.before_tool_call
        if hook is not None:
            with self.signal.guard() as scope:
                verdict = await hook(BeforeToolCall(self.message, call, args, self.context), self.signal)
                if verdict is not None and verdict.block:
                    return _failed(verdict.reason or f"The call of {call.name} was blocked.")
            if scope.cancelled_caught:
                return _failed(ABORTED)
        return _Ready(tool, args)

    async def _run(self, call: ToolCall, ready: _Ready) -> _Outcome:
        if self.signal.aborted:  # while the others of the batch were prepared
            return await self._after(call, ready, _failed(ABORTED))
        began = time.monotonic()
        latest: AgentToolResult | None = None
        over = False

        def on_update(partial: AgentToolResult) -> None:
            nonlocal latest
            if not over:
                latest = partial
                self.sink.emit_now(ToolExecutionUpdate(call.id, call.name, call.arguments, partial))

        with self.signal.guard() as scope:
            try:
                outcome = _Outcome(await ready.tool.execute(call.id, ready.args, self.signal, on_update), False)
            except Exception as error:
                outcome = _failed(_text(error), getattr(error, "details", None))
        over = True
        if scope.cancelled_caught:
            outcome = _aborted(latest)
        outcome.duration_ms = int((time.monotonic() - began) * 1000)
        return await self._after(call, ready, outcome)

    async def _after(self, call: ToolCall, ready: _Ready, outcome: _Outcome) -> _Outcome:
        hook = self.config.after_tool_call
        if hook is None:
            return outcome
        try:
            told = AfterToolCall(self.message, call, ready.args, outcome.result, outcome.is_error, self.context)
            with self.signal.guard():
                change = await hook(told, self.signal)
                if change is not None:
                    result = AgentToolResult(
                        outcome.result.content if change.content is None else change.content,
                        outcome.result.details if change.details is None else change.details,
                        outcome.result.terminate if change.terminate is None else change.terminate,
                    )
                    is_error = outcome.is_error if change.is_error is None else change.is_error
                    return _Outcome(result, is_error, outcome.duration_ms)
        except Exception as error:
            failed = _failed(_text(error))
            failed.duration_ms = outcome.duration_ms
            return failed
        return outcome

    async def _end(self, call: ToolCall, outcome: _Outcome) -> None:
        await self.sink.emit(ToolExecutionEnd(call.id, call.name, outcome.result, outcome.is_error))

    async def _announce(self, call: ToolCall, outcome: _Outcome) -> ToolResultMessage:
        message = ToolResultMessage(
            tool_call_id=call.id,
            tool_name=call.name,
            content=outcome.result.content,
            details=outcome.result.details,
            is_error=outcome.is_error,
            duration_ms=outcome.duration_ms,
        )
        try:
            await self.sink.emit(MessageStart(message))
        finally:
            await self.sink.emit(MessageEnd(message))
        return message


def _failed(text: str, details: Any = None) -> _Outcome:
    return _Outcome(AgentToolResult.of_text(text, {} if details is None else details), True)


def _aborted(latest: AgentToolResult | None) -> _Outcome:
    """What the tool had shown so far, then the word that it was stopped."""
    shown = "".join(block.text for block in latest.content if isinstance(block, TextContent)) if latest else ""
    if shown.rstrip().endswith("aborted"):  # the tool said so itself
        return _failed(shown)
    return _failed(f"{shown}\n\n{ABORTED}" if shown.strip() else ABORTED)


def _text(error: Exception) -> str:
    return error.message if isinstance(error, ToolError) else str(error) or type(error).__name__


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
