"""Messages that wait for a run to take them: one at a time or all at once."""

from __future__ import annotations

from typing import Literal

from app.agent.events import AgentMessage

QueueMode = Literal["one-at-a-time", "all"]


class MessageQueue:
    """First in, first out; `mode` may change at any time."""

    def __init__(self, mode: QueueMode = "one-at-a-time") -> None:
        self.mode: QueueMode = mode
        self._waiting: list[AgentMessage] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, message: AgentMessage) -> None:
        """Add at the end."""
        self._waiting.append(message)

    def drain(self) -> list[AgentMessage]:
        """The next messages by the mode, removed; an empty list when none waits."""
        count = len(self._waiting) if self.mode == "all" else 1
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        return taken

    def clear(self) -> list[AgentMessage]:
        """All of them, removed."""
        taken, self._waiting = self._waiting, []
        return taken

    def peek(self) -> list[AgentMessage]:
        """All of them, left where they are."""
        return list(self._waiting)
