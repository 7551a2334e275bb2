"""`pinyon sessions`: list, inspect, doctor, import; reading changes no byte of a session."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.folder import working_folder
from app.errors import UsageError

if TYPE_CHECKING:
    from app.session.listing import SessionInfo
    from app.session.search import SearchResult

USAGE = (
    "pinyon sessions [list] [--all] [--pi] [--search WORDS] [--json] | inspect FILE [--json] | "
    "doctor FILE [--repair [OUT]] [--json] | import FILE [--here]"
)
HELP = """\
pinyon sessions: list sessions and look after their files. Reading changes no byte of a session.

usage: pinyon sessions [list] [--all] [--pi] [--search WORDS] [--json]
           this folder's sessions, newest first; --all: of every folder; --pi: pi's as well, to read;
           --search: those that hold the words, in any branch
       pinyon sessions inspect FILE [--json]
           what a file holds: entries, branches, labels, model, what could not be read
       pinyon sessions doctor FILE [--repair [OUT]] [--json]
           what is wrong with a file; --repair writes a mended copy and leaves the file alone
       pinyon sessions import FILE [--here] [--json]
           take a copy of a session, pi's for example; --here: as one of this folder

FILE is a file, or the beginning of a session's id."""
_FLAGS = {
    "list": ("--json", "--all", "--pi", "--search"),
    "inspect": ("--json",),
    "doctor": ("--json", "--repair"),
    "import": ("--here", "--json"),
}


@dataclass(slots=True)
class _Words:
    """The command line behind `sessions`: what to do, on what, and how."""

    verb: str = "list"
    plain: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    search: str | None = None


def run_sessions(words: list[str]) -> int:
    """The exit code of `pinyon sessions WORDS`. Raises UsageError, NotASessionError (2), SessionError (1).

    `doctor` gives 1 for a file with faulty lines, unless it was to repair them; a search that finds nothing gives 1.
    """
    asked = _parse(words)
    as_json = "--json" in asked.flags
    match asked.verb, asked.plain:
        case "list", []:
            return _list(asked, as_json)
        case "inspect", [file]:
            return _inspect(named_file(file), as_json)
        case "doctor", [file]:
            return _doctor(named_file(file), None, "--repair" in asked.flags, as_json)
        case "doctor", [file, out] if "--repair" in asked.flags:
            return _doctor(named_file(file), Path(out), True, as_json)
        case "import", [file]:
            return _import(Path(file), "--here" in asked.flags, as_json)
        case _:
            raise UsageError("pinyon sessions " + " ".join(words) + " is not understood", USAGE)


def _parse(words: list[str]) -> _Words:
    asked = _Words()
    waiting = list(words)
    if waiting and waiting[0] in _FLAGS:
        asked.verb = waiting.pop(0)
    while waiting:
        word = waiting.pop(0)
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            asked.plain.append(word)
        elif name == "--search" and asked.verb == "list":
            if not equals and not waiting:
                raise UsageError("--search needs words to look for", USAGE)
            asked.search = value if equals else waiting.pop(0)
        elif word in _FLAGS[asked.verb]:
            asked.flags.add(word)
        else:
            raise UsageError(f"pinyon sessions {asked.verb} knows no {word}", USAGE)
    return asked


def named_file(reference: str) -> Path:
    """The session file that is meant: a path, else the beginning of a session's id. Raises UsageError."""
    path = Path(reference)
    if path.exists():
        return path
    if "/" in reference or reference.endswith(".jsonl"):
        raise UsageError(f"there is no file {reference}", "pinyon sessions lists what there is")
    from app.errors import SessionError
    from app.session.listing import find_session

    try:
        return find_session(reference, str(working_folder())).path
    except SessionError as error:
        raise UsageError(error.message, error.hint) from error


def _inspect(path: Path, as_json: bool) -> int:
    from app.session.inspect import inspect

    facts = inspect(path)
    if as_json:
        _say_json(facts)
    else:
        for key, value in facts.items():
            _say(f"{key:<18} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")
    return 0


