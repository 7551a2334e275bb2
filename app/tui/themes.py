"""The themes: ours (dark, light, and ansi with the terminal's own colours), and the tokens all others fall back to.

No colour stands outside this file and `renderers/palette.py`; `styles.tcss` and renderers name tokens.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from textual.theme import BUILTIN_THEMES, Theme

from renderers import palette

if TYPE_CHECKING:
    from collections.abc import Collection

    from textual.app import App

ResultT = TypeVar("ResultT")

DARK, LIGHT, ANSI = "pinyon-dark", "pinyon-light", "pinyon-ansi"
THEME_NAMES = (DARK, LIGHT, ANSI)
SHORT = {"dark": DARK, "light": LIGHT, "ansi": ANSI}
"""What users write -> the theme."""

# Tokens of the face itself: name -> (dark, light, ansi). Text at 4.5:1 on its background, borders at 2:1.
_FACE: dict[str, tuple[str, str, str]] = {
    "bar-background": ("#191c21", "#eceae4", "ansi_default"),
    "brand": ("#7fb069", "#376f20", "ansi_green"),
    "path": ("#8da9c4", "#2f5d8a", "ansi_blue"),
    "quiet": ("#a3a4a6", "#55585d", "ansi_default"),
    "faint": ("#868a90", "#5d6065", "ansi_bright_black"),
    "moving": ("#e5aa68", "#8f5400", "ansi_yellow"),
    "gauge-rest": ("#5a5f66", "#9a9ca0", "ansi_bright_black"),
    "level-off": ("#555b63", "#a5a7ab", "ansi_bright_black"),
    "level-minimal": ("#5f7387", "#7f93a8", "ansi_bright_black"),
    "level-low": ("#6f93b5", "#4d79a3", "ansi_blue"),
    "level-medium": ("#547249", "#6b9a58", "ansi_green"),
    "level-high": ("#7fb069", "#376f20", "ansi_bright_green"),
    "level-xhigh": ("#c08bc9", "#8a3f97", "ansi_magenta"),
    "bash-mode": ("#e5aa68", "#8f5400", "ansi_yellow"),
    "bash-private": ("#8a7350", "#a88a5c", "ansi_bright_black"),
    "popup-background": ("#1f2329", "#e6e3dc", "ansi_default"),
    "popup-cursor": ("#2e353e", "#d3dccb", "ansi_green"),
    "popup-cursor-text": ("#e4e4de", "#1c1e21", "ansi_black"),
    "popup-match": ("#7fb069", "#376f20", "ansi_green"),
    "dialog-border": ("#547249", "#6b9a58", "ansi_green"),
    "pill": ("#e5aa68", "#8f5400", "ansi_yellow"),
    "pill-background": ("#2b2620", "#f3e6d2", "ansi_default"),
}

FACE_TOKENS: tuple[str, ...] = tuple(_FACE)


def theme_variable_defaults(theme: Theme) -> dict[str, str]:
    """Return every token of ours with its colour in a theme that doesn't define it, for the App to give to Textual."""
    at = 2 if theme.ansi else 0 if theme.dark else 1
    face = {name: colours[at] for name, colours in _FACE.items()}
    return {**palette.defaults(theme.dark, theme.ansi), **face}


def themes() -> tuple[Theme, ...]:
    """Return our three themes, with quiet colours: one accent for what moves, green and red for outcomes only."""
    return (_dark(), _light(), _ansi())


def register_themes(app: App[ResultT]) -> None:
    """Make our themes known to the app; it still has to choose one."""
    for theme in themes():
        app.register_theme(theme)


def choose_theme(wanted: str | None, *, known: Collection[str], light_terminal: bool = False) -> str:
    """Return the theme to start with: what the user wants if there is such a one, short names included, else ours."""
    if is_theme(wanted or "", known):
        return SHORT.get(wanted or "", wanted or "")
    return LIGHT if light_terminal else DARK


def is_theme(wanted: str, known: Collection[str]) -> bool:
    """Whether there is a theme of this name, or of this short name."""
    return SHORT.get(wanted, wanted) in known


def theme_names(known: Collection[str]) -> str:
    """A sentence that tells which themes there are: ours by their short names, then Textual's."""
    others = sorted(set(known) - set(SHORT.values()))
    return f"There are {', '.join([*SHORT, *others])}"


def _dark() -> Theme:
    return Theme(
        name=DARK,
        primary="#7fb069",
        secondary="#8da9c4",
        accent="#e5aa68",
        warning="#e5aa68",
        error="#df6c75",
        success="#7fb069",
        foreground="#d8d8d2",
        background="#14161a",
        surface="#191c21",
        panel="#1f2329",
        dark=True,
        variables={
            "user-bar": "#7fb069",
            "user-background": "#191c21",
            "cursor-bar": "#e5aa68",
            "tool-running": "#e5aa68",
            "diff-add-background": "#22331f",
            "diff-del-background": "#3a2225",
            "diff-add-word": "#36562f",
            "diff-del-word": "#6b2f35",
            "input-cursor-background": "#d8d8d2",
            "input-cursor-foreground": "#14161a",
            "input-selection-background": "#8da9c4 35%",
            "screen-selection-background": "#3b4854",
            "screen-selection-foreground": "#d8d8d2",
            "border": "#547249",
            "border-blurred": "#3a3f46",
            "scrollbar": "#3a3f46",
            "scrollbar-hover": "#555b63",
            "scrollbar-active": "#7fb069",
            "scrollbar-background": "#14161a",
            "scrollbar-background-hover": "#14161a",
            "scrollbar-background-active": "#14161a",
            "scrollbar-corner-color": "#14161a",
        },
    )


def _light() -> Theme:
    return Theme(
        name=LIGHT,
        primary="#376f20",
        secondary="#2f5d8a",
        accent="#8f5400",
        warning="#8f5400",
        error="#b3261e",
        success="#376f20",
        foreground="#25282c",
        background="#f7f5f0",
        surface="#eceae4",
        panel="#e6e3dc",
        dark=False,
        variables={
            "user-bar": "#376f20",
            "user-background": "#eceae4",
            "cursor-bar": "#8f5400",
            "tool-running": "#8f5400",
            "input-cursor-background": "#25282c",
            "input-cursor-foreground": "#f7f5f0",
            "input-selection-background": "#2f5d8a 30%",
            "screen-selection-background": "#bac6d1",
            "screen-selection-foreground": "#25282c",
            "border": "#6b9a58",
            "border-blurred": "#c6c4bd",
            "scrollbar": "#c6c4bd",
            "scrollbar-hover": "#a5a7ab",
            "scrollbar-active": "#376f20",
            "scrollbar-background": "#f7f5f0",
            "scrollbar-background-hover": "#f7f5f0",
            "scrollbar-background-active": "#f7f5f0",
            "scrollbar-corner-color": "#f7f5f0",
        },
    )


def _ansi() -> Theme:
    """Build on Textual's own, which knows what its widgets want of a terminal's palette."""
    base = BUILTIN_THEMES["ansi-dark"]
    variables = {
        **base.variables,
        "border": "ansi_green",
        "border-blurred": "ansi_bright_black",
        "scrollbar": "ansi_bright_black",
        "scrollbar-hover": "ansi_bright_black",
        "scrollbar-active": "ansi_green",
        "block-cursor-background": "ansi_green",
        "input-cursor-background": "ansi_default",
        "input-cursor-foreground": "ansi_default",
    }
    return replace(
        base, name=ANSI, primary="ansi_green", secondary="ansi_blue", accent="ansi_yellow", variables=variables
    )
