"""The prompt: where a message is written, sent, queued, and found again; it must answer every key at once.

Keys are taken here, in the order they were typed (see `prompt_keys`); what concerns the session goes up as a message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import TextArea

from widgets.history import HistorySearch, HistoryWalk, PromptHistory
from widgets.line_editor import EDITS, LineEditor, clean_input
from widgets.prompt_keys import key_table, normalise_key

if TYPE_CHECKING:
    from textual import events
    from textual.geometry import Size

MAX_ROWS = 12
THINKING_LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh")


class Prompt(LineEditor):
    """Multi-line input. `history`, `key_filter` and `thinking` are set by its parent."""

    DEFAULT_CSS = """
    Prompt {
        border: round $border-blurred;
        &:focus { border: round $border-blurred; }
        &.-low, &.-low:focus { border: none; }
    }
    """

    thinking: reactive[str] = reactive("off", repaint=False)

    @dataclass
    class Changed(TextArea.Changed):
        """The text changed."""

    @dataclass
    class Submitted(Message):
        """Enter: the whole text, pastes in place, trimmed, never empty. The prompt is empty by now."""

        text: str

    @dataclass
    class FollowUp(Message):
        """Alt+enter: the same, to be queued until the run would end."""

        text: str

    class EditQueue(Message):
        """The queued messages are wanted back in the prompt."""

    @dataclass
    class ClearRequested(Message):
        """Ctrl+c: the text, if there was one, is cleared (undo brings it back); twice means quit."""

        had_text: bool

    class CopyRequested(Message):
        """Ctrl+c while text is selected elsewhere on the screen: it is to be copied, and nothing cleared."""

    class QuitRequested(Message):
        """Ctrl+d in an empty prompt."""

    @dataclass
    class EditorRequested(Message):
        """The text is to be edited in an external editor and given back by `load_prompt`."""

        text: str

    def __init__(
        self,
        *,
        history: PromptHistory | None = None,
        placeholder: str = "",
        id: str | None = None,  # noqa: A002  # Textual's own name
        classes: str | None = None,
    ) -> None:
        self.prompt_history = history or PromptHistory()
        self.key_filter: Callable[[str], bool] | None = None
        self._walk = HistoryWalk(self.prompt_history)
        self._search: HistorySearch | None = None
        self._keys = key_table()
        super().__init__(placeholder=placeholder, id=id, classes=classes)

    # -- for the screen

    def set_keys(self, overrides: Mapping[str, Sequence[str]]) -> None:
        """Bind actions of `PROMPT_ACTIONS` to other keys."""
        self._keys = key_table(overrides)

    def load_prompt(self, text: str) -> None:
        """Replace the text, cursor at its end; undo brings back what was there."""
        self._end_search()
        self.set_text(self.pastes.collapse(clean_input(text)))

    def prepend_text(self, text: str) -> None:
        """Put text (queued messages that return) before what is there, an empty line between them."""
        self._end_search()
        returned, own = self.pastes.collapse(clean_input(text)), self.text
        if returned:
            self.set_text(f"{returned}\n\n{own}" if own.strip() else returned)

    @property
    def is_empty(self) -> bool:
        """True if nothing but white space stands here."""
        return not self.text.strip()

    @property
    def is_searching(self) -> bool:
        """True while ctrl+r searches the history."""
        return self._search is not None

    # -- looks

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows of the text: at least 1, at most 30 % of the screen and never more than 12."""
        return max(1, min(self.virtual_size.height, viewport.height * 30 // 100, MAX_ROWS))

    def watch_thinking(self, level: str) -> None:
        """Colour the border by the level, through one class per level."""
        for known in THINKING_LEVELS:
            self.set_class(known == level, f"-thinking-{known}")

    def update_suggestion(self) -> None:
        """Follow a change of the text (Textual's hook, called after each edit, undo and load)."""
        first_line = self.document[0] if self.document.line_count else ""
        self.set_class(first_line.startswith("!"), "-bash")
        self.set_class(first_line.startswith("!!"), "-bash-private")

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Say in the border how much is out of sight."""
        super().watch_scroll_y(old_value, new_value)
        above = round(new_value)
        title = f"↑ {above} more" if above else None
        if self._search is None and title != (self._border_title and self._border_title.plain):
            self.border_title = Content(title) if title else None

    # -- keys

    async def _on_key(self, event: events.Key) -> None:
        key = event.key if event.key.isascii() and event.key.isprintable() else normalise_key(event.key)
        if self._search is not None and self._search_key(event):
            event.stop()
            event.prevent_default()
            return
        if self.key_filter is not None and self.key_filter(key):
            event.stop()
            event.prevent_default()
            return
        action = self._keys.get(key)
        if action is None:
            self.kills.close()
            if "+" in key or key in ("enter", "tab", "escape"):
                event.prevent_default()  # else alt+t would type a "t"
            return
        event.prevent_default()
        if self._run(action):
            event.stop()

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._end_search()
        self.kills.close()
        text = clean_input(event.text)
        if not text:
            return
        row, column = self.cursor_location
        before = self.document[row][column - 1 : column]
        if self.pastes.is_large(text):
            text = self.pastes.add(text)
        elif text[0] in "/~." and "/" in text and "\n" not in text and before.isalnum():
            text = " " + text  # a dropped file
        self.insert_typed(text)

    def _run(self, action: str) -> bool:
        """Do it; False lets the key go on to the screen."""
        if not action.startswith("prompt.kill_"):
            self.kills.close()
        if edit := EDITS.get(action):
            if action == "prompt.line_end" and self.cursor_location == self.document.end:
                return False  # `end` once more: the transcript follows
            edit(self)
            return True
        match action:
            case "prompt.submit" | "prompt.follow_up":
                self._send(follow_up=action == "prompt.follow_up")
            case "prompt.up":
                return self._up()
            case "prompt.down":
                return self._down()
            case "prompt.search_history":
                self._start_search()
            case "prompt.clear" if self.screen.selections:
                self.post_message(self.CopyRequested())
            case "prompt.clear":
                had_text = bool(self.text)
                self._empty(undoable=True)
                self.post_message(self.ClearRequested(had_text))
            case "prompt.delete_or_quit" if self.text:
                EDITS["prompt.delete_right"](self)
            case "prompt.delete_or_quit":
                self.post_message(self.QuitRequested())
            case "prompt.edit_queue":
                self.post_message(self.EditQueue())
            case "prompt.external_editor":
                self.post_message(self.EditorRequested(self.full_text))
            case _:  # tab: completion is the parent's, through `key_filter`; it never moves the focus away
                pass
        return True

    # -- sending

    def _send(self, *, follow_up: bool) -> None:
        row, column = self.cursor_location
        if self.document[row][column - 1 : column] == "\\" and not follow_up:
            self._replace_via_keyboard("\n", (row, column - 1), (row, column))
            return
        text = self.full_text.strip()
        if not text:
            return
        if self.prompt_history.add(text):
            store = partial(self.prompt_history.store, text)
            self.run_worker(store, thread=True, exit_on_error=False, group="history", description="store a prompt")
        self._empty()
        self.post_message(self.FollowUp(text) if follow_up else self.Submitted(text))

    def _empty(self, *, undoable: bool = False) -> None:
        self._walk.end()
        if self.text or not undoable:
            self.set_text("", undoable=undoable)

    # -- history

    def _up(self) -> bool:
        if not self.navigator.is_first_wrapped_line(self.cursor_location):
            self.move_cursor(self.get_cursor_up_location(), record_width=False)
        elif self._walk.is_active or self.cursor_location == (0, 0):
            self._show_past(self._walk.older(self.text))
        else:
            self.move_cursor((0, 0))
        return True

    def _down(self) -> bool:
        if not self.navigator.is_last_wrapped_line(self.cursor_location):
            self.move_cursor(self.get_cursor_down_location(), record_width=False)
        elif self._walk.is_active:
            self._show_past(self._walk.newer(self.text))
        else:
            self.move_cursor(self.document.end)
        return True

    def _show_past(self, text: str | None) -> None:
        if text is not None:
            self.set_text(self.pastes.collapse(clean_input(text)))

    def _start_search(self) -> None:
        self._search = HistorySearch(self.prompt_history, self.text)
        self._show_search()

    def _search_key(self, event: events.Key) -> bool:
        search = self._search
        assert search is not None
        if event.key == "ctrl+r":
            search.older()
        elif event.key == "backspace":
            search.set_query(search.query[:-1])
        elif event.is_printable and event.character and "+" not in event.key:
            search.set_query(search.query + event.character)
        elif event.key in ("escape", "ctrl+c", "ctrl+g"):
            self._end_search()
            self.set_text(search.draft)
            return True
        else:
            self._end_search()
            return event.key in ("enter", "tab")  # taken, not sent; any other key acts on what was found
        self._show_past(search.hit if search.hit is not None else search.draft)
        self._show_search()
        return True

    def _show_search(self) -> None:
        if self._search is None:
            return
        missing = " (nothing found)" if self._search.query and self._search.hit is None else ""
        self.border_title = Content(f"search: {self._search.query}{missing} · ctrl+r older · enter take · esc back")

    def _end_search(self) -> None:
        if self._search is not None:
            self._search = None
            self.border_title = None
