"""The prompt's actions with their ids and default keys: one table for the widget, the key map and the help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyAction:
    """An action that a key may be bound to; `keys` are Textual's names, the first one is shown in help."""

    id: str
    keys: tuple[str, ...]
    description: str


# The prompt looks keys up by itself, in the order they were typed: Textual's own bindings run in the app, after the key
# has bubbled there, and keys typed behind an enter would land in the text that it sends.
PROMPT_ACTIONS: tuple[KeyAction, ...] = (
    KeyAction("prompt.submit", ("enter",), "Send; while a run works, steer it"),
    KeyAction("prompt.newline", ("shift+enter", "ctrl+j"), "New line (also \\ and enter)"),
    KeyAction("prompt.follow_up", ("alt+enter",), "Queue as follow-up"),
    KeyAction("prompt.edit_queue", ("alt+up",), "Take queued messages back"),
    KeyAction("prompt.search_history", ("ctrl+r",), "Search prompts typed before"),
    KeyAction("prompt.external_editor", ("ctrl+g",), "Write in $VISUAL or $EDITOR"),
    KeyAction("prompt.complete", ("tab",), "Complete a command, file or path"),
    KeyAction("prompt.clear", ("ctrl+c",), "Clear; twice, quit"),
    KeyAction("prompt.delete_or_quit", ("ctrl+d",), "Delete to the right; when empty, quit"),
    KeyAction("prompt.delete_left", ("backspace", "ctrl+h", "shift+backspace"), "Delete to the left"),
    KeyAction("prompt.delete_right", ("delete",), "Delete to the right"),
    KeyAction("prompt.kill_word_left", ("ctrl+w", "alt+backspace", "ctrl+backspace"), "Cut the word to the left"),
    KeyAction("prompt.kill_word_right", ("alt+d", "alt+delete"), "Cut the word to the right"),
    KeyAction("prompt.kill_line_start", ("ctrl+u",), "Cut to the start of the line"),
    KeyAction("prompt.kill_line_end", ("ctrl+k",), "Cut to the end of the line"),
    KeyAction("prompt.yank", ("ctrl+y",), "Put back what was cut"),
    KeyAction("prompt.undo", ("ctrl+underscore", "ctrl+minus"), "Undo"),
    KeyAction("prompt.redo", ("ctrl+shift+minus", "ctrl+shift+underscore"), "Redo"),
    KeyAction("prompt.up", ("up",), "Line up; at the top, older prompt"),
    KeyAction("prompt.down", ("down",), "Line down; at the end, newer prompt"),
    KeyAction("prompt.left", ("left",), "Character left"),
    KeyAction("prompt.right", ("right",), "Character right"),
    KeyAction("prompt.word_left", ("alt+b", "ctrl+left"), "Word left"),
    KeyAction("prompt.word_right", ("alt+f", "ctrl+right"), "Word right"),
    KeyAction("prompt.line_start", ("ctrl+a", "home"), "Start of line"),
    KeyAction("prompt.line_end", ("ctrl+e", "end"), "End of line"),
    KeyAction("prompt.select_left", ("shift+left",), "Select to the left"),
    KeyAction("prompt.select_right", ("shift+right",), "Select to the right"),
)


def key_table(overrides: Mapping[str, Sequence[str]] | None = None) -> dict[str, str]:
    """Return key -> action id, the defaults changed by `overrides` (action id -> keys; none = unbound).

    An overriding key wins over a default one.
    """
    overrides = overrides or {}
    table = {key: action.id for action in PROMPT_ACTIONS if action.id not in overrides for key in action.keys}
    known = {action.id for action in PROMPT_ACTIONS}
    table.update({key: action for action, keys in overrides.items() if action in known for key in keys})
    return table


_ALIASES = {
    "esc": "escape", "return": "enter", "cr": "enter", "\r": "enter", "\n": "enter", "\x08": "backspace",
    "\x7f": "backspace", "\t": "tab", "pgup": "pageup", "pgdn": "pagedown", "page_up": "pageup",
    "page_down": "pagedown", "del": "delete", "ins": "insert", "↑": "up", "↓": "down", "←": "left", "→": "right",
    "-": "minus", "_": "underscore", "/": "slash", "?": "question_mark", " ": "space",
}  # fmt: skip
_MODIFIERS = {"control": "ctrl", "option": "alt", "meta": "alt", "cmd": "super"}


def normalise_key(key: str) -> str:
    """Return a key by Textual's name: "Ctrl+T" is ctrl+t, "esc" is escape, "shift+j" is J.

    Also mends names that Textual itself gives: xterm's modifyOtherKeys makes "shift+\\r" of shift and enter.
    """
    *modifiers, base = key.rstrip(" ").split("+") if key.strip(" ") else ["space"]
    if not base and modifiers:  # "ctrl++"
        modifiers, base = modifiers[:-1], "plus"
    modifiers = [_MODIFIERS.get(name.strip().lower(), name.strip().lower()) for name in modifiers]
    base = base.strip(" ") or "space"
    if len(base) > 1 or modifiers:
        base = base.lower()
    base = _ALIASES.get(base, base)
    if modifiers == ["shift"] and len(base) == 1 and base.isalpha():
        return base.upper()
    modifiers.sort()  # as Textual does
    return "+".join([*modifiers, base])
