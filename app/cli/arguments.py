"""From argv to Arguments; it must never touch a file, so that a usage error comes before any work."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches

from app.cli.options import COMMANDS, OPTIONS, Option
from app.errors import UsageError


@dataclass(slots=True)
class Arguments:
    """What the command line asks for. `files` are the names behind `@`; `rest` belongs to `command`."""

    messages: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    command: str | None = None
    rest: list[str] = field(default_factory=list)
    print_: bool = False
    mode: str | None = None
    json_partials: bool = False
    continue_: bool = False
    resume: bool = False
    session: str | None = None
    fork: str | None = None
    session_dir: str | None = None
    no_session: bool = False
    provider: str | None = None
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    thinking: str | None = None
    list_models: bool = False
    system_prompt: str | None = None
    append_system_prompt: list[str] = field(default_factory=list)
    tools: str | None = None
    no_tools: bool = False
    no_context_files: bool = False
    cwd: str | None = None
    ssh: bool = False
    theme: str | None = None
    plain_ui: bool = False
    version: bool = False
    help: bool = False


_BY_NAME = {name: option for option in OPTIONS for name in option.names}


def parse_arguments(argv: list[str]) -> Arguments:
    """The arguments by the rules of the issue ("Command line"). Raises UsageError.

    An argument that is no option and holds white space, or follows `--`, is a message even if it begins with `-`.
    """
    result = Arguments()
    waiting = list(argv)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            result.messages += waiting
            break
        name, equals, value = word.partition("=")
        has_value = bool(equals)
        option = _BY_NAME.get(word) or (_BY_NAME.get(name) if has_value else None)
        if option is not None:
            _take(result, option, name if has_value and word not in _BY_NAME else word, value, has_value, waiting)
        elif word.startswith("@") and len(word) > 1:
            result.files.append(word[1:])
        elif word.startswith("-") and len(word) > 1 and not any(c.isspace() for c in word):
            raise UsageError(f"{word} is no option", _nearest(word))
        elif word in COMMANDS and not result.messages and not result.files:
            result.command, result.rest = word, waiting
            break
        else:
            result.messages.append(word)
    _check(result)
    return result


def _take(result: Arguments, option: Option, name: str, value: str, has_value: bool, waiting: list[str]) -> None:
    if option.value is None:
        if has_value:
            raise UsageError(f"{name} takes no value")
        setattr(result, option.target, True)
        return
    if not has_value:
        if not waiting or waiting[0] in _BY_NAME or waiting[0] == "--":
            raise UsageError(f"{name} needs a value: {name} {option.value}")
        value = waiting.pop(0)
    if not value.strip() and not option.may_be_empty:
        raise UsageError(f"{name} needs a value: {name} {option.value}")
    if option.choices and value not in option.choices:
        raise UsageError(f"{name} {value}: not one of {', '.join(option.choices)}")
    if option.repeat:
        getattr(result, option.target).append(value)
    else:
        setattr(result, option.target, value)


def _nearest(word: str) -> str:
    close = get_close_matches(word.partition("=")[0], list(_BY_NAME), 1, 0.6)
    meant = f"The nearest is {close[0]}. " if close else ""
    return f"{meant}pinyon --help lists them; behind -- everything is a message"


def _check(result: Arguments) -> None:
    ways = [
        name
        for name, given in (
            ("--continue", result.continue_),
            ("--resume", result.resume),
            ("--session", result.session is not None),
            ("--fork", result.fork is not None),
        )
        if given
    ]
    if result.no_session and ways and ways[0] != "--session":
        ways.append("--no-session")
    if len(ways) > 1:
        raise UsageError(f"{' and '.join(ways)} don't go together")
    if result.tools is not None and result.no_tools:
        raise UsageError("--tools and --no-tools don't go together")
