"""A user's regular expression over texts, in bounded time; a pattern that never ends is ended with its process.

Python's `re` can't be interrupted and keeps the whole interpreter from working meanwhile, keys included: a pattern
that repeats anything is therefore matched in a process of its own.
"""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import time
from types import TracebackType

from app.errors import SessionError
from app.session.search_query import MARKS, Span
from app.tools.patterns import is_tame

_FLAGS = re.IGNORECASE | re.MULTILINE
_CHILD = """
import json, re, sys
MARKS = int(sys.argv[1])
pattern = re.compile(json.loads(sys.stdin.readline()), re.IGNORECASE | re.MULTILINE)
for line in sys.stdin:
    out = []
    for text in json.loads(line):
        spans = []
        for match in pattern.finditer(text):
            if match.end() > match.start():
                spans.append(match.span())
            if len(spans) >= MARKS:
                break
        out.append(spans)
    sys.stdout.write(json.dumps(out) + chr(10))
    sys.stdout.flush()
"""


class PatternError(SessionError):
    """The pattern is no regular expression, or takes too long."""


class BoundedRegex:
    """A pattern, matched without regard to case. A context manager: leaving it ends what it began.

    Raises PatternError for a pattern that can't be read.
    """

    def __init__(self, pattern: str) -> None:
        try:
            self._pattern = re.compile(pattern, _FLAGS)
        except (re.error, OverflowError, RecursionError) as error:
            raise PatternError(f"re:{pattern} is no regular expression: {error}") from error
        self._is_tame = is_tame(pattern, literal=False)
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> BoundedRegex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            for stream in (child.stdin, child.stdout):
                if stream is not None:
                    try:
                        stream.close()
                    except OSError:
                        continue
            child.wait()

    def spans(self, texts: list[str], deadline: float) -> list[list[Span]]:
        """Where each text holds the pattern (empty hits don't count). `deadline` is a time.monotonic().

        Raises PatternError when it is not done by then.
        """
        if self._is_tame:
            return [self._tame(text) for text in texts]
        child = self._started()
        assert child.stdin is not None
        try:
            child.stdin.write(json.dumps(texts).encode("ascii") + b"\n")
            child.stdin.flush()
        except OSError as error:
            raise PatternError("the search for re: ended unexpectedly") from error
        found = json.loads(self._answer(child, deadline))
        return [[(int(begin), int(end)) for begin, end in spans] for spans in found]

    def _tame(self, text: str) -> list[Span]:
        found: list[Span] = []
        for match in self._pattern.finditer(text):
            if match.end() > match.start():
                found.append(match.span())
            if len(found) >= MARKS:
                break
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _CHILD, str(MARKS)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            assert self._child.stdin is not None
            self._child.stdin.write(json.dumps(self._pattern.pattern).encode("ascii") + b"\n")
        return self._child

    def _answer(self, child: subprocess.Popen[bytes], deadline: float) -> bytes:
        assert child.stdout is not None
        descriptor = child.stdout.fileno()
        data = b""
        while not data.endswith(b"\n"):
            ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise PatternError("the pattern behind re: takes too long", "Make it simpler, or add a word before it")
            part = os.read(descriptor, 1 << 16)
            if not part:
                raise PatternError("the search for re: ended unexpectedly")
            data += part
        return data
