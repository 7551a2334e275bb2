"""A line of text being typed inside another widget: a search, a label; it draws nothing and knows no widget."""

from __future__ import annotations

from renderers.text import cell_width, clusters, one_line

_MOST = 400


class LineField:
    """Text and cursor (an index into it). `press` takes keys by Textual's names."""

    def __init__(self, text: str = "") -> None:
        self.text = one_line(text, _MOST)
        self.cursor = len(self.text)

    def press(self, key: str, character: str | None) -> bool:
        """Take a key; whether it meant anything here."""
        match key:
            case "left" | "ctrl+b":
                self.cursor = self._before()
            case "right" | "ctrl+f":
                self.cursor = self._after()
            case "home" | "ctrl+a":
                self.cursor = 0
            case "end" | "ctrl+e":
                self.cursor = len(self.text)
            case "backspace" | "ctrl+h":
                self._cut(self._before(), self.cursor)
            case "delete":
                self._cut(self.cursor, self._after())
            case "ctrl+u":
                self._cut(0, self.cursor)
            case "ctrl+k":
                self._cut(self.cursor, len(self.text))
            case "ctrl+w" | "alt+backspace":
                head = self.text[: self.cursor].rstrip()
                self._cut(len(head) - len(head.rpartition(" ")[2]), self.cursor)
            case _:
                # a cluster may hold joiners, which are no printable characters by themselves
                if not character or not character[0].isprintable():
                    return False
                self.insert(character)
        return True

    def insert(self, text: str) -> None:
        """Put text in at the cursor (a paste): one line, safe, not too long."""
        clean = text if text == " " else one_line(text, _MOST)
        clean = clean[: max(0, _MOST - len(self.text))]
        self.text = self.text[: self.cursor] + clean + self.text[self.cursor :]
        self.cursor += len(clean)

    def window(self, width_cells: int) -> tuple[str, str, str]:
        """Text before, under and behind the cursor, together at most `width_cells` cells, the cursor in sight."""
        end = self._after()
        before, under, after = self.text[: self.cursor], self.text[self.cursor : end] or " ", self.text[end:]
        room = max(0, width_cells - cell_width(under))
        while cell_width(before) > room:
            before = before[clusters(before)[0][1] :]
        rest = room - cell_width(before)
        kept = 0
        for start, stop, cells in clusters(after):
            if cells > rest:
                after = after[:start]
                break
            rest -= cells
            kept = stop
        return before, under, after[:kept] if kept else ""

    def _before(self) -> int:
        spans = clusters(self.text[: self.cursor])
        return spans[-1][0] if spans else 0

    def _after(self) -> int:
        spans = clusters(self.text[self.cursor :])
        return self.cursor + spans[0][1] if spans else len(self.text)

    def _cut(self, start: int, end: int) -> None:
        self.text = self.text[:start] + self.text[end:]
        self.cursor = start
