"""The seam between the loop and any model: `StreamFn`, and the dispatch by `model.api`; it must never retry.

Contract (architecture §2): `StreamFn(model, context, options)` returns at once; `await stream.run(emit)` drives it,
calls `emit` synchronously for each event, and returns the final message. It never raises for request, model or
runtime failures: those are one `StreamError` event. Only cancellation passes through (after a `StreamError` with
reason "aborted" is NOT owed: the loop makes that message from the partial it holds).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Literal, Protocol

from app.ai.events import AssistantMessageEvent, StreamError
from app.ai.messages import AssistantMessage, Context, Model, ThinkingLevel
from app.errors import ErrorKind

Emit = Callable[[AssistantMessageEvent], None]


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """What one request wants beyond model and context; None means the adapter's own default."""

    api_key: str | None = None
    reasoning: ThinkingLevel | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    headers: dict[str, str] = field(default_factory=dict)
    session_id: str | None = None
    cache_retention: Literal["none", "short", "long"] = "short"
    thinking_budgets: dict[str, int] = field(default_factory=dict)
    idle_timeout_s: float = 120.0


class AssistantStream(Protocol):
    """An answer that has not begun yet."""

    async def run(self, emit: Emit) -> AssistantMessage:
        """Drive it to its end and return the final message."""
        ...


StreamFn = Callable[[Model, Context, StreamOptions], AssistantStream]

# api id -> module with `open_stream: StreamFn`; imported at the first request, so that start-up pays for none.
ADAPTERS: dict[str, str] = {
    "anthropic-messages": "app.ai.adapters.anthropic",
    "openai-completions": "app.ai.adapters.openai_chat",
    "openai-responses": "app.ai.adapters.openai_responses",
    "google-generative-ai": "app.ai.adapters.google",
    "pinyon-offline": "app.ai.adapters.offline",
    "pinyon-scripted": "app.ai.adapters.scripted",
}


class FailedStream:
    """A stream that failed before it began."""

    def __init__(self, model: Model, message: str, kind: ErrorKind = ErrorKind.BAD_REQUEST) -> None:
        self._message = AssistantMessage(
            api=model.api,
            provider=model.provider,
            model=model.id,
            stop_reason="error",
            error_message=message,
            error_kind=kind,
            retryable=False,
        )

    async def run(self, emit: Emit) -> AssistantMessage:
        """Emit the one error event."""
        emit(StreamError("error", self._message))
        return self._message


def stream(model: Model, context: Context, options: StreamOptions) -> AssistantStream:
    """The stream of the adapter for `model.api`; an unknown api gives a stream that says so."""
    module = ADAPTERS.get(model.api)
    if module is None:
        known = ", ".join(sorted(ADAPTERS))
        return FailedStream(model, f"{model.provider}/{model.id} wants the api {model.api!r}; known are {known}")
    open_stream: StreamFn = import_module(module).open_stream
    return open_stream(model, context, options)
