"""A plan turned into the text of a summary, by as many requests as it takes; it must never store anything.

`Ask` is how a request is made; the runtime gives it (model, key, retries). Source: spec core §5.4.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import anyio

from app.errors import ErrorKind, ModelError
from app.session.compaction import CompactionPlan
from app.session.summary_text import (
    HISTORY_PROMPT,
    NO_HISTORY,
    PREFIX_PROMPT,
    SPLIT_HEADER,
    UPDATE_PROMPT,
    in_chunks,
    request_text,
    serialise,
)

Ask = Callable[[str, int], Awaitable[str]]
"""(text of the request, most tokens of the answer) -> the answer's text. Raises ModelError."""
_CHARS_PER_TOKEN = 3  # more careful than the house's estimate: a summary request that overflows costs money
_SMALLER_CHUNKS = 3
# (to begin with, to bring up to date)
_HISTORY = (HISTORY_PROMPT, UPDATE_PROMPT)
_PREFIX = (PREFIX_PROMPT, f"{PREFIX_PROMPT} Bring the text in <previous-summary> up to date for it.")


async def compaction_summary(
    plan: CompactionPlan, ask: Ask, reserve: int, window: int, focus: str | None = None
) -> str:
    """The summary of a plan with its file lists. `reserve` and `window` are tokens of the model that is asked.

    Raises ModelError when a request fails. A history and the first part of a split turn are asked for side by side.
    """
    room = max((window - reserve) * _CHARS_PER_TOKEN, 4000)
    history = partial(_history, plan, ask, int(0.8 * reserve), room, focus)
    if not plan.turn_prefix:
        return await history() + plan.files.text()
    # the wish counts for the history, and for the turn's first part only when there is nothing else
    wish = None if plan.history else focus
    prefix = partial(_chunked, serialise(plan.turn_prefix), ask, int(0.5 * reserve), room, _PREFIX, None, wish)
    told, first_part = await _side_by_side([history, prefix])
    return told + SPLIT_HEADER + first_part + plan.files.text()


async def _history(plan: CompactionPlan, ask: Ask, most: int, room: int, focus: str | None) -> str:
    parts = serialise(plan.history)
    if not parts:
        return plan.previous or NO_HISTORY
    return await _chunked(parts, ask, most, room, _HISTORY, plan.previous, focus)


async def _chunked(
    parts: Sequence[str],
    ask: Ask,
    most: int,
    room: int,
    prompts: tuple[str, str],
    previous: str | None = None,
    focus: str | None = None,
) -> str:
    """One request when it fits, else one a chunk, each of which brings the text so far up to date."""
    for _ in range(_SMALLER_CHUNKS):
        try:
            summary = previous
            for chunk in in_chunks(parts, room - len(previous or "")):
                summary = await ask(request_text(chunk, prompts[summary is not None], summary, focus), most)
            return summary or NO_HISTORY
        except ModelError as error:
            if error.kind != ErrorKind.OVERFLOW:
                raise
            failure = error
            room //= 3
    raise failure


async def _side_by_side(asks: Sequence[Callable[[], Awaitable[str]]]) -> list[str]:
    """The answers in order; the first failure stops the others and is raised."""
    answers = [""] * len(asks)
    failures: list[ModelError] = []

    async def one(place: int, scope: anyio.CancelScope) -> None:
        try:
            answers[place] = await asks[place]()
        except ModelError as error:
            failures.append(error)
            scope.cancel()

    async with anyio.create_task_group() as group:
        for place in range(len(asks)):
            group.start_soon(one, place, group.cancel_scope)
    if failures:
        raise failures[0]
    return answers
