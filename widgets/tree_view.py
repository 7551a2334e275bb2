"""The tree of a session with its keys: walking, folding, filters, search, labels; it must never change a session.

What a key asks for beyond that is posted (`Asked`, `LabelChosen`, `Left`); the screen does it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from textual import events
from textual.message import Message
from textual.strip import Strip

from app.session.tree import Tree
from app.session.tree_building import Folds
from app.session.tree_filter import TreeFilter, TreeQuery
from app.session.tree_folds import child_point, fold, parent_point, unfold
from widgets.prompt_keys import normalise_key
from widgets.tree_field import LineField
from widgets.tree_keys import tree_key_table
from widgets.tree_line import Piece
from widgets.tree_rows import TreeRows, local_now
from widgets.tree_text import ReadEntry

ASKS = ("go", "edit", "fork", "diff", "compare", "take", "restore", "copy")
"""Actions that only the screen can do with the entry one stands on."""
SCREEN_ACTIONS = ("back", "forward", "preview_up", "preview_down")

MARGIN_KEPT = 2
"""Rows of the page before that stay in sight after a page."""


class TreeView(TreeRows):
    """Takes every key it knows, in the order they were typed."""

    class Asked(Message):
        """A key wants something done: `action` is one of ASKS with the entry stood on, or of SCREEN_ACTIONS."""

        def __init__(self, action: str, entry_id: str | None) -> None:
            self.action = action
            self.entry_id = entry_id
            super().__init__()

    class LabelChosen(Message):
        """A label was typed for an entry; "" takes it away."""

        def __init__(self, entry_id: str, text: str) -> None:
            self.entry_id = entry_id
            self.text = text
            super().__init__()

    class ModeChanged(Message):
        """Another filter."""

        def __init__(self, mode: TreeFilter) -> None:
            self.mode = mode
            super().__init__()

    class Left(Message):
        """Escape, with no search to end."""

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
        self._keys = tree_key_table()
        self._field: LineField | None = None
        self._labels: str | None = None
        self._origin: str | None = None
        self._folds_before: Folds | None = None
        self._hits: list[str] = []
        self._hit_at: dict[str, int] = {}
        self._hits_for: tuple[int, TreeFilter, str] | None = None

    def set_keys(self, overrides: Mapping[str, Sequence[str]]) -> None:
        """Bind actions of `TREE_ACTIONS` to other keys."""
        self._keys = tree_key_table(overrides)

    # Keys and mouse

    async def _on_key(self, event: events.Key) -> None:
        key = normalise_key(event.key)
        if self._field is not None:
            taken = self._press_in_field(self._field, key, event.character)
        else:
            taken = self._press(self._keys.get(key, ""))
        if taken:
            event.stop()
            event.prevent_default()

    def _press(self, action_id: str) -> bool:
        action = action_id.removeprefix("tree.")
        if not action:
            return False
        if action in ASKS:
            if (entry := self.entry) is not None:
                self.post_message(self.Asked(action, entry.id))
        elif action in SCREEN_ACTIONS:
            self.post_message(self.Asked(action, None))
        elif action.startswith("filter_"):
            self._press_filter(action.removeprefix("filter_"))
        else:
            self._walk(action)
        return True

    def _walk(self, action: str) -> None:
        page = max(1, self.list_rows - MARGIN_KEPT)
        moves = {"up": -1, "down": 1, "page_up": -page, "page_down": page, "top": -(10**9), "bottom": 10**9}
        if action in moves:
            self.move(moves[action])
        elif action == "search":
            self.begin_search()
        elif action == "next_hit":
            self.go_to_hit(1)
        elif action == "previous_hit":
            self.go_to_hit(-1)
        elif action == "label":
            self.begin_label()
        elif action == "label_times":
            self.set_label_times(not self._look.label_times)
        elif action == "leave":
            self._leave()
        elif (at := self.at) is not None:
            steps = {"fold": fold, "unfold": unfold, "parent_point": parent_point, "child_point": child_point}
            y, built = at - self._first, self.laid_out.built
            target = steps[action](self.laid_out, at)
            if self.laid_out.built == built:
                self.select(target)
            else:
                self.selected = target
                self.changed(y)

    def _leave(self) -> None:
        if self._look.query.is_empty and not self._look.query.problem:
            self.post_message(self.Left())
        else:
            self.end_search()

    def _press_filter(self, name: str) -> None:
        modes = list(TreeFilter)
        if name == "next":
            self.set_mode(modes[(modes.index(self.laid_out.mode) + 1) % len(modes)])
            return
        mode = TreeFilter(name.replace("_", "-"))
        self.set_mode(TreeFilter.DEFAULT if mode is self.laid_out.mode else mode)

    def on_click(self, event: events.Click) -> None:
        """Stand on the row; a click on the row one stands on opens or folds it."""
        event.stop()
        at = self.row_at(event.y)
        if at is None:
            return
        row = self.laid_out.rows[at]
        if at == self.at:
            self._walk("unfold" if row.is_folded else "fold")
        else:
            self.select(row.entry.id)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The window goes down."""
        event.stop()
        self.scroll_list(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The window goes up."""
        event.stop()
        self.scroll_list(-3)

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        if self._field is not None:
            self._field.insert(event.text)
            self._field_changed()

    # Walking

    def move(self, step: int) -> None:
        """Stand on another row; the ends stop it."""
        at = self.at
        if at is not None:
            rows = self.laid_out.rows
            self.select(rows[max(0, min(at + step, len(rows) - 1))].entry.id)

    def set_mode(self, mode: TreeFilter) -> None:
        """Filter; one stands where one stood, or on the nearest ancestor that is shown."""
        y = self._screen_row()
        self.laid_out.set_mode(mode)
        self.changed(y)
        self.post_message(self.ModeChanged(mode))

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
