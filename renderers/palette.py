"""The colour tokens that renderers use, and their defaults for dark, light and ansi themes; no colour stands elsewhere.

A renderer names a style ("bold $tool-name") and the widget that draws it resolves the name (RenderOptions.get_style),
so themes rule and nothing is resolved without an app. The App returns `defaults(...)` from
`get_theme_variable_defaults`; a test resolves every token, because a mistyped one gives an empty style silently.
"""

from __future__ import annotations

from collections.abc import Callable

from textual.style import Style

# Tokens of Textual's own themes that renderers may use as they are.
THEME_TOKENS: tuple[str, ...] = (
    "accent", "background", "boost", "error", "foreground", "panel", "primary", "secondary", "success", "surface",
    "text", "text-accent", "text-disabled", "text-error", "text-muted", "text-primary", "text-success", "text-warning",
    "warning",
)  # fmt: skip

# Ours: name → (dark, light, ansi). Contrast at least 4.5:1 for text on a background of #111 and #fafafa.
_OWN: dict[str, tuple[str, str, str]] = {
    "user-bar": ("#5fafd7", "#005f87", "ansi_cyan"),
    "user-background": ("#1c2530", "#e8eef4", "ansi_default"),
    "thinking": ("#8a8f98", "#6a6f78", "ansi_bright_black"),
    "meta": ("#8a8f98", "#6a6f78", "ansi_bright_black"),
    "gutter": ("#4a5058", "#b4bac2", "ansi_bright_black"),
    "cursor-bar": ("#ffaf5f", "#af5f00", "ansi_yellow"),
    "tool-name": ("#d0d4da", "#2a2f36", "ansi_default"),
    "tool-running": ("#ffaf5f", "#af5f00", "ansi_yellow"),
    "hit": ("#ffd75f", "#875f00", "ansi_yellow"),
    "diff-add": ("#7fd88f", "#1a7f37", "ansi_green"),
    "diff-del": ("#f28b82", "#b3261e", "ansi_red"),
    "diff-add-background": ("#12291a", "#e3f5e7", "ansi_default"),
    "diff-del-background": ("#301616", "#fbe6e4", "ansi_default"),
    "diff-add-word": ("#1f5c33", "#a9e2b8", "ansi_default"),
    "diff-del-word": ("#6e2424", "#f4b8b2", "ansi_default"),
    "diff-gap": ("#8a8f98", "#6a6f78", "ansi_bright_black"),
    "md-heading": ("#87d7ff", "#005f87", "ansi_cyan"),
    "md-link": ("#87afff", "#0b57d0", "ansi_blue"),
    "md-url": ("#8a8f98", "#6a6f78", "ansi_bright_black"),
    "md-marker": ("#ffaf5f", "#af5f00", "ansi_yellow"),
    "md-quote": ("#a8adb5", "#565b63", "ansi_default"),
    "md-rule": ("#4a5058", "#b4bac2", "ansi_bright_black"),
    "md-code": ("#e5c07b", "#8a5a00", "ansi_yellow"),
    "code-text": ("#c8ccd4", "#2f343c", "ansi_default"),
    "code-keyword": ("#c792ea", "#8e24aa", "ansi_magenta"),
    "code-string": ("#a5d68a", "#2e7d32", "ansi_green"),
    "code-number": ("#f2a272", "#b34700", "ansi_yellow"),
    "code-comment": ("#8a8f98", "#6a6f78", "ansi_bright_black"),
    "code-function": ("#82aaff", "#0b57d0", "ansi_blue"),
    "code-type": ("#ffcb6b", "#875f00", "ansi_yellow"),
    "code-name": ("#c8ccd4", "#2f343c", "ansi_default"),
    "code-operator": ("#89ddff", "#00696f", "ansi_cyan"),
    "code-error": ("#f28b82", "#b3261e", "ansi_red"),
    "code-added": ("#7fd88f", "#1a7f37", "ansi_green"),
    "code-deleted": ("#f28b82", "#b3261e", "ansi_red"),
}

TOKENS: tuple[str, ...] = tuple(_OWN)


def defaults(dark: bool, ansi: bool = False) -> dict[str, str]:
    """Return name → colour of our own tokens, without "$". With ansi only the terminal's own colours are named."""
    at = 2 if ansi else 0 if dark else 1
    return {name: colours[at] for name, colours in _OWN.items()}


def style_resolver(dark: bool = True) -> Callable[[str | Style], Style]:
    """Return a get_style for tests and tools without an app. Raises ValueError on a token that no theme defines."""
    from textual.design import ColorSystem
    from textual.markup import parse_style

    system = ColorSystem(primary="#0178d4", dark=dark)
    variables = {**system.generate(), **defaults(dark)}
    cache: dict[str, Style] = {}

    def get_style(style: str | Style) -> Style:
        if isinstance(style, Style):
            return style
        found = cache.get(style)
        if found is None:
            for word in style.split():
                if word.startswith("$") and word[1:] not in variables:
                    raise ValueError(f"no theme defines the colour token {word}")
            found = cache[style] = parse_style(style, variables)
        return found

    return get_style
