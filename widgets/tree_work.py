"""Work behind a key, in a worker of the node that started it: a call, so that one cancelled early leaves nothing."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.dom import DOMNode


def begin(node: DOMNode, work: Callable[[], Coroutine[Any, Any, None]], group: str, *, exclusive: bool = False) -> None:
    """Start it; `exclusive` cancels what goes on in the group. What it raises ends the worker alone: catch inside."""
    node.run_worker(  # Textual's union of kinds of work is ambiguous for a callable
        work,  # type: ignore[arg-type]
        exclusive=exclusive,
        exit_on_error=False,
        group=group,
        description=group,
    )
