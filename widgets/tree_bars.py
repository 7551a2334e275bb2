"""The rows above and below a tree or a comparison: where one is, what is shown, which keys do what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from app.session.tree_filter import TreeFilter
from widgets.bar import Bar, Token


@dataclass(frozen=True, slots=True)
class TreeHeaderState:
    """What the header says; `title` is foreign text."""

    title: str = ""
    branches: int = 0
    entries: int = 0
    mode: TreeFilter = TreeFilter.DEFAULT
    is_live: bool = False


class TreeHeader(Bar):
    """One row: what this is, how large, and the filter that is on."""

    DEFAULT_CSS = """
    TreeHeader {
        background: $bar-background;
        color: $quiet;
        & .tree-header--brand { color: $brand; text-style: bold; }
        & .tree-header--title { color: $quiet; }
        & .tree-header--count { color: $faint; }
        & .tree-header--mode { color: $foreground; text-style: bold; }
        & .tree-header--other { color: $quiet; }
        & .tree-header--live { color: $moving; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "tree-header--brand", "tree-header--title", "tree-header--count", "tree-header--mode", "tree-header--other",
        "tree-header--live",
    }  # fmt: skip

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self.state = TreeHeaderState()

    def show(self, state: TreeHeaderState) -> None:
        """Show this from now on."""
        if state != self.state:
            self.state = state
            self.refresh()

    def tokens_of_row(self, y: int) -> Sequence[Token]:
        """The tokens; in a narrow terminal only the filter that is on."""
        state, is_alone = self.state, self.size.width < 110
        branches = f"{state.branches:,} branch{'' if state.branches == 1 else 'es'}"
        entries = f"{state.entries:,} {'entry' if state.entries == 1 else 'entries'}"
        tokens = [
            Token("▲ tree", "tree-header--brand", weight=90),
            Token(state.title, "tree-header--title", weight=40, cut="end", least_cells=12, cut_weight=30),
            Token(f"{branches} · {entries}", "tree-header--count", weight=50, gap=3),
            Token("● working" if state.is_live else "", "tree-header--live", weight=60, gap=3),
            Token("filter:", "tree-header--count", weight=34, on_right=True),
        ]
        for number, mode in enumerate(TreeFilter):
            is_on = mode is state.mode
            if is_alone and not is_on:
                continue
            style = "tree-header--mode" if is_on else "tree-header--other"
            weight = 80 if is_on else 35
            text = f"· {mode.value}" if number and not is_alone else mode.value
            tokens.append(Token(text, style, weight=weight, on_right=True, gap=1))
        return tokens


class HintBar(Bar):
    """One row of hints, "key word" each, the last ones go first when it is narrow; a note takes their place."""

    DEFAULT_CSS = """
    HintBar {
        color: $quiet;
        & .hint-bar--hint { color: $quiet; }
        & .hint-bar--note { color: $foreground; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"hint-bar--hint", "hint-bar--note"}

    def __init__(self, hints: Sequence[str], leave: str, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._hints, self._leave = list(hints), leave
        self.note = ""

    def say(self, note: str) -> None:
        """Say this in place of the hints; "" brings them back."""
        if note != self.note:
            self.note = note
            self.refresh()

    def show(self, hints: Sequence[str]) -> None:
        """Other hints."""
        self._hints = list(hints)
        self.refresh()

    def tokens_of_row(self, y: int) -> Sequence[Token]:
        """The note or the hints, and how to leave."""
        leave = Token(self._leave, "hint-bar--hint", weight=90, on_right=True)
        if self.note:
            return [Token(self.note, "hint-bar--note", weight=80, cut="end", least_cells=20), leave]
        tokens = [
            Token(("· " if number else "") + hint, "hint-bar--hint", weight=70 - number, gap=1)
            for number, hint in enumerate(self._hints)
        ]
        return [*tokens, leave]


class FiguresBar(Bar):
    """One row of words over each half of a comparison."""

    DEFAULT_CSS = """
    FiguresBar {
        color: $quiet;
        & .figures-bar--title { color: $foreground; }
        & .figures-bar--active { color: $brand; text-style: bold; }
        & .figures-bar--figures { color: $faint; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "figures-bar--title", "figures-bar--active", "figures-bar--figures",
    }  # fmt: skip

    def __init__(self, title: str, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self._title = title
        self.figures = "…"
        self.is_active = False

    def show(self, *, figures: str | None = None, is_active: bool | None = None) -> None:
        """Other words."""
        self.figures = self.figures if figures is None else figures
        self.is_active = self.is_active if is_active is None else is_active
        self.refresh()

    def tokens_of_row(self, y: int) -> Sequence[Token]:
        """The branch and its figures; a mark where keys go."""
        style = "figures-bar--active" if self.is_active else "figures-bar--title"
        mark = "▶ " if self.is_active else "  "
        return [
            Token(mark + self._title, style, weight=60, cut="end", least_cells=12, is_clean=False),
            Token(self.figures, "figures-bar--figures", weight=70, on_right=True, cut="end", least_cells=8),
        ]


class BranchBar(FiguresBar):
    """The same in two rows, so that in half a screen neither is cut for the other."""

    DEFAULT_CSS = """
    BranchBar { height: 2; }
    """

    def tokens_of_row(self, y: int) -> Sequence[Token]:
        """The branch; under it its figures."""
        title, figures = super().tokens_of_row(y)
        return [title] if y == 0 else [replace(figures, text=f"  {self.figures}", on_right=False, is_clean=False)]
