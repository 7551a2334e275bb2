"""A session as one HTML page: every branch, a sidebar with the tree, nothing fetched; it works without its script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from html import escape

from app.session.entries import RawEntry, as_text, message_of, tool_calls_of
from app.session.export.blocks import entry_html, head_html
from app.session.export.look import SCRIPT, STYLE
from app.session.export.segments import Segment, segments
from app.session.export.text import one_line, when
from app.session.facts import IndexEntry
from app.session.view import SessionView

_DEEPEST = 6


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def page(view: SessionView, leaf: str | None) -> Iterator[str]:
    """The page in pieces, in order; the branch to `leaf` stands first and open, the others behind it, folded."""
    parts = segments(view.tree, leaf)
    parents = _Parents(view)
    title = escape(one_line(view.name or _first_words(view) or "Session", 100))
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(STYLE)}'; script-src '{_hash(SCRIPT)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="referrer" content="no-referrer">\n<title>{title}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n"
    )
    yield '<nav aria-label="Tree"><div id="buttons"></div>\n'
    for number, segment in enumerate(parts):
        yield from _sidebar(view, segment, number)
    yield "</nav>\n<main>\n"
    yield _header(view, title, len(parts))
    for number, segment in enumerate(parts):
        yield from _section(view, segment, number, parents)
    yield f"</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"


class _Parents:
    """For each entry the nearest one above it that is shown: what the script walks to find a branch."""

    def __init__(self, view: SessionView) -> None:
        self._tree = view.tree
        self._shown: dict[str, str] = {}

    def above(self, entry: IndexEntry) -> str:
        """The mark of the shown entry above, "" at the top. Ask in the order of the page."""
        parent_id = self._tree.parent_id(entry.id)
        return self._shown.get(parent_id or "", "")

    def pass_(self, entry: IndexEntry, shown: bool) -> None:
        """Take note of an entry."""
        self._shown[entry.id] = _mark(entry) if shown else self.above(entry)


def _mark(entry: IndexEntry) -> str:
    # ids are foreign text; places are numbers
    return f"n{entry.place}"


def _first_words(view: SessionView) -> str:
    return next((entry.preview for entry in view.tree.entries if entry.role == "user" and entry.preview), "")


def _header(view: SessionView, title: str, branches: int) -> str:
    said = sum(entry.type == "message" for entry in view.tree.entries)
    facts = [
        one_line(view.cwd, 200),
        when(view.header),
        f"{said:,} messages",
        "1 branch" if branches == 1 else f"{branches:,} branches",
        f"session {one_line(view.id, 60)}",
    ]
    return f"<header><h1>{title}</h1><p>{' · '.join(escape(fact) for fact in facts if fact)}</p></header>\n"


def _sidebar(view: SessionView, segment: Segment, number: int) -> Iterator[str]:
    depth = f"d{min(segment.depth, _DEEPEST)}"
    if number:
        yield f'<div class="fork {depth}">⎇ branch {number + 1} · {len(segment.entries):,} entries</div>\n'
    for entry in segment.entries:
        kind = {"user": "u", "assistant": "a"}.get(entry.role or "", "s" if entry.type in _SUMMARIES else "")
        label = view.tree.labels.get(entry.id)
        words = one_line(entry.preview, 90) or ("…" if label else "")
        if kind and words:
            mark = f' <span class="label">{escape(one_line(label.text, 40))}</span>' if label else ""
            yield f'<a class="{kind} {depth}" href="#{_mark(entry)}">{escape(words)}{mark}</a>\n'


_SUMMARIES = ("compaction", "branch_summary")


def _section(view: SessionView, segment: Segment, number: int, parents: _Parents) -> Iterator[str]:
    if number:
        where = parents_link(view, segment, parents)
        words = next((entry.preview for entry in segment.entries if entry.preview), "")
        yield (
            f'<section class="branch"><details class="way"><summary>branch {number + 1}{where}: '
            f"{escape(one_line(words, 100))} · {len(segment.entries):,} entries</summary>\n"
        )
    else:
        yield "<section>\n"
    results = _results(view, segment)
    drawn: set[str] = set()
    for entry in segment.entries:
        yield from _entry(view, entry, results, drawn, parents)
    yield "</details></section>\n" if number else "</section>\n"


def parents_link(view: SessionView, segment: Segment, parents: _Parents) -> str:
    """Where a branch left, as a link."""
    if segment.parent_id is None:
        return " (another beginning)"
    mark = parents.above(segment.entries[0])
    words = one_line(view.tree.get(segment.parent_id).preview, 40) or "here"
    return f' from <a class="jump" href="#{mark}">{escape(words)}</a>' if mark else ""


def _results(view: SessionView, segment: Segment) -> dict[str, IndexEntry]:
    """The stretch's tool results by call id; their bodies are read again when they are drawn, not kept."""
    found: dict[str, IndexEntry] = {}
    for entry in segment.entries:
        if entry.role == "toolResult" and (call_id := _call_id(view.file.body(entry))):
            found.setdefault(call_id, entry)
    return found


def _call_id(raw: RawEntry) -> str:
    return as_text(message_of(raw).get("toolCallId")) or ""


def _entry(
    view: SessionView, entry: IndexEntry, results: dict[str, IndexEntry], drawn: set[str], parents: _Parents
) -> Iterator[str]:
    raw = view.file.body(entry)
    above = parents.above(entry)
    if entry.role == "toolResult" and (call_id := _call_id(raw)) in drawn:
        drawn.discard(call_id)
        parents.pass_(entry, True)
        yield f'<span id="{_mark(entry)}" data-p="{above}"></span>\n'
        return
    answered = {call_id: results[call_id] for call_id, _ in tool_calls_of(message_of(raw)) if call_id in results}
    drawn.update(answered)
    shown = entry_html(raw, {call_id: view.file.body(result) for call_id, result in answered.items()})
    parents.pass_(entry, shown is not None)
    if shown is None:
        return
    name, who, body = shown
    label = view.tree.labels.get(entry.id)
    head = head_html(raw, who, label.text if label is not None else None)
    yield f'<article class="{name}" id="{_mark(entry)}" data-p="{above}">{head}{body}</article>\n'
