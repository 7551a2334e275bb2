"""The chat screen's lists and questions: models, commands, sessions, themes, help; each gives back a choice or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from app.tui.screens.browsing import Browsing
from app.tui.screens.help import show_help
from widgets.prompt import Prompt

if TYPE_CHECKING:
    from app.ai.messages import Model


class Dialogs(Browsing):
    """Actions `session.model`, `session.palette`, `session.help` and what commands ask."""

    def run_command(self, action: str, argument: str = "") -> None:
        """Do what a command of the table says."""

    async def pick(self, title: str, items: list[tuple[str, str, str]], current: str | None = None) -> str | None:
        """The id chosen among (id, label, detail), None for escape. Only inside a worker."""
        from widgets.picker import Picker, PickerItem, PickerScreen

        rows = [PickerItem(item_id, label, detail, item_id == current) for item_id, label, detail in items]
        return await self.app.push_screen_wait(PickerScreen(Picker(title, rows)))

    async def pick_model(self, models: list[Model], current: Model) -> Model | None:
        """One of the models that have a key."""
        known = {f"{model.provider}/{model.id}": model for model in models}
        rows = [(name, name, model.name if model.name != model.id else "") for name, model in known.items()]
        chosen = await self.pick("Model", rows, f"{current.provider}/{current.id}")
        return known[chosen] if chosen is not None else None

    def action_session_model(self) -> None:
        """Choose the model."""
        self.run_command("choose_model")

    def action_session_thinking_level(self) -> None:
        """The next thinking level."""
        self.run_command("set_thinking")

    def action_session_tree(self) -> None:
        """The tree of branches."""
        self.run_command("show_tree")

    def action_session_sessions(self) -> None:
        """Every session."""
        self.run_command("resume_session")

    def action_view_search(self) -> None:
        """Search in the transcript."""
        self.run_command("search_transcript")

    def action_browse_search(self) -> None:
        """Search in the transcript."""
        self.run_command("search_transcript")

    def action_browse_detail(self) -> None:
        """The whole of the block under the cursor."""
        from app.tui.screens.detail import DetailScreen

        if (block := self.block_under_cursor()) is not None:
            self.app.push_screen(DetailScreen(block.kind, block.plain_text()))

    def action_browse_external_editor(self) -> None:
        """Look at the block in $EDITOR; what is saved there changes nothing here."""
        if (block := self.block_under_cursor()) is not None:
            self._edit_outside(block.markdown())

    @on(Prompt.EditorRequested)
    def on_editor_requested(self, message: Prompt.EditorRequested) -> None:
        """Ctrl+g: the prompt in $EDITOR."""
        text = self._edit_outside(message.text)
        if text is not None:
            self.prompt.load_prompt(text)

    def _edit_outside(self, text: str) -> str | None:
        from app.errors import PinyonError
        from app.tui.external import edit_text

        if self.session is not None and self.session.is_busy:
            self.note("wait until the run has ended: an editor would hold it up", "warning")
            return None
        try:
            return edit_text(self.app, text)
        except PinyonError as error:
            self.note(str(error), "warning")
            return None

    def action_session_palette(self) -> None:
        """Every command; choosing one runs it, or begins to type it when it takes an argument that it needs."""
        self.run_worker(self._palette(), exit_on_error=False, group="command", description="palette")

    async def _palette(self) -> None:
        from app.runtime.commands import COMMANDS

        rows = [(c.action, f"/{c.name}", c.help) for c in COMMANDS]
        chosen = await self.pick("Commands", rows)
        if chosen is not None:
            self.run_command(chosen)

    def action_session_help(self) -> None:
        """Every key and command."""
        show_help(self, self.status.overrides)

    def action_browse_help(self) -> None:
        """The same, the keys that walk the blocks first."""
        show_help(self, self.status.overrides, "browse")
