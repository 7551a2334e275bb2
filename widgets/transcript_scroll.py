"""How the transcript is scrolled: Textual's numbers follow the viewport's anchor, never the other way round."""

from __future__ import annotations

from textual import events
from textual.geometry import Region, Size
from textual.scrollbar import ScrollBar
from textual.widget import Widget

from widgets.transcript_view import TranscriptView


def _thumb_cells(top_row: int, height: int, total: int) -> tuple[int, int]:
    """The cells of the bar in which the thumb begins and ends."""
    return top_row * height // total, min(height - 1, (top_row + height) * height // total)


class TranscriptScroll(TranscriptView):
    """The half that moves the window. Every way of Textual's to scroll ends in `_scroll_to` or in `scroll_y`."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.set_reactive(Widget.auto_links, False)  # each change of the style under the mouse would repaint everything
        self._in_layout = False
        self._thumb: tuple[int, ...] = ()
        self._thumb_cells = (0, 0)
        self._had_thumb = False

    def scroll_rows(self, rows: int) -> bool:
        """Move the window down (negative: up); whether it moved."""
        moved = self.viewport.scroll(rows)
        self.redraw()
        return moved

    def scroll_pages(self, pages: float) -> bool:
        """Move by so many windows, two rows kept; whether it moved."""
        rows = max(1, round(abs(pages) * self.size.height) - 2)
        return self.scroll_rows(rows if pages > 0 else -rows)

    def follow(self) -> None:
        """Go to the end and stay there."""
        self.viewport.follow()
        self.redraw()

    def go_to_start(self) -> None:
        """Show the first row."""
        if self.blocks.first is not None:
            self.viewport.show(self.blocks.first)
            self.redraw()

    def after_frame(self) -> None:
        """The window may stand elsewhere now."""
        self._sync_scroll()

    def _sync_scroll(self) -> None:
        """Tell Textual where the window stands; the scroll bar is redrawn only when it would look different."""
        height = self.size.height
        total = max(self.blocks.total_rows, self._top_row + height)
        self.set_reactive(Widget.virtual_size, Size(self.area.width, total))
        self.set_reactive(Widget.scroll_y, float(self._top_row))
        self.set_reactive(Widget.scroll_target_y, float(self._top_row))
        if not total or not height:
            return
        # A stream moves the thumb by less than a cell: that is not worth repainting the bar, 45 bytes a row.
        fine = 1 if self.is_following else 8
        thumb = (height, self._top_row * height * fine // total, height * height * fine // total)
        if thumb == self._thumb:
            return
        bar = self.vertical_scrollbar
        for name, value in ((ScrollBar.window_virtual_size, total), (ScrollBar.window_size, height)):
            bar.set_reactive(name, value)
        bar.set_reactive(ScrollBar.position, float(self._top_row))
        before, now = self._thumb_cells, _thumb_cells(self._top_row, height, total)
        # Where everything fits Textual draws no thumb at all, whatever the cells say.
        had_thumb = bool(self._thumb) and self._thumb[0] == height and self._had_thumb
        self._thumb, self._thumb_cells, self._had_thumb = thumb, now, total > height
        if not (had_thumb and self._had_thumb):
            bar.refresh()
            return
        # Only the cells in which the thumb begins or ends otherwise than before.
        for old, new in zip(before, now, strict=True):
            first = max(0, min(old, new))
            bar.refresh(Region(0, first, bar.size.width, min(height, max(old, new) + 1) - first))

    def _scroll_to(self, x: float | None = None, y: float | None = None, **_options: object) -> bool:
        """Go to a row number without animation: the steps between cost bytes and show nothing. Whether it moved."""
        if y is None:
            return False
        rows = round(y) - self._top_row
        if y >= self.max_scroll_y and rows > 0:
            moved = not self.is_following
            self.viewport.follow()
        elif y <= 0 and self.blocks.first is not None:
            moved = self._top_row > 0
            self.viewport.show(self.blocks.first)
        elif abs(rows) <= 3 * self.size.height:
            moved = self.viewport.scroll(rows)
        else:
            moved = True
            self.viewport.go_to_row(round(y))
        self.redraw()
        return moved

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Somebody else scrolled (a selection at the edge): move the anchor as far."""
        rows = round(new_value) - self._top_row
        if rows and not self._in_layout:
            self.viewport.scroll(rows)
            self.redraw()

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        self._in_layout = True  # Textual clamps scroll_y here: that is no wish of the reader
        try:
            return super()._size_updated(size, virtual_size, container_size, layout)
        finally:
            self._in_layout = False

    def on_resize(self) -> None:
        """Keep the reader's place at the new size."""
        if not self.size:
            return
        if self._look is None or self._look != self._current_look():
            self._prepare()
            self.refresh()
        self._thumb = ()
        self.after_frame()
        self.flush()

    def _on_focus(self, event: events.Focus) -> None:
        event.prevent_default()  # the base class repaints the whole widget, for a border that we don't have
        self.has_focus = True
        if self.parent is not None:
            self.parent.post_message(events.DescendantFocus(self))

    def _on_blur(self, event: events.Blur) -> None:
        event.prevent_default()
        self.has_focus = False
        if self.parent is not None:
            self.parent.post_message(events.DescendantBlur(self))

    @property
    def is_following(self) -> bool:
        """Whether the end stays in view."""
        return self.viewport.is_following

    @property
    def new_lines(self) -> int:
        """Lines that came below since the reader left the end; 0 while following."""
        return self.viewport.new_rows
