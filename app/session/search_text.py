"""What of an entry can be found, and how scripts without blanks are cut into words; it must never read a file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.session.entries import RawEntry, as_text, message_of

TEXT_LIMIT = 64 * 1024
"""Characters of an entry that are searched: more than any tool result of ours has (50 kB)."""
# Scripts that part words by no blank: each character is a word of its own, a query of several is a phrase.
_UNSPACED = re.compile(
    r"([\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff])"
)
_HIDDEN = frozenset(("signature", "thinkingSignature", "thoughtSignature", "textSignature", "data"))


def searchable(raw: RawEntry) -> tuple[str, str] | None:
    """(role, text) of an entry that says something, None for any other; foreign text, at most TEXT_LIMIT characters.

    An assistant's text holds its thinking and the arguments of its calls; a tool result's role is the tool's name.
    """
    match raw.get("type"):
        case "message":
            message = message_of(raw)
            role = as_text(message.get("role")) or "message"
            if role == "bashExecution":
                parts: Iterator[str] = iter((_word(message.get("command")), _word(message.get("output"))))
            else:
                parts = _content(message.get("content"))
            if role == "toolResult":
                role = as_text(message.get("toolName")) or role
        case "custom_message":
            role, parts = as_text(raw.get("customType")) or "custom", _content(raw.get("content"))
        case "compaction":
            role, parts = "compaction", iter((_word(raw.get("summary")),))
        case "branch_summary":
            role, parts = "branch summary", iter((_word(raw.get("summary")),))
        case _:
            return None
    text = _joined(parts)
    return (role, text) if text else None


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _content(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if isinstance(block, str):
            yield block
        elif isinstance(block, dict):
            match block.get("type"):
                case "toolCall":
                    yield _word(block.get("name"))
                    yield from _strings(block.get("arguments"))
                case "image":
                    continue
                case _:
                    yield _word(block.get("text")) or _word(block.get("thinking"))


def _strings(value: object) -> Iterator[str]:
    """The strings inside a JSON value, in order; without recursion, for a model may nest as deep as it likes."""
    stack: list[object] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack.extend(part for key, part in reversed(item.items()) if key not in _HIDDEN)
        elif isinstance(item, list):
            stack.extend(reversed(item))


def _joined(parts: Iterator[str]) -> str:
    found: list[str] = []
    size = 0
    for part in parts:
        if part:
            found.append(part[: TEXT_LIMIT - size])
            size += len(part) + 1
            if size >= TEXT_LIMIT:
                break
    return "\n".join(found)


def spread(text: str) -> str:
    """The text as the index reads it: blanks round each character of a script that has none, no NUL, sound UTF-8."""
    if text.isascii():
        return text.replace("\0", " ")
    return _UNSPACED.sub(r" \1 ", text.replace("\0", " ")).encode("utf-8", "replace").decode("utf-8")
