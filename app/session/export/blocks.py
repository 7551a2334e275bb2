"""One entry as HTML: everything foreign is escaped, Markdown is rendered without HTML, images are data or nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

from app.session.entries import RawEntry, as_text, message_of
from app.session.export.text import blocks_of, main_argument, one_line, plain, pretty, texts_of, when

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_IMAGES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]*={0,2}\s*")
_LINKS = re.compile(r"(?:https?://|mailto:|#)", re.IGNORECASE)


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # an image would be fetched from the network when the page is opened: it stays a link
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    parser.validateLink = lambda url: _LINKS.match(url.strip()) is not None  # type: ignore[method-assign]
    return parser


def markdown(text: str) -> str:
    """Markdown as HTML; no raw HTML, no image, no link but to the web, mail and the page passes."""
    text = plain(text)
    try:
        return str(_markdown().render(text)).replace('<a href="', '<a rel="noopener noreferrer nofollow" href="')
    except Exception as error:  # the border to a library: what it can't read is still shown
        return f"<!-- {escape(type(error).__name__)} -->{_pre(text)}"


def _pre(text: str) -> str:
    return f"<pre>{escape(plain(text))}</pre>"


def diff_html(diff: str) -> str:
    """A diff's lines, the added and removed ones coloured."""
    rows = []
    for line in plain(diff).strip("\n").split("\n"):
        tag = {"+": "ins", "-": "del"}.get(line[:1])
        rows.append(f"<{tag}>{escape(line)}</{tag}>" if tag else escape(line) + "\n")
    return f"<pre>{''.join(rows)}</pre>"


def entry_html(raw: RawEntry, results: Mapping[str, RawEntry]) -> tuple[str, str, str] | None:
    """(class, who, body) of an entry that is shown, None for one that is not.

    `results` has the tool results that stand in the same stretch, by call id: they are drawn with their calls.
    """
    match raw.get("type"):
        case "message":
            return _message(message_of(raw), raw, results)
        case "custom_message":
            if raw.get("display") is False:
                return None
            return "note", one_line(as_text(raw.get("customType")) or "note", 60), markdown(texts_of(raw))
        case "compaction":
            return "summary", "summary of what came before", markdown(as_text(raw.get("summary")) or "")
        case "branch_summary":
            return "summary", "summary of another branch", markdown(as_text(raw.get("summary")) or "")
        case "model_change":
            return "meta", f"model: {one_line(as_text(raw.get('modelId')) or '?', 80)}", ""
    return None


def _message(message: RawEntry, raw: RawEntry, results: Mapping[str, RawEntry]) -> tuple[str, str, str]:
    role = as_text(message.get("role")) or "message"
    match role:
        case "user":
            return "user", "you", "".join(_block(block, results) for block in blocks_of(raw))
        case "assistant":
            who = one_line(as_text(message.get("model")) or "assistant", 80)
            body = "".join(_block(block, results) for block in blocks_of(raw))
            if error := as_text(message.get("errorMessage")):
                body += f'<p class="error">{escape(plain(error))}</p>'
            elif message.get("stopReason") in ("aborted", "error", "length"):
                body += f'<p class="error">{escape(str(message["stopReason"]))}</p>'
            return "assistant", who, body
        case "toolResult":
            name = as_text(message.get("toolName")) or "tool"
            return "result", "", _tool(name, "", None, raw)
        case "bashExecution":
            command, output = as_text(message.get("command")) or "", as_text(message.get("output")) or ""
            return "bash", "you", f"{_pre('! ' + command)}{_pre(output)}"
    return "note", one_line(role, 60), markdown(texts_of(raw))


def _block(block: RawEntry, results: Mapping[str, RawEntry]) -> str:
    match block.get("type"):
        case "text":
            return markdown(as_text(block.get("text")) or "")
        case "thinking":
            text = as_text(block.get("thinking")) or ""
            return (
                f'<details class="think"><summary>thinking</summary>{markdown(text)}</details>' if text.strip() else ""
            )
        case "toolCall":
            call_id = as_text(block.get("id")) or ""
            arguments = block.get("arguments")
            name = as_text(block.get("name")) or "tool"
            return _tool(name, main_argument(arguments), arguments, results.get(call_id))
        case "image":
            return _image(block)
    return f"<p>[{escape(one_line(str(block.get('type')), 40))}]</p>"


def _tool(name: str, about: str, arguments: object, result: RawEntry | None) -> str:
    message = message_of(result) if result is not None else {}
    state = "" if result is None else "bad" if message.get("isError") is True else "ok"
    sign = {"ok": "✓", "bad": "✗"}.get(state, "·")
    details = message.get("details")
    diff = as_text(details.get("diff")) if isinstance(details, dict) else None
    body = ""
    if arguments and not (diff and about):
        body += _pre(pretty(arguments))
    if diff:
        body += diff_html(diff)
    if result is not None:
        text = texts_of(result)
        body += _pre(text) if text and not (diff and state == "ok") else ""
        body += "".join(_image(block) for block in blocks_of(result) if block.get("type") == "image")
    is_open = " open" if diff or state == "bad" else ""
    word = {"ok": "", "bad": " failed"}.get(state, " (no result here)")
    head = f"<b>{sign} {escape(one_line(name, 60))}</b> {escape(about)}{word}"
    return f'<details class="tool {state}"{is_open}><summary>{head}</summary>{body}</details>'


def _image(block: RawEntry) -> str:
    kind, data = as_text(block.get("mimeType")) or "", as_text(block.get("data")) or ""
    if kind in _IMAGES and data and _BASE64.fullmatch(data):
        return f'<p><img alt="image" src="data:{kind};base64,{"".join(data.split())}"></p>'
    return f"<p>[image, {escape(one_line(kind, 40) or 'unknown kind')}]</p>"


def head_html(raw: RawEntry, who: str, label: str | None) -> str:
    """The line above an entry: who, when, its label."""
    text = " · ".join(escape(part) for part in (who, when(raw)) if part)
    mark = f'<span class="label">{escape(one_line(label, 80))}</span>' if label else ""
    return f'<div class="who">{text}{mark}</div>' if text or mark else ""
