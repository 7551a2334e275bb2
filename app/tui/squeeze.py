"""Terminal output with fewer bytes and the same look: styles are told as changes, not anew for each piece of text.

A piece of text costs Textual about 40 bytes of colours before it and a reset behind it, five sixths of a page. Each
call starts and ends in the terminal's default style, so that nothing is assumed about what stood there before.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_SGR = re.compile(r"\x1b\[([0-9;]*)m")
_PLACE = re.compile(r"\x1b\[[0-9;]*H|\x1b\[\?2026[hl]|[\r\n]")
_NEEDLESS = re.compile(r"\r\n(?=\x1b\[[0-9]+;[0-9]+H)")
"""A line feed that a placing of the cursor follows."""
_OFF = {"1": "22", "2": "22", "3": "23", "4": "24", "21": "24", "5": "25", "6": "25", "7": "27", "8": "28", "9": "29"}
_OFF |= {"51": "54", "52": "54", "53": "55"}
_SHOWN_ON_BLANKS = frozenset(("4", "21", "7", "9", "51", "52", "53"))


class Look(NamedTuple):
    """How text looks: the codes of its attributes, of its colour and of the one behind it ("": the terminal's)."""

    attributes: frozenset[str]
    colour: str
    behind: str


class UnknownCodeError(ValueError):
    """A code that is none of those above."""


PLAIN = Look(frozenset(), "", "")


def squeezed(data: str) -> str:
    """Return output that leaves the same screen behind, but for the invisible colour of blanks. Never raises."""
    if "m" not in data or "\x1b[" not in data:
        return data
    try:
        return _squeeze(data)
    except UnknownCodeError:
        return data


def _squeeze(data: str) -> str:
    out: list[str] = []
    now = wanted = PLAIN
    pieces = _SGR.split(_NEEDLESS.sub("", data))
    for number, piece in enumerate(pieces):
        if number % 2:
            wanted = _after(wanted, piece)
            continue
        if not piece:
            continue
        shown = _PLACE.sub("", piece) if "\x1b" in piece or "\n" in piece or "\r" in piece else piece
        if shown:
            target = _on_blanks(now, wanted) if not shown.strip(" ") else wanted
            if target != now:
                out.append(_change(now, target))
                now = target
        out.append(piece)
    if now != wanted:
        out.append(_change(now, wanted))
    return "".join(out)


def _on_blanks(now: Look, wanted: Look) -> Look:
    """The nearest look in which blanks look as wanted: their colour doesn't show, nor do bold and italic."""
    if (now.attributes | wanted.attributes) & _SHOWN_ON_BLANKS:
        return wanted
    return now if now.behind == wanted.behind else Look(now.attributes, now.colour, wanted.behind)


@lru_cache(4096)
def _after(look: Look, codes: str) -> Look:
    attributes, colour, behind = set(look.attributes), look.colour, look.behind
    rest = codes.split(";") if codes else ["0"]
    while rest:
        code = rest.pop(0).lstrip("0")
        if not code:
            attributes, colour, behind = set(), "", ""
        elif code in ("38", "48"):
            length = {"2": 4, "5": 2}.get(rest[0] if rest else "")
            if length is None or len(rest) < length:
                raise UnknownCodeError(codes)
            value = ";".join((code, *rest[:length]))
            del rest[:length]
            if code == "38":
                colour = value
            else:
                behind = value
        elif code in _OFF:
            attributes.add(code)
        elif code in _OFF.values():
            attributes = {each for each in attributes if _OFF[each] != code}
        elif code == "39":
            colour = ""
        elif code == "49":
            behind = ""
        elif code.isdigit() and (30 <= int(code) <= 37 or 90 <= int(code) <= 97):
            colour = code
        elif code.isdigit() and (40 <= int(code) <= 47 or 100 <= int(code) <= 107):
            behind = code
        else:
            raise UnknownCodeError(codes)
    return Look(frozenset(attributes), colour, behind)


@lru_cache(4096)
def _change(now: Look, wanted: Look) -> str:
    """The shortest sequence from one look to the other."""
    if now == wanted:
        return ""
    if wanted == PLAIN:
        return "\x1b[0m"
    off = {_OFF[code] for code in now.attributes - wanted.attributes}
    still = {code for code in now.attributes & wanted.attributes if _OFF[code] not in off}
    codes = sorted(off) + sorted(wanted.attributes - still, key=int)
    if now.colour != wanted.colour:
        codes.append(wanted.colour or "39")
    if now.behind != wanted.behind:
        codes.append(wanted.behind or "49")
    anew = ["0", *sorted(wanted.attributes, key=int), *filter(None, (wanted.colour, wanted.behind))]
    return f"\x1b[{min(';'.join(codes), ';'.join(anew), key=len)}m"
