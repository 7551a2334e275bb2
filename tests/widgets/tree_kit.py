"""What the tree's tests share: trees made by hand, an app around the view, the screen as text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from textual import on
from textual.app import App, ComposeResult
from textual.message import Message

from app.session.entries import RawEntry
from app.session.facts import IndexEntry, entry_facts
from app.session.tree import Tree
from app.tui.themes import theme_variable_defaults
from widgets.tree_view import TreeView

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


class Maker:
    """Makes entries; each goes under the one before unless it is told another parent."""

    def __init__(self) -> None:
        self.raws: dict[str, RawEntry] = {}
        self.entries: list[IndexEntry] = []
        self._last: str | None = None

    def add(self, kind: str, entry_id: str | None, parent: str | None = "", **members: Any) -> str:
        number = len(self.entries)
        entry_id = entry_id or f"e{number}"
        parent_id = self._last if parent == "" else parent
        time = f"2026-11-30T09:{number % 60:02d}:00.000Z"
        raw: RawEntry = {"type": kind, "id": entry_id, "parentId": parent_id, "timestamp": time, **members}
        self.raws[entry_id] = raw
        self.entries.append(entry_facts(raw, entry_id, parent_id, number))
        self._last = entry_id
        return entry_id

    def user(self, text: str, entry_id: str | None = None, parent: str | None = "") -> str:
        return self.add("message", entry_id, parent, message={"role": "user", "content": text})

    def answer(self, text: str, entry_id: str | None = None, parent: str | None = "", **message: Any) -> str:
        calls = [
            {"type": "toolCall", "id": f"{name}-{n}", "name": name, "arguments": {"path": f"{name}{n}.py"}}
            for n, name in enumerate(message.pop("calls", ()))
        ]
        content = [*([{"type": "text", "text": text}] if text else []), *calls]
        members = {"stopReason": "toolUse" if calls else "stop", **message}
        return self.add("message", entry_id, parent, message={"role": "assistant", "content": content, **members})

    def result(self, name: str, number: int = 0, *, failed: bool = False) -> str:
        message = {
            "role": "toolResult",
            "toolCallId": f"{name}-{number}",
            "toolName": name,
            "isError": failed,
            "content": [{"type": "text", "text": f"{name} output"}],
        }
        return self.add("message", None, message=message)

    def label(self, target: str, text: str) -> str:
        return self.add("label", None, targetId=target, label=text)

    def tree(self) -> Tree:
        return Tree(self.entries)

    def read(self, entry_id: str) -> RawEntry:
        return self.raws[entry_id]


def sample() -> Maker:
    """The tree of the picture (design/tree.png): two other branches, one labelled, and a run of tools."""
    make = Maker()
    make.user("The CSV test fails since yesterday", "root")
    make.answer("I'll look at the failing test first", "look", calls=["read"])
    make.result("read")
    make.answer("", None, calls=["read", "bash", "edit"])
    make.result("read", 0)
    make.result("bash", 1)
    point = make.result("edit", 2)
    make.user("try a regex instead", "regex", point)
    make.answer("Rewrote split() with re", "rewrote")
    make.user("is it faster?", "faster")
    make.answer("A little", "little")
    make.user("write it in Rust", "rust", point)
    make.answer("No", "no")
    make.user("and keep the public signature", "keep", point)
    make.answer("Done: the signature stays", "done")
    make.label("regex", "regex-attempt")
    return make


class TreeApp(App[None]):
    """A tree view and nothing else; keeps the messages it posts."""

    def __init__(self, make: Maker, tree: Tree | None = None) -> None:
        super().__init__()
        self.make = make
        self.posted: list[Message] = []
        self.view = TreeView(tree or make.tree(), make.read, now=lambda: NOW)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme_variable_defaults(self.current_theme)

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.view.focus()

    @on(TreeView.Asked)
    @on(TreeView.LabelChosen)
    @on(TreeView.Left)
    def keep(self, message: Message) -> None:
        self.posted.append(message)


def screen(view: TreeView) -> list[str]:
    """The rows of the view as they stand, blanks at the end left out, empty rows too."""
    rows = [view.render_line(y).text.rstrip() for y in range(view.size.height)]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def painted(app: TreeApp) -> list[str]:
    """The rows as the compositor draws them from what it was told to repaint."""
    rows = [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]
    while rows and not rows[-1]:
        rows.pop()
    return rows
