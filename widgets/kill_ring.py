"""What ctrl+k, ctrl+u, ctrl+w, alt+d and alt+backspace took away, for ctrl+y to put back."""

from __future__ import annotations

MAX_KILLS = 20


class KillRing:
    """The last kills; kills in a row, with no other key between them, are one."""

    def __init__(self) -> None:
        self._kills: list[str] = []
        self._is_open = False

    def kill(self, text: str, *, before_cursor: bool) -> None:
        """Keep a killed text; in a row of kills it joins the last one on the side it came from."""
        if not text:
            return
        if self._is_open and self._kills:
            last = self._kills[-1]
            self._kills[-1] = text + last if before_cursor else last + text
        else:
            self._kills.append(text)
            del self._kills[:-MAX_KILLS]
        self._is_open = True

    def close(self) -> None:
        """End a row of kills: another key was pressed."""
        self._is_open = False

    @property
    def last(self) -> str:
        """The last kill, empty if there is none."""
        return self._kills[-1] if self._kills else ""
