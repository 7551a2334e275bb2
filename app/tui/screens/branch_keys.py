"""Browse mode's keys for branches, on the block under the cursor; each asks before it changes anything."""

from __future__ import annotations

from textual import on

from app.tui.screens.dialogs import Dialogs
from widgets.transcript import Transcript


class BranchKeys(Dialogs):
    """Actions `browse.edit`, `fork`, `label`, siblings, jumps; and the sibling arrows of a message."""

    def entry_under_cursor(self) -> str:
        """The id of the entry that the block under the cursor belongs to, a remark's nearest above it; "" without."""
        slot = self.transcript.blocks.get(self.transcript.cursor_id or "")
        while slot is not None:
            if entry_id := self.feed.entry_of_block.get(slot.block.id):
                return entry_id
            slot = slot.prev
        return ""

    def _on_entry(self, action: str) -> None:
        if entry_id := self.entry_under_cursor():
            self.action_browse_leave()
            self.run_command(action, entry_id)

    def action_browse_edit(self) -> None:
        """Write a message of yours anew, as another branch."""
        self._on_entry("edit_entry")

    def action_browse_fork(self) -> None:
        """Go on from here in a new session."""
        self._on_entry("fork_entry")

    def action_browse_label(self) -> None:
        """Label the entry."""
        self._on_entry("label_this")

    def action_browse_restore(self) -> None:
        """The files as they were here."""
        self._on_entry("restore_files")

    def action_browse_diff(self) -> None:
        """The files here against now."""
        self._on_entry("diff_files")

    def action_browse_previous_sibling(self) -> None:
        """The branch to the left."""
        self._switch(-1)

    def action_browse_next_sibling(self) -> None:
        """The branch to the right."""
        self._switch(1)

    def _switch(self, step: int) -> None:
        if entry_id := self.entry_under_cursor():
            self.run_command("previous_sibling" if step < 0 else "next_sibling", entry_id)

    @on(Transcript.SiblingRequested)
    def on_sibling_requested(self, message: Transcript.SiblingRequested) -> None:
        """The arrows of a message were clicked."""
        entry_id = self.feed.entry_of_block.get(message.block_id, message.block_id)
        self.run_command("previous_sibling" if message.step < 0 else "next_sibling", entry_id)
