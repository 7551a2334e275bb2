"""An AgentSession on a scripted model, with real tools, a real session file and real settings files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.ai.adapters.scripted import ScriptedModel
from app.runtime.agent_session import AgentSession
from app.runtime.events import SessionEvent
from app.runtime.opening import StartOptions, open_agent_session


@asynccontextmanager
async def scripted_session(
    work: Path, responses: list[Any], **options: Any
) -> AsyncIterator[tuple[AgentSession, ScriptedModel, list[SessionEvent]]]:
    """The session, its model, and every event that it told."""
    model = options.pop("scripted", None) or ScriptedModel(responses)
    session = await open_agent_session(replace(StartOptions(cwd=work), **options))
    session.agent.state.model = model.model
    session.agent.config.stream_fn = model.stream_fn
    events: list[SessionEvent] = []
    async with session:
        session.subscribe(events.append)
        yield session, model, events


def kinds(events: list[SessionEvent]) -> list[str]:
    return [event.type for event in events if event.type != "message_update"]
