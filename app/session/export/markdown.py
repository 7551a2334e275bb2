"""A branch as a Markdown document that reads well as plain text; tool output is fenced, whatever it holds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.session.entries import RawEntry, as_text, message_of
from app.session.export.text import blocks_of, main_argument, one_line, plain, pretty, texts_of, when
from app.session.view import SessionView

_TICKS = re.compile(r"`{3,}")


def document(view: SessionView, leaf: str | None) -> Iterator[str]:
    """The branch to `leaf`, a heading for each speaker."""
    branch = view.tree.branch(leaf) if leaf is not None else []
    yield f"# {_escaped(view.name or _first_words(view, [entry.id for entry in branch]) or 'Session')}\n\n"
    facts = [f"session {view.id}", _escaped(view.cwd), when(view.header)]
    yield " · ".join(fact for fact in facts if fact) + "\n"
    for entry in branch:
        raw = view.file.body(entry)
        label = view.tree.labels.get(entry.id)
        yield from _entry(raw, f" · 🔖 {_escaped(label.text)}" if label is not None else "")


def _first_words(view: SessionView, ids: list[str]) -> str:
    for entry_id in ids:
        entry = view.tree.get(entry_id)
        if entry.role == "user":
            return one_line(entry.preview, 80)
    return ""


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#])", r"\\\1", one_line(text, 200))


def fence(text: str, language: str = "") -> str:
    """The text in a fence that it can't close."""
    text = plain(text)
    ticks = "`" * max(3, *(len(found) + 1 for found in _TICKS.findall(text)), 3)
    return f"{ticks}{language}\n{text.rstrip(chr(10))}\n{ticks}\n"


def _entry(raw: RawEntry, label: str) -> Iterator[str]:
    match raw.get("type"):
        case "message":
            yield from _message(raw, message_of(raw), label)
        case "custom_message" if raw.get("display") is not False:
            yield f"\n## {_escaped(as_text(raw.get('customType')) or 'note')}{label}\n\n{plain(texts_of(raw))}\n"
        case "compaction":
            yield f"\n## Summary of what came before{label}\n\n{plain(as_text(raw.get('summary')) or '')}\n"
        case "branch_summary":
            yield f"\n## Summary of another branch{label}\n\n{plain(as_text(raw.get('summary')) or '')}\n"
        case "model_change":
            yield f"\n*model: {_escaped(as_text(raw.get('modelId')) or '?')}*{label}\n"


def _message(raw: RawEntry, message: RawEntry, label: str) -> Iterator[str]:
    match message.get("role"):
        case "user":
            yield f"\n## You · {when(raw)}{label}\n\n"
            yield from _shown(raw)
        case "assistant":
            yield f"\n## {_escaped(as_text(message.get('model')) or 'Assistant')} · {when(raw)}{label}\n\n"
            yield from _shown(raw)
            if error := as_text(message.get("errorMessage")):
                yield f"\n**{_escaped(as_text(message.get('stopReason')) or 'error')}:** {_escaped(error)}\n"
        case "toolResult":
            state = "failed" if message.get("isError") is True else "result"
            yield f"\n**{_escaped(as_text(message.get('toolName')) or 'tool')}** {state}{label}\n\n"
            details = message.get("details")
            diff = as_text(details.get("diff")) if isinstance(details, dict) else None
            yield fence(diff, "diff") if diff else fence(texts_of(raw), "text")
        case "bashExecution":
            yield f"\n**!** `{one_line(as_text(message.get('command')) or '', 200).replace('`', chr(39))}`{label}\n\n"
            yield fence(as_text(message.get("output")) or "", "text")
        case role:
            if text := texts_of(raw):
                yield f"\n## {_escaped(str(role))}{label}\n\n{plain(text)}\n"


def _shown(raw: RawEntry) -> Iterator[str]:
    for block in blocks_of(raw):
        match block.get("type"):
            case "text":
                yield plain(as_text(block.get("text")) or "").strip("\n") + "\n"
            case "thinking" if as_text(block.get("thinking")):
                quoted = plain(as_text(block.get("thinking")) or "").strip("\n").replace("\n", "\n> ")
                yield f"\n> {quoted}\n\n"
            case "toolCall":
                arguments = block.get("arguments")
                name = _escaped(as_text(block.get("name")) or "tool")
                yield f"\n**{name}** {_escaped(main_argument(arguments))}\n\n"
                if arguments:
                    yield fence(pretty(arguments), "json")
            case "image":
                yield f"\n*[image, {_escaped(as_text(block.get('mimeType')) or 'unknown kind')}]*\n"
