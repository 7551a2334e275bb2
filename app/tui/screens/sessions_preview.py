"""What a session is, beside the list: its figures and how it begins, or the words round a hit; it must never write."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from app.config.paths import tilde
from app.errors import SessionError
from app.session.search_query import Matcher, parse_query
from app.session.search_text import searchable
from renderers.text import cut_cells, humanise_bytes, one_line, sanitise
from widgets.session_rows import title_of

if TYPE_CHECKING:
    from textual.content import Content

    from app.session.listing import SessionInfo
    from app.session.search import Hit
    from app.session.view import SessionView

LARGEST_BYTES = 24 * 1024 * 1024
"""A larger file is not read for a preview: that takes a second or more."""
_MESSAGES = 6
_CHARS = 600
_HIT_CHARS = 3_000


@dataclass(slots=True)
class Preview:
    """Facts as (name, value) lines, then (who, text) parts; all foreign text is safe."""

    title: str
    facts: list[tuple[str, str]] = field(default_factory=list)
    parts: list[tuple[str, str]] = field(default_factory=list)
    marks: list[tuple[int, int]] = field(default_factory=list)
    """Where hits stand in the text of the first part."""


def read_preview(info: SessionInfo, hit: Hit | None, query: str) -> Preview:
    """The preview of a session, or of a hit in it. Never raises. Blocks."""
    from app.session.entries import ms_to_iso
    from app.session.trash import is_in_use

    preview = Preview(cut_cells(title_of(info), 120))
    folder = one_line(tilde(info.cwd)) or "none"
    preview.facts = [
        ("folder", folder if info.cwd and Path(info.cwd).is_dir() else f"{folder} (gone)"),
        ("written", f"{ms_to_iso(info.modified_ms)[:16].replace('T', ' ')}, begun {ms_to_iso(info.created_ms)[:10]}"),
    ]
    if is_in_use(info.path):
        preview.facts.append(("in use", "by a Pinyon that writes it now"))
    if info.parent_session_path:
        preview.facts.append(("fork of", one_line(Path(info.parent_session_path).name)))
    if info.size_bytes > LARGEST_BYTES:
        preview.facts.append(("size", humanise_bytes(info.size_bytes)))
        preview.parts = [("you", sanitise(info.first_message[:_CHARS]))]
        return preview
    try:
        _from_file(preview, info, hit, query)
    except SessionError as error:
        preview.facts.append(("problem", one_line(str(error))))
    return preview


def _from_file(preview: Preview, info: SessionInfo, hit: Hit | None, query: str) -> None:
    from app.session.file import SessionFile
    from app.session.view import SessionView

    file = SessionFile.read(info.path)
    try:
        view = SessionView(file)
        tree = view.tree
        said = sum(entry.type == "message" for entry in tree.entries)
        tips = len(tree.tips)
        preview.facts += [
            ("holds", f"{said:,} messages on {tips:,} {'branch' if tips == 1 else 'branches'}"),
            ("size", humanise_bytes(info.size_bytes)),
        ]
        if tree.labels:
            names = ", ".join(one_line(label.text) for label in list(tree.labels.values())[-6:])
            preview.facts.append(("labels", cut_cells(names, 120)))
        preview.facts += [("note", one_line(note)) for note in file.notes[:3]]
        if hit is not None and hit.entry_id in tree:
            _show_hit(preview, view, hit, query)
        else:
            _show_beginning(preview, view)
    finally:
        file.close()


def _show_beginning(preview: Preview, view: SessionView) -> None:
    """The first messages of the branch that would be opened."""
    for entry in view.tree.branch():
        if len(preview.parts) >= _MESSAGES:
            return
        if entry.role in ("user", "assistant") and (found := searchable(view.read(entry.id))) is not None:
            text = sanitise(found[1][:_CHARS]).strip()
            if len(found[1]) > _CHARS:
                text += " …"
            preview.parts.append(("you" if entry.role == "user" else "answer", text))


def _show_hit(preview: Preview, view: SessionView, hit: Hit, query: str) -> None:
    """The entry that was found from a little before its first hit, and what the user had asked."""
    found = searchable(view.read(hit.entry_id))
    text = found[1] if found is not None else ""
    spans = Matcher(parse_query(query)).spans(text) or []
    start = max(0, spans[0][0] - _HIT_CHARS // 4) if spans else 0
    shown = sanitise(text[start : start + _HIT_CHARS])
    spans = Matcher(parse_query(query)).spans(shown) or []  # places in the text that is shown
    preview.marks = spans
    preview.parts.append((one_line(hit.role), shown))
    for entry in view.tree.up(hit.entry_id):
        if entry.role == "user" and entry.id != hit.entry_id:
            preview.parts.append(("asked before", sanitise(entry.preview)))
            return


def preview_content(preview: Preview) -> Content:
    """The preview as text with styles; foreign text is never markup."""
    from textual.content import Content

    pieces: list[Content] = [Content.styled(preview.title, "bold"), Content("\n")]
    for name, value in preview.facts:
        style = "$warning" if name in ("problem", "note", "in use") or value.endswith("(gone)") else "$quiet"
        pieces += [Content.styled(f"{name:<8} ", "$faint"), Content.styled(value, style), Content("\n")]
    for number, (who, text) in enumerate(preview.parts):
        body = Content(text)
        for begin, end in preview.marks if number == 0 else ():
            body = body.stylize("$popup-match bold", begin, end)
        pieces += [Content("\n"), Content.styled(who, "$brand"), Content("\n"), body, Content("\n")]
    return Content("").join(pieces)
