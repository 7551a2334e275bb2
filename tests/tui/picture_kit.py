"""Whole screens as pictures: a recorded session in a fixed folder, at a fixed time, drawn by the real App."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.pilot import Pilot

from app.ai.adapters.scripted import Response, ScriptedModel
from app.cli.arguments import parse_arguments
from app.config.settings import load_settings
from app.session.naming import project_folder
from app.tui.application import PinyonApp
from app.tui.screens.chat import ChatScreen
from app.tui.starting import Face
from tests.tui.chat_kit import MODELS, until

RECORDED = Path(__file__).parents[1] / "data" / "tui" / "conversation.jsonl"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SNAPSHOT_FOLDER = "TEXTUAL_SNAPSHOT_TEMPDIR"
_PLUGIN_FOLDER = os.environ.get(SNAPSHOT_FOLDER)  # read here: tests run without the caller's environment
_FONTS = re.compile(r"@font-face\s*\{.*?\}", re.DOTALL)

Steps = Callable[[Pilot[None], ChatScreen], Awaitable[None]]


class PictureApp(PinyonApp):
    """The App, whose pictures name no place to load fonts from."""

    def export_screenshot(self, **options: Any) -> str:
        return _FONTS.sub("", super().export_screenshot(**options))


class _Frozen(datetime):
    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return NOW


class Studio:
    """Makes Apps that look the same on every machine."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.work = home / "acme"
        self.work.mkdir()
        for kind in ("config", "data", "cache"):
            monkeypatch.setenv(f"PINYON_{kind.upper()}_DIR", str(home / f".{kind}" / "pinyon"))
        monkeypatch.setenv("HOME", str(home))
        if _PLUGIN_FOLDER is not None:
            monkeypatch.setenv(SNAPSHOT_FOLDER, _PLUGIN_FOLDER)
        monkeypatch.setenv("TZ", "UTC")
        time.tzset()
        monkeypatch.chdir(self.work)
        monkeypatch.setattr("app.version.version", lambda: "1.0")
        monkeypatch.setattr("widgets.tree_window.datetime", _Frozen)
        monkeypatch.setattr("widgets.session_rows_view.time", SimpleNamespace(time=NOW.timestamp))
        self.settings: dict[str, Any] = {}

    def with_scripted(self, *responses: Response) -> ScriptedModel:
        """A model that plays these answers."""
        config = Path(os.environ["PINYON_CONFIG_DIR"])
        config.mkdir(parents=True, exist_ok=True)
        (config / "models.json").write_text(json.dumps(MODELS))
        self.settings.update(defaultProvider="scripted", defaultModel="scripted-1")
        script = ScriptedModel(responses)
        script.model.provider, script.model.id = "scripted", "scripted-1"
        return script

    def with_session(self) -> None:
        """The recorded session is this folder's."""
        folder = project_folder(str(self.work))
        folder.mkdir(parents=True)
        path = folder / "2026-11-30T09-13-20-000Z_01a22ced-b08c-76c7-ad7a-a67ee0e76bdd.jsonl"
        path.write_text(RECORDED.read_text("utf-8").replace("@WORK@", str(self.work)), "utf-8")
        os.utime(path, (NOW.timestamp() - 600, NOW.timestamp() - 600))

    def app(self, *argv: str, theme: str = "dark") -> PictureApp:
        """The App, about to start."""
        config = Path(os.environ["PINYON_CONFIG_DIR"])
        config.mkdir(parents=True, exist_ok=True)
        (config / "settings.json").write_text(json.dumps(self.settings))
        settings = load_settings(self.work, trusted=False)[0]
        return PictureApp(parse_arguments(list(argv)), self.work, Face(ssh=False, theme=theme, settings=settings))


def before(steps: Steps | None = None) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Wait until the session is drawn, take the steps, and wait until everything is still."""

    async def run(pilot: Pilot[None]) -> None:
        app = pilot.app
        await until(pilot, lambda: isinstance(app.screen, ChatScreen) and app.screen.session is not None)
        screen = app.screen
        assert isinstance(screen, ChatScreen)
        await until(pilot, lambda: screen.transcript.is_settled)
        await see_everything(pilot, screen)
        if steps is not None:
            await steps(pilot, screen)
        stop_clocks(screen)
        await pilot.pause()

    return run


async def see_everything(pilot: Pilot[None], screen: ChatScreen) -> None:
    """Go through the conversation once: the scroll bar goes by estimates of what was never in sight."""
    screen.action_view_page_up()
    await pilot.pause()
    while not screen.transcript.viewport.top <= 0:
        screen.action_view_page_up()
        await pilot.pause()
    screen.transcript.follow()
    await pilot.pause()


def stop_clocks(screen: ChatScreen) -> None:
    """No picture depends on how long it took to get there."""
    screen.footer._clock = lambda: screen.footer.state.busy_since or 0.0
    screen.footer.refresh()
    for block in screen.transcript.blocks:
        started = getattr(block.block, "_started_at", None) or getattr(block.block, "_started", 0.0)
        if hasattr(block.block, "_clock"):
            block.block._clock = lambda started=started: started
            screen.transcript.touch(block.block.id)
