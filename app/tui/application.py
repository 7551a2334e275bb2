"""The App: themes, the first screen, and every way out; everything else is the screens'."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import constants, events
from textual.app import App
from textual.binding import BindingType
from textual.filter import Monochrome, NoColor

from app.config.paths import stylesheet
from app.tui.driver import well_behaved
from app.tui.keymap import teach_legacy_keys
from app.tui.pasting import teach_pastes
from app.tui.plain import PlainGlyphs, cursor_place, show_cursor, wants_plain
from app.tui.themes import choose_theme, register_themes, theme_variable_defaults
from widgets.plain import PLAIN_CLASS, is_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from textual.driver import Driver
    from textual.filter import LineFilter
    from textual.screen import Screen

    from app.cli.arguments import Arguments
    from app.tui.screens.chat import ChatScreen
    from app.tui.starting import Face

LEAVE_ON = {signal.SIGTERM: 143, signal.SIGHUP: 129}


class PinyonApp(App[None]):
    """`exit_code` and `resume_id` are for whoever started it."""

    CSS_PATH = stylesheet()
    TITLE = "pinyon"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self, arguments: Arguments, cwd: Path, face: Face) -> None:
        self.arguments = arguments
        self.cwd = cwd
        self.face = face
        self.exit_code = 0
        self.resume_id: str | None = None
        self._chat: ChatScreen | None = None
        super().__init__()
        register_themes(self)
        teach_legacy_keys()
        teach_pastes()
        self.theme = choose_theme(face.theme, known=set(self.available_themes))
        self.animation_level = "none"
        self._plain_glyphs = PlainGlyphs()
        self.set_class(wants_plain(arguments.plain_ui, face.settings), PLAIN_CLASS)

    def get_driver_class(self) -> type[Driver]:
        """The driver of this platform with our manners; one that the environment names is left as it is."""
        driver = super().get_driver_class()
        return driver if constants.DRIVER else well_behaved(driver)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our colour tokens, for themes that don't define them."""
        return theme_variable_defaults(self.current_theme)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's, and in the plain interface ours behind them.

        For NO_COLOR Textual chooses before our theme is known: greys, which make black on black of a terminal's own
        colours.
        """
        filters = super().get_line_filters()
        if self.native_ansi_color:
            filters = [NoColor() if isinstance(item, Monochrome) else item for item in filters]
        return [*filters, self._plain_glyphs] if is_plain(self) else filters

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Textual's end of a frame: in the plain interface the terminal's cursor stands where the keys go."""
        if is_plain(self) and (place := cursor_place(screen)) is not None:
            self.cursor_position = place
        super()._display(screen, renderable)

    async def on_event(self, event: events.Event) -> None:
        """Keys that the chat keeps for itself while blocks are walked; all else goes Textual's way."""
        chat = self._chat
        is_ours = chat is not None and chat.is_active and not event.is_forwarded
        if is_ours and chat is not None and isinstance(event, events.Key) and chat.take_key(event):
            return
        await super().on_event(event)

    def on_mount(self) -> None:
        """Show the chat and take the signals that end us."""
        from app.tui.screens.chat import ChatScreen

        loop = asyncio.get_running_loop()
        for number, code in LEAVE_ON.items():
            try:
                loop.add_signal_handler(number, self.leave, code)
            except (NotImplementedError, RuntimeError, ValueError):  # not the main thread, as under a test
                break
        if is_plain(self):
            show_cursor(self)
        self.app_resume_signal.subscribe(self, lambda _app: show_cursor(self))
        self._chat = ChatScreen(self.arguments, self.cwd)
        self.push_screen(self._chat)

    def action_help_quit(self) -> None:
        """Ctrl+c where no widget takes it: the transcript gives way to the prompt, any other screen is left."""
        if self._chat is not None and self._chat.is_active:
            self._chat.clear_or_leave()
        else:
            self.simulate_key("escape")

    async def action_quit(self) -> None:
        """Ctrl+q, Textual's own key: the session is closed on the way."""
        if self._chat is not None:
            self._chat.quit()

    def leave(self, code: int = 0) -> None:
        """End with an exit code; the session is closed and the terminal put back on the way."""
        self.exit_code = code
        if self._chat is not None:
            self._chat.quit(code)

    def _handle_exception(self, error: Exception) -> None:
        """Textual's last resort: a bug is kept in a log, and the user reads one line after the screen is gone."""
        if os.environ.get("PINYON_DEBUG"):
            super()._handle_exception(error)
            return
        from app.cli.main import tell_crash

        self.crash = error
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self.exit_code = 1
        self._crash_line = tell_crash(error)
        self.exit(return_code=1, message=self._crash_line)
