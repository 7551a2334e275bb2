"""How a session asks a model for a summary: which model, with what key, and again after a passing failure.

It must never store anything; the answer's cost counts in the session's totals.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from app.ai.catalogue import default_models
from app.ai.messages import AssistantMessage, Context, Model, TextContent, UserMessage
from app.ai.overflow import is_context_overflow
from app.ai.resolve import resolve_cli
from app.ai.stream import StreamOptions
from app.errors import ErrorKind, ModelError, UsageError
from app.runtime.retry import RetryPolicy, RetryState
from app.session.summary_text import SUMMARISER

if TYPE_CHECKING:
    from app.runtime.agent_session import AgentSession


class Summariser:
    """`ask` makes one request; `model` is who is asked."""

    def __init__(self, session: AgentSession, model: Model, options: StreamOptions) -> None:
        self.model = model
        self._session = session
        self._options = options

    @classmethod
    async def open(cls, session: AgentSession) -> Summariser:
        """The summariser of the setting `compaction.model`, else of the session's own model, with its key.

        Raises ModelError when it has no key, or is the offline guide, which can't summarise.
        """
        model = _chosen(session)
        if model.api == "pinyon-offline":
            raise ModelError(ErrorKind.BAD_REQUEST, "the offline guide can't summarise", hint="Choose a model: /model")
        auth = await session.registry.request_auth(model)
        level = session.agent.state.thinking_level
        options = replace(
            session.agent.config.options,
            api_key=auth.api_key,
            headers=auth.headers,
            reasoning=level if model.reasoning and level != "off" else None,
            session_id=None,
            cache_retention="none",
        )
        return cls(session, model, options)

    async def ask(self, text: str, max_tokens: int) -> str:
        """The answer's text. Raises ModelError when it fails, is empty, or was cut off at `max_tokens`."""
        context = Context(SUMMARISER, [UserMessage(content=[TextContent(text=text)])], [])
        options = replace(self._options, max_tokens=min(max_tokens, self.model.max_tokens))
        retry = self._session.settings.retry
        state = RetryState(RetryPolicy(retry.enabled, retry.max_retries, retry.base_delay_ms))
        while True:
            answer = await self._session.agent.config.stream_fn(self.model, context, options).run(lambda _: None)
            self._count(answer)
            delay_s = state.next_delay_s(answer)
            if delay_s is None:
                return self._text(answer)
            await anyio.sleep(delay_s)

    def _text(self, answer: AssistantMessage) -> str:
        who = f"{self.model.provider}/{self.model.id}"
        if is_context_overflow(answer, self.model.context_window):
            raise ModelError(ErrorKind.OVERFLOW, f"the conversation is too long for {who} to summarise")
        if answer.stop_reason in ("error", "aborted"):
            kind = next((kind for kind in ErrorKind if kind == answer.error_kind), ErrorKind.INTERNAL)
            raise ModelError(kind, f"the summary failed: {answer.error_message or 'no reason given'}")
        text = answer.text().strip()
        if answer.stop_reason == "length":
            raise ModelError(ErrorKind.CUT, f"the summary of {who} was cut off, so it is not used")
        if not text:
            raise ModelError(ErrorKind.EMPTY, f"{who} wrote no summary")
        return text

    def _count(self, answer: AssistantMessage) -> None:
        totals = self._session.totals
        context_tokens = totals.context_tokens
        totals.add(answer)
        totals.context_tokens = context_tokens


def _chosen(session: AgentSession) -> Model:
    group = session.settings.raw.get("compaction")
    wished = group.get("model") if isinstance(group, dict) else None
    if isinstance(wished, str) and wished:
        try:
            match = resolve_cli(None, wished, session.registry.models(), default_models(), session.registry.has_auth)
        except UsageError as error:
            session.note(f"setting compaction.model: {error}", "warning")
        else:
            if match is not None:
                return match.model
    return session.agent.state.model
