"""Pinyon in a pseudo terminal that a script reads like a person: keys in, words awaited, pictures out. Dev only."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import pyte
from bench_terminal import NOT_FOR_PYTE, Terminal, TookTooLongError

ROOT = Path(__file__).resolve().parent.parent
KEYS = {
    "enter": "\r", "esc": "\x1b", "tab": "\t", "back": "\x7f", "space": " ",
    "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
    "ctrl+up": "\x1b[1;5A", "ctrl+left": "\x1b[1;5D", "ctrl+right": "\x1b[1;5C",
    "alt+left": "\x1b[1;3D", "alt+right": "\x1b[1;3C", "home": "\x1b[H", "end": "\x1b[F",
    "pgup": "\x1b[5~", "pgdn": "\x1b[6~", "f1": "\x1bOP",
}  # fmt: skip
KEYS |= {f"ctrl+{letter}": chr(ord(letter) - 96) for letter in "abcdefghklnopqrstuvwxyz"}
CELL = (9, 19)


class Place:
    """A project and a home of its own, in a new folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(tempfile.mkdtemp(prefix="pinyon-walk-"))
        self.work = self.folder / "proj"
        self.work.mkdir(exist_ok=True, parents=True)

    def environment(self) -> dict[str, str]:
        """Nothing of the real home, no SSH."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("SSH_", "PINYON_", "TMUX"))}
        dirs = {f"PINYON_{kind}_DIR": str(self.folder / kind.lower()) for kind in ("CONFIG", "DATA", "CACHE")}
        return {**kept, **dirs, "HOME": str(self.folder), "TERM": "xterm-256color", "COLORTERM": "truecolor"}


class Walk:
    """One run of Pinyon. `keys` counts what was pressed, typed words aside."""

    def __init__(self, place: Place, *arguments: str, columns: int = 120, rows: int = 40, cwd: Path | None = None):
        program = str(Path(sys.executable).parent / "pinyon")
        self.terminal = Terminal(
            [program, *arguments], place.environment(), cwd or place.work, columns=columns, rows=rows
        )
        self.keys: list[str] = []
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._fed = 0

    def rows(self) -> list[str]:
        """The screen as it is now, after whatever the program still writes at once."""
        while self.terminal.read(0.12):
            pass
        for _, data in self.terminal.record[self._fed :]:
            self._stream.feed(NOT_FOR_PYTE.sub(b"", data))
        self._fed = len(self.terminal.record)
        return [row.rstrip() for row in self._screen.display]

    def text(self) -> str:
        """The rows as one text."""
        return "\n".join(self.rows())

    def until(self, *words: str, gone: bool = False, seconds: float = 25.0) -> str:
        """The screen once all the words stand on it (`gone`: none of them)."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            text = self.text()
            if not any(word in text for word in words) if gone else all(word in text for word in words):
                return text
            if self.terminal.is_closed:
                break
        raise TookTooLongError(f"{words} did not {'go' if gone else 'come'}; the screen:\n{self.text()}")

    def type(self, words: str) -> None:
        """Typed words: no keys of the program's."""
        self.terminal.send(words.encode())
        self.rows()

    def press(self, *names: str) -> None:
        """Keys by name, or single letters."""
        for name in names:
            self.keys.append(name)
            self.terminal.send(KEYS.get(name, name).encode())
            self.rows()

    def say(self, words: str, *answer: str) -> str:
        """Send a prompt and wait for its answer."""
        self.type(words)
        self.press("enter")
        return self.until(*answer) if answer else self.text()

    def leave(self) -> None:
        """Ctrl+d in the empty prompt; waits for the end."""
        self.terminal.send(b"\x04")
        end = time.monotonic() + 15
        while not self.terminal.is_closed and time.monotonic() < end:
            self.terminal.read(0.2)
        self.terminal.close()

    def picture(self, path: Path) -> None:
        """The screen as a PNG."""
        from PIL import Image, ImageDraw, ImageFont

        self.rows()
        fonts = "/usr/share/fonts/truetype/dejavu"
        font, bold = (ImageFont.truetype(f"{fonts}/DejaVuSansMono{kind}.ttf", 15) for kind in ("", "-Bold"))
        (width, height), screen = CELL, self._screen
        image = Image.new("RGB", (screen.columns * width, screen.lines * height), "#14161a")
        draw = ImageDraw.Draw(image)
        for y in range(screen.lines):
            for x in range(screen.columns):
                cell = screen.buffer[y][x]
                front, ground = _colour(cell.fg, "#d8d8d2"), _colour(cell.bg, "#14161a")
                if cell.reverse:
                    front, ground = ground, front
                draw.rectangle((x * width, y * height, (x + 1) * width, (y + 1) * height), fill=ground)
                if cell.data.strip():
                    draw.text((x * width, y * height), cell.data, font=bold if cell.bold else font, fill=front)
        image.save(path)


def _colour(name: str, default: str) -> str:
    if name == "default":
        return default
    if len(name) == 6 and all(c in "0123456789abcdefABCDEF" for c in name):
        return f"#{name}"
    return {"brown": "#aa8800", "brightblack": "#666666"}.get(name, name)
