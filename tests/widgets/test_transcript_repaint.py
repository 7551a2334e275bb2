"""Any mixture of changes leaves the screen that a full repaint would draw, and a reader who holds isn't moved."""

from __future__ import annotations

import random

import pytest

from app.ai.messages import TextContent, ToolResultMessage
from tests.widgets.transcript_kit import StubBlock, StubUser, Terminal, TranscriptApp, many, screen, settle, top_row
from widgets.block import Block
from widgets.blocks import AssistantBlock, ToolBlock

pytestmark = pytest.mark.anyio
PIECES = (
    "word ",
    "漢字",
    "\n",
    "\n\n",
    "- item\n",
    "```\ncode",
    "\n```\n",
    "**bold** ",
    "| a | b |\n|---|---|\n",
    "👩‍👩‍👧",
    "é",
)


class Mixture:
    """Random changes of a transcript, each valid."""

    def __init__(self, app: TranscriptApp, seed: int) -> None:
        self.chance = random.Random(seed)
        self.app = app
        self.serial = 0

    def new_block(self) -> Block:
        self.serial += 1
        name = f"n{self.serial}"
        match self.chance.randrange(5):
            case 0:
                return StubUser(name, "user text", "two")
            case 1:
                return ToolBlock(name, self.chance.choice(("read", "bash", "grep")), {"path": name}, streaming=True)
            case 2:
                return StubBlock(name, *["x" * self.chance.randrange(90) for _ in range(self.chance.randrange(1, 9))])
            case _:
                return AssistantBlock(name, finished=False)

    def any_id(self) -> str | None:
        names = [slot.block.id for slot in self.app.transcript.blocks]
        return self.chance.choice(names[-25:]) if names else None

    def grow(self) -> None:
        name = self.any_id()
        block = None if name is None else self.app.transcript.get_block(name)
        if isinstance(block, AssistantBlock | StubBlock):
            block.append(self.chance.choice(PIECES))
        elif isinstance(block, ToolBlock):
            text = "out\n" * self.chance.randrange(12)
            block.set_result(ToolResultMessage(content=[TextContent(text=text)], is_error=self.chance.random() < 0.2))
        if name is not None:
            self.app.transcript.touch(name)

    def change(self) -> None:
        transcript, name = self.app.transcript, self.any_id()
        match self.chance.randrange(9):
            case 0:
                transcript.append_block(self.new_block())
            case 1 if name:
                transcript.insert_after(name, self.new_block())
            case 2 if name and self.chance.random() < 0.4:
                transcript.remove_block(name)
            case _:
                self.grow()

    def look(self) -> None:
        transcript, name = self.app.transcript, self.any_id()
        match self.chance.randrange(8):
            case 0:
                transcript.scroll_rows(self.chance.randrange(-9, 9))
            case 1:
                transcript.follow()
            case 2 if name:
                transcript.step_density(name)
            case 3:
                transcript.move_cursor(self.chance.choice((-1, 1)))
            case 4:
                transcript.set_cursor(None)
            case 5:
                transcript.search(self.chance.choice(("word", "x", "")))
            case 6 if name and self.chance.random() < 0.3:
                transcript.set_all_densities()
            case _ if name:
                transcript.show_block(name)


@pytest.mark.parametrize("seed", range(6))
async def test_any_mixture_of_changes_repaints_what_a_full_repaint_would(seed: int) -> None:
    app = TranscriptApp(many(40))
    size = [(40, 12), (80, 24), (20, 5)][seed % 3]
    async with app.run_test(size=size):
        await settle(app)
        terminal = Terminal(app)
        mixture = Mixture(app, seed)
        for step in range(250):
            mixture.change()
            if mixture.chance.random() < 0.3:
                mixture.look()
            app.transcript.flush()
            assert not terminal.differs(), step
        assert terminal.wholes == 0
        shown = screen(app)
        app.transcript.forget_colours()
        app.transcript.render_line(0)
        assert screen(app) == shown
        assert app.transcript.blocks.total_rows == sum(slot.height for slot in app.transcript.blocks)


@pytest.mark.parametrize("seed", range(4))
async def test_a_reader_who_holds_is_not_moved_by_changes_elsewhere(seed: int) -> None:
    app = TranscriptApp([*many(60), *[StubBlock(f"fixed{n}", f"fixed {n}") for n in range(20)]])
    async with app.run_test(size=(40, 12)):
        await settle(app)
        transcript = app.transcript
        mixture = Mixture(app, seed)
        transcript.append_block(StubBlock("tail", "tail"))
        for _ in range(30):
            transcript.append_block(mixture.new_block())
        transcript.flush()
        transcript.show_block("fixed3")
        place, rows = top_row(app), screen(app)[:-1]
        for _ in range(150):
            mixture.change()
            above = transcript.get_block(f"b{mixture.chance.randrange(60)}")
            assert isinstance(above, StubBlock)
            above.append("\nmore")
            transcript.touch(above.id)
            transcript.flush()
            assert (top_row(app), screen(app)[:-1]) == (place, rows)
