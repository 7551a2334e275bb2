"""From the path a model writes to a place on disk, and back to a name that can be shown; it must never open a file."""

from __future__ import annotations

import errno
import os
import re
import unicodedata
from pathlib import Path

from app.errors import ToolError

_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_BEFORE_AM_PM = re.compile(r" (AM|PM)\b")
_NOT_SHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def resolve_path(path: str, cwd: Path) -> Path:
    """The absolute place that `path` means in `cwd`: one leading @ and `~` understood, odd spaces made plain.

    `..` is taken textually, as the reference does; links are left alone. Raises ToolError for an empty path or a NUL.
    Source: spec core §3.4.
    """
    if "\0" in path:
        raise ToolError("The path holds a NUL character; no file can have such a name.")
    text = _SPACES.sub(" ", path.removeprefix("@"))
    if not text.strip():
        raise ToolError("The path is empty.")
    if text == "~" or text.startswith("~/"):
        text = os.path.expanduser(text)
    return Path(os.path.normpath(os.path.join(cwd, text)))


def resolve_existing(path: str, cwd: Path) -> Path:
    """As `resolve_path`, but a missing name is tried in the forms that macOS gives to names (spec core §3.4).

    Tried in order: narrow space before AM/PM, decomposed accents, curly apostrophe, both; else the name as it is.
    """
    plain = resolve_path(path, cwd)
    if os.path.lexists(plain):
        return plain
    # The odd spaces themselves may be in the name.
    typed = Path(os.path.normpath(os.path.join(cwd, os.path.expanduser(path.removeprefix("@")))))
    text = str(plain)
    decomposed = unicodedata.normalize("NFD", text)
    forms = (
        str(typed),
        _BEFORE_AM_PM.sub("\u202f\\1", text),
        decomposed,
        text.replace("'", "\u2019"),
        decomposed.replace("'", "\u2019"),
        unicodedata.normalize("NFC", text),
    )
    for form in forms:
        if form != text and os.path.lexists(form):
            return Path(form)
    return plain


def shown(path: str | os.PathLike[str]) -> str:
    """The name with everything that is not visible text escaped (`\\n`, `\\xff`): safe in one line, valid UTF-8."""
    return _NOT_SHOWN.sub(_escaped, os.fspath(path))


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    if char in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[char]
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a name that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def os_failure(error: OSError, doing: str, path: str | os.PathLike[str]) -> ToolError:
    """The ToolError for an operating system's refusal: what failed, on what, the system's code and words."""
    code = errno.errorcode.get(error.errno or 0, "")
    reason = error.strerror or str(error)
    return ToolError(f"Could not {doing} {shown(path)}: {reason}" + (f" ({code})" if code else ""))
