"""Switching the model and the thinking level of a running session; both count from the next run on."""

from __future__ import annotations

import anyio.to_thread

from app.ai.messages import Model, ThinkingLevel
from app.ai.resolve import clamp_level, supported_levels
from app.config.settings import save_setting
from app.errors import ConfigError
from app.runtime.agent_session import AgentSession
from app.runtime.events import ModelChanged, ThinkingLevelChanged


async def set_model(session: AgentSession, model: Model, *, remember: bool = True) -> None:
    """Ask `model` from the next run on: kept in the session and, with `remember`, as the default of later ones.

    Raises ModelError when no key is known for it. The wished thinking level is kept as far as the model has it.
    """
    if not session.registry.has_auth(model):
        await session.registry.request_auth(model)
    state = session.agent.state
    before = state.model
    state.model = model
    await session.session.append_model_change(model.provider, model.id)
    session.emit(ModelChanged(model.provider, model.id))
    wished: ThinkingLevel = state.thinking_level
    if not before.reasoning:
        wished = session.settings.default_thinking_level or "medium"
    await set_thinking_level(session, clamp_level(model, wished))
    if remember:
        await _remember(session, {"defaultProvider": model.provider, "defaultModel": model.id})


async def set_thinking_level(session: AgentSession, level: ThinkingLevel, *, remember: bool = False) -> ThinkingLevel:
    """The level that counts now: `level`, or the nearest that the model has."""
    state = session.agent.state
    level = clamp_level(state.model, level)
    if level != state.thinking_level:
        state.thinking_level = level
        await session.session.append_thinking_level(level)
        session.emit(ThinkingLevelChanged(level))
        if remember and state.model.reasoning:
            await _remember(session, {"defaultThinkingLevel": level})
    return level


async def cycle_thinking_level(session: AgentSession) -> ThinkingLevel | None:
    """The next level of the model, around again at the end; None when the model does not think."""
    levels = supported_levels(session.agent.state.model)
    if len(levels) < 2:
        return None
    now = session.agent.state.thinking_level
    place = levels.index(now) + 1 if now in levels else 0
    return await set_thinking_level(session, levels[place % len(levels)], remember=True)


async def _remember(session: AgentSession, values: dict[str, str]) -> None:
    try:
        for key, value in values.items():
            await anyio.to_thread.run_sync(save_setting, key, value)
    except (ConfigError, OSError) as error:
        session.note(f"the choice counts for this session, but could not be saved: {error}", "warning")
