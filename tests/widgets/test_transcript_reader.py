"""What the reader does with the transcript: mark and copy, click, wheel, search, scroll bar."""

from __future__ import annotations

import pytest
from textual.events import MouseScrollUp
from textual.pilot import Pilot

from tests.widgets.transcript_kit import StubBlock, StubUser, Terminal, TranscriptApp, many, screen, settle, top_row
from widgets.blocks import AssistantBlock, ToolBlock, UserBlock
from widgets.transcript import Transcript

pytestmark = pytest.mark.anyio


async def drag(pilot: Pilot[None], start: tuple[int, int], end: tuple[int, int]) -> None:
    await pilot.mouse_down(offset=start)
    await pilot.hover(offset=end)
    await pilot.mouse_up(offset=end)
    await pilot.pause()


async def test_text_is_marked_across_blocks_and_copied_by_rows() -> None:
    app = TranscriptApp([StubUser("a", "first 漢字 row", "second row"), StubBlock("b", "third row", "fourth")])
    async with app.run_test(size=(40, 12)) as pilot:
        await settle(app)
        terminal = Terminal(app)
        assert screen(app)[:5] == ["first 漢字 row", "second row", "", "third row", "fourth"]
        await drag(pilot, (6, 0), (5, 3))
        assert app.transcript.copy_text() == "漢字 row\nsecond row\n\nthird"
        assert app.screen.get_selected_text() == "漢字 row\nsecond row\n\nthird"
        assert not terminal.differs()
        assert terminal.wholes == 0
        app.screen.clear_selection()
        await pilot.pause()
        assert app.transcript.copy_text() == ""
        assert not terminal.differs()


async def test_a_mark_stays_on_its_text_while_the_end_grows_and_the_window_moves() -> None:
    app = TranscriptApp(many(30))
    async with app.run_test(size=(40, 12)) as pilot:
        await settle(app)
        await drag(pilot, (0, 4), (6, 5))
        marked = app.transcript.copy_text()
        assert marked
        for n in range(30):
            app.transcript.append_block(StubBlock(f"n{n}", "new"))
        app.transcript.flush()
        app.transcript.scroll_rows(-20)
        assert app.transcript.copy_text() == marked


async def test_without_a_mark_the_block_under_the_cursor_is_copied() -> None:
    app = TranscriptApp([UserBlock("u", "ask"), AssistantBlock("a", "*so* it is")])
    async with app.run_test(size=(40, 12)):
        await settle(app)
        assert app.transcript.copy_text() == ""
        app.transcript.set_cursor("a")
        assert app.transcript.copy_text() == "*so* it is"


async def test_an_assistants_text_is_copied_without_its_indentation() -> None:
    app = TranscriptApp([AssistantBlock("a", "one\n\ntwo")])
    async with app.run_test(size=(40, 12)) as pilot:
        await settle(app)
        await drag(pilot, (0, 0), (30, 2))
        assert app.transcript.copy_text() == "one\n\ntwo"


async def test_a_click_on_a_header_steps_the_density_and_a_drag_does_not() -> None:
    app = TranscriptApp([StubBlock("a", "head", "two", "three", "four")])
    async with app.run_test(size=(40, 12)) as pilot:
        await settle(app)
        await pilot.click(offset=(3, 0))
        await pilot.pause()
        assert screen(app)[:2] == ["head", ""]
        await drag(pilot, (0, 0), (3, 0))
        assert screen(app)[:2] == ["head", ""]
        assert [type(message) for message in app.posted] == [Transcript.BlockActivated]


async def test_a_click_on_an_arrow_asks_for_the_sibling() -> None:
    app = TranscriptApp([UserBlock("u", "ask", siblings=(2, 3))])
    async with app.run_test(size=(60, 12)) as pilot:
        await settle(app)
        row = screen(app)[0]
        await pilot.click(offset=(row.index("‹"), 0))
        await pilot.click(offset=(row.index("›"), 0))
        await pilot.pause()
        asked = [
            (message.block_id, message.step)
            for message in app.posted
            if isinstance(message, Transcript.SiblingRequested)
        ]
        assert asked == [("u", -1), ("u", 1)]


