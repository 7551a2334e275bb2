"""Real blocks in the transcript: Markdown streams, tool calls, folded lines, densities, foreign text."""

from __future__ import annotations

import pytest

from app.ai.messages import TextContent, ToolResultMessage
from tests.widgets.transcript_kit import Terminal, TranscriptApp, many, painted, screen, settle
from widgets.block import Block
from widgets.blocks import (
    AssistantBlock,
    BashBlock,
    CustomBlock,
    ErrorBlock,
    InterruptedBlock,
    NoteBlock,
    SummaryBlock,
    ThinkingBlock,
    ToolBlock,
    UserBlock,
)

pytestmark = pytest.mark.anyio
FOREIGN = ("[/a/b]", "[red]x", "[/]", "[data: /m?s=b-]", r"\[", "[@click=app.quit]x[/]")


def result(text: str = "ok", *, is_error: bool = False) -> ToolResultMessage:
    return ToolResultMessage(content=[TextContent(text=text)], is_error=is_error)


def read(number: int, *, is_error: bool = False) -> ToolBlock:
    return ToolBlock(f"r{number}", "read", {"path": f"file{number}.py"}, result("a\nb", is_error=is_error))


def filled(app: TranscriptApp) -> list[str]:
    return [row.strip() for row in screen(app) if row.strip()]


def one_of_each(text: str) -> list[Block]:
    assistant = AssistantBlock("a", f"```\n{text}\n```")
    return [
        UserBlock("u", text, siblings=(2, 3), images=1),
        ThinkingBlock("th", text, elapsed_s=4.0),
        assistant,
        ToolBlock("t", "bash", {"command": text}, result(text)),
        ToolBlock("t2", "nobody-knows", {"x": text}, result(text, is_error=True)),
        BashBlock("b", text, text, exit_code=1),
        SummaryBlock("s", "compaction", text, 12_000),
        CustomBlock("c", "kind", f"`{text}`"),
        ErrorBlock("e", text, text),
        InterruptedBlock("i"),
        NoteBlock("n", text, "warning"),
    ]


@pytest.mark.parametrize("width", [1, 2, 5, 20, 80, 300])
async def test_every_block_survives_every_width_and_density(width: int) -> None:
    app = TranscriptApp(one_of_each("text 漢字 👩‍👩‍👧 " * 10))
    async with app.run_test(size=(width, 8)):
        await settle(app)
        for density in ("title", "preview", "full"):
            app.transcript.set_all_densities(density)
            app.transcript.go_to_start()
            while app.transcript.scroll_rows(6):
                for y in range(app.transcript.size.height):
                    assert app.transcript.render_line(y).cell_length == app.transcript.area.width


