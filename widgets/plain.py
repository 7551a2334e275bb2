"""Whether the plain interface is on, and how rows are said in it (ui.md §7); it must never change what is stored.

It is on while the App has the class `-plain`, so that the stylesheet and every widget read the same thing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.dom import DOMNode

PLAIN_CLASS = "-plain"

_NAMES = {"↑": "up", "↓": "down", "←": "left", "→": "right"}
_KEYS = re.compile(r"(?:^|(?<=\+)|(?<=· ))[↑↓←→]+")
_SIGNS = re.compile(r"^(?:[▲●▸▶✗✓⚑★] ?)+")


def is_plain(node: DOMNode) -> bool:
    """Whether a widget, a screen or the App is to speak in words."""
    return node.app.has_class(PLAIN_CLASS)


def keys_in_words(table: str, keys_cells: int = 30) -> str:
    """A table of keys, one row a line, with arrow keys by name in its first column, which keeps its width."""
    lines = []
    for line in table.split("\n"):
        keys, rest = line[:keys_cells], line[keys_cells:]
        for sign, name in _NAMES.items():
            keys = keys.replace(sign, name)
        lines.append(f"{keys.rstrip():<{keys_cells}}{rest}" if rest else keys)
    return "\n".join(lines)


def in_words(text: str) -> str:
    """A token of a bar without the sign before it and with arrow keys by name: `alt+↑ edit` is "alt+up edit"."""
    return _KEYS.sub(lambda keys: "/".join(_NAMES[key] for key in keys.group()), _SIGNS.sub("", text))
