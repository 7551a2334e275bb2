"""What the chat screen shows and how it follows a session's events; it must never change the session."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal

from app.config import paths
from app.tui import keymap
from app.tui.earlier import EarlierEntries
from app.tui.feed import TranscriptFeed
from app.tui.screens.keys_first import KeysFirst
from app.tui.status import Status, git_branch, not_saved, retry_ending
from app.tui.stored import AT_ONCE, messages_of, part_start, place_among_siblings
from app.tui.welcome import welcome_text
from widgets.banner import Banner
from widgets.footer import Footer
from widgets.header import Header
from widgets.history import PromptHistory
from widgets.prompt import Prompt
from widgets.prompt_area import PromptArea
from widgets.queue_strip import QueueStrip
from widgets.transcript import Transcript

if TYPE_CHECKING:
    from app.cli.arguments import Arguments
    from app.runtime.agent_session import AgentSession
    from app.runtime.events import NoteLevel, SessionEvent


class ChatView(KeysFirst):
    """Header, transcript, queue, prompt, footer; one `match` over the session's events."""

    AUTO_FOCUS = "Prompt"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (10, "-high")]
    transcript = getters.query_one("#transcript", Transcript)
    prompt = getters.query_one(Prompt)
    prompt_area = getters.query_one("#prompt-area", PromptArea)
    banner = getters.query_one("#banner", Banner)
    queue = getters.query_one("#queue", QueueStrip)
    header = getters.query_one("#header", Header)
    footer = getters.query_one("#footer", Footer)

    def __init__(self, arguments: Arguments, cwd: Path) -> None:
        super().__init__()
        self.arguments = arguments
        self.cwd = cwd
        self.status = Status(cwd)
        self.session: AgentSession | None = None
        self.feed: TranscriptFeed
        self.earlier: EarlierEntries | None = None
        self._ticker: Any = None

    def compose(self) -> ComposeResult:
        """The widgets from top to bottom."""
        yield Header(id="header")
        with Horizontal(id="middle"):
            yield Transcript(id="transcript")
        yield Banner(id="banner")
        yield QueueStrip(id="queue")
        yield PromptArea(id="prompt-area", history=PromptHistory(paths.data_dir() / "history.txt"))
        yield Footer(id="footer")

    def on_mount(self) -> None:
        """Draw at once; what needs files comes behind the first frame."""
        self.feed = TranscriptFeed(self.transcript)
        self._typed_in = self.prompt
        self.status.begin("starting")
        self.show_status()
        self.call_after_refresh(self.begin)

    def begin(self) -> None:
        """The first frame is out."""

    # -- drawing --------------------------------------------------------------------------------------------------

    def show_status(self) -> None:
        """Header and footer as they are now; unchanged cells are not painted again."""
        self.header.show(self.status.header(self.session))
        self.footer.show(self.status.footer(self.session))

    def note(self, text: str, level: NoteLevel = "info") -> None:
        """A remark of the program's own, in the transcript."""
        self.feed.note(text, level)

    def show_session(self) -> None:
        """The session's branch, from its entries."""
        session = self.session
        if session is None:
            return
        branch = session.session.tree.branch()
        start = part_start(branch, len(branch), AT_ONCE)
        from app.runtime.queue import message_text

        entries, siblings = messages_of(session.session, branch[start:])
        self.feed.show_branch(entries, siblings)
        said = (message_text(message) for _, message in entries if getattr(message, "role", "") == "user")
        self.prompt.prompt_history.set_session(said)
        self.workers.cancel_group(self, "older")
        if self.earlier is not None:
            self.earlier.give_up()
        self.earlier = EarlierEntries(self.feed, session.session, branch[:start])
        self.load_earlier()
        if not entries:
            self.feed.welcome(welcome_text(session, self.cwd, self.status.overrides))
        for note in session.notes.after(None):
            self.feed.note(note.text, note.level)
        self.prompt.thinking = session.agent.state.thinking_level
        self.transcript.follow()
        self.show_status()

    def load_earlier(self) -> None:
        """Bring in what is wanted of the rest of a long branch, unless that is going on."""
        if self.earlier is not None and self.earlier.begin():
            self.run_worker(self.earlier.load(), exit_on_error=False, group="older")

    async def wait_for_earlier(self, entry_id: str | None = None) -> None:
        """Return when an entry of the branch is shown, however far up (None: when all are)."""
        if (earlier := self.earlier) is not None:
            if entry_id is None:
                earlier.want_all()
            else:
                earlier.want_entry(entry_id)
            self.load_earlier()
            await earlier.wait()

    @on(Transcript.StartNeared)
    def on_start_neared(self) -> None:
        """The reader scrolls up towards what is not shown yet."""
        if self.earlier is not None:
            self.earlier.want_more()
            self.load_earlier()

    # -- events ---------------------------------------------------------------------------------------------------

    def on_session_event(self, event: SessionEvent) -> None:
        """Everything that a session tells."""
        feed = self.feed
        match event.type:
            case "message_update":
                feed.message_updated(event.assistant_message_event)
            case "tool_execution_update":
                feed.tool_updated(event.tool_call_id, event.partial_result)
            case "agent_start":
                self.status.begin("working")
                self._start_ticking()
                self.show_status()
            case "agent_end":
                self._run_ended()
            case "message_start":
                feed.message_started(event.message)
            case "message_end":
                feed.message_ended(event.message)
                if getattr(event.message, "role", "") == "toolResult":
                    feed.result_stored(event.message)
                self.show_status()
            case "entry_appended":
                feed.entry_appended(event.entry_id, event.message)
                if self.session is not None and not len(self.session.unsaved):
                    self.banner.show("")
                if self.session is not None and getattr(event.message, "role", "") == "user":
                    feed.set_siblings(event.entry_id, place_among_siblings(self.session.session, event.entry_id))
            case "tool_execution_start":
                feed.tool_started(event.tool_call_id, event.tool_name, event.args)
            case "tool_execution_end":
                feed.tool_ended(event.tool_call_id, event.result, event.is_error)
            case "queue_update":
                self.queue.show(event.steering, event.follow_up)
            case "auto_retry_start":
                self.status.begin(f"retry {event.attempt} of {event.max_attempts}", event.delay_ms / 1000)
                self.show_status()
            case "auto_retry_end":
                if not event.success:
                    self.status.end()
                    feed.note(retry_ending(event.attempt, event.final_error), "warning")
                self.show_status()
            case "note":
                feed.note(event.text, event.level)
            case "write_failed":
                self.banner.show(not_saved(event.error_message), "/retry-save · /save-to FOLDER")
            case "bash_start":
                feed.bash_started(event.bash_id, event.command, event.exclude_from_context)
                self._start_ticking()
            case "bash_output":
                feed.bash_output(event.bash_id, event.output)
            case "bash_end":
                feed.bash_ended(event.bash_id, event.message)
            case "editor_text":
                self.prompt.prepend_text(event.text)
            case "thinking_level_changed":
                self.prompt.thinking = event.level
                self.show_status()
            case "compaction_start":
                self.status.begin("compacting" if event.reason == "manual" else f"compacting ({event.reason})")
                self.show_status()
            case "compaction_end":
                self._compaction_ended(event.result is not None, event.aborted, event.error_message)
            case "session_switched":
                self.show_session()
                if event.editor_text is not None:
                    self._write_anew(event.editor_text)
            case _:
                self.show_status()

    def _compaction_ended(self, has_result: bool, aborted: bool, error: str | None) -> None:
        self.status.end()
        if has_result:
            self.show_session()
        elif aborted:
            self.feed.note("compaction stopped: nothing has changed")
        elif error:
            self.feed.note(f"compaction failed, nothing has changed: {error}", "warning")
        self.show_status()

    def _write_anew(self, text: str) -> None:
        """A message that is to be written again; a draft that stands in the prompt goes into its history."""
        if not self.prompt.is_empty:
            self.prompt.prompt_history.add(self.prompt.full_text)
            self.feed.note("your draft is kept: ctrl+r or ↑ finds it")
        self.prompt.load_prompt(text)

    def _run_ended(self) -> None:
        self.status.end()
        self.show_status()
        self.call_after_refresh(self.show_status)
        self._read_branch()

    def _start_ticking(self) -> None:
        """Elapsed times of running tools: once a second, only while something runs."""
        if self._ticker is None:
            self._ticker = self.set_interval(1.0, self._tick)

    def _tick(self) -> None:
        self.transcript.tick()
        busy = self.session is not None and (self.session.is_busy or self.session.interrupts.label is not None)
        if not busy and not self.transcript.has_running:
            self._ticker.stop()
            self._ticker = None
            self.status.end()
            self.show_status()

    def _read_branch(self) -> None:
        def read() -> None:
            branch = git_branch(self.cwd)
            if branch != self.status.branch:
                self.app.call_from_thread(self._set_branch, branch)

        self.run_worker(read, thread=True, exit_on_error=False, group="branch", description="git branch")

    def _set_branch(self, branch: str) -> None:
        self.status.branch = branch
        self.show_status()

    def load_overrides(self) -> None:
        """The user's keys and earlier prompts; problems are told once. For a thread."""
        self.prompt.prompt_history.load()
        overrides, problems = keymap.load_keybindings(paths.config_dir())
        self.app.call_from_thread(partial(self._use_overrides, overrides, problems))

    def _use_overrides(self, overrides: dict[str, tuple[str, ...]], problems: list[str]) -> None:
        self.status.overrides = overrides
        if overrides:
            self.app.set_keymap(keymap.textual_keymap(overrides))
            self.prompt.set_keys(overrides)
        for problem in problems:
            self.note(problem, "warning")
        self.show_status()
