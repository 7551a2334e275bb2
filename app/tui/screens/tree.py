"""The tree screen: walks the branches of a session, live while a turn runs, and gives back what to do (TreeChoice)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual import getters, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.containers import Horizontal

from app.errors import PinyonError
from app.session.tree_filter import TreeFilter
from app.tui.screens.tree_acts import TreeActs
from app.tui.status import not_saved
from app.tui.tree_figures import BranchSums, context_tokens
from app.tui.tree_preview import PreviewFacts, preview_lines
from widgets.tree_bars import HintBar, TreeHeader, TreeHeaderState
from widgets.tree_preview import TreePreview
from widgets.tree_view import TreeView
from widgets.tree_work import begin

if TYPE_CHECKING:
    from textual.timer import Timer

    from app.runtime.agent_session import AgentSession
    from app.runtime.events import SessionEvent
    from app.session.tree_building import Row
    from app.tui.tree_services import FileLine, TreeChoice, TreeServices

HINTS = (
    "↑↓ move",
    "←→ fold",
    "enter go",
    "e edit",
    "f fork",
    "L label",
    "d diff",
    "c compare",
    "t take",
    "r restore",
    "/ search",
    "y copy",
    "alt+←→ jumps",
)
LIVE_CHECK_S = 0.5
REST_S = 0.12
"""How long one stands on a row before its branch is summed up: walking must not read files."""


class TreeScreen(TreeActs):
    """Its result is a TreeChoice, None for escape. `selected` is where it begins (the leaf when None)."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    DEFAULT_CSS = """
    TreeScreen {
        & > Horizontal { height: 1fr; }
        & #tree { width: 1fr; }
        & #preview { width: 42%; display: none; }
        &.-wide #preview { display: block; }
    }
    """
    AUTO_FOCUS = "#tree"
    tree_view = getters.query_one("#tree", TreeView)
    preview = getters.query_one("#preview", TreePreview)
    header = getters.query_one("#tree-header", TreeHeader)
    hints = getters.query_one("#hints", HintBar)

    def __init__(
        self,
        session: AgentSession,
        services: TreeServices,
        *,
        selected: str | None = None,
        mode: TreeFilter = TreeFilter.DEFAULT,
        keys: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        super().__init__(session, services, keys)
        self._first_selected = selected
        self._mode = mode
        self._facts: dict[tuple[str, int], PreviewFacts] = {}
        self._live_check: Timer | None = None
        self._sums = BranchSums()
        self._branch_files: dict[tuple[str, str | None], Sequence[FileLine]] = {}
        self._shown_for: str | None = None
        self._unsubscribe: Callable[[], None] = lambda: None

    def compose(self) -> ComposeResult:
        """Header, tree and pane, hints."""
        yield TreeHeader(id="tree-header")
        with Horizontal():
            store = self.session.session
            yield TreeView(store.tree, store.read, mode=self._mode, id="tree")
            yield TreePreview(id="preview")
        yield HintBar(HINTS, "? help  esc back", id="hints")

    def on_mount(self) -> None:
        """Follow the session from now on."""
        self._unsubscribe = self.session.subscribe(self.on_session_event)
        if self.keys:
            self.tree_view.set_keys(self.keys)
        if self._first_selected is not None:
            self.tree_view.select(self._first_selected, reveal=True)
        self.show_header()

    def on_unmount(self) -> None:
        """Listen no longer."""
        self._unsubscribe()

    def dismiss(self, result: TreeChoice | None = None) -> AwaitComplete:
        """Give the choice back; what it does to the session comes before this screen's end, and is not ours to show."""
        self._unsubscribe()
        return super().dismiss(result)

    def on_session_event(self, event: SessionEvent) -> None:
        """The tree may have grown; what streams is not in it yet."""
        match event.type:
            case "message_update" | "tool_execution_update" | "bash_output":
                return
            case _ if not self.query("#hints"):  # an app that ends takes the widgets away before it tells the screen
                return
            case "note":
                self.hints.say(event.text)
            case "write_failed":
                self.hints.say(not_saved(event.error_message))
            case _:
                pass
        self.tree_changed()

    def tree_changed(self) -> None:
        """Show the tree as it is now."""
        store = self.session.session
        view = self.tree_view
        if store.tree is not view.session_tree:
            self._facts.clear()
            self._sums = BranchSums()
            view.show_tree(store.tree, store.read)
        elif not view.tree_grew():
            self.show_header()
            return
        self.show_header()
        self.show_preview(view.row)

    def show_header(self) -> None:
        """How large the tree is, and which filter is on."""
        store, folds = self.session.session, self.tree_view.laid_out
        title = store.name or next((entry.preview for entry in store.tree.entries if entry.role == "user"), "")
        branches = len(folds.lanes.all) - (0 if folds.lanes.main.entries else 1)
        state = TreeHeaderState(title, branches, len(store.tree), folds.mode, self.services.is_busy)
        self.header.show(state)
        if state.is_live and self._live_check is None:
            self._live_check = self.set_interval(LIVE_CHECK_S, self._check_live)

    def _check_live(self) -> None:
        """What follows the last event of a run (its snapshot, a compaction) has no end that is told."""
        if not self.services.is_busy and self._live_check is not None:
            self._live_check.stop()
            self._live_check = None
            self.show_header()

    # -- the pane -------------------------------------------------------------------------------------------------

    @on(TreeView.Highlighted)
    def on_highlighted(self) -> None:
        """Another row: say at once what the index knows, the rest once one rests there."""
        self.hints.say("")
        self.show_preview(self.tree_view.row)

    @on(TreeView.ModeChanged)
    def on_mode_changed(self) -> None:
        """The header says which filter is on."""
        self.show_header()

    def on_resize(self) -> None:
        """The pane comes and goes with the width."""
        self.call_after_refresh(lambda: self.show_preview(self.tree_view.row))

    def show_preview(self, row: Row | None) -> None:
        """Fill the pane for a row."""
        if not self.is_mounted or not self.preview.display:
            return
        if row is None:
            self.preview.show(())
            return
        key = (row.entry.id, self.session.session.tree.version)
        facts = self._facts.get(key)
        self._draw_preview(row, facts or PreviewFacts())
        if facts is None:
            begin(self, partial(self._work_out, row, key), "preview", exclusive=True)

    def _draw_preview(self, row: Row, facts: PreviewFacts) -> None:
        entry_id = row.entry.id
        label = self.session.session.tree.labels.get(entry_id)
        lines = preview_lines(
            self.session.session,
            row,
            facts,
            does=self.what_enter_does(entry_id),
            label=label.text if label else "",
            has_files=self.services.files is not None,
        )
        self.preview.show(lines, keep_place=self._shown_for == entry_id)
        self._shown_for = entry_id

    async def _work_out(self, row: Row, key: tuple[str, int]) -> None:
        import anyio

        await anyio.sleep(REST_S)
        store, entry, lane = self.session.session, row.entry, row.column.lane
        facts = PreviewFacts(context=context_tokens(store, entry.id), figures=self._sums.known(lane))
        self._draw_preview(row, facts)
        facts.figures = await self._sums.of(store, lane)
        if (files := self.services.files) is not None:
            try:
                facts.snapshot = files.snapshot_at(entry.id)
                fork = lane.parent.entries[lane.at].id if lane.parent is not None and lane.at >= 0 else None
                ends = lane.entries[-1].id, fork
                if ends not in self._branch_files:
                    self._branch_files[ends] = await files.branch_changes(*ends)
                facts.files = self._branch_files[ends]
            except PinyonError as error:
                facts.files_note = str(error)
        if len(self._facts) > 512:
            self._facts.clear()
        self._facts[key] = facts
        now = self.tree_view.row
        if now is not None and (now.entry.id, store.tree.version) == key:
            self._draw_preview(now, facts)