@pytest.mark.parametrize("text", FOREIGN)
async def test_foreign_text_is_shown_as_it_is_and_does_nothing(text: str) -> None:
    app = TranscriptApp(one_of_each(text))
    async with app.run_test(size=(80, 60)) as pilot:
        await settle(app)
        app.transcript.set_all_densities("full")
        rows = painted(app)
        assert sum(text in row for row in rows) >= 9
        clicked = [(y, row) for y, row in enumerate(rows) if text in row]
        for y, row in (clicked[0], clicked[2], clicked[3]):
            await pilot.click(offset=(row.index(text) + len(text) // 2, y))
        assert app.is_running


async def test_a_markdown_stream_leaves_the_screen_that_a_full_repaint_would_draw() -> None:
    source = (
        "# Head\n\nSome *text* that `wraps` over the width of the screen for sure.\n\n"
        "- one\n- two with 漢字\n\n```python\ndef f(x):\n    return x\n```\n\n"
        "| a | b |\n|---|---|\n| 1 | 22 |\n| 333 | 4 |\n\nEnd.\n\n"
    ) * 3
    app = TranscriptApp([UserBlock("u", "go on")])
    async with app.run_test(size=(40, 16)):
        await settle(app)
        terminal = Terminal(app)
        block = AssistantBlock("a")
        app.transcript.append_block(block)
        for at in range(0, len(source), 5):
            block.append(source[at : at + 5])
            app.transcript.touch("a")
            app.transcript.flush()
            assert not terminal.differs(), source[: at + 5]
        block.finish()
        app.transcript.touch("a")
        app.transcript.flush()
        assert not terminal.differs()
        assert terminal.wholes == 0
        last = screen(app)
        app.transcript.remove_block("a")
        app.transcript.append_block(AssistantBlock("a", source))
        app.transcript.follow()
        app.transcript.flush()
        assert [row for row in screen(app) if row][-8:] == [row for row in last if row][-8:]


async def test_successful_reads_in_a_row_share_one_line_and_a_failure_never_does() -> None:
    app = TranscriptApp([read(1), read(2), read(3), read(4, is_error=True), read(5)])
    async with app.run_test(size=(60, 20)):
        await settle(app)
        rows = filled(app)
        assert "read 3 files" in rows[0]
        assert any("file4.py" in row for row in rows[1:])
        assert any("file5.py" in row for row in rows[1:])
        app.transcript.step_density("r1")
        assert ["file1.py" in filled(app)[0], "file2.py" in filled(app)[1]] == [True, True]


async def test_calls_fold_as_they_end_one_after_another() -> None:
    app = TranscriptApp([UserBlock("u", "go")])
    async with app.run_test(size=(60, 20)):
        await settle(app)
        terminal = Terminal(app)
        blocks = [ToolBlock(f"c{n}", "grep", {"pattern": f"p{n}"}, started_at=0.0) for n in range(4)]
        for block in blocks:
            app.transcript.append_block(block)
        app.transcript.flush()
        assert sum("grep" in row for row in filled(app)) == 4
        for block in (blocks[2], blocks[0], blocks[1], blocks[3]):
            block.set_result(result("hit"))
            app.transcript.touch(block.id)
            app.transcript.flush()
            assert not terminal.differs()
        assert ["4 searches" in row for row in filled(app)] == [False, True]
        app.transcript.insert_after("c1", NoteBlock("n", "between"))
        app.transcript.flush()
        assert ["2 searches" in row for row in filled(app)] == [False, True, False, True]
        app.transcript.remove_block("c0")
        app.transcript.flush()
        assert any("p1" in row for row in filled(app))
        assert not terminal.differs()


async def test_a_tick_draws_running_calls_anew_and_nothing_else() -> None:
    clock = [0.0]
    app = TranscriptApp([UserBlock("u", "go"), read(1)])
    async with app.run_test(size=(60, 20)):
        await settle(app)
        running = ToolBlock("t", "bash", {"command": "sleep 9"}, started_at=0.0, clock=lambda: clock[0])
        app.transcript.append_block(running)
        app.transcript.flush()
        terminal = Terminal(app)
        drawn = app.transcript.rendered_blocks
        clock[0] = 3.0
        app.transcript.tick()
        app.transcript.flush()
        assert app.transcript.rendered_blocks == drawn + 1
        assert any("3" in row and "sleep 9" in row for row in filled(app))
        assert 0 < terminal.cells < 12
        running.set_result(result("done"))
        app.transcript.touch("t")
        app.transcript.flush()
        assert not app.transcript.has_running


async def test_a_density_is_remembered_by_id_through_a_rename_and_a_reload() -> None:
    output = "\n".join(f"row {n}" for n in range(30))
    app = TranscriptApp([ToolBlock("old", "bash", {"command": "x"}, result(output))])
    async with app.run_test(size=(60, 50)):
        await settle(app)
        assert sum("row" in row for row in filled(app)) < 30
        app.transcript.set_density("old", "full")
        app.transcript.rename_block("old", "new")
        app.transcript.set_blocks([ToolBlock("new", "bash", {"command": "x"}, result(output))])
        await settle(app)
        assert sum("row " in row for row in filled(app)) == 30
        app.transcript.set_all_densities("title")
        assert len(filled(app)) == 1


async def test_a_theme_change_draws_the_same_text_in_new_colours() -> None:
    app = TranscriptApp([UserBlock("u", "hello"), AssistantBlock("a", "a *b* `c`")])
    async with app.run_test(size=(40, 10)) as pilot:
        await settle(app)
        before = screen(app)
        old = [list(app.transcript.render_line(y)) for y in range(4)]
        app.theme = "textual-light"
        await pilot.pause()
        await settle(app)
        assert screen(app) == before
        assert [list(app.transcript.render_line(y)) for y in range(4)] != old


async def test_a_block_that_cannot_be_drawn_says_so_and_harms_no_other() -> None:
    class Broken(NoteBlock):
        def visual(self, density: object, width: int, *, plain: bool = False) -> object:  # type: ignore[override]
            raise RuntimeError("no")

    app = TranscriptApp([NoteBlock("a", "before"), Broken("b", ""), NoteBlock("c", "after")])
    async with app.run_test(size=(60, 10)):
        await settle(app)
        rows = filled(app)
        assert "before" in rows[0]
        assert "could not be drawn" in rows[1]
        assert "after" in rows[2]


async def test_full_for_all_shows_folded_calls_one_by_one_and_the_cursor_never_hides_in_a_fold() -> None:
    app = TranscriptApp([read(1), read(2), ToolBlock("r3", "read", {"path": "file3.py"}, started_at=0.0)])
    async with app.run_test(size=(60, 30)):
        await settle(app)
        app.transcript.set_cursor("r3")
        third = app.transcript.get_block("r3")
        assert isinstance(third, ToolBlock)
        third.set_result(result("x"))
        app.transcript.touch("r3")
        app.transcript.flush()
        assert "read 3 files" in filled(app)[0]
        assert filled(app)[0].startswith("┃")
        app.transcript.set_all_densities("full")
        assert sum(f"file{n}.py" in row for n in (1, 2, 3) for row in filled(app)) == 3
        app.transcript.set_all_densities("title")
        assert len(filled(app)) == 1


async def test_table_code_and_diff_are_whole_again_after_a_resize_to_two_cells_and_back() -> None:
    source = "| a | b |\n|---|---|\n| one | two words |\n\n```python\ndef f(x):\n    return x\n```\n"
    edit = ToolBlock("e", "edit", {"path": "a.py", "oldText": "x = 1", "newText": "x = 2"}, result("done"))
    edit.result = ToolResultMessage(
        content=[TextContent(text="done")], details={"diff": " 1 a\n-2 x = 1\n+2 x = 2\n 3 b", "firstChangedLine": 2}
    )
    app = TranscriptApp([UserBlock("u", "go"), AssistantBlock("a", source), edit])
    async with app.run_test(size=(80, 30)) as pilot:
        await settle(app)
        before = screen(app)
        assert any("return x" in row for row in before)
        assert any("x = 2" in row for row in before)
        for width in (2, 1, 5, 80):
            await pilot.resize_terminal(width, 30)
            await settle(app)
        assert screen(app) == before


async def test_all_thinking_opens_at_once_without_a_look_at_every_block() -> None:
    blocks: list[Block] = [ThinkingBlock(f"t{n}", f"thought {n}\nmore", elapsed_s=1.0) for n in range(500)]
    app = TranscriptApp(blocks)
    async with app.run_test(size=(60, 12)):
        await settle(app)
        assert not any("more" in row for row in filled(app))
        drawn = app.transcript.rendered_blocks
        app.transcript.set_kind_density("thinking", "full")
        assert any("more" in row for row in filled(app))
        assert app.transcript.rendered_blocks - drawn <= 12
        assert app.transcript.is_following
        app.transcript.set_kind_density("thinking", None)
        assert not any("more" in row for row in filled(app))


async def test_a_sibling_takes_the_place_on_the_screen() -> None:
    before: list[Block] = [NoteBlock(f"n{n}", f"note {n}") for n in range(30)]
    app = TranscriptApp([*before, UserBlock("u1", "first try"), *[NoteBlock(f"x{n}", "x") for n in range(3)]])
    async with app.run_test(size=(60, 12)):
        await settle(app)
        app.transcript.set_cursor("u1")
        place = app.transcript.place_of("u1")
        assert place is not None
        app.transcript.set_blocks([*before, UserBlock("u2", "second"), *[NoteBlock(f"y{n}", "y") for n in range(40)]])
        app.transcript.show_block_at("u2", place)
        assert "second" in screen(app)[place]
        assert app.transcript.place_of("u2") == place
        assert app.transcript.place_of("n0") is None


async def test_no_text_stands_under_the_scroll_bar() -> None:
    words = "".join(chr(ord("a") + at % 26) for at in range(400))
    app = TranscriptApp([UserBlock("u1", words), *many(30)])
    async with app.run_test(size=(60, 12)):
        await settle(app)
        app.transcript.go_to_start()
        await settle(app)
        rows = painted(app)
    assert "".join(row[2:59].strip() for row in rows if row.startswith("▌")) == words
