"""Requests to look at files: list, find, read, search."""

from __future__ import annotations

import re

from app.ai.adapters.offline_intents import FindFiles, Intent, ListFiles, ReadFiles, Search
from app.ai.adapters.offline_words import HERE, QUOTED, MarkedText, is_path, place, whole

_KINDS = {
    "python": "py", "markdown": "md", "text": "txt", "javascript": "js", "typescript": "ts", "json": "json",
    "yaml": "y*ml", "toml": "toml", "rust": "rs", "go": "go", "java": "java", "c": "c", "html": "html", "css": "css",
    "shell": "sh", "log": "log",
}  # fmt: skip
_LINES = re.compile(
    r"\b(?:from\s+)?lines?\s+(?P<a>\d+)(?:\s*(?:-|–|to|through|until|and)\s*(?P<b>\d+))?\b"
    r"|\b(?:the\s+)?first\s+(?P<n>\d+)\s+lines\b",
    re.IGNORECASE,
)
_NOISE = frozenset(
    ["the", "a", "file", "files", "of", "in", "me", "contents", "content", "from", "both", "whole", "and", "at", "to"]
)


def ask_search(request: MarkedText, piece: str) -> Intent | None:
    """Search for a text or /expression/ in a file or folder."""
    what = (
        r"(?:(?:text|string|word|phrase|uses?|usages?|occurrences?|mentions?|lines?)\s+"
        r"(?:(?:of|with|containing|matching)\s+)?(?:the\s+)?)"
    )
    where = r"(?:\s+(?:in|inside|within|under)\s+(?P<where>.+?))?"
    turned = whole(r"(?:search|grep|scan)\s+(?:(?:in|through)\s+)?(?P<where>.+?)\s+for\s+(?P<what>.+)", piece)
    if turned and (HERE.match(turned["where"]) or (len(turned["where"].split()) == 1 and turned["where"] != "for")):
        return _searched(request, turned)
    for pattern in (
        rf"(?:search|grep|scan)\s+(?:for\s+)?(?:(?:all|every|the)\s+)*{what}?(?P<what>.+?){where}",
        rf"(?:look\s+for|find)\s+(?:(?:all|every|the)\s+)*{what}(?P<what>.+?){where}",
        rf"(?:look\s+for|find)\s+(?P<what>{QUOTED}){where}",
        r"(?:(?:find|show\s+me|tell\s+me)\s+(?:out\s+)?)?where\s+(?:(?:is|are|do(?:es)?|we)\s+)*(?:the\s+)?(?P<what>.+?)"
        rf"\s+(?:is\s+|are\s+)?(?:defined|used|mentioned|called|declared|set|appears?){where}",
    ):
        match = whole(pattern, piece)
        if match and not (piece[:4].lower() == "find" and _names_files(request, match["what"])):
            return _searched(request, match)
    return None


def _names_files(request: MarkedText, marked: str) -> bool:
    """Whether a quoted piece after "find" is a file's name or a glob rather than a text."""
    return bool(re.fullmatch(QUOTED, marked) and re.search(r"[*?]|\.\w+$", request.meant(marked)))


def _searched(request: MarkedText, match: re.Match[str]) -> Intent:
    pattern = request.meant(match["what"])
    where = place(request, match["where"])
    if len(pattern) > 2 and pattern.startswith("/") and pattern.endswith("/"):
        return Search(pattern[1:-1], where, literal=False)
    return Search(pattern, where)


