"""Prompts typed before: those of this session and, from `history.txt`, of all others; it must never lose a draft.

The file holds one JSON string a line (0600), is only appended to, and is rewritten when it has grown to twice its
limit. Several processes write it: each append and each rewrite holds a lock on the file it changes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: appends of one short line don't interleave in practice, and a rewrite may lose one
    fcntl = None  # type: ignore[assignment]

MAX_PROMPTS = 1_000
MAX_STORED_CHARS = 64_000  # a longer prompt is kept for this run only


class PromptHistory:
    """A list of prompts, oldest first, with no two equal ones in a row."""

    def __init__(self, path: Path | None = None, limit: int = MAX_PROMPTS) -> None:
        self.path = path
        self.limit = limit
        self.problem: OSError | None = None
        self._stored: list[str] = []
        self._session: list[str] = []
        self._prompts: list[str] = []

    @property
    def prompts(self) -> list[str]:
        """All prompts, oldest first; a list of the history's own, not to be changed."""
        return self._prompts

    def load(self) -> None:
        """Read the file; blocks, so call it in a thread. A broken line is passed over, a missing file is empty."""
        if self.path is None:
            return
        try:
            self._stored = _unrepeated(_read(self.path))[-self.limit :]
        except FileNotFoundError:
            self._stored = []
        except OSError as error:
            self.problem = error
        self._merge()

    def set_session(self, prompts: Iterable[str]) -> None:
        """Take the user messages of the session that was opened as the newest prompts."""
        self._session = [prompt for prompt in prompts if prompt.strip()][-self.limit :]
        self._merge()

    def add(self, prompt: str) -> bool:
        """Append one prompt in memory; False if it is empty or equals the last one, and then needs no `store`."""
        if not prompt.strip() or (self._prompts and self._prompts[-1] == prompt):
            return False
        self._session.append(prompt)
        self._prompts.append(prompt)
        if len(self._prompts) > self.limit:
            del self._prompts[0]
        return True

    def store(self, prompt: str) -> None:
        """Append one prompt to the file; blocks, so call it in a thread. A failure is kept in `problem`, not raised."""
        if self.path is None or len(prompt) > MAX_STORED_CHARS:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _locked(self.path) as descriptor:
                line = json.dumps(prompt) + "\n"
                if _lacks_final_newline(descriptor):
                    line = "\n" + line
                os.write(descriptor, line.encode())
                if os.fstat(descriptor).st_size > 64 * self.limit:
                    _compact(self.path, self.limit)
        except OSError as error:
            self.problem = error

    def _merge(self) -> None:
        self._prompts = _unrepeated([*self._stored, *self._session])[-self.limit :]


class HistoryWalk:
    """One walk through a history by ↑ and ↓: what was edited on the way, the draft above all, is kept until it ends."""

    def __init__(self, history: PromptHistory) -> None:
        self._history = history
        self._texts: dict[int, str] = {}
        self._at: int | None = None
        self._end = 0

    @property
    def is_active(self) -> bool:
        """True between the first step and `end`."""
        return self._at is not None

    def older(self, current: str) -> str | None:
        """Return the prompt before the one shown, or None at the oldest; `current` is kept for the way back."""
        if self._at is None:
            self._end = len(self._history.prompts)
        return self._step(-1, current)

    def newer(self, current: str) -> str | None:
        """Return the prompt after the one shown, at last the draft; None if there was no walk."""
        return None if self._at is None else self._step(1, current)

    def end(self) -> None:
        """Forget the walk: the text was sent or cleared."""
        self._at = None
        self._texts.clear()

    def _step(self, step: int, current: str) -> str | None:
        at = self._end if self._at is None else self._at
        target = at + step
        if not 0 <= target <= self._end:
            return None
        self._texts[at] = current
        self._at = None if target == self._end else target
        text = self._texts.get(target)
        if target == self._end:
            self._texts.clear()
            return text or ""
        return self._history.prompts[target] if text is None else text


class HistorySearch:
    """One search backwards through a history, as a shell's ctrl+r: newest hit first."""

    def __init__(self, history: PromptHistory, draft: str) -> None:
        self.draft = draft
        self.query = ""
        self._prompts = history.prompts
        self._at = len(self._prompts)

    @property
    def hit(self) -> str | None:
        """The prompt found, None if there is none yet."""
        return self._prompts[self._at] if 0 <= self._at < len(self._prompts) else None

    def set_query(self, query: str) -> None:
        """Search anew from the newest prompt."""
        self.query = query
        self._at = len(self._prompts)
        if query:
            self.older()

    def older(self) -> bool:
        """Go on to the next older prompt that holds the query and differs from the hit; False if there is none."""
        wanted = self.query.casefold()
        shown = self.hit
        for at in range(min(self._at, len(self._prompts)) - 1, -1, -1):
            prompt = self._prompts[at]
            if wanted in prompt.casefold() and prompt != shown:
                self._at = at
                return True
        return False


def _unrepeated(prompts: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for prompt in prompts:
        if not kept or kept[-1] != prompt:
            kept.append(prompt)
    return kept


def _read(path: Path) -> list[str]:
    prompts: list[str] = []
    for line in path.read_bytes().split(b"\n"):
        with suppress(ValueError):
            prompt = json.loads(line)
            if isinstance(prompt, str) and prompt.strip():
                prompts.append(prompt)
    return prompts


def _lacks_final_newline(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Yield a descriptor, open for appending, of the file that now bears this name, locked."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                # Another process may have put a rewritten file in its place while we waited.
                if not path.exists() or not os.path.samestat(os.fstat(descriptor), os.stat(path)):
                    continue
            yield descriptor
            return
        finally:
            os.close(descriptor)


def _compact(path: Path, limit: int) -> None:
    """Rewrite the file with its newest prompts, if it holds more than twice the limit; the caller holds the lock."""
    prompts = _unrepeated(_read(path))
    if len(prompts) <= 2 * limit:
        return
    fresh = path.with_name(path.name + ".new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(prompt) + "\n" for prompt in prompts[-limit:])
    os.replace(fresh, path)
