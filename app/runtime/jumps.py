"""Where the user has been in the tree, for alt+left and alt+right; in memory only, it must never move anything."""

from __future__ import annotations

MOST = 100


class Jumps:
    """Two stacks of leaves (None: before the root), as in a browser; a leaf may meanwhile have grown further."""

    def __init__(self) -> None:
        self._back: list[str | None] = []
        self._forward: list[str | None] = []

    @property
    def can_go_back(self) -> bool:
        """Whether there is a place to go back to."""
        return bool(self._back)

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a place to go forward to."""
        return bool(self._forward)

    def left(self, leaf_id: str | None) -> None:
        """The user jumped away from here: what lay forward is forgotten."""
        self._back = [*self._back, leaf_id][-MOST:]
        self._forward.clear()

    def peek(self, step: int) -> str | None:
        """The place that `step` (-1 back, 1 forward) leads to. Raises IndexError when there is none."""
        return (self._back if step < 0 else self._forward)[-1]

    def walked(self, step: int, leaf_id: str | None) -> None:
        """The user went one step from `leaf_id` to what `peek(step)` gave."""
        source, goal = (self._back, self._forward) if step < 0 else (self._forward, self._back)
        source.pop()
        goal.append(leaf_id)

    def clear(self) -> None:
        """Forget them all (another session)."""
        self._back.clear()
        self._forward.clear()