def _doctor(path: Path, out: Path | None, wants_repair: bool, as_json: bool) -> int:
    from app.session.doctor import examine, repair

    found = examine(path)
    copy = repair(path, out) if wants_repair else None
    if as_json:
        rows = [{"line": item.line, "text": item.text, "harm": item.is_harm} for item in found]
        _say_json({"path": str(path), "findings": rows, "repaired": str(copy) if copy else None})
    else:
        for item in found:
            _say((f"line {item.line}: " if item.line else "file: ") + item.text)
        if not found:
            _say("nothing is wrong")
        if copy is not None:
            _say(f"repaired copy: {copy}")
    return 1 if copy is None and any(item.line for item in found) else 0


def _import(path: Path, here: bool, as_json: bool) -> int:
    from app.session.importing import import_session

    copy = import_session(path, str(working_folder()) if here else None)
    if as_json:
        _say_json({"path": str(copy)})
    else:
        _say(f"imported: {copy}")
    return 0


def _list(asked: _Words, as_json: bool) -> int:
    from app.session.importing import pi_root
    from app.session.listing import list_sessions

    root = pi_root() if "--pi" in asked.flags else None
    cwd = None if "--all" in asked.flags else str(working_folder())
    found = list_sessions(cwd, root)
    result = None
    if asked.search is not None:
        result = _search(asked.search, cwd, root)
        found = [info for info in found if info.path in result.counts or _is_named(asked.search, info)]
    if as_json:
        _say_json([_row(info, result) for info in found])
    else:
        _print(found, result, cwd)
    return 1 if asked.search is not None and not found else 0


def _search(words: str, cwd: str | None, root: Path | None) -> SearchResult:
    from app.config.paths import cache_dir
    from app.session.search import SearchIndex

    # pi's sessions have an index of their own: what is looked for among ours is not found there
    index = SearchIndex(cache_dir() / "search-pi.sqlite" if root is not None else None, root)
    index.update()
    result = index.search(words, cwd, limit=10_000)
    if result.error:
        raise UsageError(result.error)
    return result


def _is_named(words: str, info: SessionInfo) -> bool:
    """Whether the words fit a session's name, letters in order being enough."""
    from widgets.fuzzy import fit

    return bool(info.name) and not words.startswith("re:") and fit(words, info.name or "") is not None


def _print(found: list[SessionInfo], result: SearchResult | None, cwd: str | None) -> None:
    from app.modes.output import clean

    if not found:
        _say("no sessions" if cwd is None else "no sessions of this folder (--all: of every folder)")
    for info in found:
        row = _row(info, None)
        title = " ".join(clean(row["name"] or row["firstMessage"]).split())
        _say(f"{row['id'][:13]}  {row['modified'][:16].replace('T', ' ')}  {title[:100]}")
        for hit in result.hits if result is not None else ():
            if hit.path == info.path:
                _say(f"    {clean(hit.role)[:12]:<12} {clean(hit.snippet)[:100]}")


def _row(info: SessionInfo, result: SearchResult | None) -> dict[str, Any]:
    from app.session.entries import ms_to_iso

    row: dict[str, Any] = {
        "id": info.id,
        "path": str(info.path),
        "cwd": info.cwd,
        "name": info.name,
        "created": ms_to_iso(info.created_ms),
        "modified": ms_to_iso(info.modified_ms),
        "messageCount": info.message_count,
        "firstMessage": info.first_message,
    }
    if result is not None:
        row["hits"] = [
            {
                "entryId": hit.entry_id,
                "role": hit.role,
                "text": hit.snippet,
                "marks": [list(mark) for mark in hit.marks],
            }
            for hit in result.hits
            if hit.path == info.path
        ]
    return row


def _say(text: str) -> None:
    sys.stdout.write(text.encode("utf-8", "replace").decode("utf-8") + "\n")


def _say_json(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1)
    _say(text)
