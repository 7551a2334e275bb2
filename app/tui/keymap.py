"""Every action of the face with its id, its default keys and what it does; and `keybindings.json`, which changes keys.

One table feeds the bindings, the help and the hints. A wrong line in the user's file is left out and told; it must
never take a key away from anything else.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from app.config.jsonc import read_object
from widgets.prompt_keys import PROMPT_ACTIONS, KeyAction, normalise_key
from widgets.session_keys import SESSIONS_ACTIONS
from widgets.tree_keys import TREE_ACTIONS

if TYPE_CHECKING:
    from textual.binding import Binding

KEYBINDINGS_FILE = "keybindings.json"

# Section -> actions. Source: ui.md §2. A screen's method is the id with "_": session.tree -> action_session_tree.
SECTIONS: dict[str, tuple[KeyAction, ...]] = {
    "prompt": PROMPT_ACTIONS,
    "run": (KeyAction("run.interrupt", ("escape",), "Stop the innermost thing that goes on"),),
    "view": (
        KeyAction("view.density", ("ctrl+o",), "Density of all blocks: title, preview, full"),
        KeyAction("view.thinking", ("alt+t",), "Show or fold thinking"),
        KeyAction("view.page_up", ("pageup",), "Scroll a page up"),
        KeyAction("view.page_down", ("pagedown",), "Scroll a page down"),
        KeyAction("view.scroll_up", ("shift+up",), "Scroll up"),
        KeyAction("view.scroll_down", ("shift+down",), "Scroll down"),
        KeyAction("view.follow", ("end",), "To the end, and follow"),
        KeyAction("view.search", ("ctrl+f",), "Search in the transcript"),
        KeyAction("view.side_panel", ("f2",), "Side panel"),
        KeyAction("view.release_mouse", ("f9",), "Leave the mouse to the terminal"),
    ),
    "session": (
        KeyAction("session.tree", ("ctrl+t",), "Tree of branches"),
        KeyAction("session.sessions", ("ctrl+s",), "Sessions"),
        KeyAction("session.model", ("ctrl+l",), "Model"),
        KeyAction("session.thinking_level", ("shift+tab",), "Next thinking level"),
        KeyAction("session.palette", ("ctrl+p",), "All commands"),
        KeyAction("session.suspend", ("ctrl+z",), "Suspend"),
        KeyAction("session.help", ("f1",), "Help"),
        KeyAction("session.browse", ("ctrl+up",), "Walk the blocks"),
    ),
    "browse": (
        KeyAction("browse.next", ("j", "down"), "Next block"),
        KeyAction("browse.previous", ("k", "up"), "Previous block"),
        KeyAction("browse.next_message", ("J",), "Next message of yours"),
        KeyAction("browse.previous_message", ("K",), "Previous message of yours"),
        KeyAction("browse.step", ("enter", "space"), "Title, preview, full"),
        KeyAction("browse.previous_sibling", ("h", "left"), "Branch to the left"),
        KeyAction("browse.next_sibling", ("l", "right"), "Branch to the right"),
        KeyAction("browse.detail", ("o",), "Detail screen"),
        KeyAction("browse.external_editor", ("O",), "Open in $EDITOR"),
        KeyAction("browse.copy", ("y",), "Copy"),
        KeyAction("browse.copy_markdown", ("Y",), "Copy as Markdown"),
        KeyAction("browse.edit", ("e",), "Edit and branch"),
        KeyAction("browse.fork", ("f",), "Fork to a new session"),
        KeyAction("browse.label", ("L",), "Label"),
        KeyAction("browse.restore", ("r",), "Restore files"),
        KeyAction("browse.diff", ("d",), "Diff"),
        KeyAction("browse.search", ("slash",), "Search"),
        KeyAction("browse.next_hit", ("n",), "Next hit"),
        KeyAction("browse.previous_hit", ("N",), "Previous hit"),
        KeyAction("browse.top", ("g",), "First block"),
        KeyAction("browse.bottom", ("G",), "Last block"),
        KeyAction("browse.leave", ("i",), "Back to the prompt"),
        KeyAction("browse.help", ("question_mark",), "Help"),
    ),
    "tree": TREE_ACTIONS,
    "sessions": SESSIONS_ACTIONS,
}

HELP_ORDER = ("run", "session", "view", "browse", "prompt", "tree", "sessions")
"""What one looks for first stands first; the prompt's own cursor keys are known."""

ACTIONS: dict[str, KeyAction] = {action.id: action for actions in SECTIONS.values() for action in actions}

# Sections whose keys are live at the same time. `end` is shared on purpose: the prompt lets go of it at its text's end.
_TOGETHER: tuple[frozenset[str], ...] = (
    frozenset({"prompt", "run", "view", "session"}),
    frozenset({"browse", "run", "view", "session"}),
    frozenset({"tree"}),
    frozenset({"sessions"}),
)
_ARROWS = {"up": "↑", "down": "↓", "left": "←", "right": "→"}

UNBOUND = (
    "unbound"  # Textual keeps the default for an empty string, so an action without keys gets one nobody can press
)


