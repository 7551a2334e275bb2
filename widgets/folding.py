"""Which neighbouring tool calls share one line; it must never hide a failure or a call that the reader opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from widgets.block import Block
from widgets.tool_blocks import ToolBlock

if TYPE_CHECKING:
    from widgets.block_list import Slot

MOST_MEMBERS = 64
"""A longer run gives several lines, so that opening one stays a small thing."""


class FoldGroup:
    """A run of successful read-only calls; drawn as one line at its first member while it is closed."""

    __slots__ = ("is_open", "members", "version")

    def __init__(self, members: list[Slot]) -> None:
        self.members = members
        self.is_open = False
        self.version = 0

    @property
    def is_folded(self) -> bool:
        """Whether its members share one line now."""
        return len(self.members) > 1 and not self.is_open

    def calls(self) -> list[tuple[str, Mapping[str, object]]]:
        """Name and arguments of each call."""
        blocks = (slot.block for slot in self.members)
        return [(block.name, block.params) for block in blocks if isinstance(block, ToolBlock)]

    def changed(self) -> None:
        """Have all members drawn anew (at most MOST_MEMBERS)."""
        self.version += 1
        for slot in self.members:
            slot.drawn_for = None


def is_foldable(block: Block) -> bool:
    """Whether the block may share a line: a read-only tool call that succeeded."""
    return isinstance(block, ToolBlock) and block.is_foldable


def fold_all(slots: list[Slot]) -> None:
    """Group a whole list, in one pass."""
    group: FoldGroup | None = None
    for slot in slots:
        if not is_foldable(slot.block):
            group = None
        elif group is None or len(group.members) >= MOST_MEMBERS:
            group = slot.fold = FoldGroup([slot])
        else:
            group.members.append(slot)
            slot.fold = group


def refold(slot: Slot) -> set[Slot]:
    """Bring one slot's group up to date after it came or changed; returns the slots that look different now."""
    foldable = is_foldable(slot.block)
    if foldable == (slot.fold is not None):
        return set()
    if not foldable:
        return unfold(slot)
    before = slot.prev.fold if slot.prev is not None else None
    after = slot.next.fold if slot.next is not None else None
    members = [slot]
    is_open = False
    if before is not None and len(before.members) < MOST_MEMBERS and before.members[-1] is slot.prev:
        members = [*before.members, *members]
        is_open = before.is_open
    if after is not None and len(members) + len(after.members) <= MOST_MEMBERS:
        members = [*members, *after.members]
        is_open = is_open or after.is_open
    return set(_regroup(members, is_open=is_open))


def unfold(slot: Slot) -> set[Slot]:
    """Take a slot out of its group, which falls in two; returns the slots that look different now."""
    group = slot.fold
    slot.fold = None
    slot.drawn_for = None
    if group is None:
        return set()
    place = group.members.index(slot)
    touched = {slot}
    for part in (group.members[:place], group.members[place + 1 :]):
        if part:
            touched.update(_regroup(part, is_open=group.is_open))
    return touched


def split_around(slot: Slot) -> set[Slot]:
    """Part the group in whose middle a new slot was put; returns the slots that look different now."""
    before = slot.prev.fold if slot.prev is not None else None
    after = slot.next
    if before is None or after is None or after.fold is not before:
        return set()
    return unfold(after) | refold(after)


def _regroup(members: list[Slot], *, is_open: bool) -> list[Slot]:
    group = FoldGroup(members)
    group.is_open = is_open
    for member in members:
        member.fold = group
    group.changed()
    return members
