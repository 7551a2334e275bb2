"""One prompt without a screen: the final answer as text, or every event as a JSON line."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from typing import Literal

import anyio
from anyio.abc import TaskStatus

from app.agent.events import ToolExecutionStart
from app.ai.messages import AssistantMessage, ImageContent
from app.modes.event_json import event_line, json_line
from app.modes.output import Output, clean, complain, printable
from app.runtime.agent_session import AgentSession
from app.runtime.closing import close_connections
from app.runtime.events import REFERENCE_EVENTS, AutoRetryStart, SessionEvent, SessionNote, WriteFailed

STOPPERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


async def run_print_mode(
    session: AgentSession,
    text: str,
    images: Sequence[ImageContent] = (),
    *,
    mode: Literal["text", "json"] = "text",
    partials: bool = False,
) -> int:
    """The exit code: 0 answered, 1 failed, aborted or cut, 128 + n stopped by signal n; a closed stdout gives 0."""
    output = Output()
    stopped_by = 0
    failures: list[str] = []
    for note in session.notes.after(None):
        if note.level != "info":
            complain(note.text)

    def on_event(event: SessionEvent) -> None:
        if mode == "json":
            if event.type in REFERENCE_EVENTS:
                output.line(event_line(event, partials=partials))
                if output.closed:
                    session.stop_run()
        elif sys.stderr is not None and sys.stderr.isatty():
            _progress(event)
        match event:
            case SessionNote(words, "warning" | "error"):
                complain(words)
            case WriteFailed(words):
                failures.append(words)
            case _:
                pass

    async def watch_signals(*, task_status: TaskStatus[None]) -> None:
        nonlocal stopped_by
        # Under nohup a hang-up is ignored when we start, and stays so.
        taken = [number for number in STOPPERS if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN]
        with anyio.open_signal_receiver(*taken) as signals:
            for number in taken:  # beside the loop's own way, which stands still while a reader does not read
                signal.signal(number, lambda *_: output.interrupt())
            task_status.started()
            async for number in signals:
                stopped_by = stopped_by or int(number)
                await session.abort()

    answer: AssistantMessage | None = None
    async with anyio.create_task_group() as group:
        # Around the session, so that a signal can't cut its closing short.
        await group.start(watch_signals)
        async with session:
            session.subscribe(on_event)
            if mode == "json":
                output.line(json_line(session.session.header))
            if not output.closed and not stopped_by:
                answer = await session.prompt(text, images)
                answer = session.unsaved.answer() or answer  # one that could not be stored is still printed
        await close_connections()
        group.cancel_scope.cancel()
    if stopped_by:
        return 128 + stopped_by
    code = _conclude(answer, failures, output if mode == "text" else None) if not output.closed else 0
    if output.failure:
        complain(output.failure)
        return 1
    return 0 if output.closed else code


def _conclude(answer: AssistantMessage | None, failures: list[str], output: Output | None) -> int:
    """Print what is due of the last answer and say what was wrong with it."""
    if answer is not None and output is not None and (text := answer.text().strip("\n")):
        output.line(printable(text) if sys.stdout.isatty() else text)
    if failures:
        complain(f"{failures[0]} (--session-dir DIR; --no-session keeps nothing)")
        return 1
    if answer is None:
        complain("no answer came")
        return 1
    match answer.stop_reason:
        case "error":
            complain(answer.error_message or "the request failed")
        case "aborted":
            complain("the answer was aborted")
        case "length":
            complain("the answer was cut at the model's output limit. Ask it to go on: pinyon -c -p 'go on'")
        case _:
            return 0
    return 1


def _progress(event: SessionEvent) -> None:
    """A line on a terminal's standard error for each tool call and each wait; a terminal that has gone is no matter."""
    match event:
        case ToolExecutionStart(_, name, args):
            subject = args.get("command") or args.get("path") or args.get("pattern") or ""
            words = clean(str(subject)).split("\n")[0]
            line = f"· {clean(name)} {words[:100]}\n"
        case AutoRetryStart(attempt, most, delay_ms, error):
            line = f"· {clean(error)[:200]} · again in {delay_ms / 1000:.0f} s ({attempt} of {most})\n"
        case _:
            return
    try:
        sys.stderr.write(line)
        sys.stderr.flush()
    except (OSError, ValueError):
        pass
