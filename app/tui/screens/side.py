"""The chat screen's side panel: f2 opens and closes it, and the tree's growth reaches it; no token ever does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.tui.screens.view_actions import ViewActions

if TYPE_CHECKING:
    from app.runtime.events import SessionEvent
    from widgets.side_panel import SidePanel

SETTING = "sidePanel"
LEAST_COLUMNS = 120
QUIET = frozenset(("message_update", "tool_execution_update", "bash_output"))
"""What streams is not in the tree yet."""


class SidePanelKeys(ViewActions):
    """Action `view.side_panel`. The panel is made when it is first wanted, so that a start doesn't pay for it."""

    HORIZONTAL_BREAKPOINTS = [(0, "-no-side"), (LEAST_COLUMNS, "-side")]
    DEFAULT_CSS = """
    SidePanelKeys.-side.-side-open SidePanel { display: block; }
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.side_panel: SidePanel | None = None
        self._side_is_known = False

    def show_session(self) -> None:
        """Draw the session; its panel too, when the setting says so."""
        super().show_session()
        if self.session is None:
            return
        if not self._side_is_known:
            self._side_is_known = True
            if self.session.settings.raw.get(SETTING) is True:
                self._open_side()
        self._side_follows()

    def on_session_event(self, event: SessionEvent) -> None:
        """The tree may have grown."""
        super().on_session_event(event)
        if self.side_panel is not None and event.type not in QUIET:
            self._side_follows()

    def on_resize(self) -> None:
        """The panel comes and goes with the width; it has missed what happened meanwhile."""
        if self.side_panel is not None:
            self.call_after_refresh(self._side_follows)

    def _side_follows(self) -> None:
        if self.side_panel is not None and self.session is not None:
            store = self.session.session
            self.side_panel.follow(store.tree, store.read)

    def action_view_side_panel(self) -> None:
        """Open it, the cursor in it; or close it. Kept for later starts."""
        self._side_is_known = True
        is_open = not self.has_class("-side-open")
        if is_open:
            self._open_side()
            if self.size.width < LEAST_COLUMNS:
                self.status.note = f"the side panel shows from {LEAST_COLUMNS} columns on"
                self.show_status()
                self.set_timer(3.0, self.forget_note)
            elif self.side_panel is not None and self.focused is self.prompt:
                self.side_panel.focus(scroll_visible=False)
        else:
            self.remove_class("-side-open")
            if self.focused is self.side_panel:
                self.prompt.focus()
        self.run_worker(self._keep_side(is_open), exit_on_error=False, group="side", exclusive=True)

    def _open_side(self) -> None:
        if self.session is None:
            return
        if self.side_panel is None:
            from widgets.side_panel import SidePanel

            store = self.session.session
            self.side_panel = SidePanel(store.tree, store.read, id="side")
            self.query_one("#middle").mount(self.side_panel)
        self.add_class("-side-open")
        self.call_after_refresh(self._side_follows)

    async def _keep_side(self, is_open: bool) -> None:
        import anyio.to_thread

        from app.config.settings import save_setting
        from app.errors import PinyonError

        try:
            await anyio.to_thread.run_sync(save_setting, SETTING, is_open)
        except PinyonError as error:
            self.note(str(error), "warning")

    def on_side_panel_chosen(self, message: SidePanel.Chosen) -> None:
        """The tree screen, at that row."""
        self.run_command("show_tree", message.entry_id)

    def on_side_panel_left(self, message: SidePanel.Left) -> None:
        """Back to the prompt, with what was typed."""
        self.prompt.focus()
        if message.typed:
            self.prompt.insert_typed(message.typed)

    def run_command(self, action: str, argument: str = "") -> None:
        """Do what a command of the table says."""
