"""The one table of commands: slash commands, the palette, key bindings and help all read it; data only.

A face maps `action` to what it does. Names are the reference's where it has the command (spec core §7.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

Group = Literal["session", "model", "view", "branches", "program"]


@dataclass(frozen=True, slots=True)
class Command:
    """`name` without its slash; `argument` names what may follow it (None: nothing)."""

    name: str
    action: str
    help: str
    group: Group
    argument: str | None = None
    aliases: tuple[str, ...] = ()


COMMANDS = (
    Command("new", "new_session", "begin a new session", "session"),
    Command("resume", "resume_session", "choose another session", "session", "words", ("sessions",)),
    Command("name", "name_session", "name this session", "session", "name"),
    Command("session", "session_info", "file, id, counts and cost of this session", "session"),
    Command("compact", "compact", "summarise the older conversation", "session", "focus"),
    Command("export", "export", "write the session as HTML, Markdown or JSONL", "session", "path"),
    Command("retry-save", "retry_save", "store what could not be stored", "session"),
    Command(
        "save-to", "save_elsewhere", "go on in a file in another folder, with everything so far", "session", "folder"
    ),
    Command("follow-up", "follow_up", "say this, or what stands in the prompt, when it is done", "session", "words"),
    Command("queue", "edit_queue", "take back what waits to be said", "session"),
    Command("copy", "copy_answer", "copy the last answer", "session"),
    Command("tree", "show_tree", "the tree of branches", "branches"),
    Command("fork", "fork_session", "go on from here in a new session", "branches"),
    Command("clone", "clone_session", "copy this branch into a new session", "branches"),
    Command("label", "label_entry", "label the present place", "branches", "label"),
    Command("back", "jump_back", "back to where the last jump began", "branches"),
    Command("forward", "jump_forward", "forward again", "branches"),
    Command("diff", "diff_files", "files of the present place against the disk", "branches"),
    Command("restore", "restore_files", "files as they were at the present place", "branches"),
    Command("undo-restore", "undo_restore", "take back the last restore or take", "branches"),
    Command("model", "choose_model", "choose the model", "model", "name"),
    Command("thinking", "set_thinking", "how much the model thinks", "model", "level"),
    Command("density", "cycle_density", "title, preview or all of every block", "view", "level"),
    Command("thoughts", "toggle_thinking", "show or fold what the model thought", "view"),
    Command("theme", "choose_theme", "dark, light or ansi", "view", "name"),
    Command("search", "search_transcript", "search in the transcript", "view", "words", ("find",)),
    Command("mouse", "toggle_mouse", "release or take the mouse", "view"),
    Command("plain", "toggle_plain", "plain interface for screen readers", "view"),
    Command("hotkeys", "show_help", "every key", "program", None, ("help", "keys")),
    Command("trust", "trust_folder", "let this folder's .pinyon settings count", "program"),
    Command("suspend", "suspend", "stop the program and go to the shell", "program"),
    Command("quit", "quit", "leave", "program", None, ("exit", "q")),
)

_BY_NAME = {name: command for command in COMMANDS for name in (command.name, *command.aliases)}


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A slash command as typed: the command (None: unknown), its argument, and near names of an unknown one."""

    name: str
    command: Command | None
    argument: str
    nearest: tuple[str, ...] = ()


def parse_command(text: str) -> CommandLine | None:
    """What "/name argument" means; None when the text is no command (a path such as /usr/bin is none)."""
    if not text.startswith("/"):
        return None
    head, _, argument = text[1:].partition(" ")
    name = head.strip().split("\n")[0]
    if not name or not all(c.isalnum() or c in "-_:" for c in name):
        return None
    command = _BY_NAME.get(name)
    nearest = () if command else tuple(get_close_matches(name, list(_BY_NAME), 3, 0.5))
    return CommandLine(name, command, argument.strip(), nearest)


def unknown_command_text(line: CommandLine) -> str:
    """What the user reads of an unknown command, with the nearest known ones."""
    near = " or ".join(f"/{name}" for name in line.nearest)
    return f"/{line.name} is no command" + (f". Did you mean {near}?" if near else ". / lists them all")
