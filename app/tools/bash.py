"""The bash tool: runs one command and tells the model the end of what it printed; how it runs is process.py's."""

from __future__ import annotations

import signal as signals
from typing import Annotated, TypedDict

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from app.agent.tool import AbortSignal, AgentToolResult, BaseTool, OnUpdate
from app.errors import ToolError
from app.tools.arguments import ToolArguments
from app.tools.context import ToolContext
from app.tools.process import ShellResult, run_shell
from app.tools.truncate import MAX_BYTES, MAX_LINES, Truncation, TruncationDetails, format_size


class BashArguments(ToolArguments):
    """Arguments of bash."""

    command: str = Field(description="The command, as for bash -c.")
    timeout: Annotated[float, Field(gt=0, le=10_000_000)] | SkipJsonSchema[None] = Field(
        default=None, description="Seconds after which it is stopped; no limit when left out."
    )


class BashDetails(TypedDict, total=False):
    """How the output was cut and where all of it is; how the command ended when it failed."""

    truncation: TruncationDetails
    fullOutputPath: str
    exitCode: int | None
    timedOut: bool


class BashTool(BaseTool):
    """Runs one shell command."""

    name = "bash"
    label = "bash"
    description = (
        "Run a bash command in the working folder; you get stdout and stderr together and, if it fails, the exit code. "
        f"Of long output you get the last {MAX_LINES} lines or {MAX_BYTES // 1024} KB and the path of a file with all "
        "of it. There is no terminal and stdin is empty. The call ends with the shell: a process left in the "
        "background is not killed, but the pipe it prints to is closed, so send its output to a file "
        "(cmd >log 2>&1 &)."
    )
    parameters = BashArguments
    prompt_snippet = "Run shell commands (git, tests, builds)"

    def __init__(self, context: ToolContext) -> None:
        self._context = context

    async def execute(
        self, tool_call_id: str, params: BashArguments, signal: AbortSignal, on_update: OnUpdate
    ) -> AgentToolResult:
        """The output's tail. Raises ToolError with the output and how it ended unless the exit code is 0.

        On cancellation the last update holds the output so far and says that the command was aborted.
        """
        on_update(AgentToolResult())
        last: list[tuple[Truncation, str | None]] = []

        def update(tail: Truncation, path: str | None) -> None:
            last[:] = [(tail, path)]
            on_update(AgentToolResult.of_text(tail.content, _details(tail, path)))

        context = self._context
        try:
            result = await run_shell(
                params.command,
                context.cwd,
                output_dir=context.output_dir,
                shell_path=context.shell_path,
                command_prefix=context.command_prefix,
                env=context.env,
                timeout_s=params.timeout,
                on_output=update,
            )
        finally:
            if signal.aborted and last:
                tail, path = last[0]
                text = _joined(tail.content, "Command aborted")
                on_update(AgentToolResult.of_text(text, _details(tail, path)))
        return _result(result, params.timeout)


def _result(result: ShellResult, timeout_s: float | None) -> AgentToolResult:
    text = result.output
    details = _details(result.truncation, result.full_output_path)
    if result.truncation is not None and result.truncation.truncated:
        text = _joined(text, truncation_note(result))
    status = _status(result, timeout_s)
    if status is None:
        if result.left_running:
            text = _joined(
                text,
                "[A background process still had the output open; its pipe is closed now. "
                "Send its output to a file to keep it.]",
            )
        return AgentToolResult.of_text(text or "(no output)", details)
    failed: dict[str, object] = {**(details or {}), "exitCode": result.exit_code}
    if result.timed_out:
        failed["timedOut"] = True
    raise ToolError(_joined(text, status), failed)


def _status(result: ShellResult, timeout_s: float | None) -> str | None:
    """How a command that failed ended; None for one that did not."""
    if result.timed_out:
        return f"Command timed out after {timeout_s:g} seconds" if timeout_s is not None else "Command timed out"
    if result.signal is not None:
        try:
            name = f" ({signals.Signals(result.signal).name})"
        except ValueError:
            name = ""
        return f"Command terminated by signal {result.signal}{name}"
    return f"Command exited with code {result.exit_code}" if result.exit_code else None


def truncation_note(result: ShellResult) -> str:
    """The bracketed line that says which part of the output is shown and where all of it is (spec core §3.6)."""
    cut = result.truncation
    assert cut is not None
    where = f"Full output: {result.full_output_path}" if result.full_output_path else "The full output was not stored"
    last = cut.total_lines
    if cut.last_line_partial:
        size = format_size(result.last_line_bytes)
        return f"[Showing the last {format_size(cut.output_bytes)} of line {last} (line is {size}). {where}]"
    first = last - cut.output_lines + 1
    limit = f" ({format_size(cut.max_bytes)} limit)" if cut.truncated_by == "bytes" else ""
    inside = f"; line {first} is cut, only its end is shown" if cut.begins_inside_line else ""
    return f"[Showing lines {first}-{last} of {cut.total_lines}{limit}{inside}. {where}]"


def _details(cut: Truncation | None, path: str | None) -> BashDetails | None:
    if cut is None or not cut.truncated:
        return None
    details = BashDetails(truncation=cut.details())
    if path is not None:
        details["fullOutputPath"] = path
    return details


def _joined(text: str, note: str) -> str:
    """The note after a blank line, or alone."""
    return f"{text.removesuffix(chr(10))}\n\n{note}" if text else note
