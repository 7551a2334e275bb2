"""Source text coloured by language, line by line; pygments is imported at the first fence, never at start.

Lines are lexed alone while a fence streams (a string over several lines is then coloured wrongly for a while) and once
more as a whole when it closes; above a bound code stays plain, because a lexer's time is the user's.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from textual.content import Content, Span

from renderers.markdown_rows import Row
from renderers.text import expand_tabs, sanitise

if TYPE_CHECKING:
    from pygments.lexer import Lexer
    from pygments.token import _TokenType

LIMIT_LINES = 2_000
LIMIT_CHARS = 200_000
LIMIT_LINE_CHARS = 2_000

_STYLES: dict[str, str] = {
    "Comment": "italic $code-comment",
    "Comment.Preproc": "$code-keyword",
    "Keyword": "$code-keyword",
    "Keyword.Type": "$code-type",
    "Literal": "$code-number",
    "Literal.String": "$code-string",
    "Literal.Number": "$code-number",
    "Name": "$code-name",
    "Name.Attribute": "$code-type",
    "Name.Builtin": "$code-function",
    "Name.Builtin.Pseudo": "$code-keyword",
    "Name.Class": "$code-type",
    "Name.Constant": "$code-number",
    "Name.Decorator": "$code-function",
    "Name.Exception": "$code-type",
    "Name.Function": "$code-function",
    "Name.Namespace": "$code-type",
    "Name.Tag": "$code-keyword",
    "Operator": "$code-operator",
    "Operator.Word": "$code-keyword",
    "Punctuation": "$code-text",
    "Error": "$code-text",
    "Generic.Deleted": "$code-deleted",
    "Generic.Inserted": "$code-added",
    "Generic.Heading": "bold $code-function",
    "Generic.Subheading": "$code-function",
    "Generic.Prompt": "$code-comment",
    "Generic.Error": "$code-error",
    "Generic.Traceback": "$code-error",
    "Generic.Emph": "italic $code-text",
    "Generic.Strong": "bold $code-text",
}
PLAIN_STYLE = "$code-text"


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=256)
def language_of(filename: str) -> str:
    """Return pygments' short name of the language that a file's name stands for, "" if none does."""
    from pygments.lexers import find_lexer_class_for_filename

    found = find_lexer_class_for_filename(filename.replace("\\", "/").rsplit("/", 1)[-1])
    return found.aliases[0] if found is not None and found.aliases else ""


@lru_cache(maxsize=512)
def _style(token: _TokenType) -> str:
    name = str(token).removeprefix("Token").removeprefix(".")
    while name:
        if name in _STYLES:
            return _STYLES[name]
        name = name.rpartition(".")[0]
    return PLAIN_STYLE


def highlight_rows(code: str, language: str) -> list[Row]:
    """Return one row of pieces for each line of sanitised code without tabs; a final line feed begins no row.

    Plain when the language is unknown or the code is above the bounds. A lexer that fails gives plain rows too.
    """
    lines = code.removesuffix("\n").split("\n")
    lexer = _lexer(language.lower()) if language else None
    if lexer is None or len(lines) > LIMIT_LINES or len(code) > LIMIT_CHARS or max(map(len, lines)) > LIMIT_LINE_CHARS:
        return plain_rows(lines)
    rows: list[Row] = [[]]
    try:
        # Many lexers know a line only by its end, the last one too.
        for _, token, value in lexer.get_tokens_unprocessed(code.removesuffix("\n") + "\n"):
            style = _style(token)
            head, *more = value.split("\n")
            if head:
                _add(rows[-1], head, style)
            for part in more:
                rows.append([(part, style)] if part else [])
    except Exception:  # a lexer is foreign code run on foreign text; the text itself is still shown
        return plain_rows(lines)
    if not rows[-1]:
        rows.pop()
    return rows if len(rows) == len(lines) else plain_rows(lines)


@lru_cache(maxsize=128)
def highlight_chunk(code: str, language: str) -> tuple[Row, ...]:
    """Return `highlight_rows`, kept for the next layout (a resize would lex every fence again); not to be changed."""
    return tuple(highlight_rows(code, language))


def plain_rows(lines: list[str]) -> list[Row]:
    """Return the lines as rows in the colour of plain code."""
    return [[(line, PLAIN_STYLE)] if line else [] for line in lines]


def _add(row: Row, text: str, style: str) -> None:
    if row and row[-1][1] == style:
        row[-1] = (row[-1][0] + text, style)
    else:
        row.append((text, style))


def highlight_lines(code: str, language: str) -> list[Content]:
    """Return one Content for each line of any code (sanitised here, tabs expanded), coloured by token names."""
    contents: list[Content] = []
    for row in highlight_rows(expand_tabs(sanitise(code)), language):
        text = ""
        spans: list[Span] = []
        for part, style in row:
            spans.append(Span(len(text), len(text) + len(part), style))
            text += part
        contents.append(Content(text, spans))
    return contents
