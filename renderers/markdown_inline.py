"""The inside of one Markdown paragraph, heading or cell as styled pieces: emphasis, code, links, breaks.

HTML stays literal text, images become their alt text, and a link is its text and its address: nothing that a model
wrote becomes something to click.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from renderers.markdown_rows import Row
from renderers.text import sanitise

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

References = dict[str, dict[str, str]]

_OPENS = {"strong_open": "bold", "em_open": "italic", "s_open": "strike"}
_CLOSES = {"strong_close": "bold", "em_close": "italic", "s_close": "strike"}


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("strikethrough")


def normalise_label(label: str) -> str:
    """Return a reference label as markdown-it keys it."""
    from markdown_it.common.utils import normalizeReference

    return normalizeReference(label)


def inline_rows(source: str, references: References, base: str = "") -> list[Row]:
    """Return one row of pieces for each hard-broken line of sanitised inline Markdown, in the base style. Never empty.

    Markers that aren't closed (yet) stay as they were written.
    """
    if not source:
        return [[]]
    parser = _parser()
    tokens: list[Token] = []
    parser.inline.parse(source.replace("\t", " "), parser, {"references": references}, tokens)
    return _Walker(base).walk(tokens)


class _Walker:
    """Keeps the attributes that are open while the tokens of one text are walked."""

    def __init__(self, base: str) -> None:
        words = base.split()
        self._attributes = [word for word in words if not word.startswith("$")]
        self._colours = [word for word in words if word.startswith("$")] or [""]
        self._rows: list[Row] = [[]]

    def walk(self, tokens: Sequence[Token]) -> list[Row]:
        href = ""
        label_at = (0, 0)
        for token in tokens:
            kind = token.type
            if kind == "text":
                self._put(token.content)
            elif kind in _OPENS:
                self._attributes.append(_OPENS[kind])
            elif kind in _CLOSES:
                self._attributes.remove(_CLOSES[kind])
            elif kind == "code_inline":
                self._coloured(token.content, "$md-code")
            elif kind == "softbreak":
                self._put(" ")
            elif kind == "hardbreak":
                self._rows.append([])
            elif kind == "link_open":
                href = str(token.attrs.get("href", ""))
                label_at = (len(self._rows), len(self._rows[-1]))
                self._attributes.append("underline")
                self._colours.append("$md-link")
            elif kind == "link_close":
                self._attributes.remove("underline")
                self._colours.pop()
                self._address(href, self._text_since(label_at))
            elif kind == "image":
                self._coloured(f"[image: {token.content or token.attrs.get('src', '')}]", "$md-url")
            else:
                self._put(token.content)
        return self._rows

    def _style(self, colour: str) -> str:
        return " ".join([*dict.fromkeys(self._attributes), *([colour] if colour else [])])

    def _put(self, text: str) -> None:
        # Once more, because an entity (&#x1b;) becomes its character only here.
        text = " ".join(sanitise(text).replace("\t", " ").split("\n"))
        if not text:
            return
        row, style = self._rows[-1], self._style(self._colours[-1])
        if row and row[-1][1] == style:
            row[-1] = (row[-1][0] + text, style)
        else:
            row.append((text, style))

    def _coloured(self, text: str, colour: str) -> None:
        self._colours.append(colour)
        self._put(text)
        self._colours.pop()

    def _text_since(self, at: tuple[int, int]) -> str:
        rows = self._rows[at[0] - 1 :]
        pieces = [*rows[0][at[1] :], *(piece for row in rows[1:] for piece in row)]
        return "".join([text for text, _ in pieces])

    def _address(self, href: str, label: str) -> None:
        bare = href.removeprefix("mailto:")
        if bare and label.strip() not in (bare, _decoded(bare)):
            self._coloured(f" ({_decoded(bare)})", "$md-url")


def _decoded(address: str) -> str:
    """The address as people write it; escapes that would be invisible or turn the text stay escapes."""
    from urllib.parse import unquote

    plain = unquote(address, errors="replace")
    is_clean = sanitise(plain) == plain and "\ufffd" not in plain and not any(blank in plain for blank in " \n\t")
    return plain if is_clean else sanitise(address)
