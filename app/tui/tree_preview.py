"""What the pane beside the tree says about the row one stands on; it reads one entry at a time and never writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from app.session.entries import message_of
from app.tui.tree_figures import Figures
from renderers.text import humanise, humanise_bytes, one_line
from widgets.tree_preview import PreviewLine
from widgets.tree_text import clock, run_text
from widgets.tree_window import local_now

if TYPE_CHECKING:
    from app.session.facts import IndexEntry
    from app.session.tree_building import Row
    from app.session.view import SessionView
    from app.tui.tree_services import FileLine

LARGEST_READ = 512 * 1024
"""Bytes of an entry above which the pane says its first words only: a step must not wait for megabytes of JSON."""
MOST_CHARS = 6_000
MOST_FILES = 12

_NAMES = {"user": "you", "assistant": "answer", "toolResult": "tool result", "bashExecution": "your command"}


@dataclass(slots=True)
class PreviewFacts:
    """What is worked out behind the first drawing: sums, context, files; None and "" while not known."""

    figures: Figures | None = None
    context: int | None = None
    files: Sequence[FileLine] = field(default_factory=tuple)
    files_note: str = ""
    snapshot: str | None = None


def full_text(view: SessionView, entry: IndexEntry) -> str:
    """All that an entry says, for the pane and for copying: foreign text, not cleaned."""
    raw = view.read(entry.id)
    message = message_of(raw)
    match entry.role or entry.type:
        case "bashExecution":
            return f"{message.get('command', '')}\n{message.get('output', '')}"
        case "compaction" | "branch_summary":
            return str(raw.get("summary", ""))
        case "custom_message":
            return _text(raw.get("content"))
        case "assistant":
            said = _text(message.get("content"))
            error = message.get("errorMessage")
            return "\n\n".join(part for part in (said, error if isinstance(error, str) else "") if part)
    return _text(message.get("content")) if message else entry.preview or entry.fact or ""


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts: list[str] = []
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        match block.get("type"):
            case "text" if isinstance(block.get("text"), str):
                parts.append(block["text"])
            case "image":
                parts.append("(an image)")
            case "toolCall":
                parts.append(f"→ {block.get('name', '')} {_arguments(block.get('arguments'))}")
    return "\n\n".join(parts)


def _arguments(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return ""
    return " · ".join(one_line(str(value), 120) for value in arguments.values() if isinstance(value, str | int))


def preview_lines(
    view: SessionView, row: Row, facts: PreviewFacts, *, does: str, label: str = "", has_files: bool = True
) -> list[PreviewLine]:
    """Title, kind and branch, figures, files, what enter does, then the text as far as the pane can want it."""
    entry = row.entry
    lane = row.column.lane
    time = clock(entry.timestamp, local_now())
    kind = _NAMES.get(entry.role or "", (entry.role or entry.type).replace("_", " "))
    where = "the current branch" if row.depth == 0 else "another branch"
    lines = [
        PreviewLine(_title(row), "title", (("", ""),)),
        PreviewLine(" · ".join(part for part in (one_line(kind), time, where) if part), "meta"),
    ]
    if label:
        lines.append(PreviewLine(f"⚑ {one_line(label)}", "act"))
    said = facts.figures.text() if facts.figures else f"{len(lane.entries):,} entries"
    others = lane.total - len(lane.entries)
    more = f" · {others:,} more on branches of it" if others else ""
    lines += [PreviewLine(""), PreviewLine(f"branch here   {said}{more}", "meta")]
    if facts.context is not None:
        lines.append(PreviewLine(f"context here  {humanise(facts.context)} tokens", "meta"))
    if has_files:
        lines += _file_lines(facts)
    lines += [PreviewLine(""), PreviewLine(does, "act"), PreviewLine("")]
    text, note = _body(view, entry)
    lines.append(PreviewLine(text))
    if note:
        lines.append(PreviewLine(note, "meta"))
    return lines


def _file_lines(facts: PreviewFacts) -> list[PreviewLine]:
    snapshot = f"snapshot {facts.snapshot} (restore with r)" if facts.snapshot else "no snapshot"
    lines = [PreviewLine(f"files here    {snapshot}", "meta")]
    if facts.files_note:
        lines.append(PreviewLine(one_line(facts.files_note), "meta"))
    if facts.files:
        lines.append(PreviewLine("files changed on this branch", "head"))
    for change in facts.files[:MOST_FILES]:
        lines.append(PreviewLine(f"  {one_line(change.path)}", "path", change_pieces(change)))
    if len(facts.files) > MOST_FILES:
        lines.append(PreviewLine(f"  and {len(facts.files) - MOST_FILES:,} more", "meta"))
    return lines


def change_pieces(change: FileLine) -> tuple[tuple[str, str], ...]:
    """What happened to a path as styled pieces: "+21 −40", "binary", "deleted"."""
    pieces: list[tuple[str, str]] = []
    if change.kind in ("created", "deleted"):
        pieces.append(("new" if change.kind == "created" else "deleted", "meta"))
    if change.added:
        pieces.append((f"+{change.added:,}", "add"))
    if change.removed:
        pieces.append((f"−{change.removed:,}", "del"))
    if change.note:
        pieces.append((one_line(change.note), "meta"))
    return tuple(pieces) or (("changed", "meta"),)


def _title(row: Row) -> str:
    if row.kind == "run":
        return run_text(row.column.lane.entries[row.first : row.last + 1])
    entry = row.entry
    fact = "(interrupted)" if entry.fact == "aborted" else entry.fact
    return one_line(entry.preview, 200) or one_line(fact or entry.type)


def _body(view: SessionView, entry: IndexEntry) -> tuple[str, str]:
    if entry.length > LARGEST_READ:
        return entry.preview, f"({humanise_bytes(entry.length)}: the first words only)"
    try:
        text = full_text(view, entry)
    except (OSError, ValueError) as error:
        return entry.preview, f"(the rest can't be read: {one_line(str(error))})"
    if len(text) > MOST_CHARS:
        return text[:MOST_CHARS], f"… {len(text) - MOST_CHARS:,} more characters (y copies all)"
    return text, ""
