"""Requests to do something: write, edit, run, test, explain; and the tour."""

from __future__ import annotations

import re

from app.ai.adapters.offline_intents import EditFile, Explain, Intent, Run, RunTests, Stop, Tour, Unclear, WriteFile
from app.ai.adapters.offline_words import PATH, QUOTED, MarkedText, as_command, is_path, whole

# Typed bare, these are commands rather than English.
_COMMANDS = "git|pwd|echo|npm|npx|cargo|python3?|node|pytest|date|whoami|uname|pip|uv|wc|head|tail"
_TOPICS = (
    ("keys", r"keys|keyboard|shortcuts?|hotkeys|quit|exit|leave"),
    ("providers", r"providers?|models?|api[\s-]?keys?|key|log\s?in|accounts?|anthropic|openai|openrouter|real\s+model"),
    ("sessions", r"sessions?|resume|continue|branch(?:es)?|tree|forks?|history"),
    ("commands", r"commands?|slash|flags?|options?|command\s+line"),
    ("ssh", r"ssh|remote|slow\s+line"),
    ("help", r"help|tools?|you\s+do|can\s+you|understand"),
    ("pinyon", r"pinyon|yourself|you|this\s+program|this"),
)


def ask_stop(request: MarkedText, piece: str) -> Intent | None:
    """Leave what was asked before."""
    return Stop() if whole(r"(?:stop|cancel|abort|never\s*mind|forget\s+(?:it|that)|halt)\b.{0,30}", piece) else None


def ask_tour(request: MarkedText, piece: str) -> Intent | None:
    """See everything the guide can do."""
    pattern = (
        r"(?:show|tell)\s+(?:me\s+)?(?:everything|all|what)\b.*\byou\s+can(?:\s+do)?"
        r"|(?:(?:take|give|show|start)\s+.*)?\b(?:tour|demo)"
    )
    return Tour() if whole(pattern, piece) else None


def ask_write(request: MarkedText, piece: str) -> Intent | None:
    """A file with a content; Unclear if the content is missing."""
    named = rf"(?:(?:a|an|the)\s+)?(?:(?:new|text|small|empty)\s+)*(?:file\s+)?(?:(?:called|named)\s+)?{PATH}"
    turned = whole(rf"(?:write|put|save|add)\s+({QUOTED})\s+(?:in|into|to|as)\s+{named}", piece)
    if turned:
        return WriteFile(request.meant(turned[2]), _content(request, turned[1]))
    match = re.match(rf"(?:write|create|make|save)\s+(?:to\s+)?{named}\s*", piece, re.IGNORECASE)
    if not match or not is_path(request, match[1].rstrip(":")):
        return None
    path = request.meant(match[1])
    rest = piece[match.end() :].strip()
    if re.search(r"\bempty\b", match[0], re.IGNORECASE) and not rest:
        return WriteFile(path, "")
    lead = re.compile(
        r"^(?:with|containing|saying|that\s+(?:says|contains|reads)|and\s+put|holding)?\s*(?:(?:the|this)\s+)?"
        r"(?:contents?|text|lines?|words?)?\s*(?:in\s+it)?\s*:?\s*",
        re.IGNORECASE,
    )
    body = lead.sub("", rest, count=1)
    if not body or (body == rest and not re.fullmatch(QUOTED, rest) and not match[1].endswith(":")):
        return Unclear(request.raw(piece), f"say what to write into {path}, in quotes or in a ``` block")
    return WriteFile(path, _content(request, body))


def _content(request: MarkedText, marked: str) -> str:
    content = request.meant(marked)
    return content if request.fenced(marked) or content.endswith("\n") else content + "\n"


def ask_edit(request: MarkedText, piece: str) -> Intent | None:
    """One text for another in a file; Unclear if only the file is named."""
    verbs = r"(?:replace|change|substitute|swap|rename)\s+(?:the\s+)?(?:(?:text|word|line)\s+)?"
    there = rf"(?:the\s+)?(?:file\s+)?{PATH}"
    first = whole(
        rf"(?:in|edit|change|modify|update)\s+{there}\s*[:,]?\s*(?:and\s+|to\s+|by\s+)?{verbs}(.+?)"
        rf"\s+(?:with|by|to|into)\s+(.+?)(?:\s+in\s+{PATH})?",
        piece,
    )
    if first and is_path(request, first[1].rstrip(":")):
        return EditFile(request.meant(first[1]), request.meant(first[2]), request.meant(first[3]))
    last = whole(rf"{verbs}(.+?)\s+(?:with|by|to|into)\s+(.+?)\s+(?:in|inside|of)\s+{there}", piece)
    if last:
        return EditFile(request.meant(last[3]), request.meant(last[1]), request.meant(last[2]))
    lone = whole(rf"(?:edit|modify|update)\s+{there}.*", piece)
    if lone and is_path(request, lone[1]):
        return Unclear(
            request.raw(piece), f'say what to change: `replace "old" with "new" in {request.meant(lone[1])}`'
        )
    return None


def ask_tests(request: MarkedText, piece: str) -> Intent | None:
    """The tests, or why they fail."""
    kinds = r"(?:(?:all|the|my|our|these|unit|whole|full|failing|project's)\s+)*(?:tests?|test[\s-]suite|suite)"
    if whole(rf"(?:(?:run|execute|start|try|check|do)\s+)?{kinds}(?:\s+(?:again|here|once\s+more))?", piece):
        return RunTests()
    if re.search(r"\btests?\b", piece, re.IGNORECASE) and re.search(
        r"\b(?:fail\w*|broke\w*|break\w*|red|errors?|wrong|fix|repair|pass|crash\w*)\b", piece, re.IGNORECASE
    ):
        fix = re.search(r"\b(?:fix|repair|mend)\b|\bmake\b.*\bpass", piece, re.IGNORECASE)
        return None if re.match(r"(?:search|grep|write|read)\b", piece, re.IGNORECASE) else RunTests(True, bool(fix))
    return None


def ask_run(request: MarkedText, piece: str) -> Intent | None:
    """A command, quoted or not, or a script."""
    lead = r"(?:run|execute|exec)\s+(?:(?:the|this)\s+)?(?:(?:shell|bash)\s+command\s*:?\s*|command\s*:?\s*|script\s+)?"
    match = whole(rf"(?:{lead}|[!$]\s*)(.+)", piece)
    if match:
        lone = whole(rf"({QUOTED})(?:\s+(?:command|in\s+(?:the\s+)?(?:shell|bash|terminal)))?", match[1])
        command = request.meant(lone[1]) if lone else request.raw(match[1])
        return Run(as_command(command.strip())) if command.strip() else None
    if whole(rf"(?:(?:{_COMMANDS})(?:\s.*)?|(?:ls|grep|find|cat)\s+-.*)", piece):
        return Run(request.raw(piece))
    return None


def ask_explain(request: MarkedText, piece: str) -> Intent | None:
    """A page about Pinyon; None unless one of its topics is named."""
    if whole(r"help|\?|hi|hello|hey|thanks|thank\s+you|good\s+(?:morning|evening|day)", piece):
        return Explain("help")
    if not re.match(
        r"(?:explain|describe|tell|what|how|who|which|show|help|about|teach|can|are)\b", piece, re.IGNORECASE
    ):
        return None
    if len(piece.split()) > 12:
        return None
    for topic, words in _TOPICS:
        if re.search(rf"\b(?:{words})\b", piece, re.IGNORECASE):
            return Explain(topic)
    return None