def load_keybindings(config_dir: Path) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the user's changes (action id -> keys, none = unbound) and what is wrong with the file.

    The file maps ids to a key or a list of keys. Reads a file: not for the event loop once keys are answered.
    """
    values, wrong = read_object(config_dir / KEYBINDINGS_FILE)
    problems = [str(problem) for problem in wrong]
    overrides: dict[str, tuple[str, ...]] = {}
    for action_id, value in values.items():
        if action_id not in ACTIONS:
            problems.append(f"{KEYBINDINGS_FILE}: no action {action_id!r}{_nearest(action_id)}")
            continue
        wanted = [value] if isinstance(value, str) else value
        if not isinstance(wanted, list) or not all(isinstance(key, str) for key in wanted):
            problems.append(f"{KEYBINDINGS_FILE}: {action_id} wants a key or a list of keys")
            continue
        keys = tuple(normalise_key(key) for key in wanted if key.strip())
        unknown = [key for key in keys if not _is_key(key)]
        if unknown:
            problems.append(f"{KEYBINDINGS_FILE}: {action_id}: no key {', '.join(map(repr, unknown))}")
            continue
        overrides[action_id] = keys
    problems.extend(_conflicts(overrides))
    return overrides, problems


def keys_of(action_id: str, overrides: Mapping[str, tuple[str, ...]] | None = None) -> tuple[str, ...]:
    """Return the keys of an action as they are now. Raises KeyError for an unknown id."""
    action = ACTIONS[action_id]
    return (overrides or {}).get(action_id, action.keys)


def shown_key(key: str) -> str:
    """Return a key as hints and help write it: `alt+up` is "alt+↑", `slash` is "/"."""
    *modifiers, base = key.split("+")
    named = {"slash": "/", "escape": "esc", "backslash": "\\", "question_mark": "?", "minus": "-", "underscore": "_"}
    return "+".join([*modifiers, _ARROWS.get(base, named.get(base, base))])


def hint(action_id: str, word: str, overrides: Mapping[str, tuple[str, ...]] | None = None) -> str:
    """Return a hint such as "ctrl+t tree", or "" if the action has no key."""
    keys = keys_of(action_id, overrides)
    return f"{shown_key(keys[0])} {word}" if keys else ""


def textual_bindings(*sections: str) -> list[Binding | tuple[str, str] | tuple[str, str, str]]:
    """Return Textual bindings, with ids, for a screen's BINDINGS; the prompt keeps its keys itself."""
    from textual.binding import Binding

    return [
        Binding(",".join(action.keys), action.id.replace(".", "_"), action.description, show=False, id=action.id)
        for section in sections
        for action in SECTIONS[section]
    ]


def textual_keymap(overrides: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the changes in the form that `App.set_keymap` takes."""
    return {action_id: ",".join(keys) or UNBOUND for action_id, keys in overrides.items()}


def help_row(keys: str, description: str, key_cells: int) -> str:
    """Return keys and what they do in two columns; keys wider than theirs take a row of their own."""
    gap = "\n" + " " * (key_cells + 3) if len(keys) > key_cells else " " * (key_cells - len(keys) + 1)
    return f"  {keys}{gap}{description}"


def help_text(
    overrides: Mapping[str, tuple[str, ...]] | None = None, key_cells: int = 28, first: str | None = None
) -> str:
    """Return all actions with their keys, by section, that of the place one is in first, as plain text for the help."""
    lines: list[str] = []
    for section in sorted(HELP_ORDER, key=lambda name: name != first):
        lines += [section.capitalize(), ""]
        for action in SECTIONS[section]:
            keys = ", ".join(shown_key(key) for key in keys_of(action.id, overrides)) or "–"
            lines.append(help_row(keys, action.description, key_cells))
        lines.append("")
    return "\n".join(lines).rstrip()


def ids_text(key_cells: int = 28) -> str:
    """Return the id of every action, for `keybindings.json`, with what it does, as plain text for the help dialog."""
    return "\n".join(help_row(action.id, action.description, key_cells) for action in ACTIONS.values())


class _Legacy(Enum):
    ALT_ENTER = "alt+enter"


def teach_legacy_keys() -> None:
    """Have Textual read ESC CR as alt+enter, where a terminal sends no Kitty keys; as it is, that key would send.

    Source: Textual 8.2 `_xterm_parser`, which drops the ESC before any key that is no letter.
    """
    from textual._ansi_sequences import ANSI_SEQUENCES_KEYS

    table: dict[str, object] = ANSI_SEQUENCES_KEYS  # type: ignore[assignment]  # typed for Textual's own Keys only
    for sequence in ("\x1b\r", "\x1b\n"):
        table[sequence] = (_Legacy.ALT_ENTER,)


def _nearest(action_id: str) -> str:
    close = difflib.get_close_matches(action_id, ACTIONS, n=1)
    return f"; nearest: {close[0]}" if close else ""


def _is_key(key: str) -> bool:
    from textual.keys import Keys

    *modifiers, base = key.split("+")
    if not base or any(modifier not in ("ctrl", "alt", "shift", "super") for modifier in modifiers):
        return False
    named = {known.value.rpartition("+")[2] for known in Keys} | set(_punctuation())
    return (len(base) == 1 and base.isalnum()) or base in named


def _punctuation() -> Iterable[str]:
    from textual.keys import _character_to_key

    return (_character_to_key(character) for character in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ ")


def _conflicts(overrides: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return a line for each key that the user gave to an action while another, live at the same time, has it."""
    found: dict[str, None] = {}
    for together in _TOGETHER:
        owners: dict[str, str] = {}
        for section in SECTIONS:
            for action in SECTIONS[section] if section in together else ():
                for key in keys_of(action.id, overrides):
                    other = owners.setdefault(key, action.id)
                    if other != action.id and (other in overrides or action.id in overrides):
                        found[f"{KEYBINDINGS_FILE}: {shown_key(key)} is bound to both {other} and {action.id}"] = None
    return list(found)
