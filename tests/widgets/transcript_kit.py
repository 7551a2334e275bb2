"""What the transcript's tests share: an app around it, stub blocks that count their renders, the screen as text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import anyio
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.css.styles import RulesMap
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from renderers.palette import defaults
from widgets.block import Block, BlockKind, Density
from widgets.repaint import changed_span
from widgets.transcript import Transcript

CSS = """
Transcript { height: 1fr; background: $background; color: $foreground; }
.transcript--cursor { color: #80c080; }
.transcript--pill { background: #404040; color: #ffffff; }
.transcript--hit { background: #606000; }
"""


class StubVisual(Visual):
    """Lines cut at the width; the strips it makes are counted."""

    made: ClassVar[int] = 0

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        strips: list[Strip] = []
        for line in self._lines:
            pieces = [line[at : at + width] for at in range(0, max(1, len(line)), max(1, width))]
            strips.extend(Strip([Segment(piece, style.rich_style)]) for piece in pieces)
        StubVisual.made += len(strips)
        return strips

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        return len(self._lines)


class StubBlock(Block):
    """A block of given lines; a title shows the first, a preview two."""

    kind: ClassVar[BlockKind] = "assistant"
    is_steppable: ClassVar[bool] = True
    renders: ClassVar[int] = 0

    def __init__(self, block_id: str, *lines: str, running: bool = False) -> None:
        super().__init__(block_id)
        self.lines = list(lines) or [f"line of {block_id}"]
        self.running = running

    @property
    def is_running(self) -> bool:
        return self.running

    def append(self, delta: str) -> None:
        head, *rest = delta.split("\n")
        self.lines[-1] += head
        self.lines.extend(rest)
        self.changed()

    def visual(self, density: Density, width: int, *, plain: bool = False) -> Visual:
        StubBlock.renders += 1
        return StubVisual(self.lines[: {"title": 1, "preview": 2, "full": 10_000}[density]])

    def plain_text(self) -> str:
        return "\n".join(self.lines)

    def estimate_rows(self, width: int) -> int:
        return 1


class StubUser(StubBlock):
    kind: ClassVar[BlockKind] = "user"


class TranscriptApp(App[None]):
    """A transcript and nothing else; keeps the messages it posts."""

    CSS = CSS

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        super().__init__()
        self.first_blocks = blocks
        self.posted: list[Message] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return defaults(self.current_theme.dark)

    def compose(self) -> ComposeResult:
        yield Transcript()

    def on_mount(self) -> None:
        self.transcript.set_blocks(self.first_blocks)

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    def on_transcript_block_activated(self, message: Transcript.BlockActivated) -> None:
        self.posted.append(message)

    def on_transcript_sibling_requested(self, message: Transcript.SiblingRequested) -> None:
        self.posted.append(message)

    def on_transcript_follow_changed(self, message: Transcript.FollowChanged) -> None:
        self.posted.append(message)


def many(count: int) -> list[Block]:
    """Blocks b0, b1 … of one to three lines, every fifth the user's."""
    return [
        (StubUser if n % 5 == 0 else StubBlock)(f"b{n}", *[f"{n}.{row} text" for row in range(1 + n % 3)])
        for n in range(count)
    ]


async def settle(app: TranscriptApp) -> None:
    """Wait until everything touched is drawn and the screen told."""
    from textual.pilot import Pilot

    pilot: Pilot[None] = Pilot(app)
    with anyio.fail_after(10):
        while not app.transcript.is_settled:
            await pilot.pause(0.005)
        await pilot.pause()


def screen(app: TranscriptApp) -> list[str]:
    """The rows of the transcript as they stand, without blanks at the end."""
    transcript = app.transcript
    return [transcript.render_line(y).text.rstrip() for y in range(transcript.size.height)]


def painted(app: TranscriptApp) -> list[str]:
    """The rows as the compositor draws them from its caches, scroll bar left out."""
    width = app.transcript.size.width
    return [strip.crop(0, width).text.rstrip() for strip in app.screen._compositor.render_strips()]


def top_row(app: TranscriptApp) -> tuple[str, int]:
    """Block and row at the top of the window."""
    row = app.transcript.row_at(0)
    assert row is not None
    assert row.slot is not None
    return row.slot.block.id, row.row


class Terminal:
    """Paints what a transcript asks to be repainted, as a terminal would: cells outside the regions stay."""

    def __init__(self, app: TranscriptApp) -> None:
        self._app = app
        self.rows: list[Strip] = []
        self.cells = 0
        self.wholes = 0
        transcript = app.transcript
        refresh = transcript.refresh

        def watched(*regions: object, **options: object) -> object:
            asked = [region for region in regions if isinstance(region, Region)]
            answer = refresh(*regions, **options)  # type: ignore[arg-type]
            self.paint(asked)
            return answer

        transcript.refresh = watched  # type: ignore[method-assign,assignment]
        self.paint([])
        self.cells = self.wholes = 0

    def paint(self, regions: list[Region]) -> None:
        transcript = self._app.transcript
        width, height = transcript.size
        if not regions:
            self.wholes += 1
            self.rows = [transcript.render_line(y) for y in range(height)]
            return
        for region in regions:
            for y in range(region.y, region.bottom):
                new, old = transcript.render_line(y), self.rows[y]
                self.cells += region.width
                self.rows[y] = Strip.join(
                    [old.crop(0, region.x), new.crop(region.x, region.right), old.crop(region.right, width)]
                )

    def differs(self) -> list[tuple[int, str, str]]:
        """Rows on this terminal that a full repaint would draw otherwise."""
        transcript = self._app.transcript
        wrong = []
        for y, row in enumerate(self.rows):
            right = transcript.render_line(y)
            if row.text != right.text or changed_span(without_meta(row), without_meta(right)):
                wrong.append((y, row.text, right.text))
        return wrong


def without_meta(strip: Strip) -> Strip:
    """The strip without the offsets that selection needs."""
    return Strip(
        [Segment(text, None if style is None else style.clear_meta_and_links()) for text, style, _ in strip],
        strip.cell_length,
    )
