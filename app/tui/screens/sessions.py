"""The sessions screen: every session and branch, searched, grouped, previewed; reading and searching never block it.

Its result says what to open and where (`SessionChoice`), None when it was closed. It needs no open session.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from app.config.paths import tilde
from app.errors import PinyonError
from app.session.listing import SessionInfo, read_info, session_files
from app.session.naming import default_root, project_folder
from app.session.search import SearchIndex, SearchResult
from app.tui.screens.help import show_help
from app.tui.screens.sessions_actions import SessionChoice, SessionsActions
from app.tui.screens.sessions_preview import Preview, preview_content, read_preview
from widgets.bar import Bar, Token
from widgets.session_list import SessionList

if TYPE_CHECKING:
    from app.session.search import Hit
    from app.session.session import Session

__all__ = ["SessionChoice", "SessionsScreen"]

FIRST_BATCH, BATCH = 60, 400
SAY_EVERY_S = 0.25
SEARCH_EVERY_S = 2.0
PREVIEWS_KEPT = 64
HINTS = "enter open · / search · r rename · x trash · p pin · ctrl+a {scope}"


class SessionsBar(Bar):
    """A row of tokens at the top or the bottom of the screen."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "sessions-bar--brand", "sessions-bar--folder", "sessions-bar--meta", "sessions-bar--hint",
        "sessions-bar--note", "sessions-bar--warning",
    }  # fmt: skip

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._tokens: tuple[Token, ...] = ()

    def show(self, *tokens: Token) -> None:
        """Show these from now on."""
        if tokens != self._tokens:
            self._tokens = tokens
            self.refresh()

    def tokens_of_row(self, y: int) -> tuple[Token, ...]:
        """Return the tokens."""
        return self._tokens


