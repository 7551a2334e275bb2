"""Random walks over a session's tree, with reopenings and kills in the last write: nothing said is ever out of reach.

A plain model of the tree is kept beside the session; after every step both must tell the same.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.ai.messages import AssistantMessage, TextContent, ToolCall, UserMessage
from app.errors import NotASessionError
from app.session.forks import branch_off, fork_from
from app.session.inspect import inspect
from app.session.log import SessionLog
from app.session.session import Session

Draw = Callable[[st.SearchStrategy[Any]], Any]
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
STEPS = (
    *("say", "say", "answer", "call", "leaf", "leaf", "summary", "compact", "snapshot", "extension", "level"),
    *("label", "unlabel", "name", "reopen", "kill", "kill", "fork", "clone", "read"),
)


@dataclass
class Model:
    """What the tree must look like: parents by id in order, the leaf, labels in order of setting, the name."""

    parents: dict[str, str | None] = field(default_factory=dict)
    leaf: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    name: str | None = None

    def copy(self) -> Model:
        return Model(dict(self.parents), self.leaf, dict(self.labels), self.name)

    def path(self, entry_id: str | None) -> list[str]:
        found: list[str] = []
        while entry_id is not None:
            found.append(entry_id)
            entry_id = self.parents[entry_id]
        return found[::-1]


class Walk:
    """A session, its model, and the model as it was before the last write."""

    def __init__(self, folder: Path, draw: Draw) -> None:
        self.folder, self.draw = folder, draw
        self.session = Session.create(folder, folder)
        self.model, self.earlier = Model(), Model()
        self.size_before = 0

    def any_id(self, *others: str | None) -> Any:
        return self.draw(st.sampled_from([*self.model.parents, *others]))

    def size(self) -> int:
        path = self.session.path
        return path.stat().st_size if path is not None and path.exists() else 0

    async def step(self, kind: str) -> None:
        """One step; the model follows. A step that writes nothing leaves `earlier` as it was."""
        if kind in ("leaf", "label", "unlabel", "compact") and not self.model.parents:
            return
        act = getattr(self, kind)
        if kind in ("reopen", "kill", "fork", "clone", "read"):
            await act()
        else:
            earlier, size = self.model.copy(), self.size()
            await act()
            if self.size() != size:
                self.earlier, self.size_before = earlier, size

    def grew(self, entry_id: str, parent: str | None) -> None:
        self.model.parents[entry_id] = parent
        self.model.leaf = entry_id

    async def say(self) -> None:
        self.grew(await self.session.append_message(UserMessage(content=self.draw(WORDS))), self.model.leaf)

    async def answer(self) -> None:
        message = AssistantMessage(content=[TextContent(text=self.draw(WORDS))])
        self.grew(await self.session.append_message(message), self.model.leaf)

    async def call(self) -> None:
        calls = [ToolCall(id=f"c{len(self.model.parents)}-{number}", name="bash") for number in range(2)]
        message = AssistantMessage(content=calls, stop_reason="toolUse")
        self.grew(await self.session.append_message(message), self.model.leaf)

    async def leaf(self) -> None:
        target = self.any_id(None)
        await self.session.move_leaf(target)
        self.model.leaf = target

    async def summary(self) -> None:
        target = self.any_id(None)
        self.grew(await self.session.append_branch_summary(target, self.draw(WORDS)), target)

    async def compact(self) -> None:
        kept = self.any_id()
        self.grew(await self.session.append_compaction(self.draw(WORDS), kept, 9), self.model.leaf)

    async def snapshot(self) -> None:
        await self.session.append_custom("pinyon.snapshot", {"manifest": self.draw(WORDS)})

    async def extension(self) -> None:
        self.grew(await self.session.append_custom("theirs", {"a": self.draw(WORDS)}), self.model.leaf)

    async def level(self) -> None:
        self.grew(await self.session.append_thinking_level("high"), self.model.leaf)

    async def label(self) -> None:
        target = self.any_id()
        self.grew(await self.session.set_label(target, "here"), self.model.leaf)
        self.model.labels.pop(target, None)
        self.model.labels[target] = "here"

    async def unlabel(self) -> None:
        target = self.any_id()
        self.grew(await self.session.set_label(target, None), self.model.leaf)
        self.model.labels.pop(target, None)

    async def name(self) -> None:
        words = " ".join(self.draw(WORDS).split())
        self.grew(await self.session.set_name(words), self.model.leaf)
        self.model.name = words or None

    async def read(self) -> None:
        if self.session.is_stored and self.session.path is not None:
            looked = await Session.open(self.session.path, read_only=True)
            self.same(looked)
            await looked.close()

    async def reopen(self) -> None:
        await self.session.close()
        await self._open()

    async def kill(self) -> None:
        """The process ends in its last write: what was written before stands, that write counts whole or not at all."""
        path, end = self.session.path, self.size()
        await self.session.close()
        if path is not None and path.exists():
            cut = self.draw(st.integers(self.size_before, end))
            data = path.read_bytes()
            path.write_bytes(data[:cut])
            if cut < end - 1:  # a last line needs no line feed to count
                self.model = self.earlier.copy() if self.size_before else Model()
        await self._open()

    async def _open(self) -> None:
        path = self.session.path
        if path is None or not path.exists():
            self.session, self.model = Session.create(self.folder, self.folder), Model()
        else:
            before = path.read_bytes()
            earlier = self.model.copy()
            try:
                self.session = await Session.open(path)
            except NotASessionError:
                assert self.size_before == 0, "only a file that was just being made may be no session"
                self.session, self.model = Session.create(self.folder, self.folder), Model()
            assert path.read_bytes().startswith(before)
            self._take_new()
            if self.size_before and self.size() > len(before):  # results for open calls: a kill may cut these as well
                self.earlier, self.size_before = earlier, len(before)
                return
        self.earlier, self.size_before = self.model.copy(), self.size()

    def _take_new(self) -> None:
        """Results for open calls are added by an opening, at the leaf and in call order; nothing else is."""
        for entry in self.session.tree.entries:
            if entry.id not in self.model.parents:
                wanted = ("toolResult", self.model.leaf)
                assert (entry.role, self.session.tree.parent_id(entry.id)) == wanted or self.size_before == 0
                self.grew(entry.id, self.session.tree.parent_id(entry.id))
        if self.size_before == 0:  # a file cut while it was being made: what waited in memory may be there or not
            self.model.name = self.session.tree.name
            self.model.labels = {target: label.text for target, label in self.session.tree.labels.items()}

    async def fork(self) -> None:
        """Go on in a copy; the old file keeps every byte."""
        old = self.session.path
        if old is None or not self.session.is_stored:
            return
        await self.session.close()
        before = old.read_bytes()
        self.session = await fork_from(old, self.folder, self.folder)
        assert old.read_bytes() == before
        self._take_new()
        self.earlier, self.size_before = self.model.copy(), self.size()

    async def clone(self) -> None:
        """Go on in a new file with the present branch alone."""
        old = self.session.tree
        wanted = [entry_id for entry_id in self.model.path(self.model.leaf) if old.get(entry_id).type != "label"]
        following = await branch_off(self.session, self.model.leaf)
        await self.session.close()
        self.session = following
        labels = {target: text for target, text in self.model.labels.items() if target in wanted}
        path = following.tree.branch()
        assert [entry.id for entry in path[: len(wanted)]] == wanted
        # labels on the path are told anew at its end, by entries of their own
        assert [entry.target for entry in path[len(wanted) :]] == list(labels)
        parents = {entry.id: following.tree.parent_id(entry.id) for entry in path}
        self.model = Model(parents, following.leaf_id, labels, following.tree.name)
        self.earlier, self.size_before = self.model.copy(), self.size()

    def same(self, session: Session) -> None:
        """Tree and model tell the same: every path, the leaf, the labels, the name; every body can be read."""
        tree, model = session.tree, self.model
        assert [entry.id for entry in tree.entries] == list(model.parents)
        assert tree.leaf_id == model.leaf
        assert {target: label.text for target, label in tree.labels.items()} == model.labels
        assert (tree.name or None) == model.name
        for tip in tree.tips:
            assert [entry.id for entry in tree.branch(tip.id)] == model.path(tip.id)
        reached = {entry.id for tip in tree.tips for entry in tree.branch(tip.id)}
        assert reached == set(model.parents)
        for entry in tree.entries:
            assert session.read(entry.id)["type"] == entry.type
        session.context()

    def on_disk(self) -> None:
        """What a stranger reads from the file is what the session tells."""
        path = self.session.path
        if path is None or not self.session.is_stored:
            return
        facts = inspect(path)
        assert (facts["leaf"], facts["labels"]) == (self.model.leaf, self.model.labels)
        log = SessionLog.read(path)
        own = {entry.id for entry in log.index.entries if entry.own}
        assert {entry.id for entry in log.index.entries} - own == set(self.model.parents)
        log.close()


@pytest.mark.timeout(60)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_walk_with_kills_keeps_every_path_and_the_leaf(data: st.DataObject) -> None:
    steps = data.draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=14))

    async def go(folder: Path) -> None:
        walk = Walk(folder, data.draw)
        for kind in steps:
            before = walk.session.path.read_bytes() if walk.session.path and walk.session.is_stored else b""
            was = walk.session.path
            await walk.step(kind)
            walk.same(walk.session)
            walk.on_disk()
            if kind != "kill" and was is not None and was.exists():
                assert was.read_bytes().startswith(before)
        await walk.session.close()

    with tempfile.TemporaryDirectory() as name:
        anyio.run(go, Path(name))
