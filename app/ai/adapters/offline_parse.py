"""Plain English requests as intents of the offline guide; it must never guess what it can't parse."""

from __future__ import annotations

import re
from collections.abc import Callable

from app.ai.adapters import offline_asks_do as do
from app.ai.adapters import offline_asks_look as look
from app.ai.adapters.offline_intents import EditFile, Explain, Intent, ReadFiles, Run, Stop, Unclear, WriteFile
from app.ai.adapters.offline_words import CLOSE, OPEN, MarkedText, as_command

_LONGEST = 3_000  # characters, quoted pieces not counted: more is a document, not a request
_ATTACHED = re.compile(r'^<file name="[^"\n]*">.*?^</file>', re.DOTALL | re.MULTILINE)
_VERBS = "list|show|read|open|cat|search|grep|find|run|execute|write|create|edit|replace|change|explain|print|display"
_SPLIT = re.compile(
    r"(\s*,?\s+(?:and\s+then|then|after\s+that|afterwards)\s*,?\s+|\s*;\s*"
    rf"|(?<=[^\s.])[.!?]\s+(?=[A-Z{OPEN}])|\n+(?=\s*(?:[-*]|\d+[.)])\s)"
    rf"|\s*,?\s+and\s+(?=(?:also\s+)?(?:{_VERBS})\b))"
)
_POLITE = re.compile(
    r"^\s*(?:[-*]\s+|\d+[.)]\s+|(?:please|pls|kindly|now|okay|ok|no|wait|rather|also|first|finally|next|and|then|hey|hi|hello|so|just"
    r"|instead|(?:can|could|would|will)\s+you|i\s+(?:want|need)\s+(?:you\s+)?to|i'd\s+like\s+(?:you\s+)?to|let's"
    r"|let\s+us|go\s+ahead\s+and|try\s+to)\b[,:]?\s*)",
    re.IGNORECASE,
)


def parse(text: str) -> list[Intent]:
    """What `text` asks for, in order; never empty. Pieces joined by "then" are separate requests if each is one.

    If nothing is understood, the last paragraph alone may be: what comes before it is often piped in.
    """
    intents = _parse(text)
    before, _, last = text.strip().rpartition("\n\n")
    if before and all(isinstance(intent, Unclear) for intent in intents):
        of_last = _parse(last)
        return intents if any(isinstance(intent, Unclear) for intent in of_last) else of_last
    return intents


def _parse(text: str) -> list[Intent]:
    request = MarkedText(_ATTACHED.sub(" ", text).strip())
    parts = _SPLIT.split(request.marked) if len(request.marked) <= _LONGEST else []
    if not parts or len(parts) > 100:
        return [Unclear(_short(text[:1000]), "that is too long for me: ask for one thing at a time")]
    found: list[tuple[str, Intent | None]] = []
    for index in range(0, len(parts), 2):
        piece = parts[index]
        if not piece.strip(" \t\n.!?,"):
            continue
        intent = _one(request, piece)
        if found:
            together = found[-1][0] + parts[index - 1] + piece
            joined = _joined(request, parts[index - 1], together, found[-1][1], intent)
            if joined is not None:
                found[-1] = (together, joined)
                continue
        found.append((piece, intent))
    intents = [intent or _unclear(request, piece) for piece, intent in found]
    return _name_pronouns(intents) or [Unclear("")]


def drops_earlier(text: str) -> bool:
    """Whether a message that steers a run replaces what was asked before ("stop", "instead …")."""
    return bool(re.match(r"\s*(?:no\b|wait\b|instead\b|rather\b)", text, re.IGNORECASE)) or Stop() in parse(text)


def _joined(
    request: MarkedText, between: str, together: str, before: Intent | None, after: Intent | None
) -> Intent | None:
    """Two pieces as one request, if they are one: a shell's `;`, or words that mean nothing alone."""
    if before is not None and after is not None:
        if not (isinstance(before, Run) and ";" in between and isinstance(after, Run | Explain)):
            return None
    elif isinstance(before, Run) and ";" not in between:
        return None
    return _one(request, together)


def _unclear(request: MarkedText, piece: str) -> Unclear:
    named = next((word for word in re.findall(r"[\w./~-]*\w\.\w+", piece) if not word[0].isdigit()), None)
    hint = f"I can show you that file: `read {named}`" if named else ""
    return Unclear(_short(request.raw(piece)), hint)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 120 else text[:119] + "…"


def _name_pronouns(intents: list[Intent]) -> list[Intent]:
    """`run it` means the file named just before."""
    path = ""
    named: list[Intent] = []
    for intent in intents:
        if isinstance(intent, WriteFile | EditFile):
            path = intent.path
        elif isinstance(intent, ReadFiles):
            path = intent.paths[-1]
        elif isinstance(intent, Run) and intent.command.lower() in ("it", "that", "this", "the file"):
            command = as_command(path)
            sure = path and (command != path or "/" in path)
            intent = (
                Run(command) if sure else Unclear("run it", f"say the command that runs {path or 'it'}, in backticks")
            )
        named.append(intent)
    return named


def _one(request: MarkedText, piece: str) -> Intent | None:
    """The intent of one piece, None if it is none."""
    while (shorter := _POLITE.sub("", piece, count=1)) != piece and shorter.strip():
        piece = shorter
    piece = re.sub(rf"(?<=[\w{CLOSE})])[.!?]+$", "", piece.strip())
    piece = re.sub(r"(?<=\S)[,\s]+(?:please|for\s+me|thanks|now)$", "", piece, flags=re.IGNORECASE)
    return next((intent for reader in _READERS if (intent := reader(request, piece)) is not None), None)


Reader = Callable[[MarkedText, str], Intent | None]
_READERS: tuple[Reader, ...] = (
    do.ask_stop, do.ask_tour, do.ask_write, do.ask_edit, do.ask_tests, do.ask_run,
    look.ask_search, look.ask_find, look.ask_read, look.ask_list, do.ask_explain,
)  # fmt: skip
