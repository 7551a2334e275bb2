"""What a terminal pastes comes as one piece of text; nothing in it must ever act as a key.

Textual 8.2 takes an escape character within a bracketed paste for the start of a key, and then the rest of the paste
for keys as well: a line end in it would send a prompt, or run a command. It also looks at each character in turn, which
takes a second for a megabyte.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from textual import events
from textual._xterm_parser import XTermParser
from textual.message import Message

from renderers.text import sanitise

START = "\x1b[200~"
END = "\x1b[201~"
UNENDED_S = 2.0
"""A paste whose end has not come this long after its last piece is taken as it is, so that keys work again."""


EARLY_S = 1.0
"""What is read first and this soon was typed while we started."""


def _typed_early(data: str) -> str:
    """Give an enter back: before we have the terminal, it turns that into a line feed. Several may be a paste: kept."""
    typed, escape, rest = data.partition("\x1b")
    if typed.count("\n") == 1 and typed.endswith("\n"):
        typed = typed[:-1] + "\r"
    return typed + escape + rest


class PasteParser(XTermParser):
    """Textual's parser for keys, with pastes taken out before it sees them."""

    clock: Callable[[], float] = time.monotonic

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._before = ""  # the last characters outside a paste: a mark may come in two pieces
        self._pieces: list[str] | None = None  # of the paste that goes on
        self._is_split = False  # whether the parser below was given a part of the start mark
        self._last_at = 0.0
        self._is_first = True
        self._begun_at = self.clock()

    def feed(self, data: str) -> Iterable[Message]:
        """The events of what was read; "" at the end of all input."""
        if not data:
            yield from super().feed(data)
        if self._is_first:
            self._is_first = False
            if self.clock() - self._begun_at < EARLY_S:
                data = _typed_early(data)
        while data:
            if self._pieces is None:
                keys, data = self._until_paste(data)
                if keys:
                    yield from super().feed(keys)
            else:
                text, data = self._until_end(data)
                if text is not None:
                    yield from self._pasted(text)

    def tick(self) -> Iterable[Message]:
        """What the passing of time makes of what was read."""
        if self._pieces is not None and self.clock() - self._last_at > UNENDED_S:
            yield from self._pasted("".join(self._pieces))
        yield from super().tick()

    def _until_paste(self, data: str) -> tuple[str, str]:
        """What comes before a paste, for the parser below; and what comes after its start."""
        seen = self._before + data
        at = seen.find(START)
        if at < 0:
            self._before = seen[1 - len(START) :]
            return data, ""
        first = at - len(self._before)
        end = first + len(START)
        self._is_split = first < 0
        self._pieces, self._before, self._last_at = [], "", self.clock()
        return data[: end if self._is_split else first], data[end:]

    def _until_end(self, data: str) -> tuple[str | None, str]:
        """The paste once it is whole, else None; and what comes after it."""
        assert self._pieces is not None
        self._last_at = self.clock()
        tail = self._pieces.pop() if self._pieces else ""
        seen = tail + data
        at = seen.find(END)
        if at < 0:
            self._pieces += [seen[: 1 - len(END)], seen[1 - len(END) :]]
            return None, ""
        return "".join([*self._pieces, seen[:at]]), seen[at + len(END) :]

    def _pasted(self, text: str) -> Iterable[Message]:
        self._pieces = None
        if self._is_split:
            yield from super().feed(END)  # nothing came in between: it gives an empty paste
        yield events.Paste(sanitise(text))


def teach_pastes() -> None:
    """Have Textual's driver for Unix read with `PasteParser`."""
    try:
        from textual.drivers import linux_driver
    except ImportError:  # no Unix
        return
    vars(linux_driver)["XTermParser"] = PasteParser
