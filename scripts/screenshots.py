"""Draw the pictures of README and docs: the offline guide at work in a small project, dark and light, three sizes.

usage: python scripts/screenshots.py [FOLDER]      writes chat.svg, chat-light.svg, chat-80x24.svg, chat-60x15.svg
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import anyio

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


async def draw(folder: Path, name: str, theme: str, size: tuple[int, int]) -> None:
    from app.cli.arguments import parse_arguments
    from app.config.settings import load_settings
    from app.tui.application import PinyonApp
    from app.tui.screens.chat import ChatScreen
    from app.tui.starting import Face

    work = Path(tempfile.mkdtemp(prefix="acme-")) / "acme"
    work.mkdir()
    (work / "parse.py").write_text(PARSE)
    (work / "test_parse.py").write_text(TEST)
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
        for step in STEPS:
            screen.prompt.insert_typed(step)
            await pilot.press("enter")
            await pilot.pause(0.1)
            while screen.session.is_busy:
                await pilot.pause(0.05)
        await pilot.pause(0.3)
        picture = re.sub(r"@font-face\s*\{[^}]*\}", "", app.export_screenshot(title="pinyon"))  # no addresses
        (folder / f"{name}.svg").write_text(picture, "utf-8")
        screen.quit()
        await pilot.pause(0.5)


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs").resolve()
    sys.path.insert(0, str(ROOT))
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for name, theme, size in PICTURES:
        anyio.run(draw, folder, name, theme, size)
        print(folder / f"{name}.svg")


if __name__ == "__main__":
    main()
