"""From the command line to the running App: the environment that Textual reads at import, the exit, the resume hint.

It must import nothing heavy before the first frame: pydantic, httpx and the adapters come behind it.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from app.config.settings import Settings, load_settings
from app.config.trust import is_trusted
from app.errors import UsageError

if TYPE_CHECKING:
    from app.cli.arguments import Arguments

LOCAL_FPS = 30
SSH_FPS = 15
WARM = ("app.runtime.mentions", "renderers.markdown", "renderers.code", "markdown_it", "app.tui.commanding")
SWITCH_S = 0.001
"""How long one thread may keep the others waiting: at Python's 5 ms a key waits that long behind imports, thrice."""


@dataclass(frozen=True, slots=True)
class Face:
    """How the screen is driven in this run."""

    ssh: bool
    theme: str | None
    settings: Settings


def run_full_screen(arguments: Arguments, cwd: Path) -> int:
    """Run the App to its end and return the exit code; prints how to come back."""
    gc.disable()  # until `settle_memory`: what a start makes stays, looking through it costs 40 ms
    sys.setswitchinterval(SWITCH_S)
    settings, _ = load_settings(cwd, trusted=is_trusted(cwd))
    face = Face(wants_ssh(arguments.ssh, settings), arguments.theme or settings.theme, settings)
    with_profile(face.ssh)
    from app.tui.application import PinyonApp
    from app.tui.themes import is_theme, theme_names

    app = PinyonApp(arguments, cwd, face)
    if arguments.theme is not None and not is_theme(arguments.theme, set(app.available_themes)):
        raise UsageError(f"--theme {arguments.theme}: there is no such theme", theme_names(set(app.available_themes)))
    try:
        app.run()
    finally:
        code = app.return_code or 0
    if app.resume_id and sys.stdout is not None:
        with suppress(OSError, ValueError):
            sys.stdout.write(f"To come back:\npinyon --session {app.resume_id}\n")
    _flush()
    return app.exit_code or code


def _flush() -> None:
    """Write what is buffered. Where the terminal is gone it goes nowhere: Python would make the exit code 120 of it."""
    for stream in filter(None, (sys.__stdout__, sys.__stderr__)):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def settle_memory() -> None:
    """Take what lives now for good out of the collector's rounds: with a large session a full one takes 100 ms."""
    gc.freeze()
    gc.enable()


async def warm(api: str) -> None:
    """Import what the first answer of a model of this api needs, 120 ms, while its prompt is being typed."""
    from app.ai.stream import ADAPTERS
    from app.errors import ModelError

    names = [] if api.startswith("pinyon-") else ["app.ai.http", "httpcore"]
    names += [*([ADAPTERS[api]] if api in ADAPTERS else []), *WARM]
    await anyio.to_thread.run_sync(lambda: [importlib.import_module(name) for name in names])
    if "httpcore" in names:
        from app.ai.http import prepare_client

        with suppress(ModelError):  # told when something is asked
            await prepare_client()


def wants_ssh(flag: bool, settings: Settings) -> bool:
    """Whether bytes are to be saved: the flag, the setting, else whether we are at the end of an SSH connection."""
    if flag or settings.ssh == "on":
        return True
    return settings.ssh == "auto" and any(os.environ.get(name) for name in ("SSH_CONNECTION", "SSH_TTY"))


def with_profile(ssh: bool) -> None:
    """Import Textual under our profile. What we set is taken back, so that no child process inherits it."""
    profile = {"TEXTUAL_FPS": str(SSH_FPS if ssh else LOCAL_FPS), "TEXTUAL_ANIMATIONS": "none"}
    kept = {name: os.environ.get(name) for name in (*profile, "NO_COLOR")}
    for name, value in profile.items():
        os.environ.setdefault(name, value)
    import textual.constants  # noqa: F401 - reads the environment once, at this import

    for name, old in kept.items():
        if old is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = old
