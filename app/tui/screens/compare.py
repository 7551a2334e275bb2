"""Two branches from the point where they part: transcript beside transcript, figures, the files they left."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import anyio.lowlevel
from textual import getters
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen

from app.errors import PinyonError
from app.tui.feed import TranscriptFeed
from app.tui.screens.tree_files import file_rows, sum_of
from app.tui.tree_figures import SLICE_S, figures_of
from app.tui.tree_preview import full_text
from app.tui.tree_questions import ask_take
from app.tui.tree_services import TreeChoice
from renderers.text import one_line
from widgets.prompt_keys import normalise_key
from widgets.transcript import Transcript
from widgets.tree_bars import BranchBar, FiguresBar, HintBar
from widgets.tree_diff import DiffPane
from widgets.tree_work import begin

if TYPE_CHECKING:
    from textual import events

    from app.runtime.agent_session import AgentSession
    from app.session.facts import IndexEntry
    from app.session.messages import AgentMessage
    from app.tui.tree_services import TreeServices

MOST_ENTRIES = 3_000
"""Entries of a branch that are shown, from the fork point on."""
HINTS = ("tab other side", "K keep this branch", "t take", "d files", "↑↓ block", "enter open")
FILE_HINTS = ("↑↓ file", "tab side", "K keep", "t take", "d transcripts", "pgup/pgdn scroll")


class Side(Vertical):
    """One branch: its words and figures over its transcript."""

    def __init__(self, title: str, tip: str, entries: list[IndexEntry], *, is_current: bool) -> None:
        super().__init__(classes="side")
        self.tip = tip
        self.entries = entries
        self.is_current = is_current
        self.bar = BranchBar(title)
        self.transcript = Transcript()
        self.feed = TranscriptFeed(self.transcript)

    def compose(self) -> ComposeResult:
        """Words over transcript."""
        yield self.bar
        yield self.transcript

    def cursor_entry(self) -> str | None:
        """The entry of the block under the cursor, else the branch's first."""
        block_id = self.transcript.cursor_id
        found = self.feed.entry_of_block.get(block_id) if block_id is not None else None
        return found or (self.entries[0].id if self.entries else None)


