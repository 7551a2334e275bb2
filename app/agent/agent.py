"""Agent: a conversation that can be prompted, steered, followed up and aborted (spec core §2.4).

It must never raise out of `prompt()` for what happens in a run, and a run of it always ends with agent_end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio

from app.agent.config import AgentContext, AgentLoopConfig
from app.agent.events import AgentEnd, AgentEvent, AgentMessage, MessageEnd, MessageStart
from app.agent.loop import ABORTED_TEXT, run_agent_loop
from app.agent.queue import MessageQueue
from app.agent.state import AgentState
from app.agent.tool import AbortSignal
from app.ai.messages import AssistantMessage, ImageContent, TextContent, ToolResultMessage, UserMessage
from app.errors import ErrorKind

BROKEN_OFF = "The run broke off before this call had a result; it may have run in part."
Listener = Callable[[AgentEvent, AbortSignal], Awaitable[None] | None]


class AgentBusyError(RuntimeError):
    """A run is going on already."""


class Agent:
    """`config` is read at the start of each run: its fields may be assigned between runs."""

    def __init__(self, state: AgentState, config: AgentLoopConfig) -> None:
        self.state = state
        self.config = config
        self.steering = MessageQueue()
        self.follow_ups = MessageQueue()
        self._listeners: list[Listener] = []
        self._signal: AbortSignal | None = None
        self._idle: anyio.Event | None = None
        self._late: list[Awaitable[None]] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener(event, signal)` for each event, awaited in subscription order; returns how to end it.

        For message_update, tool_execution_update and an answer's message_start it is called at once and what it
        returns is awaited before the next other event.
        """
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    async def prompt(
        self, prompt: str | AgentMessage | list[AgentMessage], images: list[ImageContent] | None = None
    ) -> None:
        """Run until the agent stops. Raises AgentBusyError while a run is going on."""
        if self.state.is_streaming:
            raise AgentBusyError("the agent is at work: use steer() or follow_up(), or wait for it to end")
        if isinstance(prompt, str):
            messages: list[AgentMessage] = [UserMessage(content=[TextContent(text=prompt), *(images or [])])]
        else:
            messages = prompt if isinstance(prompt, list) else [prompt]
        await self._run(messages)

    async def continue_(self) -> None:
        """Go on from the last message: a request for it, or, after an answer, what waits in the queues.

        Raises AgentBusyError while a run is going on, ValueError when there is nothing to continue from.
        """
        if self.state.is_streaming:
            raise AgentBusyError("the agent is at work already: it can't be continued now")
        if not self.state.messages:
            raise ValueError("there is no message to continue from")
        if getattr(self.state.messages[-1], "role", "") != "assistant":
            await self._run([])
            return
        if steering := self.steering.drain():
            await self._run(steering, poll_steering_first=False)
        elif follow_ups := self.follow_ups.drain():
            await self._run(follow_ups)
        else:
            raise ValueError("the last message is an answer and nothing waits in a queue")

    def steer(self, message: AgentMessage) -> None:
        """Let the running agent read `message` before its next request."""
        self.steering.put(message)

    def follow_up(self, message: AgentMessage) -> None:
        """Give `message` to the agent when it would stop."""
        self.follow_ups.put(message)

    def has_queued_messages(self) -> bool:
        """Whether something waits in either queue."""
        return bool(len(self.steering) or len(self.follow_ups))

    def abort(self) -> None:
        """Stop the run at its present point; does nothing when idle."""
        if self._signal is not None:
            self._signal.abort()

    async def wait_for_idle(self) -> None:
        """Return when the run and all its listeners are done; at once when idle."""
        if self._idle is not None:
            await self._idle.wait()

    def reset(self) -> None:
        """Forget the conversation and both queues; model, prompt and tools stay. Aborts nothing."""
        self.state.clear()
        self.steering.clear()
        self.follow_ups.clear()

    async def emit(self, event: AgentEvent) -> None:
        """Deliver to state and listeners (EventSink)."""
        while self._late:
            await self._late.pop(0)
        self.state.reduce(event)
        signal = self._signal or AbortSignal()
        for listener in tuple(self._listeners):
            pending = listener(event, signal)
            if pending is not None:
                await pending

    def emit_now(self, event: AgentEvent) -> None:
        """Deliver without waiting (EventSink)."""
        self.state.reduce(event)
        signal = self._signal or AbortSignal()
        for listener in tuple(self._listeners):
            pending = listener(event, signal)
            if pending is not None:
                self._late.append(pending)

    async def _run(self, prompts: list[AgentMessage], *, poll_steering_first: bool = True) -> None:
        """One run. It is shielded: cancelling the caller aborts it, and it ends by itself with every call answered."""
        signal = self._signal = AbortSignal()
        self._idle = anyio.Event()
        self.state.begin_run()
        over = anyio.Event()

        async def shielded() -> None:
            with anyio.CancelScope(shield=True):
                try:
                    await self._run_guarded(prompts, signal, poll_steering_first)
                finally:
                    over.set()

        try:
            async with anyio.create_task_group() as group:
                group.start_soon(shielded)
                try:
                    await over.wait()
                except anyio.get_cancelled_exc_class():
                    signal.abort()
                    raise
        finally:
            self._late.clear()
            self.state.end_run()
            self._signal = None
            self._idle.set()
            self._idle = None

    async def _run_guarded(self, prompts: list[AgentMessage], signal: AbortSignal, poll_steering_first: bool) -> None:
        context = AgentContext(self.state.system_prompt, list(self.state.messages), list(self.state.tools))
        level = self.state.thinking_level
        config = replace(
            self.config,
            model=self.state.model,
            options=replace(self.config.options, reasoning=None if level == "off" else level),
            get_steering_messages=self._take_steering,
            get_follow_up_messages=self._take_follow_ups,
        )
        try:
            await run_agent_loop(prompts, context, config, signal, self, poll_steering_first=poll_steering_first)
        except Exception as error:  # a listener failed, or the loop has a bug: the run still ends in the open
            failure = AssistantMessage(
                content=[TextContent(text="")],
                api=config.model.api,
                provider=config.model.provider,
                model=config.model.id,
                stop_reason="aborted" if signal.aborted else "error",
                error_message=ABORTED_TEXT if signal.aborted else str(error) or type(error).__name__,
                error_kind=ErrorKind.INTERNAL,
                retryable=False,
            )
            for result in _missing_results(self.state.messages):
                for event in (MessageStart(result), MessageEnd(result)):
                    self.state.reduce(event)
                    await self._tell(event, signal)
            self.state.fail(failure)
            await self._tell(AgentEnd([failure]), signal)

    async def _tell(self, event: AgentEvent, signal: AbortSignal) -> None:
        """Deliver although listeners fail; the first failure is on record already."""
        for listener in tuple(self._listeners):
            try:
                pending = listener(event, signal)
                if pending is not None:
                    await pending
            except Exception:
                continue

    async def _take_steering(self) -> list[AgentMessage]:
        return self.steering.drain()

    async def _take_follow_ups(self) -> list[AgentMessage]:
        return self.follow_ups.drain()


def _missing_results(messages: list[AgentMessage]) -> list[ToolResultMessage]:
    """Results for the calls of the last answer that a run which broke off left without one."""
    answered: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, ToolResultMessage):
            answered.add(message.tool_call_id)
        elif isinstance(message, AssistantMessage):
            if message.stop_reason in ("error", "aborted"):
                return []
            return [
                ToolResultMessage(
                    tool_call_id=call.id, tool_name=call.name, content=[TextContent(text=BROKEN_OFF)], is_error=True
                )
                for call in message.tool_calls()
                if call.id not in answered
            ]
        else:
            break
    return []
