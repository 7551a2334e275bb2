"""The help: every key, command and id, the keys of the screen that it is asked on first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from app.tui import keymap
from widgets.plain import is_plain, keys_in_words

if TYPE_CHECKING:
    from textual.screen import Screen


def show_help(screen: Screen[Any], overrides: Mapping[str, Sequence[str]], first: str | None = None) -> None:
    """Open it over `screen`; `first` is the section of `keymap.SECTIONS` that stands on top."""
    from app.runtime.commands import COMMANDS
    from widgets.dialogs import TextScreen

    cells = 28 if screen.size.width >= 80 else 16
    commands = "\n".join(keymap.help_row(f"/{c.name} {c.argument or ''}".rstrip(), c.help, cells) for c in COMMANDS)
    keys = keymap.help_text({action: tuple(given) for action, given in overrides.items()}, cells, first)
    if is_plain(screen):
        keys = keys_in_words(keys, cells + 2)
    ids = f"Ids for {keymap.KEYBINDINGS_FILE}\n\n{keymap.ids_text(cells)}"
    screen.app.push_screen(TextScreen("Keys and commands", f"{keys}\n\nCommands\n\n{commands}\n\n{ids}"))
