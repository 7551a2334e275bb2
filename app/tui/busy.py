"""What to do with a session that another process writes: look at it, copy it, wait for it, or begin another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from app.errors import SessionBusyError
from app.runtime.opening import StartOptions
from app.session.trash import is_in_use
from widgets.dialogs import choose

if TYPE_CHECKING:
    from app.tui.screens.chat import ChatScreen

LOOK_EVERY_S = 0.5


async def when_busy(screen: ChatScreen, options: StartOptions, error: SessionBusyError) -> StartOptions:
    """How to open instead, as the user says; escape means a new session. Only inside a worker."""
    path = error.path
    fresh = replace(options, session=None, fork=None, continue_=False)
    if path is None:
        screen.note(str(error), "warning")
        return fresh
    screen.status.end()
    screen.show_status()
    answer = await choose(
        screen.app,
        "This session is in use",
        [
            ("view", "look at it"),
            ("fork", "go on in a copy"),
            ("wait", "wait until it is free"),
            ("new", "a new session"),
        ],
        body=error.message,
        default="new",
    )
    match answer:
        case "view":
            screen.status.notice = "looked at only"
            return replace(options, session=str(path), continue_=False, read_only=True)
        case "fork":
            return replace(fresh, fork=str(path))
        case "wait":
            screen.status.begin("waiting for the session · ctrl+c twice leaves")
            screen.show_status()
            while await anyio.to_thread.run_sync(is_in_use, path):  # noqa: ASYNC110  # another process ends it
                await anyio.sleep(LOOK_EVERY_S)
            return replace(options, session=str(path), continue_=False)
        case _:
            return fresh
