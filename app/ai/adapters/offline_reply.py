"""The offline guide's reports: Markdown made of what tools really gave; it must never say what no result shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.ai.adapters.offline_intents import (
    EditFile,
    FindFiles,
    ListFiles,
    ReadFiles,
    Run,
    RunTests,
    Search,
    WriteFile,
)
from app.ai.messages import ToolCall, ToolResultMessage

_SHOWN_LINES = 40
_SHOWN_CHARS = 4_000
_FAILURE = re.compile(
    r"^(?:E\s|FAILED|ERROR|FAIL\b|\w*Error\b|error(?:\[|:)|--- FAIL|not ok|thread .* panicked|\s*assert|✗|×|\s+●)"
)
_NOTE = re.compile(r"\n\n\[[^\n]*\]\s*$")


@dataclass(frozen=True, slots=True)
class Done:
    """A call that was made, and what it gave."""

    call: ToolCall
    result: ToolResultMessage

    @property
    def text(self) -> str:
        """The result's text without a line feed at its end."""
        return self.result.text().rstrip("\n")

    @property
    def failed(self) -> bool:
        """Whether the tool reported an error."""
        return self.result.is_error

    @property
    def exit_code(self) -> int | None:
        """The exit code of a command: 0 if it went well, None if it is not known."""
        if not self.failed:
            return 0
        details = self.result.details
        code = details.get("exitCode") if isinstance(details, dict) else None
        if isinstance(code, int):
            return code
        found = re.findall(r"\bcode (\d+)\b", self.text[-200:])
        return int(found[-1]) if found else None


def code(text: str) -> str:
    """`text` as a piece of inline code, on one line, whatever it holds."""
    text = " ".join(text.split()) or " "
    ticks = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text if len(text) <= 200 else text[:199] + '…'}{pad}{ticks}"


def block(text: str, language: str = "", limit: int = _SHOWN_LINES, *, tail: bool = False) -> str:
    """`text` as a fenced block that nothing in it can close; at most `limit` lines, and how many more there are."""
    lines = text.split("\n")
    kept = lines[-limit:] if tail else lines[:limit]
    body = "\n".join(kept)
    if len(body) > _SHOWN_CHARS:
        body = "…" + body[-_SHOWN_CHARS:] if tail else body[:_SHOWN_CHARS] + "…"
    ticks = "`" * max(3, max(map(len, re.findall("`+", body)), default=0) + 1)
    left = len(lines) - len(kept)
    more = f"\n\n{count(left, 'line')} {'before' if tail else 'more'}." if left else ""
    return f"{ticks}{language}\n{body}\n{ticks}{more}"


def count(number: int, thing: str) -> str:
    """`1 file`, `2 files`, `3 matches`, `4 entries`."""
    if number == 1:
        return f"1 {thing}"
    if thing.endswith("y"):
        return f"{number} {thing[:-1]}ies"
    return f"{number} {thing}{'es' if thing.endswith('ch') else 's'}"


def failure(what: str, done: Done) -> str:
    """That `what` failed, in the tool's own words."""
    text = done.text or "no reason given"
    return f"{what} failed: {text}" if "\n" not in text and len(text) < 200 else f"{what} failed:\n\n{block(text)}"


def _body(done: Done) -> tuple[str, str]:
    """A result's text and the tool's bracketed note at its end (each may be empty)."""
    note = _NOTE.search(done.text)
    return (done.text[: note.start()], note[0].strip()) if note else (done.text, "")


def listed(intent: ListFiles, done: Done) -> str:
    """What a folder holds."""
    if done.failed:
        return failure(f"Listing {code(intent.path)}", done)
    body, note = _body(done)
    if body == "(empty directory)":
        return f"{code(intent.path)} is empty."
    names = body.split("\n")
    folders = sum(name.endswith("/") for name in names)
    said = f"{code(intent.path)} holds {count(len(names), 'entry')}, of which {count(folders, 'folder')}:"
    return "\n\n".join(filter(None, (said, block(body, limit=60), note)))


def found(intent: FindFiles, done: Done) -> str:
    """Which files fit."""
    what = f"{code(intent.pattern)} under {code(intent.path)}"
    if done.failed:
        return failure(f"Looking for {what}", done)
    body, note = _body(done)
    if not body or re.match(r"no\b.*\b(?:found|match)", body, re.IGNORECASE):
        return f"No file fits {what}."
    said = f"{count(len(body.split(chr(10))), 'path')} fit {what}:".replace("1 path fit ", "1 path fits ")
    return "\n\n".join(filter(None, (said, block(body), note)))


