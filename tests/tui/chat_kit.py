"""The whole chat screen on a scripted model, with real tools and a real session file, driven by a pilot."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from textual.pilot import Pilot

from app.ai.adapters.scripted import ScriptedModel
from app.cli.arguments import parse_arguments
from app.config.settings import load_settings
from app.tui.application import PinyonApp
from app.tui.screens.chat import ChatScreen
from app.tui.starting import Face

MODELS = {
    "providers": {
        "scripted": {
            "api": "pinyon-scripted",
            "baseUrl": "http://127.0.0.1:9",
            "apiKey": "none",
            "models": [{"id": "scripted-1", "name": "scripted"}],
        }
    }
}


@asynccontextmanager
async def chat(
    work: Path,
    responses: list[Any],
    *argv: str,
    size: tuple[int, int] = (100, 30),
    settings: dict[str, Any] | None = None,
    before: Callable[[Pilot[None]], Awaitable[None]] | None = None,
    **model: Any,
) -> AsyncIterator[tuple[Pilot[None], ChatScreen, ScriptedModel]]:
    """Pilot, screen and model, once the session is open."""
    config = Path(os.environ["PINYON_CONFIG_DIR"])
    config.mkdir(parents=True, exist_ok=True)
    (config / "models.json").write_text(json.dumps(MODELS))
    (config / "settings.json").write_text(
        json.dumps({"defaultProvider": "scripted", "defaultModel": "scripted-1", **(settings or {})})
    )
    script = ScriptedModel(responses, **model)
    script.model.provider, script.model.id = "scripted", "scripted-1"
    arguments = parse_arguments(list(argv))
    app = PinyonApp(arguments, work, Face(ssh=False, theme="dark", settings=load_settings(work, trusted=False)[0]))
    async with app.run_test(size=size) as pilot:
        if before is not None:
            await before(pilot)
        await until(pilot, lambda: isinstance(app.screen, ChatScreen) and app.screen.session is not None)
        screen = app.screen
        assert isinstance(screen, ChatScreen)
        yield pilot, screen, script
        screen.quit()
        await until(pilot, lambda: app._exit)


async def until(pilot: Pilot[None], is_so: Callable[[], bool], seconds: float = 10) -> None:
    """Wait for a thing; fails when it does not come."""
    with anyio.fail_after(seconds):
        while not is_so():
            await pilot.pause(0.01)


async def idle(pilot: Pilot[None], screen: ChatScreen) -> None:
    """Wait until no run goes on and everything is drawn."""
    session = screen.session
    assert session is not None
    await until(pilot, lambda: not session.is_busy and screen.transcript.is_settled)
    await pilot.pause()


async def say(pilot: Pilot[None], screen: ChatScreen, text: str) -> None:
    """Type a prompt, send it, and wait for the end of its run."""
    screen.prompt.insert_typed(text)
    await pilot.press("enter")
    await pilot.pause()
    await idle(pilot, screen)


def shown(screen: ChatScreen) -> str:
    """The text of the screen, row by row."""
    strips = screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips)
