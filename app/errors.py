"""The one tree of exceptions; it must never import anything of ours.

PinyonError                 message + hint, `exit_code` for the command line
├── UsageError              the command line is wrong                       (2)
├── ConfigError             a file of the user's settings is unreadable     (2)
├── ModelError              a request to a model failed: kind, status, retryable, retry_after_s
├── ToolError               a tool failed; the text goes to the model
└── SessionError            a session can't be read or written
    ├── NotASessionError    the file is no session                          (2)
    ├── SessionBusyError    another process holds the writer's lease
    └── WriteFailedError    an entry could not be stored
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class PinyonError(Exception):
    """What failed and on what (`message`), and what the user can do (`hint`, may be empty)."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}" if self.hint else self.message


class UsageError(PinyonError):
    """The command line can't be understood."""

    exit_code = 2


class ConfigError(PinyonError):
    """A settings file is unreadable: `path`, `place` (line or key) and `reason` say which and why."""

    exit_code = 2

    def __init__(self, path: Path | str, reason: str, place: str = "", hint: str = "") -> None:
        where = f"{path}, {place}" if place else str(path)
        super().__init__(f"{where}: {reason}", hint)
        self.path = path
        self.place = place
        self.reason = reason


class ErrorKind(StrEnum):
    """Why a request to a model failed; decides whether a retry makes sense."""

    AUTH = "auth"
    QUOTA = "quota"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    SERVER = "server"
    OVERFLOW = "overflow"
    BAD_REQUEST = "bad_request"
    NOT_FOUND = "not_found"
    NETWORK = "network"
    TIMEOUT = "timeout"
    CUT = "cut"
    EMPTY = "empty"
    GARBAGE = "garbage"
    REFUSED = "refused"
    INTERNAL = "internal"


RETRYABLE = frozenset(
    {
        ErrorKind.RATE_LIMIT,
        ErrorKind.OVERLOADED,
        ErrorKind.SERVER,
        ErrorKind.NETWORK,
        ErrorKind.TIMEOUT,
        ErrorKind.CUT,
        ErrorKind.EMPTY,
        ErrorKind.GARBAGE,
    }
)


class ModelError(PinyonError):
    """A request to a model failed. `retry_after_s` is the provider's word in seconds, None when it gave none."""

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        hint: str = "",
        status: int | None = None,
        retryable: bool | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.kind = kind
        self.status = status
        self.retryable = kind in RETRYABLE if retryable is None else retryable
        self.retry_after_s = retry_after_s


class ToolError(PinyonError):
    """A tool failed: `message` is what the model reads; `details` (JSON object) is for the tool's renderer."""

    def __init__(self, message: str, details: dict[str, object] | None = None) -> None:
        super().__init__(message)
        self.details = details


class SessionError(PinyonError):
    """A session can't be read or written."""


class NotASessionError(SessionError):
    """The file is not a session; it is never written to."""

    exit_code = 2


class SessionBusyError(SessionError):
    """Another living process writes this session; `path` is its file where that is known."""

    path: Path | None = None


class WriteFailedError(SessionError):
    """An entry could not be stored (full disk, read-only, folder gone); nothing of it counts as saved."""
