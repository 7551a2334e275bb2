"""Files that differ between two points of a tree, with their diffs, to look at; it must never change a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import getters
from textual.app import ComposeResult
from textual.screen import Screen

from app.tui.tree_preview import change_pieces
from renderers.text import one_line
from widgets.prompt_keys import normalise_key
from widgets.tree_bars import FiguresBar, HintBar
from widgets.tree_diff import DiffPane, LoadDiff
from widgets.tree_preview import PreviewLine

if TYPE_CHECKING:
    from textual import events

    from app.tui.tree_services import FileLine


def file_rows(changes: Sequence[FileLine]) -> list[tuple[str, PreviewLine]]:
    """A row for each path that differs."""
    return [
        (change.path, PreviewLine(one_line(change.path), "path", change_pieces(change) or (("", ""),)))
        for change in changes
    ]


def sum_of(changes: Sequence[FileLine]) -> str:
    """All changes in a few words: "3 files +29 −40"."""
    added, removed = sum(change.added for change in changes), sum(change.removed for change in changes)
    return f"{len(changes):,} file{'' if len(changes) == 1 else 's'} +{added:,} −{removed:,}"


class FilesScreen(Screen[None]):
    """Escape closes it."""

    pane = getters.query_one(DiffPane)

    def __init__(self, title: str, changes: Sequence[FileLine], load: LoadDiff) -> None:
        super().__init__()
        self._heading = title
        self._changes = changes
        self._load = load

    def compose(self) -> ComposeResult:
        """Title, files, diff, hints."""
        bar = FiguresBar(self._heading)
        bar.figures = sum_of(self._changes)
        yield bar
        yield DiffPane()
        yield HintBar(("↑↓ file", "pgup/pgdn scroll"), "esc back")

    def on_mount(self) -> None:
        """Show the first diff."""
        self.pane.show(file_rows(self._changes), self._load)

    def on_key(self, event: events.Key) -> None:
        """Choose a file, scroll, leave."""
        key = normalise_key(event.key)
        steps = {"up": -1, "k": -1, "down": 1, "j": 1, "home": -(10**6), "end": 10**6}
        pages = {"pageup": -1.0, "pagedown": 1.0, "space": 1.0, "shift+up": -0.1, "shift+down": 0.1}
        if key in steps:
            self.pane.step(steps[key])
        elif key in pages:
            self.pane.scroll_diff(pages[key])
        elif key in ("escape", "q", "d"):
            self.dismiss()
        else:
            return
        event.stop()
        event.prevent_default()
