"""The table of command line options: one row each, read by the parser and by `--help`; data only."""

from __future__ import annotations

from dataclasses import dataclass

LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh")
COMMANDS = ("sessions", "auth", "export", "extensions", "install", "serve", "acp")


@dataclass(frozen=True, slots=True)
class Option:
    """`value` is the name of what follows it (None: a switch), `choices` what that may be.

    An empty value mostly comes from an unset variable: taking it for "not given" would hide that.
    """

    names: tuple[str, ...]
    target: str
    help: str
    value: str | None = None
    choices: tuple[str, ...] = ()
    repeat: bool = False
    may_be_empty: bool = False


OPTIONS = (
    Option(("-p", "--print"), "print_", "answer once on standard output and exit"),
    Option(("--mode",), "mode", "what to print: text, or json (one event a line)", "MODE", ("text", "json")),
    Option(("--json-partials",), "json_partials", "with --mode json: repeat the growing message in each update"),
    Option(("-c", "--continue"), "continue_", "go on with this folder's most recent session"),
    Option(("-r", "--resume"), "resume", "full screen: choose a session to go on with"),
    Option(
        ("--session",), "session", "go on with a session: its file, or how its id begins (pinyon sessions)", "WHICH"
    ),
    Option(("--fork",), "fork", "the same with a copy, in this folder", "WHICH"),
    Option(("--session-dir",), "session_dir", "keep sessions in this folder", "DIR"),
    Option(("--no-session",), "no_session", "keep nothing on disk: no session, no files of branches"),
    Option(("--provider",), "provider", "whose model: anthropic, openai, google … or one of models.json", "NAME"),
    Option(
        ("-m", "--model"),
        "model",
        "which model: part of its name, id or provider/id; with a level sonnet:high",
        "MODEL",
    ),
    Option(("--api-key",), "api_key", "the provider's key, for this run", "KEY"),
    Option(("--thinking",), "thinking", "how much the model thinks: " + ", ".join(LEVELS), "LEVEL", LEVELS),
    Option(("--list-models",), "list_models", "list the models that are known, and which can be asked"),
    Option(
        ("--system-prompt",),
        "system_prompt",
        "replace the system prompt (text, or a file's name)",
        "TEXT",
        may_be_empty=True,
    ),
    Option(
        ("--append-system-prompt",),
        "append_system_prompt",
        "add to the system prompt (text or file)",
        "TEXT",
        repeat=True,
        may_be_empty=True,
    ),
    Option(("-t", "--tools"), "tools", "only these tools: read,bash,edit,write,grep,find,ls", "LIST"),
    Option(("-nt", "--no-tools"), "no_tools", "no tools at all"),
    Option(("-nc", "--no-context-files"), "no_context_files", "leave AGENTS.md and CLAUDE.md unread"),
    Option(("--cwd",), "cwd", "work in this folder", "DIR"),
    Option(("--ssh",), "ssh", "full screen: save bytes, as over SSH"),
    Option(
        ("--theme",), "theme", "full screen: dark, light, ansi (your terminal's colours) or another of /theme", "NAME"
    ),
    Option(("--plain-ui",), "plain_ui", "full screen: words in place of boxes and signs, for screen readers"),
    Option(("-v", "--version"), "version", "print the version"),
    Option(("-h", "--help"), "help", "print this"),
)


def help_text() -> str:
    """What `--help` prints."""
    lines = [
        "pinyon: a coding agent for the terminal.",
        "",
        "usage: pinyon [options] [@file ...] [message ...]      full screen; with -p or a pipe: one answer",
        "       pinyon sessions [list | inspect FILE | doctor FILE | import FILE]     (--help says more)",
        "       pinyon export SESSION [OUT.html | OUT.md | OUT.jsonl]                 (--help says more)",
        "",
        "Messages are joined by a blank line, behind standard input and @files. `--` ends the options.",
        "With no model configured, the built-in offline guide answers (no language model, real tools):",
        "ask it to `explain providers`, `explain keys`, `explain sessions`.",
        "",
        "options:",
    ]
    for option in OPTIONS:
        names = ", ".join(option.names) + (f" {option.value}" if option.value else "")
        lines.append(f"  {names:<32} {option.help}")
    lines += [
        "",
        "Settings, keys and models: ~/.config/pinyon, or PINYON_CONFIG_DIR. Sessions: ~/.local/share/pinyon,",
        "or PINYON_DATA_DIR. README.md describes both.",
        "",
        "exit codes: 0 ok, 1 the answer failed, was aborted or cut, 2 usage or configuration,",
        "            129 hang-up, 130 ctrl+c, 143 terminated",
    ]
    return "\n".join(lines)
