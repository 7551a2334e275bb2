"""What the tree screen's keys do: ask what has to be asked, then give back a choice, or show a comparison or a diff."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual import getters, on
from textual.screen import Screen

from app.errors import PinyonError
from app.session.compaction import SPEAKING
from app.tui.screens.help import show_help
from app.tui.tree_preview import full_text
from app.tui.tree_questions import ask_stop, ask_summary, ask_take
from app.tui.tree_services import TreeAction, TreeChoice
from widgets.tree_bars import HintBar
from widgets.tree_preview import TreePreview
from widgets.tree_view import TreeView
from widgets.tree_work import begin

if TYPE_CHECKING:
    from app.runtime.agent_session import AgentSession
    from app.session.tree_lanes import Lane
    from app.tui.tree_services import TreeServices


def _says_something(lane: Lane) -> bool:
    return any(entry.type in SPEAKING for entry in lane.entries)


class TreeActs(Screen[TreeChoice | None]):
    """The half of the tree screen that acts; it changes nothing itself but labels and jumps."""

    tree_view = getters.query_one("#tree", TreeView)
    preview = getters.query_one("#preview", TreePreview)
    hints = getters.query_one("#hints", HintBar)

    def __init__(
        self, session: AgentSession, services: TreeServices, keys: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        super().__init__()
        self.keys: Mapping[str, Sequence[str]] = keys or {}
        self.session = session
        self.services = services

    def tree_changed(self) -> None:
        """Show the tree as it is now."""

    def what_enter_does(self, entry_id: str) -> str:
        """In a sentence, for the pane."""
        services = self.services
        if services.rewrites(entry_id):
            return "enter: write this message anew, from the place before it"
        if services.is_here(entry_id):
            return "enter: you are here"
        return "enter: go on from here"

    @on(TreeView.Left)
    def on_left(self) -> None:
        """Escape."""
        self.dismiss(None)

    @on(TreeView.LabelChosen)
    def on_label_chosen(self, message: TreeView.LabelChosen) -> None:
        """Store the label."""
        self._begin(partial(self._label, message.entry_id, message.text), "label")

    @on(TreeView.Asked)
    def on_asked(self, message: TreeView.Asked) -> None:
        """A key that the view can't answer."""
        action, entry_id = message.action, message.entry_id
        if action == "help":
            show_help(self, self.keys, "tree")
        elif action in ("back", "forward"):
            self._begin(partial(self._walk, -1 if action == "back" else 1), action)
        elif action in ("preview_up", "preview_down"):
            self.preview.scroll_rows(-3 if action == "preview_up" else 3)
        elif entry_id is None:
            return
        elif action == "go":
            self._begin(partial(self._go, "go", entry_id), action)
        elif action == "edit":
            self._edit(entry_id)
        elif action == "fork":
            self._fork(entry_id)
        elif action == "restore":
            self._restore(entry_id)
        elif action == "take":
            self._begin(partial(self._take, entry_id), action)
        elif action == "copy":
            self._copy(entry_id)
        elif action == "diff":
            self._begin(partial(self._diff, entry_id), action)
        elif action == "compare":
            self._begin(partial(self._compare, entry_id), action)

    def _begin(self, work: Callable[[], Awaitable[None]], what: str) -> None:
        begin(self, partial(self._guarded, work), what)

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except PinyonError as error:
            self.hints.say(str(error))
        except Exception as error:  # the border of a key: told, the screen stays
            self.hints.say(f"{type(error).__name__}: {error}")

    # -- leaving with a choice ------------------------------------------------------------------------------------

    async def _go(self, action: TreeAction, entry_id: str) -> None:
        services = self.services
        stop_first = False
        is_move = action == "edit" or services.rewrites(entry_id) or not services.is_here(entry_id)
        if is_move and services.is_busy:
            stop_first = await ask_stop(self.app, "go there")
            if not stop_first:
                return
        summarise: str | None = None
        never_ask = False
        if is_move and services.asks_summary:
            entries, tokens = services.abandoned(entry_id)
            if entries:
                answer = await ask_summary(self.app, entries, tokens)
                if answer is None:
                    return
                summarise, never_ask = answer
        self.dismiss(TreeChoice(action, entry_id, summarise, stop_first, never_ask))

    def _edit(self, entry_id: str) -> None:
        """The user's message of the row, or the one that the row answers."""
        tree = self.session.session.tree
        mine = next((entry.id for entry in tree.up(entry_id) if self.services.rewrites(entry.id)), None)
        if mine is None:
            self.hints.say("there is no message of yours to write anew")
        else:
            self._begin(partial(self._go, "edit", mine), "edit")

    def _fork(self, entry_id: str) -> None:
        if self.services.is_busy:
            self.hints.say("a run goes on: stop it with escape in the chat, then fork")
        else:
            self.dismiss(TreeChoice("fork", entry_id))

    def _restore(self, entry_id: str) -> None:
        files = self.services.files
        if files is None or files.snapshot_at(entry_id) is None:
            self.hints.say("no snapshot of the files at this point")
        elif self.services.is_busy:
            self.hints.say("a run goes on: stop it with escape in the chat, then restore")
        else:
            self.dismiss(TreeChoice("restore", entry_id))

    async def _take(self, entry_id: str) -> None:
        store, files = self.session.session, self.services.files
        text = full_text(store, store.tree.get(entry_id)).strip()
        lanes = self.tree_view.laid_out.lanes
        is_current = (place := lanes.find(entry_id)) is not None and place[0] is lanes.main
        has_files = files is not None and not is_current and files.snapshot_at(self._tip_of(entry_id)) is not None
        note = "" if has_files else "No snapshot tells which files this branch changed."
        if is_current:
            note = "This is the branch you are on: its files are here already."
        elif has_files and self.services.is_busy:
            has_files, note = False, "A run goes on: files can be taken once it has ended."
        answer = await ask_take(self.app, has_files=has_files, has_text=bool(text), files_note=note)
        if answer == "files":
            self.dismiss(TreeChoice("take_files", self._tip_of(entry_id)))
        elif answer == "text":
            self.dismiss(TreeChoice("take_text", entry_id, text=text))

    def _tip_of(self, entry_id: str) -> str:
        place = self.tree_view.laid_out.lanes.find(entry_id)
        return place[0].entries[-1].id if place is not None else entry_id

    def _other_tip(self, entry_id: str) -> str | None:
        """The end of the row's branch; from the current branch that of the newest one which leaves it nearest above
        the row, else nearest below. None when there is no other.
        """
        lanes = self.tree_view.laid_out.lanes
        place = lanes.find(entry_id)
        if place is not None and place[0] is not lanes.main:
            return place[0].entries[-1].id
        index = place[1] if place is not None else 0
        said = {at: [lane for lane in below if _says_something(lane)] for at, below in lanes.main.below.items()}
        points = sorted((at for at, below in said.items() if below), key=lambda at: (at > index, abs(at - index)))
        return said[points[0]][-1].entries[-1].id if points else None

    # -- staying --------------------------------------------------------------------------------------------------

    async def _label(self, entry_id: str, text: str) -> None:
        await self.services.set_label(entry_id, text)
        self.hints.say(f"labelled {text}" if text else "label removed")
        self.tree_changed()

    async def _walk(self, step: int) -> None:
        moved = await self.services.walk(step)
        if moved:
            self.tree_changed()
            self.tree_view.select(self.session.session.leaf_id, reveal=True)
        else:
            self.hints.say("no jump to go back to" if step < 0 else "no jump to go forward to")

    def _copy(self, entry_id: str) -> None:
        store = self.session.session
        text = full_text(store, store.tree.get(entry_id))
        self.app.copy_to_clipboard(text)
        self.hints.say(f"{len(text):,} characters sent to the terminal's clipboard")

    async def _diff(self, entry_id: str) -> None:
        from app.tui.screens.tree_files import FilesScreen

        files = self.services.files
        if files is None or files.snapshot_at(entry_id) is None:
            self.hints.say("no snapshot of the files at this point")
            return
        changes = await files.changes_until_now(entry_id)
        if not changes:
            self.hints.say("the files are now as they were here")
            return
        await self.app.push_screen_wait(
            FilesScreen("files here, and now", changes, lambda path: files.diff_until_now(path, entry_id))
        )

    async def _compare(self, entry_id: str) -> None:
        from app.tui.screens.compare import CompareScreen

        leaf_id = self.session.session.leaf_id
        if leaf_id is None:
            self.hints.say("there is no branch here to compare with")
            return
        tip = self._other_tip(entry_id)
        if tip is None:
            self.hints.say("there is no other branch to compare with")
            return
        choice = await self.app.push_screen_wait(CompareScreen(self.session, self.services, leaf_id, tip))
        if choice is not None:
            self.dismiss(choice)
