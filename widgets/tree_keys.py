"""The tree's actions with their ids and default keys: one table for the view, the key map and the help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from widgets.prompt_keys import KeyAction

# Source: ui.md §3.
TREE_ACTIONS: tuple[KeyAction, ...] = (
    KeyAction("tree.go", ("enter",), "Go on from here"),
    KeyAction("tree.edit", ("e",), "Edit and branch"),
    KeyAction("tree.fork", ("f",), "Fork to a new session"),
    KeyAction("tree.compare", ("c",), "Compare with where you are"),
    KeyAction("tree.take", ("t",), "Take this branch's files or message"),
    KeyAction("tree.restore", ("r",), "Restore the files of this point"),
    KeyAction("tree.diff", ("d",), "Files here against now"),
    KeyAction("tree.label", ("L",), "Label"),
    KeyAction("tree.copy", ("y",), "Copy the text"),
    KeyAction("tree.search", ("slash", "ctrl+f"), "Search"),
    KeyAction("tree.next_hit", ("n",), "Next hit"),
    KeyAction("tree.previous_hit", ("N",), "Previous hit"),
    KeyAction("tree.back", ("alt+left",), "Back to where you were before the last jump"),
    KeyAction("tree.forward", ("alt+right",), "Forward again"),
    KeyAction("tree.leave", ("escape",), "End the search; back to the chat"),
    KeyAction("tree.filter_default", ("ctrl+d",), "Filter: default"),
    KeyAction("tree.filter_no_tools", ("ctrl+t",), "Filter: without tools"),
    KeyAction("tree.filter_user", ("ctrl+u",), "Filter: your messages"),
    KeyAction("tree.filter_labeled", ("ctrl+l",), "Filter: labeled"),
    KeyAction("tree.filter_all", ("ctrl+a",), "Filter: all"),
    KeyAction("tree.filter_next", ("ctrl+o",), "Next filter"),
    KeyAction("tree.label_times", ("T",), "Times of labels"),
    KeyAction("tree.help", ("question_mark", "f1"), "Help"),
    KeyAction("tree.up", ("up", "k"), "Row up"),
    KeyAction("tree.down", ("down", "j"), "Row down"),
    KeyAction("tree.page_up", ("pageup",), "Page up"),
    KeyAction("tree.page_down", ("pagedown",), "Page down"),
    KeyAction("tree.top", ("home", "g"), "First row"),
    KeyAction("tree.bottom", ("end", "G"), "Last row"),
    KeyAction("tree.fold", ("left", "h"), "Fold, or go to what it belongs to"),
    KeyAction("tree.unfold", ("right", "l", "space"), "Open, or go on"),
    KeyAction("tree.parent_point", ("ctrl+left",), "Branch point above"),
    KeyAction("tree.child_point", ("ctrl+right",), "Branch point below"),
    KeyAction("tree.preview_up", ("shift+up",), "Scroll the preview up"),
    KeyAction("tree.preview_down", ("shift+down",), "Scroll the preview down"),
)


def tree_key_table(overrides: Mapping[str, Sequence[str]] | None = None) -> dict[str, str]:
    """Return key -> action id, the defaults changed by `overrides` (action id -> keys; none = unbound)."""
    overrides = overrides or {}
    table = {key: action.id for action in TREE_ACTIONS if action.id not in overrides for key in action.keys}
    known = {action.id for action in TREE_ACTIONS}
    table.update({key: action for action, keys in overrides.items() if action in known for key in keys})
    return table