def ask_find(request: MarkedText, piece: str) -> Intent | None:
    """Files by name, kind or glob."""
    kinds = "|".join(_KINDS)
    how = r"(?:named|called|matching|like|ending\s+(?:in|with)|with\s+(?:the\s+)?(?:name|extension|ending))"
    where = r"(?:\s+(?:in|under|inside)\s+(?P<where>.+?))?"
    many = whole(
        rf"(?:find|locate|list|show|search\s+for|look\s+for|where\s+are)\s+(?:me\s+)?(?:(?:all|every|any|the)\s+)*"
        rf"(?:(?P<kind>{kinds})\s+)?files?(?:\s+{how})?"
        rf"(?:\s+(?!in\b|under\b|inside\b|here\b)(?P<name>\S+))?{where}(?:\s+here)?",
        piece,
    )
    wide = re.match(r"(?:find|locate|search)", piece, re.IGNORECASE)
    if many and wide and not many["kind"] and not many["name"]:
        return FindFiles("*", place(request, many["where"]))
    if many and (many["kind"] or many["name"]):
        pattern = f"*.{_KINDS[many['kind'].lower()]}" if many["kind"] else _glob(request.meant(many["name"]))
        return FindFiles(pattern, place(request, many["where"]))
    lead = r"(?:find|locate|look\s+for|where(?:'s|\s+is))\s+(?:(?:all|every|the|a)\s+)*"
    one = whole(rf"{lead}(?P<name>{QUOTED}|\S+){where}", piece)
    if one:
        return FindFiles(_glob(request.meant(one["name"])), place(request, one["where"]))
    return None


def _glob(name: str) -> str:
    if re.search(r"[*?\[]", name) or "/" in name:
        return name
    if name.startswith("."):
        return "*" + name
    return name if "." in name else f"*{name}*"


def ask_list(request: MarkedText, piece: str) -> Intent | None:
    """The entries of a folder."""
    things = (
        r"(?:(?:all|the|every|my|our)\s+)*"
        r"(?:files?|folders?|director(?:y|ies)|entries|contents?|everything|things)(?:\s+(?:and|or)\s+(?:files?|folders|directories))?"
    )
    asked = r"list|ls|dir|(?:show|give|tell|display|print)(?:\s+me)?(?:\s+(?:what|which))?|what|which"
    joint = r"(?:\s+(?:are|is))?(?:\s+there)?(?:\s+(?:in|of|inside|under|at|from))?"
    for pattern in (rf"(?:{asked})\s+{things}{joint}(?:\s+(?P<where>.+))?", r"(?:list|ls|dir)(?:\s+(?P<where>.+))?"):
        match = whole(pattern, piece)
        if match:
            where = match["where"] or "."
            return ListFiles(place(request, where)) if len(where.split()) <= 3 else None
    inside = whole(
        r"(?:show\s+(?:me\s+)?|tell\s+me\s+)?what(?:'s|\s+is|\s+do\s+we\s+have)?\s+(?:(?:in|inside)\s+)?(?P<where>\S+(?:\s+\S+){0,2})",
        piece,
    )
    if inside and (HERE.match(inside["where"]) or inside["where"].endswith("/")):
        return ListFiles(place(request, inside["where"]))
    return None


def ask_read(request: MarkedText, piece: str) -> Intent | None:
    """One or more files, whole or some lines."""
    match = re.match(
        r"(read|open|show|cat|print|display|view|look\s+(?:at|into|in)|see|inspect|check"
        r"|(?:tell\s+me\s+)?what(?:'s|\s+is)\s+in)\s+",
        piece,
        re.IGNORECASE,
    )
    if not match:
        return None
    rest = piece[match.end() :]
    lines = _LINES.search(rest)
    first = last = None
    if lines:
        rest = rest[: lines.start()] + " " + rest[lines.end() :]
        first = 1 if lines["n"] else int(lines["a"])
        last = int(lines["n"] or lines["b"] or lines["a"])
        last = None if lines["a"] and not lines["b"] and lines[0].lower().startswith("from") else last
    words = [word for word in re.split(r"[\s,]+", rest) if word and word.lower() not in _NOISE]
    sure = match[1].lower() in ("read", "cat", "open") and len(words) == 1
    if not words or not (sure or all(is_path(request, word) for word in words)):
        return None
    paths = [request.meant(word) for word in words]
    suffix = re.fullmatch(r"(.+?):(\d+)(?:-(\d+))?", paths[0]) if len(paths) == 1 else None
    if suffix:
        paths, first = [suffix[1]], int(suffix[2])
        last = int(suffix[3] or suffix[2])
    if len(paths) == 1 and (paths[0].endswith("/") or paths[0] in (".", "..")):
        return ListFiles(paths[0])
    return ReadFiles(tuple(paths), first, last)
