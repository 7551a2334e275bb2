"""The plain interface: no boxes, words for states, ASCII for what is left of signs, the terminal's cursor in use.

It changes how things are drawn, never what they are: the session, the clipboard and the files see nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from rich.segment import Segment
from textual.filter import LineFilter
from textual.geometry import Offset

from widgets.plain import PLAIN_CLASS

if TYPE_CHECKING:
    from textual.app import App
    from textual.color import Color
    from textual.screen import Screen

    from app.config.settings import Settings

ResultT = TypeVar("ResultT")

SETTING = "plainUi"
SHOW_CURSOR, HIDE_CURSOR = "\x1b[?25h", "\x1b[?25l"

# One cell for one cell, so that no row changes its width. Lines and corners first, then the signs of our own face.
_SIGNS = {
    "─━┄┅┈┉╌╍╴╶╸╺╼╾═": "-",
    "│┃┆┇┊┋╎╏╵╷╹╻╽╿║▌▎▏▍▐▕": "|",
    "▸▶❯›▹►": ">",
    "◂◀❮‹◃◄": "<",
    "▾▼▿": "v",
    "▲▴△": "^",
    "✓✔☑": "+",
    "✗✘✕☒": "x",
    "●•◉◆★▪■◼⚑": "*",
    "○◦◇☐☆▫□◻": "o",
    "▰█▓▉▊▋": "#",
    "▱": ".",
    "−": "-",
    "⋯": ".",
}
GLYPHS: dict[int, str] = {
    **dict.fromkeys(range(0x2580, 0x25A0), " "),
    **dict.fromkeys(range(0x2500, 0x2580), "+"),
    **dict.fromkeys(range(0x2800, 0x2900), "*"),
    **{ord(sign): ascii_ for signs, ascii_ in _SIGNS.items() for sign in signs},
}
"""Every box-drawing (U+2500), block (U+2580) and braille character, and the signs of our screens."""


class PlainGlyphs(LineFilter):
    """Puts ASCII in the place of drawn signs on every row of every screen, foreign text included."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments, cell for cell."""
        return [
            segment if segment.text.isascii() else Segment(segment.text.translate(GLYPHS), segment.style)
            for segment in segments
        ]


def wants_plain(flag: bool, settings: Settings) -> bool:
    """Whether to begin plain: the flag `--plain-ui`, else the setting `plainUi`."""
    return flag or settings.raw.get(SETTING) is True


def set_plain(app: App[ResultT], plain: bool) -> None:
    """Draw every screen that is open in this way from now on; the ones to come look at the App's class."""
    app.set_class(plain, PLAIN_CLASS)
    show_cursor(app)
    for screen in app.screen_stack:
        tell_screen(screen, plain)
        for widget in (screen, *screen.walk_children()):
            widget.notify_style_update()
            widget.refresh(layout=True)


def tell_screen(screen: Screen[Any], plain: bool) -> None:
    """Tell the widgets that keep what they have drawn (transcript, tree)."""
    for widget in screen.walk_children():
        if (tell := getattr(widget, "set_plain", None)) is not None:
            tell(plain)


def show_cursor(app: App[ResultT]) -> None:
    """Show the terminal's own cursor while the interface is plain; screen readers and magnifiers follow it."""
    driver = app._driver
    if driver is not None and not app.is_headless:
        driver.write(SHOW_CURSOR if app.has_class(PLAIN_CLASS) else HIDE_CURSOR)


def cursor_place(screen: Screen[Any]) -> Offset | None:
    """Where the terminal's cursor belongs: the place typed at or the row stood on, in cells of the screen.

    None when nothing on the screen says (`cursor_screen_offset`, as Textual's own inputs call it).
    """
    for widget in (screen.focused, screen):
        place = getattr(widget, "cursor_screen_offset", None)
        if isinstance(place, Offset):
            return place
    return None
