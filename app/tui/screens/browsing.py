"""Browse mode: the block cursor and its letters; no single letter changes anything, any other goes to the prompt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType

from app.tui.keymap import textual_bindings
from app.tui.screens.side import SidePanelKeys
from widgets.block import Block

_KEYS = [replace(binding, priority=True) for binding in textual_bindings("browse") if isinstance(binding, Binding)]

BROWSE_HINTS = "j/k block · J/K message · enter open · y copy · / search · ? help · i prompt"


class Browsing(SidePanelKeys):
    """Actions `browse.*` of the keymap; they act only while `is_browsing`."""

    BINDINGS: ClassVar[list[BindingType]] = [*_KEYS]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.is_browsing = False
        self._held: list[events.Key] | None = None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Browse actions exist in browse mode only."""
        if action.startswith("browse_"):
            return self.is_browsing and self.app.screen is self
        return super().check_action(action, parameters)

    def action_session_browse(self) -> None:
        """Put the cursor on the last block. Before the session is there: once it is, with the keys that follow."""
        if self.session is None:
            self._held = self._held or []
            self.set_focus(self.transcript, scroll_visible=False)
            return
        if self.transcript.blocks.last is None:
            return
        self.is_browsing = True
        self.transcript.focus(scroll_visible=False)
        self.transcript.cursor_to_end()
        self.status.note = BROWSE_HINTS
        self.show_status()

    def action_browse_leave(self) -> None:
        """Back to the prompt."""
        self.is_browsing = False
        self.transcript.set_cursor(None)
        self.set_focus(self.prompt)
        self.forget_note()

    def action_run_interrupt(self) -> None:
        """Escape leaves browse mode; else it stops the innermost thing."""
        if self.is_browsing:
            self.action_browse_leave()
        else:
            super().action_run_interrupt()

    def show_session(self) -> None:
        """Draw the session, then do what was pressed for it before it was there."""
        super().show_session()
        held, self._held = self._held, None
        if held is not None:
            self.action_session_browse()
            if not self.is_browsing:
                self.set_focus(self.prompt)
            for event in held:
                self.app.post_message(events.Key(event.key, event.character))

    def _give_back(self, held: list[events.Key]) -> None:
        """Escape instead of waiting: what was typed is in the prompt, as typed."""
        self._held = None
        self.set_focus(self.prompt)
        for event in held:
            if event.is_printable and event.character:
                self.prompt.insert_typed(event.character)

    def take_key(self, event: events.Key) -> bool:
        """Whether a key was for nobody else: it waits for the session, or is a letter that means nothing here and goes
        to the prompt. Asked by the app, in the order of typing: what comes in one burst must not be split.
        """
        if self._held is not None:
            if event.key in ("escape", "ctrl+c"):
                self._give_back(self._held)
            else:
                self._held.append(event)
            return True
        if self.is_browsing and event.is_printable and event.character and event.key not in self.active_bindings:
            self.action_browse_leave()
            self.prompt.insert_typed(event.character)
            return True
        return False

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """A click into the prompt ends browse mode."""
        if self._held is not None and event.widget is self.prompt:
            self._give_back(self._held)
        if self.is_browsing and event.widget is self.prompt:
            self.action_browse_leave()

    def block_under_cursor(self) -> Block | None:
        """The block that browse keys act on."""
        slot = self.transcript.blocks.get(self.transcript.cursor_id or "")
        return slot.block if slot is not None else None

    def action_browse_next(self) -> None:
        """The block below."""
        self.transcript.move_cursor(1)

    def action_browse_previous(self) -> None:
        """The block above."""
        self.transcript.move_cursor(-1)

    def action_browse_next_message(self) -> None:
        """The next message of the user's."""
        self.transcript.move_cursor(1, "user")

    def action_browse_previous_message(self) -> None:
        """The message of the user's before."""
        self.transcript.move_cursor(-1, "user")

    def action_browse_step(self) -> None:
        """Title, preview, full."""
        if (block_id := self.transcript.cursor_id) is not None:
            self.transcript.step_density(block_id)

    def action_browse_top(self) -> None:
        """The first block."""
        self.transcript.cursor_to_top()

    def action_browse_bottom(self) -> None:
        """The last block."""
        self.transcript.cursor_to_end()

    def action_browse_copy(self) -> None:
        """Copy the selection, else the block."""
        self.copy(self.transcript.copy_text())

    def action_browse_copy_markdown(self) -> None:
        """The same as Markdown."""
        self.copy(self.transcript.copy_text(markdown=True))

    def action_browse_next_hit(self) -> None:
        """The next place that was searched for."""
        self.transcript.next_hit()

    def action_browse_previous_hit(self) -> None:
        """The one before."""
        self.transcript.previous_hit()
