"""Draw the pictures of README and docs: the offline guide at work in a small project, dark and light, three sizes.

usage: python scripts/screenshots.py [FOLDER]      writes chat, chat-light, chat-80x24, chat-60x15 and tree (.svg)
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from app.tui.screens.chat import ChatScreen

ROOT = Path(__file__).resolve().parent.parent
PICTURES = (
    ("chat", "dark", (120, 40)),
    ("chat-light", "light", (120, 40)),
    ("chat-80x24", "dark", (80, 24)),
    ("chat-60x15", "light", (60, 15)),
)
PARSE = "def split(line):\n    return [field for field in line.split(',')]\n"
TEST = (
    "from parse import split\n\n\ndef test_plain():\n    assert split('a,b') == ['a', 'b']\n\n\n"
    "def test_blanks():\n    assert split('a, b') == ['a', 'b']\n"
)
STEPS = (
    "find out why the test fails",
    'replace "return [field for" with "return [field.strip() for" in parse.py then run the tests',
)


WAYS = (
    'replace "return [field for" with "return [field.strip() for" in parse.py then run the tests',
    """replace "line.split(',')" with "line.replace(', ', ',').split(',')" in parse.py then run the tests""",
)


def make_project(folder: Path) -> None:
    """A module and its test, which fails."""
    (folder / "parse.py").write_text(PARSE)
    (folder / "test_parse.py").write_text(TEST)


@asynccontextmanager
async def chat(theme: str, size: tuple[int, int]) -> AsyncIterator[tuple[Pilot[None], ChatScreen]]:
    """The app in a new project, its session open; left in good order."""
    from app.cli.arguments import parse_arguments
    from app.config.settings import load_settings
    from app.tui.application import PinyonApp
    from app.tui.screens.chat import ChatScreen
    from app.tui.starting import Face

    work = Path(tempfile.mkdtemp(prefix="acme-")) / "acme"
    work.mkdir()
    make_project(work)
    os.environ["HOME"] = str(work.parent)
    os.chdir(work)
    for kind in ("CONFIG", "DATA", "CACHE"):
        os.environ[f"PINYON_{kind}_DIR"] = str(work.parent / kind.lower())
    app = PinyonApp(parse_arguments([]), work, Face(False, theme, load_settings(work, trusted=False)[0]))
    async with app.run_test(size=size) as pilot:
        screen = app.screen
        while not isinstance(screen, ChatScreen) or screen.session is None:
            await pilot.pause(0.05)
            screen = app.screen
        yield pilot, screen
        screen.quit()
        await pilot.pause(0.5)


async def say(pilot: Pilot[None], screen: ChatScreen, words: str) -> None:
    """Send a prompt; comes back once its run has ended."""
    screen.prompt.load_prompt(words)
    await pilot.press("enter")
    await pilot.pause(0.1)
    while screen.session is not None and screen.session.is_busy:
        await pilot.pause(0.05)


def save(pilot: Pilot[None], path: Path) -> None:
    """The screen as it is now, without addresses."""
    picture = re.sub(r"@font-face\s*\{[^}]*\}", "", pilot.app.export_screenshot(title="pinyon"))
    path.write_text(picture, "utf-8")


async def draw(folder: Path, name: str, theme: str, size: tuple[int, int]) -> None:
    """A chat."""
    async with chat(theme, size) as (pilot, screen):
        for step in STEPS:
            await say(pilot, screen, step)
        await pilot.pause(0.3)
        save(pilot, folder / f"{name}.svg")


async def draw_tree(folder: Path) -> None:
    """Two ways from one question, one of them labelled, the cursor on it."""
    from app.runtime import navigation
    from app.tui.screens.tree import TreeScreen

    async with chat("dark", (120, 30)) as (pilot, screen):
        session = screen.session
        assert session is not None
        await say(pilot, screen, "find out why the test fails")
        point = session.session.leaf_id
        assert point is not None
        await say(pilot, screen, WAYS[1])
        requests = [entry.id for entry in session.session.tree.up(session.session.leaf_id) if entry.role == "user"]
        first = requests[0]
        await navigation.set_label(session, first, "by hand")
        await navigation.go_to(session, point)
        make_project(Path())
        await say(pilot, screen, WAYS[0])
        await say(pilot, screen, "read parse.py")
        await pilot.press("ctrl+t")
        await pilot.pause(0.5)
        tree = pilot.app.screen
        assert isinstance(tree, TreeScreen)
        tree.tree_view.select(first, reveal=True)
        await pilot.press("right")
        await pilot.pause(1.0)
        save(pilot, folder / "tree.svg")
        await pilot.press("escape")
        await pilot.pause(0.2)


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs").resolve()
    sys.path.insert(0, str(ROOT))
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for name, theme, size in PICTURES:
        anyio.run(draw, folder, name, theme, size)
        print(folder / f"{name}.svg")
    anyio.run(draw_tree, folder)
    print(folder / "tree.svg")


if __name__ == "__main__":
    main()
