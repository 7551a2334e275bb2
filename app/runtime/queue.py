"""Messages that wait for the running agent: steering and follow-ups, told to the faces as they come and go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from app.agent.agent import Agent
from app.agent.events import AgentMessage
from app.ai.messages import ImageContent, TextContent, UserMessage
from app.runtime.events import QueueUpdate

Behavior = Literal["steer", "follow_up"]


class SessionQueue:
    """Keeps the agent's two queues and says what is in them; messages are told apart by identity, never by text."""

    def __init__(self, agent: Agent, emit: Callable[[QueueUpdate], None]) -> None:
        self._agent = agent
        self._emit = emit
        self._waiting: list[AgentMessage] = []
        self._held = ""

    def put(
        self,
        text: str,
        images: Sequence[ImageContent] = (),
        behavior: Behavior = "steer",
        attached: Sequence[str] = (),
    ) -> None:
        """Let the agent read a message before its next request (steer) or when it would stop (follow_up)."""
        message = UserMessage(content=user_content(text, images, attached))
        self._waiting.append(message)
        (self._agent.steering if behavior == "steer" else self._agent.follow_ups).put(message)
        self._tell()

    def hold(self, text: str) -> None:
        """Show a prompt whose run can't begin yet before all others ("": no more). It is no message yet."""
        if text != self._held:
            self._held = text
            self._tell()

    def take_all(self) -> list[str]:
        """The texts that waited, removed: steering first."""
        taken = [*self._agent.steering.clear(), *self._agent.follow_ups.clear()]
        self._waiting.clear()
        if taken:
            self._tell()
        return [message_text(message) for message in taken]

    def started(self, message: AgentMessage) -> None:
        """A message begins in the run: if it waited, it waits no more."""
        left = [waiting for waiting in self._waiting if waiting is not message]
        if len(left) < len(self._waiting):
            self._waiting = left
            self._tell()

    def _tell(self) -> None:
        self._emit(
            QueueUpdate(
                [
                    *filter(None, [self._held]),
                    *(message_text(message) for message in self._agent.steering.peek()),
                ],
                [message_text(message) for message in self._agent.follow_ups.peek()],
            )
        )


def user_content(
    text: str, images: Sequence[ImageContent], attached: Sequence[str]
) -> list[TextContent | ImageContent]:
    """A user message's blocks: what was typed, then a text block for each attached file, then images."""
    return [TextContent(text=text), *(TextContent(text=block) for block in attached), *images]


def message_text(message: AgentMessage) -> str:
    """What was typed of a user's message: its first text block, without attached files."""
    content = message.content
    if isinstance(content, str):
        return content
    return next((block.text for block in content if isinstance(block, TextContent)), "")