def read(intent: ReadFiles, dones: Sequence[Done]) -> str:
    """What stands in the files."""
    parts = []
    for path, done in zip(intent.paths, dones, strict=False):
        if done.failed:
            parts.append(failure(f"Reading {code(path)}", done))
            continue
        body, note = _body(done)
        lines = count(len(body.split("\n")), "line") if body else "no text"
        start = f" from line {intent.first}" if intent.first and intent.first > 1 else ""
        parts += [f"{code(path)}, {lines}{start}:", block(body, _language(path)) if body else "", note]
    return "\n\n".join(filter(None, parts))


def searched(intent: Search, done: Done) -> str:
    """Where the text stands."""
    what = f"{code(intent.pattern)} in {code(intent.path)}"
    if done.failed:
        return failure(f"Searching for {what}", done)
    body, note = _body(done)
    hits = [match[1] for line in body.split("\n") if (match := re.match(r"(.+?):\d+: ?", line))]
    if not hits:
        return f"Nothing found for {what}."
    said = f"{count(len(hits), 'match')} for {what}, in {count(len(set(hits)), 'file')}:"
    return "\n\n".join(filter(None, (said, block(body), note)))


def ran(intent: Run, done: Done) -> str:
    """How a command ended and what it printed."""
    if not done.failed:
        silent = done.text in ("", "(no output)")
        said = f"{code(intent.command)} ended well (exit code 0)"
        return f"{said} and printed nothing." if silent else f"{said}:\n\n{block(done.text, tail=True)}"
    known = done.exit_code
    ended = f"failed with exit code {known}" if known is not None else "failed"
    return f"{code(intent.command)} {ended}:\n\n{block(done.text or '(no output)', tail=True)}"


def written(intent: WriteFile, done: Done) -> str:
    """That a file was written, in the tool's words."""
    if done.failed:
        return failure(f"Writing {code(intent.path)}", done)
    return "\n\n".join(filter(None, (done.text, _diff(done))))


def edited(intent: EditFile, done: Done) -> str:
    """What changed in a file."""
    if done.failed:
        advice = "Nothing was changed. If the text occurs more than once, quote more of what stands around it."
        return f"{failure(f'Editing {code(intent.path)}', done)}\n\n{advice}"
    return "\n\n".join(filter(None, (done.text, _diff(done))))


def _diff(done: Done) -> str:
    details = done.result.details
    rows = details.get("diff") if isinstance(details, dict) else None
    return block(rows, "diff", 20) if isinstance(rows, str) and rows else ""


def tested(intent: RunTests, run: Done, reads: Sequence[Done]) -> str:
    """How the tests ended; after a failure what the runner said and the places it named."""
    command = code(str(run.call.arguments.get("command", "")))
    if not run.failed:
        asked = " Nothing is left to fix." if intent.fix else ""
        return f"The tests pass: {command} ended with exit code 0.{asked}\n\n{block(run.text, limit=8, tail=True)}"
    known = run.exit_code
    ended = f"exit code {known}" if known is not None else "an error"
    told = [line for line in run.text.split("\n") if _FAILURE.match(line)]
    parts = [f"The tests do not pass: {command} ended with {ended}. What it says:"]
    parts.append(block("\n".join(told), limit=15) if told else block(run.text, limit=15, tail=True))
    sound = [done for done in reads if not done.failed]
    for done in sound:
        path = str(done.call.arguments.get("path", ""))
        body, _ = _body(done)
        parts += [f"{code(path)} from line {done.call.arguments.get('offset', 1)}:", block(body, _language(path))]
    if intent.fix:
        path = str(sound[-1].call.arguments.get("path")) if sound else "FILE"
        parts.append(
            "I can't think of the fix: that takes a language model (`explain providers`). Tell me the change, and I "
            f'make it and run the tests again: `replace "old" with "new" in {path} then run the tests`.'
        )
    return "\n\n".join(parts)


def _language(path: str) -> str:
    ending = path.rpartition(".")[2].lower() if "." in path else ""
    return ending if re.fullmatch(r"[a-z0-9+]{1,8}", ending) else ""
