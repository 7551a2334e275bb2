"""The prompt with its completion: asks the screen's providers, shows the popup, writes the choice into the text.

Enter runs what is typed in full, and nothing else: on a part of a name it completes and sends nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from textual import on, work
from textual.app import ComposeResult
from textual.message import Message
from textual.widget import Widget
from textual.widgets import TextArea

from widgets.completion import Candidate, CompletionToken, Providers, is_typed_in_full, replacement, token_at
from widgets.completion_popup import CompletionPopup
from widgets.fuzzy import rank
from widgets.history import PromptHistory
from widgets.prompt import Prompt

MAX_CANDIDATES = 100
MAX_RANKED = 5_000  # about 10 ms; a walker is asked with the query and should send fewer


class PromptArea(Widget):
    """Holds `prompt`; messages of the prompt bubble through it."""

    DEFAULT_CSS = """
    PromptArea { layout: vertical; height: auto; width: 1fr; }
    """

    @dataclass
    class ProviderFailed(Message):
        """A provider raised; nothing is offered."""

        error: Exception

    def __init__(
        self,
        *,
        history: PromptHistory | None = None,
        providers: Providers | None = None,
        placeholder: str = "",
        id: str | None = None,  # noqa: A002  # Textual's own name
    ) -> None:
        super().__init__(id=id)
        self.providers = providers or Providers()
        self.prompt = Prompt(history=history, placeholder=placeholder)
        self.prompt.key_filter = self._filter_key
        self._popup = CompletionPopup()
        self._shown: CompletionToken | None = None
        self._dismissed: CompletionToken | None = None
        self._has_moved = False

    def compose(self) -> ComposeResult:
        """Yield the popup, which takes no room, and the prompt."""
        yield self._popup
        yield self.prompt

    @property
    def is_completing(self) -> bool:
        """True while choices are shown: escape closes them first."""
        return self._popup.is_open

    def close_completion(self) -> None:
        """Hide the choices until something else is typed."""
        self._dismissed = self._shown
        self._hide()

    # -- keys, before the prompt gets them

    def _filter_key(self, key: str) -> bool:
        if key not in ("tab", "enter", "escape", "up", "down"):
            return False
        self._catch_up()
        if key == "tab":
            return self._tab()
        if not self._popup.is_open:
            return False
        if key in ("up", "down"):
            self._has_moved = True
            self._popup.move(-1 if key == "up" else 1)
        elif key == "escape":
            self.close_completion()
        elif self._shown and not self._has_moved and is_typed_in_full(self._shown, self._popup.candidates):
            self._hide()
            return False
        else:
            self._accept()
        return True

    def _tab(self) -> bool:
        if not self._popup.is_open:
            self._dismissed = None
            self._complete(self._token(is_asked=True), is_asked=True)
            if len(self._popup.candidates) != 1:
                return True
        self._accept()
        return True

    def _accept(self) -> None:
        token, candidate = self._shown, self._popup.highlighted
        if token is None or candidate is None:
            return
        text = replacement(token, candidate)
        self._hide()
        self.prompt.replace_typed(text, (token.row, token.start), (token.row, token.end))
        self._dismissed = None if candidate.is_open else self._token()

    @on(CompletionPopup.Picked)
    def _pick(self, message: CompletionPopup.Picked) -> None:
        message.stop()
        self._popup.index = message.index
        self._accept()

    # -- what is shown

    @on(TextArea.Changed)
    @on(TextArea.SelectionChanged)
    def _follow(self) -> None:
        self._catch_up()

    def on_resize(self) -> None:
        """Hide: the rows above may be others now."""
        self._hide()

    def _token(self, *, is_asked: bool = False) -> CompletionToken | None:
        prompt = self.prompt
        if not prompt.selection.is_empty or prompt.is_searching:
            return None
        row, column = prompt.cursor_location
        return token_at(prompt.document[row], row, column, is_asked=is_asked)

    def _catch_up(self) -> None:
        """Make what is shown belong to the text as it is now: a key may come before the message of the last one."""
        token = self._token(is_asked=self._shown is not None and self._shown.kind == "path")
        if token == self._shown and token is not None:
            return
        if token is None or token == self._dismissed:
            self._hide()
            return
        self._complete(token)

    def _complete(self, token: CompletionToken | None, *, is_asked: bool = False) -> None:
        if token is None:
            return
        self._dismissed = None
        providers = self.providers
        match token.kind:
            case "command":
                self._show(token, providers.commands() if providers.commands else ())
            case "argument" if providers.arguments:
                self._ask(token, partial(providers.arguments, token.command, token.query), is_asked)
            case "file" if providers.files:
                self._ask(token, partial(providers.files, token.query), is_asked)
            case "path" if providers.paths:
                self._ask(token, partial(providers.paths, token.query), is_asked)
            case _:
                self._hide()

    def _ask(self, token: CompletionToken, ask: Callable[[], Awaitable[Sequence[Candidate]]], is_asked: bool) -> None:
        self._shown = token
        self._has_moved = False
        if self._popup.is_open and self._popup.candidates and not self._still_fits(token):
            self._popup.close()

        self._wait(token, ask, is_asked)

    @work(group="completion", exclusive=True, exit_on_error=False, description="complete")
    async def _wait(
        self, token: CompletionToken, ask: Callable[[], Awaitable[Sequence[Candidate]]], is_asked: bool
    ) -> None:
        try:
            candidates = await ask()
        except Exception as error:  # a provider is the screen's or an extension's: its fault is said, not lost
            self.post_message(self.ProviderFailed(error))
            return
        if self._shown == token and self._token(is_asked=token.kind == "path") == token:
            self._show(token, candidates)
            if is_asked and len(self._popup.candidates) == 1:
                self._accept()

    def _still_fits(self, token: CompletionToken) -> bool:
        """True if the choices on the screen may stay until the answer comes: it saves a flicker a key."""
        fitting = rank(token.query, self._popup.candidates, lambda candidate: candidate.text, MAX_CANDIDATES)
        if fitting:
            self._popup.open(fitting, self.region.y)
        return bool(fitting)

    def _show(self, token: CompletionToken, candidates: Sequence[Candidate]) -> None:
        self._shown = token
        self._has_moved = False
        hits = rank(token.query, candidates[:MAX_RANKED], lambda candidate: candidate.text, MAX_CANDIDATES)
        self._popup.open(hits, self.region.y)

    def _hide(self) -> None:
        self._shown = None
        self._popup.close()