class SessionsScreen(SessionsActions):
    """Opened by `push_screen_wait(SessionsScreen(cwd, session=...))`."""

    DEFAULT_CSS = """
    SessionsScreen #session-preview { width: 2fr; height: 1fr; padding: 0 1 0 2; overflow: hidden hidden; }
    SessionsScreen SessionList { width: 3fr; }
    SessionsScreen.-narrow #session-preview { display: none; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    AUTO_FOCUS = "SessionList"

    class Listed(Message):
        """Some sessions were read; `is_last` when there are no more."""

        def __init__(self, infos: list[SessionInfo], pins: list[str] | None, is_last: bool) -> None:
            self.infos, self.pins, self.is_last = infos, pins, is_last
            super().__init__()

    class Indexed(Message):
        """The index took in so many files of so many; `problem` when it can't."""

        def __init__(self, done: int, total: int, problem: str = "") -> None:
            self.done, self.total, self.problem = done, total, problem
            super().__init__()

    class Found(Message):
        """What a query found."""

        def __init__(self, text: str, result: SearchResult) -> None:
            self.text, self.result = text, result
            super().__init__()

    class Previewed(Message):
        """A preview was read."""

        def __init__(self, row_id: str, preview: Preview) -> None:
            self.row_id, self.preview = row_id, preview
            super().__init__()

    def __init__(
        self,
        cwd: Path,
        *,
        session: Session | None = None,
        query: str = "",
        root: Path | None = None,
        index: SearchIndex | None = None,
        keys: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        super().__init__(cwd, session)
        self._root = root or default_root()
        self._index = index or SearchIndex(root=root)
        self._list = SessionList(query=query, current=str(self.current or ""), id="session-list")
        self._keys: Mapping[str, Sequence[str]] = keys or {}
        self._list.use_keys(self._keys)
        self._title, self._foot = SessionsBar(id="sessions-title"), SessionsBar(id="sessions-foot")
        self._preview = Static(id="session-preview", markup=False)
        self._previews: dict[str, Preview] = {}
        self._is_loading = True
        self._indexing = ""
        self._problem = ""
        self._searched_at = 0.0
        self._note: tuple[str, bool] = "", False
        self.shelf.query = query

    def compose(self) -> ComposeResult:
        """Title, list beside preview, hints."""
        yield self._title
        with Horizontal():
            yield self._list
            yield self._preview
        yield self._foot

    def on_mount(self) -> None:
        """Show the frame at once; sessions come in batches from a thread, the index follows them."""
        self.show_shelf()
        self.run_worker(self._load, thread=True, group="load", exit_on_error=False)
        self.run_worker(self._update_index, thread=True, group="index", exit_on_error=False)
        if self.shelf.query:
            self._start_search()

    # -- threads

    def _load(self) -> None:
        from app.session.pins import load_pins

        worker = get_current_worker()
        pins: list[str] | None = load_pins()
        batch: list[SessionInfo] = []
        size = FIRST_BATCH
        for path in _newest_first(self._root, project_folder(self.shelf.cwd, self._root)):
            if worker.is_cancelled:
                return
            if (info := read_info(path)) is not None:
                batch.append(info)
            if len(batch) >= size:
                self.post_message(self.Listed(batch, pins, False))
                batch, pins, size = [], None, BATCH
        self.post_message(self.Listed(batch, pins, True))

    def _update_index(self) -> None:
        worker = get_current_worker()
        said_at = 0.0

        def progress(done: int, total: int) -> None:
            nonlocal said_at
            now = time.monotonic()
            if now - said_at >= SAY_EVERY_S or done == total:
                said_at = now
                self.post_message(self.Indexed(done, total))

        try:
            self._index.update(progress, lambda: worker.is_cancelled)
        except PinyonError as error:
            self.post_message(self.Indexed(0, 0, str(error)))

    def _search(self, text: str, cwd: str | None) -> None:
        worker = get_current_worker()
        try:
            result = self._index.search(text, cwd, stop=lambda: worker.is_cancelled)
        except PinyonError as error:
            result = SearchResult(error=str(error))
        if not worker.is_cancelled:
            self.post_message(self.Found(text, result))

    def _read_preview(self, row_id: str, info: SessionInfo, hit: Hit | None, query: str) -> None:
        if not get_current_worker().is_cancelled:
            self.post_message(self.Previewed(row_id, read_preview(info, hit, query)))

    # -- what comes from them

    @on(Listed)
    def on_listed(self, message: Listed) -> None:
        """More sessions."""
        if message.pins is not None:
            self.shelf.pins = message.pins
        self.shelf.add(message.infos)
        self._is_loading = not message.is_last
        self.show_shelf()

    @on(Indexed)
    def on_indexed(self, message: Indexed) -> None:
        """Say how far it is, and look again now and then for what was taken in."""
        is_done = message.done >= message.total
        self._problem = message.problem
        self._indexing = "" if is_done else f"indexing {message.done:,} of {message.total:,}"
        if self.shelf.query and (time.monotonic() - self._searched_at > SEARCH_EVERY_S or (is_done and message.total)):
            self._start_search()
        self._show_remark()

    @on(Found)
    def on_found(self, message: Found) -> None:
        """Show what was found, if it is still looked for."""
        if message.text == self.shelf.query:
            self.shelf.found = message.result
            self._problem = message.result.error
            self.show_shelf()

    @on(Previewed)
    def on_previewed(self, message: Previewed) -> None:
        """Keep it, and show it if it is still stood on."""
        self._previews[message.row_id] = message.preview
        while len(self._previews) > PREVIEWS_KEPT:
            del self._previews[next(iter(self._previews))]
        if message.row_id == self._list.selected:
            self._preview.update(preview_content(message.preview))

    @on(SessionList.QueryChanged)
    def on_query_changed(self, message: SessionList.QueryChanged) -> None:
        """Names are narrowed at once, texts when the index has answered."""
        self.shelf.query, self.shelf.found = message.text, None
        self._problem = ""
        self._previews.clear()
        if message.text.strip():
            self._start_search()
        self.show_shelf()

    def _start_search(self) -> None:
        self._searched_at = time.monotonic()
        work = partial(self._search, self.shelf.query, None if self.shelf.show_all else self.shelf.cwd)
        self.run_worker(work, thread=True, group="search", exclusive=True, exit_on_error=False)

    @on(SessionList.Highlighted)
    def on_highlighted(self, message: SessionList.Highlighted) -> None:
        """Preview another row."""
        self._show_preview()

    def _show_preview(self) -> None:
        row = self._list.row
        if row is None or row.info is None:
            self._preview.update("")
            return
        if (known := self._previews.get(row.id)) is not None:
            self._preview.update(preview_content(known))
        elif self._preview.display:
            work = partial(self._read_preview, row.id, row.info, row.hit, self.shelf.query)
            self.run_worker(work, thread=True, group="preview", exclusive=True, exit_on_error=False)

    def on_resize(self) -> None:
        """A wider window has room for the preview."""
        self.call_after_refresh(self._show_preview)

    # -- what is asked

    @on(SessionList.Asked)
    def on_asked(self, message: SessionList.Asked) -> None:
        """A key of the list."""
        if message.action == "help":
            show_help(self, self._keys, "sessions")
        elif message.action == "close" and self.is_waiting:
            self.stop_waiting()
        elif message.action == "close":
            self.dismiss(None)
        elif message.action == "all":
            self.shelf.show_all = not self.shelf.show_all
            if self.shelf.query.strip():
                self._start_search()
            self.show_shelf()
        elif message.action == "undo":
            self.run_worker(self.undo(), group="act", exit_on_error=False)
        elif (row := self._list.row) is not None and row.id == message.row_id and not self.is_waiting:
            self._forget_preview(message.action, row.id)
            self.note("")
            self.run_worker(self.act(message.action, row), group="act", exclusive=True, exit_on_error=False)

    def _forget_preview(self, action: str, row_id: str) -> None:
        if action == "rename":
            self._previews.pop(row_id, None)

    # -- what is shown

    def note(self, text: str, *, is_warning: bool = False) -> None:
        """Say something in the last row until the next thing is done; "" brings the hints back."""
        self.trashed = None
        self._note = text, is_warning
        self._show_bars()

    def show_shelf(self) -> None:
        """Draw list, title and hints as they are now; the choice stays."""
        before = self._list.selected
        self._list.show_rows(self.shelf.rows())
        self._show_remark()
        self._show_bars()
        if self._list.selected == before:
            self._show_preview()

    def _show_remark(self) -> None:
        if self._is_loading:
            empty = "looking for sessions"
        elif self.shelf.query.strip():
            empty = "nothing is found" + (
                "" if self.shelf.show_all else " in this folder · ctrl+a looks in all projects"
            )
        elif self.shelf.infos and not self.shelf.show_all:
            empty = "no sessions of this folder · ctrl+a shows those of all projects"
        else:
            empty = "no sessions yet"
        found = self.shelf.found
        hits = sum(found.counts.values()) if found is not None else 0
        told = "" if found is None else f"{hits:,}{'' if found.is_whole else '+'} {'hit' if hits == 1 else 'hits'}"
        self._list.show_remark(self._problem or self._indexing or told, empty)

    def _show_bars(self) -> None:
        shelf = self.shelf
        where = "all projects" if shelf.show_all else tilde(shelf.cwd)
        count = len(shelf.in_scope)
        self._title.show(
            Token("▲ sessions", "sessions-bar--brand", weight=90),
            Token(where, "sessions-bar--folder", weight=60, cut="middle", least_cells=12),
            Token(f"{count:,} of {len(shelf.infos):,}", "sessions-bar--meta", weight=30, on_right=True),
        )
        text, is_warning = self._note
        if text:
            style = "sessions-bar--warning" if is_warning else "sessions-bar--note"
            self._foot.show(Token(text, style, weight=90, cut="end"))
        else:
            hints = HINTS.format(scope="this folder" if shelf.show_all else "all projects")
            leave = Token("? help · esc close", "sessions-bar--hint", weight=90, on_right=True)
            self._foot.show(Token(hints, "sessions-bar--hint", cut="end"), leave)


def _newest_first(root: Path, first: Path) -> Iterator[Path]:
    """Session files, those in the folder `first` before the others, each by time, newest first."""
    ranked: list[tuple[bool, int, str]] = []
    ahead = str(first)
    for item in session_files(root):
        try:
            ranked.append((item.path.rpartition("/")[0] == ahead, item.stat().st_mtime_ns, item.path))
        except OSError:
            continue
    ranked.sort(reverse=True)
    yield from (Path(path) for _, _, path in ranked)
