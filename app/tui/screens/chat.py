"""The chat screen: opens sessions, sends what is typed, and says what every key does."""

from __future__ import annotations

import importlib
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import anyio
import anyio.to_thread
from textual import on
from textual.binding import Binding, BindingType

from app.tui.completing import Completing
from app.tui.keymap import textual_bindings
from app.tui.screens.branch_keys import BranchKeys
from app.tui.starting import settle_memory, warm
from widgets.prompt import Prompt

if TYPE_CHECKING:
    from app.cli.arguments import Arguments
    from app.runtime.agent_session import AgentSession
    from app.runtime.events import SessionEvent
    from app.runtime.opening import StartOptions
    from app.runtime.queue import Behavior

# Imported in a thread behind the first frame, so that the first prompt waits for none of them.
BEHIND = ("app.runtime.opening",)
QUIT_WITHIN_S = 1.0
WARM_LATE_S = 1.0
"""A prompt typed while we started is answered first: a thread that imports beside it takes half its time."""


class ChatScreen(BranchKeys):
    """One session at a time; another one takes its place by `reopen`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        replace(binding, priority=True) if isinstance(binding, Binding) and binding.id == "session.browse" else binding
        for binding in textual_bindings("run", "view", "session")
    ]

    def __init__(self, arguments: Arguments, cwd: Path) -> None:
        super().__init__(arguments, cwd)
        self._next: StartOptions | None = None
        self._close: anyio.Event | None = None
        self.opened = anyio.Event()
        self._early: list[str] = []
        self._last_clear = 0.0
        self._leaving: int | None = None
        self._show_next: str | None = None
        self._failed_events: set[str] = set()

    def begin(self) -> None:
        """Open the session behind the first frame."""
        self.prompt_area.providers = Completing(self, self.cwd).providers()
        self.run_worker(self._live(), exit_on_error=False, group="session", description="the session")
        self.run_worker(self.load_overrides, thread=True, exit_on_error=False, group="keys", description="keys")
        self._read_branch()

    async def _live(self) -> None:
        """Open one session after the other until the app ends; what can't be opened is told, and a new one begins."""
        from app.errors import PinyonError, SessionBusyError

        try:
            await anyio.to_thread.run_sync(lambda: [importlib.import_module(name) for name in BEHIND])
            from app.cli.main import start_options
            from app.tui.busy import when_busy

            first = start_options(self.arguments, self.cwd)
            following = await self._choose_session(first) if self.arguments.resume else first
            if following is None:
                self.app.exit()
                return
            while (options := following) is not None:
                try:
                    following = await self._live_one(replace(options, on_busy="raise"))
                except SessionBusyError as error:
                    following = await when_busy(self, options, error)
                except PinyonError as error:
                    if self.session is None and not _can_begin_anew(options):
                        self._fail(str(error), error.exit_code)
                        return
                    self.note(str(error), "error")
                    following = _fresh(options)
                if self._leaving is not None:
                    break
        except Exception as error:  # the border: a bug is told and logged, the terminal put back
            self.app._handle_exception(error)
            return
        from app.runtime.closing import close_connections

        with anyio.move_on_after(2):
            await close_connections()
        if self._leaving is not None:
            self.app.exit(return_code=self._leaving)

    async def _choose_session(self, options: StartOptions) -> StartOptions | None:
        """`--resume`: what to open, None when nothing was chosen."""
        from app.tui.screens.sessions import SessionsScreen
        from app.tui.walking import folder_of

        self.status.end()
        choice = await self.app.push_screen_wait(SessionsScreen(self.cwd))
        if choice is None:
            return None
        self.show_later(choice.entry_id)
        if choice.action == "fork":
            return replace(options, fork=str(choice.path))
        if choice.action == "open":
            folder = await anyio.to_thread.run_sync(folder_of, choice.path)
            if folder is not None and folder != self.cwd:
                self.move_to(folder)
                options = replace(options, cwd=folder)
        return replace(options, session=str(choice.path), read_only=choice.action == "view")

    async def _live_one(self, options: StartOptions) -> StartOptions | None:
        from app.runtime.opening import open_agent_session

        session = await open_agent_session(options)
        self._next, self._close = None, anyio.Event()
        async with session:
            self.session = session
            self.opened.set()
            session.interrupts.on_change = self.show_status
            unsubscribe = session.subscribe(self._follow)
            self.status.end()
            self.show_session()
            settle_memory()
            self._say_resume()
            early, self._early = self._early, []
            for text in early:
                self.send(text)
            self.set_timer(WARM_LATE_S if early else 0.01, self._warm)
            try:
                await self._close.wait()
            finally:
                unsubscribe()
                self._say_resume()
        return self._next

    def _follow(self, event: SessionEvent) -> None:
        """An event that can't be shown is told and logged; the screen goes on with the next one."""
        try:
            self.on_session_event(event)
        except Exception as error:
            from app.cli.main import tell_crash

            if event.type not in self._failed_events:
                self._failed_events.add(event.type)
                self.note(f"{event.type} could not be shown: {tell_crash(error)}", "error")

    def _warm(self) -> None:
        if self.session is not None:
            warming = warm(self.session.agent.state.model.api)
            self.run_worker(warming, exit_on_error=False, group="warm", description="imports")

    def _say_resume(self) -> None:
        session = self.session
        stored = session is not None and session.session.is_stored
        self.app.resume_id = session.session.id if stored and session else None  # type: ignore[attr-defined]

    def _fail(self, text: str, code: int) -> None:
        self.app.exit_code = code  # type: ignore[attr-defined]
        self.app.exit(return_code=code, message=f"pinyon: {text}")

    def move_to(self, cwd: Path) -> None:
        """Work in another folder from the next session on. Raises OSError when it can't be entered."""
        os.chdir(cwd)
        self.cwd = self.status.cwd = cwd
        self.prompt_area.providers = Completing(self, cwd).providers()
        self._read_branch()

    def reopen(self, options: StartOptions) -> None:
        """Leave this session and open another."""
        self._next = options
        if self._close is not None:
            self._close.set()

    def show_later(self, entry_id: str | None) -> None:
        """Show an entry once the session that was just chosen is drawn."""
        self._show_next = entry_id

    def show_session(self) -> None:
        """Draw the session, then what was chosen in it."""
        super().show_session()
        entry_id, self._show_next = self._show_next, None
        if entry_id is not None:
            from app.tui.walking import show_entry

            self.call_after_refresh(show_entry, self, entry_id)

    # -- the prompt -----------------------------------------------------------------------------------------------

    @on(Prompt.Submitted)
    def on_submitted(self, message: Prompt.Submitted) -> None:
        """Enter."""
        self.send(message.text)

    @on(Prompt.FollowUp)
    def on_follow_up(self, message: Prompt.FollowUp) -> None:
        """Alt+enter."""
        self.send(message.text, follow_up=True)

    def send(self, text: str, *, follow_up: bool = False) -> None:
        """A command, a shell command, a steering message or a prompt; kept until the session is there."""
        session = self.session
        if session is None:
            self._early.append(text)
            self.queue.show(self._early, [])
            return
        if self._early:
            self._early.clear()
        self.queue.show([], [])
        from app.runtime.commands import parse_command, unknown_command_text
        from app.runtime.mentions import submit_with_mentions
        from app.runtime.user_bash import parse_bash

        self.transcript.follow()
        if text == "/":
            self.action_session_palette()
        elif (line := parse_command(text)) is not None:
            if line.command is None:
                self.note(unknown_command_text(line), "warning")
                self.prompt.prepend_text(text)
            else:
                self.run_command(line.command.action, line.argument)
        elif text.startswith("!"):
            self._run_shell(session, text, parse_bash(text))
        else:
            behavior: Behavior = "follow_up" if follow_up else "steer"
            if "@" in text:
                session.start(submit_with_mentions, session, text, behavior)
            else:
                session.submit(text, behavior=behavior)

    def _run_shell(self, session: AgentSession, text: str, command: tuple[str, bool] | None) -> None:
        if command is None:
            self.note("! wants a command after it", "warning")
        elif session.bash.is_running:
            self.note("a command is running already: wait for it, or stop it with escape", "warning")
            self.prompt.prepend_text(text)
        else:
            session.start(session.bash.run, *command)

    def run_command(self, action: str, argument: str = "") -> None:
        """Do what a command of the table says."""
        from app.tui.commanding import run_command

        self.run_worker(run_command(self, action, argument), exit_on_error=False, group="command", description=action)

    @on(Prompt.EditQueue)
    def on_edit_queue(self) -> None:
        """Alt+up: what waits comes back into the prompt."""
        if self.session is None:
            return
        if self.session.reader.is_reading:
            self.session.reader.stop()  # gives back what waits for it, and the rest of the queue
        elif texts := self.session.queue.take_all():
            self.prompt.prepend_text("\n\n".join(texts))

    @on(Prompt.ClearRequested)
    def on_clear(self, message: Prompt.ClearRequested) -> None:
        """Ctrl+c: the text is gone; with none, twice within a second means quit."""
        now = time.monotonic()
        if not message.had_text and now - self._last_clear < QUIT_WITHIN_S:
            self.quit()
            return
        self._last_clear = now
        self.status.note = "" if message.had_text else "ctrl+c again leaves"
        self.show_status()
        self.set_timer(QUIT_WITHIN_S, self.forget_note)

    def clear_or_leave(self) -> None:
        """Ctrl+c outside the prompt: as in an empty one, or copy what is selected."""
        if self.get_selected_text():
            self.on_copy_requested()
            return
        if self.is_browsing:
            self.action_browse_leave()
        self.on_clear(Prompt.ClearRequested(had_text=False))

    @on(Prompt.CopyRequested)
    def on_copy_requested(self) -> None:
        """Ctrl+c with something selected by the mouse."""
        self.copy(self.get_selected_text() or "")
        self.clear_selection()

    @on(Prompt.QuitRequested)
    def on_quit_requested(self) -> None:
        """Ctrl+d in an empty prompt."""
        self.quit()

    def quit(self, code: int = 0) -> None:
        """Leave once the session is closed: runs stopped, children ended, everything on disk. Twice: at once."""
        self._say_resume()
        if self._leaving is not None or self._close is None or self._close.is_set():
            self.app.exit(return_code=code)
            return
        self._leaving = code
        self.status.begin("closing")
        self.show_status()
        self._next = None
        self._close.set()


def _can_begin_anew(options: StartOptions) -> bool:
    return options.session is None and options.fork is None and options.model is None and options.provider is None


def _fresh(options: StartOptions) -> StartOptions:
    return replace(options, session=None, fork=None, continue_=False)
