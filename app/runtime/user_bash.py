"""The user's own `!command` and `!!command`: shown as it runs, kept as a bashExecution message (spec core §3.2)."""

from __future__ import annotations

from contextlib import nullcontext

import anyio

from app.agent.tool import AbortSignal
from app.errors import PinyonError, ToolError
from app.runtime.agent_session import AgentSession
from app.runtime.events import BashEnd, BashOutput, BashStart
from app.session.entries import iso_now
from app.session.messages import bash_execution_message
from app.tools.context import ToolContext
from app.tools.process import ShellResult, run_shell

NOT_STARTED = 126  # as a shell says of a command that it can't execute


def parse_bash(text: str) -> tuple[str, bool] | None:
    """Command and whether the model shall not hear of it, of "!command" or "!!command"; None: an ordinary prompt."""
    if not text.startswith("!"):
        return None
    hidden = text.startswith("!!")
    command = text[2 if hidden else 1 :].strip()
    return (command, hidden) if command else None


class UserBash:
    """One command at a time."""

    def __init__(self, session: AgentSession, context: ToolContext) -> None:
        self._session = session
        self._context = context
        self._count = 0
        self.is_running = False

    async def run(self, command: str, exclude_from_context: bool) -> None:
        """Run it to its end. Raises PinyonError while another one runs."""
        if self.is_running:
            raise PinyonError("a command is running already", "Wait for it or stop it with escape")
        self.is_running = True
        try:
            async with self._session.files.command() if self._session.files is not None else nullcontext():
                await self._run(command, exclude_from_context)
        finally:
            self.is_running = False

    async def _run(self, command: str, exclude_from_context: bool) -> None:
        session = self._session
        self._count += 1
        bash_id = f"bash-{self._count}"
        signal = AbortSignal()
        session.emit(BashStart(bash_id, command, exclude_from_context))
        with session.interrupts.entry("stop the command", signal.abort):
            try:
                result = await run_shell(
                    command,
                    self._context.cwd,
                    output_dir=self._context.output_dir,
                    shell_path=self._context.shell_path,
                    command_prefix=self._context.command_prefix,
                    env=self._context.env,
                    signal=signal,
                    on_output=lambda tail, path: session.emit(BashOutput(bash_id, tail.content)),
                )
            except ToolError as error:  # it could not be started: what was begun on the screen ends there as well
                result = ShellResult(error.message, NOT_STARTED, False, False, False, None)
        message = bash_execution_message(
            command,
            result.output,
            timestamp=iso_now(),
            exit_code=result.exit_code,
            cancelled=result.cancelled,
            truncated=result.truncated,
            full_output_path=result.full_output_path,
            exclude_from_context=exclude_from_context,
        )
        with anyio.CancelScope(shield=True):
            session.emit(BashEnd(bash_id, message))
            await session.keep(message)
