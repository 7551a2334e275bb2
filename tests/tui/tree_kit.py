"""Tree and compare screens over a real AgentSession with a real file history, driven by a pilot."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.app import App
from textual.pilot import Pilot

from app.ai.adapters.scripted import answer, tool_call
from app.config.paths import stylesheet
from app.runtime.agent_session import AgentSession
from app.runtime.file_history import FileHistory
from app.runtime.navigation import go_to
from app.tui.screens.tree import TreeScreen
from app.tui.themes import register_themes, theme_variable_defaults
from app.tui.tree_services import SessionServices, TreeChoice
from tests.runtime.support import scripted_session


class ScreenApp(App[None]):
    """An app with our colours and nothing on it."""

    CSS_PATH = stylesheet()
    ENABLE_COMMAND_PALETTE = False

    def __init__(self) -> None:
        super().__init__()
        register_themes(self)
        self.theme = "pinyon-dark"
        self.copied: list[str] = []
        self.results: list[TreeChoice | None] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme_variable_defaults(self.current_theme)

    def copy_to_clipboard(self, text: str) -> None:
        self.copied.append(text)


def writes(path: str, text: str) -> Any:
    return answer(tool_call("write", {"path": path, "content": text}))


def script() -> list[Any]:
    """Two attempts after a common question: a regex that writes one file, then a parser that writes two."""
    return [
        "I look at the failing test first.",
        writes("parse.py", "import re\nsplit = re.split\n"),
        "Rewrote split with a regex.",
        writes("parse.py", "def split(line):\n    return line.split(',')\n"),
        writes("test_parse.py", "assert True\n"),
        "Wrote it by hand, with a test.",
    ]


@asynccontextmanager
async def two_branches(
    work: Path, *more: Any, size: tuple[int, int] = (120, 30), settings: dict[str, Any] | None = None
) -> AsyncIterator[tuple[Pilot[None], AgentSession, TreeScreen]]:
    """The screen over a session of two branches; one stands at the end of the second."""
    (work / "parse.py").write_text("split = None\n")
    async with scripted_session(work, [*script(), *more]) as (session, _, _):
        history = FileHistory(session)
        history.attach()
        try:
            await session.prompt("The CSV test fails since yesterday")
            first = session.session.leaf_id
            assert first is not None
            await session.prompt("try a regex instead")
            await go_to(session, first)
            await session.prompt("write it by hand")
            app = ScreenApp()
            async with app.run_test(size=size) as pilot:
                screen = TreeScreen(session, SessionServices(session, history))
                app.push_screen(screen, app.results.append)
                await pilot.pause()
                yield pilot, session, screen
        finally:
            await history.close()


def shown(app: App[None]) -> str:
    """The text of the screen, row by row."""
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


def entry_id(session: AgentSession, words: str) -> str:
    """The entry that begins with these words."""
    return next(entry.id for entry in session.session.tree.entries if entry.preview.startswith(words))
