"""Markdown's block structure, one line at a time: a flat list of leaves, each with the containers it stands in.

Only the last leaf can be open, so everything before it is final: that is what makes a stable prefix. A line costs the
same however long the text is, and the line that is still being written can be tried and taken back. Source: CommonMark
0.31 block rules, GFM tables and task items.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from renderers.markdown_inline import References, normalise_label
from renderers.markdown_leaf import Container, Leaf, LeafKind, split_cells

MAX_DEPTH = 16

_TABBED = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*")
_FENCE = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$")
_HEADING = re.compile(r"(#{1,6})(?: +|$)")
_HEADING_END = re.compile(r"(?:^| )#+ *$")
_SETEXT = re.compile(r"(=+|-+) *$")
_RULE = re.compile(r"([-_*])(?: *\1){2,} *$")
_ITEM = re.compile(r"(?:([-+*])|(\d{1,9})([.)]))( +|$)")
_TASK = re.compile(r"\[([ xX])\](?: +|$)")
_HTML = re.compile(
    r"</?(?:details|summary|div|table|thead|tbody|tr|td|th|p|ul|ol|li|pre|h[1-6]|section|center)\b|<!--"
    r"|</?[a-z][\w-]*(?: [^<>]*)?/?> *$",
    re.IGNORECASE,
)
_DELIMITER = re.compile(r"\|? *:?-+:? *(?:\| *:?-+:? *)*\|? *$")
_DEFINITION = re.compile(r"\[((?!\^)(?:[^\[\]\\]|\\.)+)\]: *(<[^<>]*>|\S+)(?: +(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))? *$")
_MARKERS_ONLY = re.compile(r"[-*_=#>`~+|: ]*$|\d{1,4}[.)]? *$")


@dataclass(frozen=True, slots=True)
class _ListState:
    key: str
    next_number: int
    list_id: int


class BlockParser:
    """Feeds on complete lines without their line feeds; `leaves` is the result so far, final but for the last."""

    def __init__(self) -> None:
        self.leaves: list[Leaf] = []
        self.references: References = {}
        self._stack: list[Container] = []
        self._lists: dict[int, _ListState] = {}
        self._blank = False
        self._list_count = 0
        self._trying = False

    @property
    def open_leaf(self) -> Leaf | None:
        """The leaf that may still grow."""
        return self.leaves[-1] if self.leaves and not self.leaves[-1].closed else None

    def feed(self, line: str) -> None:
        """Take one sanitised line."""
        rest = line
        if "\t" in line and (found := _TABBED.match(line)) is not None:
            rest = found[0].expandtabs(4) + line[found.end() :]
        depth = 0
        for container in self._stack:
            taken = _enter(container, rest)
            if taken is None:
                break
            rest = taken
            depth += 1
        leaf = self.open_leaf
        if leaf is not None and leaf.kind in ("code", "html"):
            if depth == len(self._stack) and self._continue_verbatim(leaf, rest):
                return
            self._close_to(depth)
            leaf = self.open_leaf
        if not rest.strip(" "):
            self._take_blank(depth, leaf)
            return
        opened = False
        while True:
            step = self._start(rest, depth, leaf, opened)
            if step is None:
                break
            if not isinstance(step, str):
                return
            rest, depth, leaf, opened = step, depth + 1, None, True
            if not rest.strip(" "):
                if self._stack[-1].is_item:
                    self._open("paragraph")
                return
        self._take_text(rest, depth, leaf, opened)

    def extend(self, text: str) -> None:
        """Add to the line fed last, which must stand in an open paragraph."""
        leaf = self.open_leaf
        if leaf is None or leaf.kind != "paragraph" or not leaf.lines:
            raise ValueError("only an open paragraph's last line can grow")
        leaf.lines[-1] += text

    def close(self) -> None:
        """End every open block."""
        self._close_leaf()
        self._stack.clear()
        self._lists.clear()

    @contextmanager
    def trying(self, partial: str) -> Iterator[None]:
        """Take a line that isn't complete for the time of the context; what may become a marker is held back."""
        leaf = self.open_leaf
        hidden = not partial or self._is_held_back(partial, leaf)
        if hidden:
            yield
            return
        count, stack, lists = len(self.leaves), list(self._stack), dict(self._lists)
        blank, list_count = self._blank, self._list_count
        kept = copy.copy(leaf) if leaf is not None else None
        size = len(leaf.lines) if leaf is not None else 0
        last = leaf.lines[-1:] if leaf is not None else []
        self._trying = True
        try:
            self.feed(partial)
            yield
        finally:
            self._trying = False
            del self.leaves[count:]
            self._stack, self._lists, self._blank, self._list_count = stack, lists, blank, list_count
            if leaf is not None and kept is not None:
                del leaf.lines[size:]
                if len(leaf.lines) < size:
                    leaf.lines.extend(last)
                leaf.kind, leaf.closed, leaf.level, leaf.held_blanks = (
                    kept.kind,
                    kept.closed,
                    kept.level,
                    kept.held_blanks,
                )

    @staticmethod
    def _is_held_back(partial: str, leaf: Leaf | None) -> bool:
        text = partial.strip(" \t")
        if leaf is not None and leaf.kind == "code":
            return bool(text) and text == leaf.fence[:1] * len(text)
        if leaf is not None and leaf.kind == "table":
            return not text
        return _MARKERS_ONLY.match(text) is not None

    def _start(self, rest: str, depth: int, leaf: Leaf | None, opened: bool) -> str | Literal[True] | None:
        """Open what the line begins: the rest of it inside a new container, True if the line is used up, else None."""
        indent = len(rest) - len(rest.lstrip(" "))
        if indent >= 4:
            return None
        body = rest[indent:]
        has_text = leaf is not None and leaf.kind == "paragraph" and bool(leaf.lines)
        continues = has_text and not opened and depth == len(self._stack)
        first = body[0]
        if first == ">" and depth < MAX_DEPTH:
            self._close_to(depth)
            self._push(Container(False))
            return body[2:] if body[1:2] == " " else body[1:]
        if first in "`~" and (found := _FENCE.match(body)) is not None:
            self._close_to(depth)
            code = self._open("code")
            code.fence, code.fence_indent = found[1] or found[3], indent
            code.language = ((found[2] or found[4] or "").split() or [""])[0].strip("{}.")
            return True
        if first == "#" and (found := _HEADING.match(body)) is not None:
            self._close_to(depth)
            heading = self._open("heading")
            heading.level, heading.closed = len(found[1]), True
            heading.lines.append(_HEADING_END.sub("", body[found.end() :]).strip(" "))
            return True
        if leaf is not None and continues and first in "=-" and _SETEXT.match(body) is not None:
            leaf.kind, leaf.level, leaf.closed = "heading", 1 if first == "=" else 2, True
            return True
        if first in "-_*" and _RULE.match(body) is not None:
            self._close_to(depth)
            self._open("rule").closed = True
            return True
        if (found := _ITEM.match(body)) is not None and depth < MAX_DEPTH:
            inside = body[found.end() :]
            if not (continues and (not inside or found[2] not in (None, "1"))):
                self._close_to(depth)
                return self._push_item(found, indent, depth, inside)
        if first == "<" and not continues and _HTML.match(body) is not None:
            self._close_to(depth)
            self._open("html").lines.append(rest)
            return True
        if leaf is not None and continues and "|" in body and _DELIMITER.match(body) is not None:
            return self._start_table(leaf, body)
        return None

    def _push_item(self, found: re.Match[str], indent: int, depth: int, inside: str) -> str:
        marker_cells = found.end() - len(found[4])
        blanks = len(found[4])
        if not inside or blanks > 4:
            inside = " " * (blanks - 1) + inside if inside else ""
            blanks = 1
        key = found[1] or found[3]
        before = self._lists.get(depth)
        if before is None or before.key != key:
            self._list_count += 1
            before = _ListState(key, int(found[2] or 0), self._list_count)
        self._lists = {at: state for at, state in self._lists.items() if at < depth}
        self._lists[depth] = _ListState(key, before.next_number + 1, before.list_id)
        marker = f"{before.next_number}{key}" if found[2] else "•◦▪"[sum(part.is_item for part in self._stack) % 3]
        if (task := _TASK.match(inside)) is not None:
            box = "☐" if task[1] == " " else "☑"
            marker = f"{marker} {box}" if found[2] else box
            inside = inside[task.end() :]
        self._close_leaf()
        self._stack.append(Container(True, indent + marker_cells + blanks, marker, before.list_id))
        return inside

    def _push(self, container: Container) -> None:
        self._close_leaf()
        self._lists = {at: state for at, state in self._lists.items() if at < len(self._stack)}
        self._stack.append(container)

    def _start_table(self, leaf: Leaf, delimiter: str) -> Literal[True] | None:
        header = leaf.lines[-1]
        if len(split_cells(header)) != len(split_cells(delimiter)):
            return None
        if len(leaf.lines) == 1:
            leaf.kind = "table"
            leaf.lines.append(delimiter)
            return True
        leaf.lines.pop()
        self._open("table").lines.extend([header, delimiter])
        return True

    def _take_blank(self, depth: int, leaf: Leaf | None) -> None:
        self._close_to(depth)
        if leaf is not None and leaf.kind == "indented" and not leaf.closed:
            leaf.held_blanks += 1
        else:
            self._close_leaf()
        if self._stack and self._stack[-1].is_item and self.leaves:
            last = self.leaves[-1]
            if last.kind == "paragraph" and not last.lines and last.path and last.path[-1] is self._stack[-1]:
                self._stack.pop()  # an item may begin with one empty line, not with two
        self._blank = True

    def _take_text(self, rest: str, depth: int, leaf: Leaf | None, opened: bool) -> None:
        text = rest.lstrip(" ")
        if leaf is not None and leaf.kind == "paragraph" and leaf.lines and not opened:
            leaf.lines.append(text)  # also when a container's marker is missing: a lazy continuation
            return
        if not opened:
            self._close_to(depth)
        leaf = self.open_leaf
        if len(rest) - len(text) >= 4 and (leaf is None or leaf.kind in ("indented", "paragraph", "table")):
            if leaf is None or leaf.kind != "indented":
                leaf = self._open("indented")
            leaf.lines.extend([""] * leaf.held_blanks)
            leaf.held_blanks = 0
            leaf.lines.append(rest[4:])
        elif leaf is not None and leaf.kind in ("table", "paragraph"):
            leaf.lines.append(text)
        else:
            self._open("paragraph").lines.append(text)

    def _continue_verbatim(self, leaf: Leaf, rest: str) -> bool:
        bare = rest.strip(" ")
        if leaf.kind == "html":
            if not bare:
                return False
            leaf.lines.append(rest)
            return True
        indent = len(rest) - len(rest.lstrip(" "))
        mark = leaf.fence[0]
        if indent < 4 and len(bare) >= len(leaf.fence) and bare == mark * len(bare):
            leaf.closed = True
        else:
            leaf.lines.append(rest[min(indent, leaf.fence_indent) :])
        return True

    def _open(self, kind: LeafKind) -> Leaf:
        self._close_leaf()
        path = tuple(self._stack)
        self._lists = {at: state for at, state in self._lists.items() if at < len(path)}
        before = self.leaves[-1] if self.leaves else None
        shared = 0
        if before is not None:
            for ours, theirs in zip(path, before.path, strict=False):
                if ours is not theirs:
                    break
                shared += 1
        leaf = Leaf(kind, path, shared, before is not None and self._has_gap(path, before), shared=shared)
        self.leaves.append(leaf)
        self._blank = False
        return leaf

    def _has_gap(self, path: tuple[Container, ...], before: Leaf) -> bool:
        if self._blank:
            return True
        if path and before.path:
            ours, theirs = path[0], before.path[0]
            return not (ours is theirs or (ours.is_item and ours.list_id == theirs.list_id))
        return not (path and path[0].is_item and before.kind == "paragraph")

    def _close_to(self, depth: int) -> None:
        if len(self._stack) > depth:
            self._close_leaf()
            del self._stack[depth:]

    def _close_leaf(self) -> None:
        leaf = self.open_leaf
        if leaf is None:
            return
        leaf.closed = True
        if leaf.kind == "paragraph" and leaf.lines and leaf.lines[0].startswith("[") and not self._trying:
            self._take_definitions(leaf)

    def _take_definitions(self, leaf: Leaf) -> None:
        taken = 0
        for line in leaf.lines:
            found = _DEFINITION.match(line)
            if found is None:
                break
            self.references.setdefault(normalise_label(found[1]), {"title": "", "href": found[2].strip("<>")})
            taken += 1
        del leaf.lines[:taken]


def _enter(container: Container, rest: str) -> str | None:
    """Return the line inside the container, None if it doesn't go on there."""
    bare = rest.lstrip(" ")
    indent = len(rest) - len(bare)
    if container.is_item:
        if not bare:
            return ""
        return rest[container.indent :] if indent >= container.indent else None
    if indent >= 4 or not bare.startswith(">"):
        return None
    return bare[2:] if bare[1:2] == " " else bare[1:]
