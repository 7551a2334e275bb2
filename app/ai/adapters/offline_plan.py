"""What the offline guide does next for one intent: pure functions of the intent and what its calls gave so far."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from app.ai.adapters import offline_reply as reply
from app.ai.adapters import offline_tour as tour
from app.ai.adapters.offline_intents import (
    EditFile,
    Explain,
    FindFiles,
    Intent,
    ListFiles,
    ReadFiles,
    Run,
    RunTests,
    Search,
    Stop,
    Tour,
    Unclear,
    WriteFile,
)
from app.ai.adapters.offline_reply import Done, code
from app.ai.adapters.offline_topics import EXAMPLES, TOPICS
from app.ai.adapters.offline_tour import Calls, Round

TEST_LIMIT_S = 600


@dataclass(frozen=True, slots=True)
class Report:
    """The intent is done; what there is to say."""

    text: str


def next_step(intent: Intent, rounds: Sequence[Round]) -> Calls | Report:
    """The next calls, or the report if `rounds` holds all that is needed."""
    match intent:
        case Explain():
            return Report(TOPICS.get(intent.topic, TOPICS["help"]))
        case Stop():
            return Report("Stopped. What had run before has run; nothing more is done.")
        case Unclear():
            return Report(_unclear(intent))
        case Tour():
            step = tour.next_step(rounds)
            return Report(step) if isinstance(step, str) else step
        case RunTests():
            return _tests(intent, rounds)
        case _:
            return _report(intent, rounds[0]) if rounds else _calls(intent)


Simple = ListFiles | FindFiles | ReadFiles | Search | Run | WriteFile | EditFile


def _calls(intent: Simple) -> Calls:
    match intent:
        case ListFiles():
            return Calls(f"Listing {code(intent.path)}.", (("ls", {"path": intent.path}),))
        case FindFiles():
            arguments = {"pattern": intent.pattern, "path": intent.path}
            return Calls(f"Looking for {code(intent.pattern)}.", (("find", arguments),))
        case ReadFiles():
            names = ", ".join(map(code, intent.paths))
            return Calls(f"Reading {names}.", tuple(("read", _range(intent, path)) for path in intent.paths))
        case Search():
            arguments = {"pattern": intent.pattern, "path": intent.path}
            literal: dict[str, Any] = {"literal": True} if intent.literal else {}
            return Calls(f"Searching for {code(intent.pattern)}.", (("grep", arguments | literal),))
        case Run():
            return Calls(f"Running {code(intent.command)}.", (("bash", {"command": intent.command}),))
        case WriteFile():
            arguments = {"path": intent.path, "content": intent.content}
            return Calls(f"Writing {code(intent.path)}.", (("write", arguments),))
        case EditFile():
            edits = [{"oldText": intent.old, "newText": intent.new}]
            return Calls(f"Editing {code(intent.path)}.", (("edit", {"path": intent.path, "edits": edits}),))
        case _:
            assert_never(intent)


def _report(intent: Simple, done: Round) -> Report:
    match intent:
        case ListFiles():
            return Report(reply.listed(intent, done[0]))
        case FindFiles():
            return Report(reply.found(intent, done[0]))
        case ReadFiles():
            return Report(reply.read(intent, done))
        case Search():
            return Report(reply.searched(intent, done[0]))
        case Run():
            return Report(reply.ran(intent, done[0]))
        case WriteFile():
            return Report(reply.written(intent, done[0]))
        case EditFile():
            return Report(reply.edited(intent, done[0]))
        case _:
            assert_never(intent)


def _range(intent: ReadFiles, path: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {"path": path}
    if intent.first is not None:
        arguments["offset"] = intent.first
        if intent.last is not None:
            arguments["limit"] = max(1, intent.last - intent.first + 1)
    return arguments


def _unclear(intent: Unclear) -> str:
    if not intent.text:
        return TOPICS["help"]
    said = f"I don't understand {code(intent.text)}."
    if intent.hint:
        said += f" {intent.hint[:1].upper()}{intent.hint[1:]}."
    return f"{said}\n\nThese I do understand:\n\n{EXAMPLES}"


def _tests(intent: RunTests, rounds: Sequence[Round]) -> Calls | Report:
    """Look what kind of project it is, run its tests, and if they fail read the places that the runner names."""
    if not rounds:
        return Calls("Looking for what runs the tests here.", (("ls", {"path": "."}),))
    first = rounds[0][0]
    if first.failed:
        return Report(reply.failure("Listing the folder", first))
    commands = _commands(first.text.split("\n"))
    rest = list(rounds[1:])
    if not commands:
        if not rest:
            return Calls("Looking for tests further down.", (("find", {"pattern": "*test*", "path": "."}),))
        commands = _commands_below(rest.pop(0)[0])
        if not commands:
            return Report(
                "I find no tests here: no project file that I know (pytest, npm, make, cargo, go …), no test file."
            )
    runs = 0
    while runs < len(rest) and runs < len(commands) and (runs == 0 or _cannot_run(rest[runs - 1][0])):
        runs += 1
    if runs == 0 or (runs == len(rest) and runs < len(commands) and _cannot_run(rest[runs - 1][0])):
        arguments = {"command": commands[runs], "timeout": TEST_LIMIT_S}
        return Calls(f"Running the tests: {code(commands[runs])}.", (("bash", arguments),))
    run, reads = rest[runs - 1][0], rest[runs:]
    places = _places(run.text) if run.failed and intent.why else []
    if places and not reads:
        names = " and ".join(code(f"{path}:{line}") for path, line in places)
        calls = tuple(("read", {"path": path, "offset": max(1, line - 8), "limit": 14}) for path, line in places)
        return Calls(f"They fail. Reading {names}.", calls)
    return Report(reply.tested(intent, run, reads[0] if reads else ()))


def _commands(names: list[str]) -> list[str]:
    """The commands that may run the tests of a folder with these entries, the likeliest first."""
    has = set(names).__contains__
    python = [f"{folder}/bin/python -m pytest -q" for folder in (".venv", "venv") if has(folder + "/")]
    python += ["python3 -m pytest -q", "pytest -q", "python3 -m unittest discover"]
    if any(map(has, ("pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", "conftest.py"))):
        return python
    if any(re.fullmatch(r"test_\w+\.py|\w+_test\.py", name) for name in names):
        return python
    known = {
        "package.json": "npm test --silent", "Cargo.toml": "cargo test", "go.mod": "go test ./...",
        "pom.xml": "mvn -q test", "gradlew": "./gradlew test", "mix.exs": "mix test", "composer.json": "composer test",
        "Makefile": "make test", "makefile": "make test", "Rakefile": "rake test",
    }  # fmt: skip
    return [command for name, command in known.items() if has(name)][:1]


def _commands_below(found: Done) -> list[str]:
    names = [path.rpartition("/")[2] for path in found.text.split("\n")] if not found.failed else []
    return _commands([name for name in names if name.endswith(".py")])


def _cannot_run(run: Done) -> bool:
    """Whether a test runner was missing, so that nothing was tested."""
    return run.failed and (run.exit_code in (126, 127) or "No module named pytest" in run.text)


def _places(output: str) -> list[tuple[str, int]]:
    """Up to two `path:line` places of the project that a test runner's output names, each file once."""
    found: dict[str, int] = {}
    for match in re.finditer(
        r'^\s*(?:File "([^"\n]+)", line (\d+)|(?:--> )?([\w./-]+\.\w{1,5}):(\d+)\b)', output, re.MULTILINE
    ):
        path, line = match[1] or match[3], int(match[2] or match[4])
        if not re.search(r"site-packages|node_modules|/lib/python|^<", path):
            found.setdefault(path, line)
    return list(found.items())[:2]
