"""Searching a tree as one types, and the line that words and labels are typed in; it must never change a session."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from textual import events
from textual.message import Message
from textual.strip import Strip

from app.session.tree import Tree
from app.session.tree_building import Folds
from app.session.tree_filter import TreeFilter, TreeQuery
from widgets.tree_field import LineField
from widgets.tree_line import Piece
from widgets.tree_rows import TreeRows
from widgets.tree_text import ReadEntry
from widgets.tree_window import local_now


class TreeSearch(TreeRows):
    """The half that has a field; while something is typed, keys go there and nowhere else."""

    class LabelChosen(Message):
        """A label was typed for an entry; "" takes it away."""

        def __init__(self, entry_id: str, text: str) -> None:
            self.entry_id = entry_id
            self.text = text
            super().__init__()

    def __init__(
        self,
        tree: Tree,
        read: ReadEntry | None = None,
        *,
        mode: TreeFilter = TreeFilter.DEFAULT,
        now: Callable[[], datetime] = local_now,
        id: str | None = None,  # noqa: A002  # Textual's own name
    ) -> None:
        super().__init__(tree, read, mode=mode, now=now, id=id)
        self._field: LineField | None = None
        self._labels: str | None = None
        self._origin: str | None = None
        self._folds_before: Folds | None = None
        self._hits: list[str] = []
        self._hit_at: dict[str, int] = {}
        self._hits_for: tuple[int, TreeFilter, str] | None = None

    # Search

    def begin_search(self) -> None:
        """Type what to look for; the first hit from here on is shown at once."""
        self._field, self._labels = LineField(self._look.query.text), None
        self._origin = self.selected
        self._folds_before = self.laid_out.folds.copy()
        self._after_field()

    def search(self, text: str) -> None:
        """Look for words, "phrases" or re:PATTERN from where the search began; "" looks for nothing."""
        self.set_query(TreeQuery.parse(text))
        self._find()
        if self._folds_before is not None and self.laid_out.put_back(self._folds_before):
            self.changed()
        target = self.laid_out.first_hit_from(self._hits, self._origin)
        self.select(target or self._origin, reveal=target is not None)

    def end_search(self) -> None:
        """Forget the search; one stays where one is."""
        self.set_query(TreeQuery(""))
        self._hits, self._hit_at, self._hits_for = [], {}, None
        self._after_field()

    def go_to_hit(self, step: int) -> None:
        """The next (+1) or previous (-1) hit, round the ends."""
        self._find()
        if not self._hits:
            return
        entry = self.entry
        here = self._hit_at.get(entry.id) if entry is not None else None
        if here is None:
            target = self.laid_out.first_hit_from(self._hits, self.selected)
            at = self._hit_at.get(target or "", 0)
            if step < 0:
                at -= 1
        else:
            at = here + step
        self.select(self._hits[at % len(self._hits)], reveal=True)

    def _find(self) -> None:
        query = self._look.query
        key = (self.session_tree.version, self.laid_out.mode, query.text)
        if key != self._hits_for:
            before = self._hits_for
            narrows = before is not None and before[:2] == key[:2] and query.narrows(before[2])
            self._hits = self.laid_out.hits(query, self._hits if narrows else None)
            self._hits_for = key
            self._hit_at = {entry_id: at for at, entry_id in enumerate(self._hits)}

    # The field for words and labels

    def begin_label(self) -> None:
        """Type a label for the entry one stands on."""
        if (entry := self.entry) is None:
            return
        label = self.session_tree.labels.get(entry.id)
        self._field, self._labels = LineField(label.text if label else ""), entry.id
        self._after_field()

    def _press_in_field(self, field: LineField, key: str, character: str | None) -> bool:
        is_search = self._labels is None
        if key in ("escape", "ctrl+c"):
            self._field = None
            if is_search:
                self.selected = self._origin
                if self._folds_before is not None and self.laid_out.put_back(self._folds_before):
                    self.changed()
                self.end_search()
                self.select(self._origin)
            self._after_field()
        elif key == "enter":
            self._field = None
            if is_search:
                self.search(field.text)
                self._folds_before = None
            elif self._labels is not None:
                self.post_message(self.LabelChosen(self._labels, field.text.strip()))
            self._after_field()
        elif is_search and key in ("up", "down"):
            self.go_to_hit(-1 if key == "up" else 1)
        elif not field.press(key, character):
            # a key that means something in the tree must not act behind the field
            return True
        else:
            self._field_changed()
        return True

    def _field_changed(self) -> None:
        # a half-typed pattern may take for ever: it is looked for at enter only
        if self._labels is None and self._field is not None and not self._field.text.lstrip().startswith("re:"):
            self.search(self._field.text)
        self.refresh()

    def _after_field(self) -> None:
        self._bring_into_view()
        self.refresh()

    @property
    def is_typing(self) -> bool:
        """Whether keys go into a field now."""
        return self._field is not None

    @property
    def list_top(self) -> int:
        """One row for the field while something is typed or searched for."""
        query = self._look.query
        return 1 if self._field is not None or not query.is_empty or query.problem else 0

    def render_line(self, y: int) -> Strip:
        """The field's row, else a row of the tree."""
        if y == 0 and self.list_top:
            return self._strip(self._field_pieces())
        return super().render_line(y)

    def _field_pieces(self) -> list[Piece]:
        query, field = self._look.query, self._field
        is_label = field is not None and self._labels is not None
        mark = "⚑ " if is_label else "/ "
        said = "enter keep · empty takes it away · esc cancel" if is_label else self._search_status()
        room = max(1, self.size.width - 4 - len(mark))
        if field is None:
            shown: list[Piece] = [(query.text, "field")]
        else:
            before, under, after = field.window(min(room, max(12, room - len(said) - 2)))
            shown = [(before, "field"), (under, "caret"), (after, "field")]
        return [(mark, "label"), *shown, ("   ", ""), (said, "quiet")]

    def _search_status(self) -> str:
        query = self._look.query
        if query.problem:
            return f"not a pattern: {query.problem}"
        if query.is_empty:
            return 'words, "a phrase", re:pattern'
        if not self._hits:
            return "no hit"
        entry = self.entry
        at = self._hit_at.get(entry.id) if entry is not None else None
        count = f"{len(self._hits):,}"
        hint = "   ↑↓ hits" if self._field is not None else "   n next"
        if at is None:
            return f"{count} hit{'' if len(self._hits) == 1 else 's'}{hint}"
        return f"{at + 1:,} of {count}{hint}"

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        if self._field is not None:
            self._field.insert(event.text)
            self._field_changed()
