"""The remarks that tools append for the model ("[5 more lines …]"): told apart from the text they stand under."""

from __future__ import annotations

import re

from textual.content import Content

from renderers.rows import Row

_ROOM = 1_200
_MOST = 4
_NOTICE = re.compile(r"(?:\A|\n\n)(\[[^\n]*\])\s*\Z")
_SENTENCE = re.compile(r"\[\w[^\n]* [^\n]*\.\]")


def split_notice(text: str) -> tuple[str, str]:
    """The text without the remark in brackets that a tool appends after a blank line, and that remark ("" if none)."""
    tail = text[-_ROOM:]
    found = _NOTICE.search(tail)
    if found is None or (found.start() == 0 and not found[0].startswith("\n") and len(text) > len(tail)):
        return text, ""
    return text[: len(text) - len(tail) + found.start()], found[1]


def split_notices(text: str, *, any_form: bool = False) -> tuple[str, list[str]]:
    """The same for several remarks, first to last; only whole sentences unless `any_form`: a file may end in "[x]"."""
    notices: list[str] = []
    while len(notices) < _MOST:
        rest, notice = split_notice(text)
        if not notice or not (any_form or _SENTENCE.fullmatch(notice)):
            break
        text = rest
        notices.insert(0, notice)
    return text, notices


def notice_rows(*notices: str) -> list[Row]:
    """The remarks as rows of their own, empty ones left out."""
    from renderers.text import one_line

    return [Row(Content.styled(one_line(notice), "$text-warning")) for notice in notices if notice]
