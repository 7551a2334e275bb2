"""The command line: which face to start, and the one border where errors become a line and an exit code."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from app.cli.arguments import Arguments, parse_arguments
from app.cli.folder import working_folder
from app.errors import PinyonError, UsageError
from app.modes.output import complain, drop_output, finished, take_any_text

if TYPE_CHECKING:
    from app.runtime.opening import StartOptions


def run(argv: list[str]) -> int:
    """The exit code. Never raises; a bug is told in one line, its traceback goes to a log file."""
    try:
        return finished(_run(argv))
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:
        drop_output()
        return 0
    except PinyonError as error:
        complain(str(error))
        return error.exit_code
    except BaseExceptionGroup as group:
        cause = _first(group)
        if isinstance(cause, PinyonError):
            complain(str(cause))
            return cause.exit_code
        if isinstance(cause, KeyboardInterrupt):
            return 128 + signal.SIGINT
        complain(tell_crash(cause))
        return 1
    except Exception as error:
        complain(tell_crash(error))
        return 1


def _run(argv: list[str]) -> int:
    take_any_text()
    arguments = parse_arguments(argv)
    if arguments.help:
        from app.cli.options import help_text

        sys.stdout.write(help_text() + "\n")
        return 0
    if arguments.version:
        from app.version import version

        sys.stdout.write(f"pinyon {version()}\n")
        return 0
    if arguments.cwd is not None:
        try:
            os.chdir(arguments.cwd)
        except OSError as error:
            raise UsageError(f"--cwd {arguments.cwd}: {error.strerror}") from error
    if arguments.command is not None:
        from app.cli.commands import run_command

        return run_command(arguments.command, arguments.rest)
    if arguments.list_models:
        from app.cli.models import list_models

        return list_models(" ".join(arguments.messages))
    cwd = working_folder()
    if arguments.print_ or arguments.mode == "json" or not _is_terminal(sys.stdin) or not _is_terminal(sys.stdout):
        return _print(arguments, cwd)
    return _full_screen(arguments, cwd)


def _print(arguments: Arguments, cwd: Path) -> int:
    from app.cli.prompt_input import gather_prompt, read_stdin, require_text

    has_message = bool(arguments.messages or arguments.files)
    prompt = gather_prompt(arguments, read_stdin(has_message), cwd)
    require_text(prompt)
    import anyio

    from app.modes.print_mode import run_print_mode
    from app.runtime.opening import open_agent_session

    if arguments.resume:
        raise UsageError("--resume needs a terminal to choose at", "Use --continue or --session")

    async def go() -> int:
        session = await open_agent_session(start_options(arguments, cwd))
        mode: Literal["text", "json"] = "json" if arguments.mode == "json" else "text"
        return await run_print_mode(session, prompt.text, prompt.images, mode=mode, partials=arguments.json_partials)

    return anyio.run(go)


def _full_screen(arguments: Arguments, cwd: Path) -> int:
    if os.environ.get("TERM", "") in ("", "dumb"):
        raise UsageError("this terminal can't show a full screen (TERM is unset or dumb)", 'Use pinyon -p "..."')
    from app.cli.signals import give_back
    from app.tui.starting import run_full_screen

    give_back()
    return run_full_screen(arguments, cwd)


def start_options(arguments: Arguments, cwd: Path) -> StartOptions:
    """What the arguments ask of a session."""
    from typing import cast

    from app.ai.messages import ThinkingLevel
    from app.runtime.opening import StartOptions

    tools = None
    if arguments.tools is not None:
        tools = [name.strip() for name in arguments.tools.split(",") if name.strip()]
        if not tools:
            raise UsageError(f"--tools {arguments.tools}: names no tool", "For none at all there is --no-tools")
    return StartOptions(
        cwd=cwd,
        provider=arguments.provider,
        model=arguments.model,
        api_key=arguments.api_key,
        thinking=cast("ThinkingLevel | None", arguments.thinking),
        session=arguments.session,
        fork=arguments.fork,
        continue_=arguments.continue_,
        no_session=arguments.no_session,
        session_dir=arguments.session_dir,
        system_prompt=arguments.system_prompt,
        append_system_prompt=arguments.append_system_prompt,
        tools=[] if arguments.no_tools else tools,
        no_context_files=arguments.no_context_files,
    )


def _is_terminal(stream: object) -> bool:
    try:
        return bool(stream is not None and stream.isatty())  # type: ignore[attr-defined]
    except ValueError:
        return False


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def tell_crash(error: BaseException) -> str:
    """One line about a bug; the traceback is kept in the data folder's logs when that can be written."""
    import traceback

    from app.config.paths import data_dir, ensure_private_dir

    line = f"an unexpected {type(error).__name__}: {error}"
    try:
        log = ensure_private_dir(data_dir() / "logs") / "crash.log"
        with open(
            os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
            "a",
            encoding="utf-8",
            errors="backslashreplace",
        ) as file:
            file.write("".join(traceback.format_exception(error)) + "\n")
    except OSError:
        return line
    return f"{line}. Details: {log}"
