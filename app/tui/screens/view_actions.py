"""The chat screen's keys that look or stop: escape, scrolling, density, mouse, suspend; they change no session."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from textual import on

from app.tui.screens.chat_view import ChatView
from widgets.plain import is_plain
from widgets.transcript import Transcript

if TYPE_CHECKING:
    from app.runtime.events import SessionEvent

# Escape that was meant for a run that has just ended must not open browse mode (ui.md §2).
CALM_S = 0.6


class ViewActions(ChatView):
    """Actions `run.*` and `view.*` of the keymap, and `session.suspend`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._ended_at = 0.0
        self._mouse_is_ours = True
        self._thinking_open = False

    def on_mount(self) -> None:
        """The transcript's blocks are drawn in words where that is wanted."""
        self.transcript.set_plain(is_plain(self))

    def on_session_event(self, event: SessionEvent) -> None:
        """Remember when something ended."""
        if event.type in ("agent_end", "auto_retry_end", "bash_end"):
            self._ended_at = time.monotonic()
        super().on_session_event(event)

    def on_screen_resume(self) -> None:
        """A dialog or another screen has just been left, perhaps by an escape of which there may come one more."""
        self._ended_at = time.monotonic()

    def action_run_interrupt(self) -> None:
        """Escape: stop the innermost thing; with nothing to stop, leave shell mode or go to browse mode."""
        if self.session is not None and self.session.interrupts.interrupt():
            self._ended_at = time.monotonic()
        elif self.prompt.text.startswith("!"):
            self.prompt.load_prompt("")
        elif self.prompt.is_empty and time.monotonic() - self._ended_at > CALM_S:
            self.action_session_browse()

    def action_session_browse(self) -> None:
        """Walk the blocks."""

    def action_view_density(self) -> None:
        """All blocks: title, preview, full."""
        density = self.transcript.set_all_densities()
        self.status.note = f"all blocks: {density}" if density else "all blocks as they were"
        self.show_status()
        self.set_timer(2.0, self.forget_note)

    def forget_note(self) -> None:
        """The footer says its hints again."""
        self.status.note = ""
        self.show_status()

    def action_view_thinking(self) -> None:
        """Open or fold every block of thinking."""
        self._thinking_open = not self._thinking_open
        self.transcript.set_kind_density("thinking", "full" if self._thinking_open else None)

    def action_view_page_up(self) -> None:
        """A page up: new text no longer moves what is read."""
        self.transcript.scroll_pages(-1)

    def action_view_page_down(self) -> None:
        """A page down."""
        self.transcript.scroll_pages(1)

    def action_view_scroll_up(self) -> None:
        """Three rows up."""
        self.transcript.scroll_rows(-3)

    def action_view_scroll_down(self) -> None:
        """Three rows down."""
        self.transcript.scroll_rows(3)

    def action_view_follow(self) -> None:
        """To the end, and stay there."""
        self.transcript.follow()

    def action_view_release_mouse(self) -> None:
        """Leave the mouse to the terminal, so that its own selection works; or take it back."""
        driver: Any = self.app._driver
        self._mouse_is_ours = not self._mouse_is_ours
        name = "_enable_mouse_support" if self._mouse_is_ours else "_disable_mouse_support"
        if (switch := getattr(driver, name, None)) is not None:
            switch()
        self.status.note = "the mouse is ours again" if self._mouse_is_ours else "the mouse is the terminal's (f9)"
        self.show_status()
        self.set_timer(3.0, self.forget_note)

    def action_session_suspend(self) -> None:
        """Ctrl+z."""
        self.app.action_suspend_process()

    def copy(self, text: str) -> None:
        """Copy and say how it went: the terminal is asked by OSC 52, and gives no answer that could be checked."""
        if not text:
            return
        self.app.copy_to_clipboard(text)
        size = f"{len(text):,} characters"
        large = " (some terminals cut more than about 70,000)" if len(text) > 70_000 else ""
        self.status.note = f"{size} sent to the terminal's clipboard{large}"
        self.show_status()
        self.set_timer(3.0, self.forget_note)

    @on(Transcript.FollowChanged)
    def on_follow_changed(self) -> None:
        """The transcript draws its pill itself; the hints may change."""
        self.show_status()
