"""The sessions list's actions with their ids and default keys: one table for the list, the key map and the help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from widgets.prompt_keys import KeyAction

# Source: ui.md §4.
SESSIONS_ACTIONS: tuple[KeyAction, ...] = (
    KeyAction("sessions.open", ("enter",), "Open the session, at the hit"),
    KeyAction("sessions.search", ("slash", "ctrl+f"), "Search in all of them"),
    KeyAction("sessions.rename", ("r",), "Rename"),
    KeyAction("sessions.delete", ("x", "delete"), "Move to the trash"),
    KeyAction("sessions.undo", ("u",), "Bring back what was moved to the trash just now"),
    KeyAction("sessions.pin", ("p",), "Pin, or take the pin away"),
    KeyAction("sessions.all", ("ctrl+a",), "All projects, or this folder"),
    KeyAction("sessions.leave", ("escape",), "End the search; back"),
    KeyAction("sessions.close", ("ctrl+c", "ctrl+s", "q"), "Back"),
    KeyAction("sessions.help", ("question_mark", "f1"), "Help"),
    KeyAction("sessions.up", ("up", "k"), "Row up"),
    KeyAction("sessions.down", ("down", "j"), "Row down"),
    KeyAction("sessions.page_up", ("pageup",), "Page up"),
    KeyAction("sessions.page_down", ("pagedown",), "Page down"),
    KeyAction("sessions.top", ("home", "g"), "First row"),
    KeyAction("sessions.bottom", ("end", "G"), "Last row"),
    KeyAction("sessions.next_project", ("tab",), "Next project; from the search to the list"),
    KeyAction("sessions.previous_project", ("shift+tab",), "Project before"),
)

IN_FIELD = frozenset(
    f"sessions.{name}"
    for name in ("up", "down", "page_up", "page_down", "next_project", "open", "all", "help", "leave", "close")
)
"""What keys that type nothing still do while a search is typed."""


def session_key_table(overrides: Mapping[str, Sequence[str]] | None = None) -> dict[str, str]:
    """Return key -> action id, the defaults changed by `overrides` (action id -> keys; none = unbound)."""
    overrides = overrides or {}
    table = {key: action.id for action in SESSIONS_ACTIONS if action.id not in overrides for key in action.keys}
    known = {action.id for action in SESSIONS_ACTIONS}
    table.update({key: action for action, keys in overrides.items() if action in known for key in keys})
    return table
