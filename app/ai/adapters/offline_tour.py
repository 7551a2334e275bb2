"""The offline guide's tour: every tool once, on a file of its own that is gone at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.ai.adapters.offline_reply import Done, block, code, count

Round = Sequence[Done]
TOUR_TOOLS = frozenset({"ls", "write", "read", "grep", "edit", "bash"})  # all, or its file might stay

_TEXT = "\n".join(
    ["A pinyon is a small pine.", "It grows slowly.", "It keeps its needles.", "Birds plant its seeds.", "line five"]
    + [f"line {number}" for number in range(6, 13)]
)


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls to make, all at once, with a word of what for."""

    text: str
    calls: tuple[tuple[str, dict[str, Any]], ...]


def next_step(rounds: Sequence[Round]) -> Calls | str:
    """The next stop of the tour, or its report. Nothing is written over: the file takes a free name."""
    if not rounds:
        return Calls("A tour of all that I can do. First I list the folder.", (("ls", {"path": "."}),))
    name = _free_name(rounds[0][0])
    stops = (
        Calls(f"Now I write a file of my own, {code(name)}.", (("write", {"path": name, "content": _TEXT + "\n"}),)),
        Calls(
            "Three looks at it at the same time.",
            (
                ("read", {"path": name, "limit": 4}),
                ("read", {"path": name, "offset": 5}),
                ("grep", {"pattern": "line", "path": name, "literal": True}),
            ),
        ),
        Calls("An edit: one line of it changes.", (("edit", {"path": name, "edits": [_EDIT]}),)),
        Calls("A command that works.", (("bash", {"command": f"wc -l {name}; head -n 5 {name}"}),)),
        Calls("A command that fails, on purpose.", (("bash", {"command": _FAILING}),)),
        Calls("And I clear up.", (("bash", {"command": f"rm -- {name}"}),)),
    )
    if len(rounds) > 1 and rounds[1][0].failed:
        return f"The tour ends early: {code(name)} could not be written.\n\n{block(rounds[1][0].text)}"
    at = len(rounds) - 1
    return stops[at] if at < len(stops) else _report(name, rounds)


_EDIT = {"oldText": "line five", "newText": "line 5, edited"}
_FAILING = "echo 'this goes wrong on purpose' >&2; exit 3"


def _free_name(listing: Done) -> str:
    taken = set(listing.text.split("\n"))
    names = ["pinyon-tour.txt", *(f"pinyon-tour-{number}.txt" for number in range(2, 100))]
    return next(name for name in names if name not in taken)


def _report(name: str, rounds: Sequence[Round]) -> str:
    looks = rounds[2]
    rows = [
        ("ls", "the folder", count(len(rounds[0][0].text.split("\n")), "entry"), rounds[0]),
        ("write", name, count(_TEXT.count("\n") + 1, "line"), rounds[1]),
        ("read, read, grep", "the same file, in parallel", count(len(looks), "result"), looks),
        ("edit", "one line", "changed", rounds[3]),
        ("bash", "wc, head", "exit code 0", rounds[4]),
        ("bash", "a failing command", f"exit code {rounds[5][0].exit_code}", rounds[5]),
        ("bash", f"rm {name}", "removed", rounds[6]),
    ]
    table = ["| tool | on what | result |", "| --- | --- | --- |"]
    for tool, what, result, done in rows:
        wrong = [one for one in done if one.failed]
        planned = what == "a failing command"
        said = result if not wrong or planned else "failed: " + " ".join(wrong[0].text.split())[:60].replace("|", "/")
        table.append(f"| {tool} | {what} | {said} |")
    parts = [
        "That was everything. What the tools gave:",
        "\n".join(table),
        "The command that works printed:",
        block(rounds[4][0].text, "text"),
        "Next: `list the files here`, `run the tests`, or `explain providers` to talk to a real model.",
    ]
    return "\n\n".join(parts)
