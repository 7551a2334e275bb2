"""Words of a request to the offline guide: quoted pieces taken out, paths and places told apart.

Quoted pieces become marks first, so that a word in a file's content or a command is never read as a request.
"""

from __future__ import annotations

import re

OPEN, CLOSE = "\ue000", "\ue001"  # private-use marks around the number of a quoted piece
QUOTED = f"{OPEN}\\d+{CLOSE}"
PATH = rf"({QUOTED}|[^\s,;!?]+)"
_QUOTE = re.compile(
    r"```[^\n`]*\n(?P<fence>.*?)```|`(?P<tick>[^`]+)`|\"(?P<double>(?:[^\"\\]|\\.){0,20000}+)\"|“(?P<curly>[^”]*)”"
    r"|(?<!\w)'(?P<single>[^'\n]+)'(?!\w)",
    re.DOTALL,
)
_NAMES = frozenset(
    ["readme", "license", "makefile", "dockerfile", "changelog", "gemfile", "rakefile", "justfile", "authors"]
)
HERE = re.compile(
    r"^(?:(?:the|this|my|our|whole|current|all|every|working)\s+)*(?:here|folder|directory|dir|project|repo|repository"
    r"|code|codebase|files?|everything|everywhere|it|this|workspace)$",
    re.IGNORECASE,
)


class MarkedText:
    """A request whose quoted pieces are numbered marks."""

    def __init__(self, text: str) -> None:
        self._pieces: list[tuple[str, str]] = []
        self.marked = _QUOTE.sub(self._mark, text.replace(OPEN, "").replace(CLOSE, ""))

    def _mark(self, match: re.Match[str]) -> str:
        content = match[match.lastgroup or 0]
        if match.lastgroup == "double":
            content = content.replace('\\"', '"')
        self._pieces.append((match[0], content))
        return f"{OPEN}{len(self._pieces) - 1}{CLOSE}"

    def raw(self, marked: str) -> str:
        """As it was typed."""
        return re.sub(QUOTED, lambda match: self._pieces[int(match[0][1:-1])][0], marked)

    def meant(self, marked: str) -> str:
        """A single quoted piece without its quotes, anything else as typed without a full stop at its end."""
        marked = marked.strip()
        if re.fullmatch(QUOTED, marked):
            return self._pieces[int(marked[1:-1])][1]
        bare = marked.rstrip(",;:!?")
        return self.raw(bare.rstrip(".") or bare)

    def fenced(self, marked: str) -> bool:
        """Whether it is one block in ``` fences."""
        return bool(re.fullmatch(QUOTED, marked.strip())) and self.raw(marked.strip()).startswith("```")


def whole(pattern: str, piece: str) -> re.Match[str] | None:
    """The match if `pattern` fits all of `piece` (case ignored), else None."""
    return re.match(rf"(?:{pattern})\s*$", piece, re.IGNORECASE | re.DOTALL)


def is_path(request: MarkedText, word: str) -> bool:
    """Whether a word looks like a file or folder: quoted, with a dot or slash, or a name like README."""
    if re.fullmatch(QUOTED, word):
        return True
    bare = word.rstrip(".")
    return "/" in word or "." in bare or word in (".", "..") or word.startswith("~") or bare.lower() in _NAMES


def place(request: MarkedText, marked: str | None) -> str:
    """A folder or file as named, `.` for words like "here"."""
    if not marked:
        return "."
    bare = re.sub(
        r"^(?:(?:the|this|my|our)\s+)?(?:(?:folder|directory|dir)\s+)?|\s+(?:folder|directory|dir)$",
        "",
        marked.strip(),
        flags=re.IGNORECASE,
    )
    return "." if HERE.match(marked.strip()) or HERE.match(bare) else request.meant(bare)


def as_command(word: str) -> str:
    """A script's name as the command that runs it; anything else is a command already."""
    runners = {".py": "python3", ".sh": "bash", ".js": "node", ".rb": "ruby"}
    runner = next((runner for end, runner in runners.items() if word.endswith(end)), None)
    return f"{runner} {word}" if runner and re.fullmatch(r"[\w./~-]+", word) else word