class CompareScreen(Screen[TreeChoice | None]):
    """`left` and `right` are entries on the two branches, best their tips. Its result is what to take, else None."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    DEFAULT_CSS = """
    CompareScreen {
        & Horizontal { height: 1fr; }
        & .side { width: 1fr; }
        & #divider { width: 1; height: 1fr; }
        & .side Transcript { height: 1fr; }
        & DiffPane { display: none; }
        &.-files DiffPane { display: block; }
        &.-files Horizontal { height: 30%; }
        &.-narrow .side.-idle { display: none; }
        &.-narrow.-files Horizontal { display: none; }
    }
    """
    pane = getters.query_one(DiffPane)
    hints = getters.query_one(HintBar)

    def __init__(self, session: AgentSession, services: TreeServices, left: str, right: str) -> None:
        super().__init__()
        self.session = session
        self.services = services
        tree = session.session.tree
        self.fork_id = tree.common_ancestor(left, right)
        self.sides = [self._side(left), self._side(right)]
        self.active = 1
        self._files_note = "no snapshots of the files were taken"

    def _side(self, tip: str) -> Side:
        tree = self.session.session.tree
        entries: list[IndexEntry] = []
        for entry in tree.up(tip):
            if entry.id == self.fork_id:
                break
            entries.append(entry)
        entries.reverse()
        first = next((entry.preview for entry in entries if entry.preview), "nothing after the fork")
        leaf_id = tree.leaf_id
        is_current = leaf_id is not None and tree.common_ancestor(leaf_id, tip) == tip
        label = next((tree.labels[entry.id].text for entry in entries if entry.id in tree.labels), "")
        words = f"⚑ {one_line(label, 40)} · {one_line(first, 200)}" if label else one_line(first, 200)
        return Side(f"here: {words}" if is_current else words, tip, entries, is_current=is_current)

    def compose(self) -> ComposeResult:
        """Where they part, the two sides, the files, hints."""
        tree = self.session.session.tree
        fork = tree.get(self.fork_id).preview if self.fork_id is not None else ""
        top = FiguresBar(f"compare from: {one_line(fork, 200)}" if fork else "compare from the start", id="fork")
        top.figures = ""
        yield top
        with Horizontal():
            yield from self.sides
        yield DiffPane()
        yield HintBar(HINTS, "esc back")

    def on_mount(self) -> None:
        """Show both sides as they are read, once they are laid out."""
        self.call_after_refresh(self._read_sides)

    def _read_sides(self) -> None:
        for side in self.sides:
            begin(self, partial(self._fill, side), "fill")
        self._activate(self.active)
        begin(self, self._load_files, "files")

    async def _fill(self, side: Side) -> None:
        store = self.session.session
        shown: list[tuple[str, AgentMessage]] = []
        until = time.monotonic() + SLICE_S
        for entry in side.entries[:MOST_ENTRIES]:
            message = store.message(entry.id)
            if message is not None:
                shown.append((entry.id, message))
            if time.monotonic() > until:
                await anyio.lowlevel.checkpoint()
                until = time.monotonic() + SLICE_S
        side.feed.show_branch(shown, {})
        if len(side.entries) > MOST_ENTRIES:
            side.feed.note(f"{len(side.entries) - MOST_ENTRIES:,} more entries are not shown here")
        side.transcript.cursor_to_top()
        side.bar.show(figures=(await figures_of(store, side.entries)).text())

    def _activate(self, index: int) -> None:
        self.active = index
        for number, side in enumerate(self.sides):
            side.set_class(number != index, "-idle")
            side.bar.show(is_active=number == index)
        self.sides[index].transcript.focus(scroll_visible=False)

    # -- keys -----------------------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Everything the screen can do; nothing of it changes the session."""
        key = normalise_key(event.key)
        if not (self._press_files(key) if self.has_class("-files") else self._press_side(key)):
            if key in ("tab", "shift+tab", "left", "right", "h", "l"):
                self._activate(1 - self.active)
            elif key == "d":
                self._toggle_files()
            elif key == "t":
                begin(self, self._take, "take")
            elif key == "K":
                self.dismiss(TreeChoice("keep", self.sides[self.active].tip))
            elif key in ("escape", "q"):
                self._leave()
            else:
                return
        event.stop()
        event.prevent_default()

    def _leave(self) -> None:
        if self.has_class("-files"):
            self._toggle_files()
        else:
            self.dismiss(None)

    def _press_side(self, key: str) -> bool:
        transcript = self.sides[self.active].transcript
        if key in ("up", "k", "down", "j"):
            transcript.move_cursor(-1 if key in ("up", "k") else 1)
        elif key in ("pageup", "pagedown"):
            transcript.scroll_pages(-1 if key == "pageup" else 1)
        elif key in ("home", "g"):
            transcript.cursor_to_top()
        elif key in ("end", "G"):
            transcript.cursor_to_end()
        elif key in ("enter", "space"):
            if (block_id := transcript.cursor_id) is not None:
                transcript.step_density(block_id)
        else:
            return False
        return True

    def _press_files(self, key: str) -> bool:
        if key in ("up", "k", "down", "j"):
            self.pane.step(-1 if key in ("up", "k") else 1)
        elif key in ("pageup", "pagedown", "space"):
            self.pane.scroll_diff(-1.0 if key == "pageup" else 1.0)
        elif key in ("shift+up", "shift+down"):
            self.pane.scroll_diff(-0.1 if key == "shift+up" else 0.1)
        else:
            return False
        return True

    # -- files ----------------------------------------------------------------------------------------------------

    def _toggle_files(self) -> None:
        on = not self.has_class("-files")
        self.set_class(on, "-files")
        self.hints.show(FILE_HINTS if on else HINTS)

    async def _load_files(self) -> None:
        files = self.services.files
        if files is None:
            self.pane.say(self._files_note)
            return
        left, right = self.sides[0].tip, self.sides[1].tip
        try:
            changes = await files.changes_between(left, right)
        except PinyonError as error:
            self.pane.say(str(error))
            return
        if not changes:
            self.pane.say("both branches left the same files")
            return
        self.query_one("#fork", FiguresBar).show(figures=sum_of(changes))
        self.pane.show(file_rows(changes), lambda path: files.diff(path, left, right))

    # -- taking ---------------------------------------------------------------------------------------------------

    async def _take(self) -> None:
        side, files, store = self.sides[self.active], self.services.files, self.session.session
        entry_id = side.cursor_entry()
        text = full_text(store, store.tree.get(entry_id)).strip() if entry_id is not None else ""
        has_files = files is not None and not side.is_current and files.snapshot_at(side.tip) is not None
        note = ""
        if side.is_current:
            note = "This is the branch you are on: its files are here already."
        elif not has_files:
            note = "No snapshot tells which files this branch changed."
        answer = await ask_take(self.app, has_files=has_files, has_text=bool(text), files_note=note)
        if answer == "files":
            self.dismiss(TreeChoice("take_files", side.tip))
        elif answer == "text" and entry_id is not None:
            self.dismiss(TreeChoice("take_text", entry_id, text=text))
        elif answer is None and not has_files and not text:
            self.hints.say("nothing to take here")
