"""What the offline guide can be asked for, as plain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ListFiles:
    """The entries of one folder."""

    path: str = "."


@dataclass(frozen=True, slots=True)
class FindFiles:
    """Files whose name fits a glob."""

    pattern: str
    path: str = "."


@dataclass(frozen=True, slots=True)
class ReadFiles:
    """Some files, lines `first` to `last` (None: from the start, to the end)."""

    paths: tuple[str, ...]
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """Lines that hold a text, or fit a regular expression."""

    pattern: str
    path: str = "."
    literal: bool = True


@dataclass(frozen=True, slots=True)
class Run:
    """A shell command."""

    command: str


@dataclass(frozen=True, slots=True)
class RunTests:
    """The project's tests; `why` also looks at what fails, `fix` was asked for as well."""

    why: bool = False
    fix: bool = False


@dataclass(frozen=True, slots=True)
class WriteFile:
    """A new content for a file."""

    path: str
    content: str


@dataclass(frozen=True, slots=True)
class EditFile:
    """One piece of a file exchanged."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Explain:
    """A page about Pinyon (a topic of offline_topics)."""

    topic: str


@dataclass(frozen=True, slots=True)
class Tour:
    """Every tool once, on a file of its own that is removed at the end."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Leave what was asked before."""


@dataclass(frozen=True, slots=True)
class Unclear:
    """Not understood; `hint` says what is missing, if that much is clear."""

    text: str
    hint: str = ""


Intent = (
    ListFiles | FindFiles | ReadFiles | Search | Run | RunTests | WriteFile | EditFile | Explain | Tour | Stop | Unclear
)