async def test_the_wheel_holds_and_the_pill_leads_back() -> None:
    app = TranscriptApp(many(60))
    async with app.run_test(size=(40, 12)) as pilot:
        await settle(app)
        await pilot._post_mouse_events([MouseScrollUp], offset=(5, 5), button=0)
        await pilot.pause()
        assert not app.transcript.is_following
        app.transcript.append_block(StubBlock("new", "the newest"))
        app.transcript.flush()
        assert "new line" in screen(app)[-1]
        await pilot.click(offset=(app.transcript.size.width - 4, 11))
        await pilot.pause()
        assert app.transcript.is_following
        told = [message.is_following for message in app.posted if isinstance(message, Transcript.FollowChanged)]
        assert (told[0], told[-1]) == (False, True)


async def test_search_walks_the_hits_in_blocks_that_were_never_drawn() -> None:
    blocks = many(3000)
    app = TranscriptApp(blocks)
    async with app.run_test(size=(40, 12)):
        await settle(app)
        drawn = app.transcript.rendered_blocks
        hits = app.transcript.search("7.0 TEXT")
        assert len(hits) == 300
        assert app.transcript.rendered_blocks == drawn
        for wanted in ("b7", "b17", "b27"):
            hit = app.transcript.next_hit()
            assert hit is not None
            assert hit.block_id == wanted == app.transcript.cursor_id
            assert any(f"{wanted[1:]}.0 text"[1:] in row for row in screen(app))
        hit = app.transcript.previous_hit()
        assert hit is not None
        assert hit.block_id == "b17"
        assert app.transcript.search("") == []


async def test_search_opens_what_hides_the_hit() -> None:
    from app.ai.messages import TextContent, ToolResultMessage

    output = "\n".join(f"row {n}" for n in range(200))
    outcome = ToolResultMessage(content=[TextContent(text=output)])
    app = TranscriptApp([*many(20), ToolBlock("t", "bash", {"command": "x"}, outcome), *many(0)])
    async with app.run_test(size=(40, 12)):
        await settle(app)
        app.transcript.search("row 42")
        app.transcript.next_hit()
        assert any("row 42" in row for row in screen(app))


async def test_textuals_own_ways_to_scroll_move_the_window() -> None:
    app = TranscriptApp(many(200))
    async with app.run_test(size=(40, 12)) as pilot:
        await settle(app)
        app.transcript.focus()
        await pilot.press("home")
        await pilot.pause()
        assert top_row(app) == ("b0", 0)
        await pilot.press("pagedown", "down", "up", "pageup")
        await pilot.pause()
        assert top_row(app) == ("b0", 0)
        app.transcript.scroll_to(y=150, animate=True)
        assert app.transcript.scroll_offset.y == pytest.approx(150, abs=3)
        await pilot.press("end")
        await pilot.pause()
        assert app.transcript.is_following
        app.transcript.scroll_y -= 4
        assert not app.transcript.is_following


async def test_a_double_click_marks_the_block() -> None:
    app = TranscriptApp([StubBlock("a", "one", "two"), StubBlock("b", "three", "four")])
    async with app.run_test(size=(40, 12)) as pilot:
        await settle(app)
        await pilot.click(offset=(2, 4), times=2)
        await pilot.pause()
        assert app.transcript.copy_text() == "three\nfour"
        app.screen.clear_selection()
        await pilot.pause()
        assert app.transcript.copy_text() == ""


async def test_search_starts_at_the_cursor() -> None:
    app = TranscriptApp(many(100))
    async with app.run_test(size=(40, 12)):
        await settle(app)
        app.transcript.set_cursor("b43")
        app.transcript.search("7.0 text")
        hit = app.transcript.next_hit()
        assert hit is not None
        assert hit.block_id == "b47"
        app.transcript.set_cursor("b43")
        app.transcript.search("7.0 text")
        hit = app.transcript.previous_hit()
        assert hit is not None
        assert hit.block_id == "b37"


async def test_a_click_does_not_take_the_focus() -> None:
    app = TranscriptApp(many(10))
    async with app.run_test(size=(40, 12)) as pilot:
        await settle(app)
        app.set_focus(None)
        await pilot.click(offset=(3, 3))
        assert not app.transcript.has_focus
