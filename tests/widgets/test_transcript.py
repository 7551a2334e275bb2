"""The transcript at its seam: blocks in, rows on the screen, and how much work that took."""

from __future__ import annotations

import pytest

from tests.widgets.transcript_kit import (
    StubBlock,
    StubUser,
    StubVisual,
    Terminal,
    TranscriptApp,
    many,
    screen,
    settle,
    top_row,
)

pytestmark = pytest.mark.anyio


async def test_a_stream_is_followed_and_its_end_stays_in_view() -> None:
    app = TranscriptApp(many(30))
    async with app.run_test(size=(40, 12)):
        await settle(app)
        tail = StubBlock("tail", "")
        app.transcript.append_block(tail)
        for n in range(40):
            tail.append(f"token {n}\n")
            app.transcript.touch("tail")
            app.transcript.flush()
            assert any(f"token {n}" in row for row in screen(app)), n
        assert app.transcript.is_following


async def test_tokens_repaint_only_cells_that_changed_and_leave_the_same_screen() -> None:
    app = TranscriptApp(many(30))
    async with app.run_test(size=(40, 24)):
        await settle(app)
        terminal = Terminal(app)
        tail = StubBlock("tail", "")
        app.transcript.append_block(tail)
        app.transcript.flush()
        terminal.cells = 0
        tokens = 300
        for n in range(tokens):
            tail.append("word " if n % 8 else "漢字 \n")
            app.transcript.touch("tail")
            app.transcript.flush()
            assert not terminal.differs()
        assert terminal.wholes == 0
        # Five cells a token, and 24 short rows once for each step of 6 rows.
        assert terminal.cells < tokens * 40


async def test_the_window_moves_in_steps_of_several_rows_while_following() -> None:
    app = TranscriptApp(many(30))
    async with app.run_test(size=(40, 40)):
        await settle(app)
        tail = StubBlock("tail", "")
        app.transcript.append_block(tail)
        tops = set()
        for _ in range(64):
            tail.append("row\n")
            app.transcript.touch("tail")
            app.transcript.flush()
            tops.add(app.transcript.viewport.top)
        assert len(tops) <= 64 // 8 + 2


@pytest.mark.parametrize("count", [100, 10_000])
async def test_work_per_token_key_focus_and_resize_does_not_grow_with_the_session(count: int) -> None:
    app = TranscriptApp(many(count))
    async with app.run_test(size=(40, 12)) as pilot:
        await settle(app)
        transcript = app.transcript

        def work() -> tuple[int, int]:
            done = StubBlock.renders, StubVisual.made
            StubBlock.renders = StubVisual.made = 0
            return done

        work()
        tail = StubBlock("tail", "x")
        transcript.append_block(tail)
        transcript.flush()
        work()
        for _ in range(500):
            tail.append("t")
            transcript.touch("tail")
        transcript.flush()
        assert work() == (1, 13)
        transcript.focus()
        await pilot.pause()
        app.set_focus(None)
        await pilot.pause()
        assert work() == (0, 0)
        transcript.scroll_rows(-1)
        assert work()[0] <= 2
        transcript.move_cursor(-1)
        assert work()[0] <= 20
        await pilot.resize_terminal(50, 14)
        await settle(app)
        assert work()[0] <= 20


async def test_a_reader_who_scrolled_up_keeps_the_place_whatever_comes() -> None:
    app = TranscriptApp(many(100))
    async with app.run_test(size=(40, 12)):
        await settle(app)
        transcript = app.transcript
        transcript.scroll_rows(-30)
        place, rows = top_row(app), screen(app)[:-1]
        assert not transcript.is_following
        for n in range(20):
            transcript.append_block(StubBlock(f"new{n}", "one", "two"))
        transcript.flush()
        above = transcript.blocks.get("b3")
        assert above is not None
        assert isinstance(above.block, StubBlock)
        above.block.append("\nmore\nrows\nabove")
        transcript.touch("b3")
        transcript.flush()
        assert (top_row(app), screen(app)[:-1]) == (place, rows)
        assert transcript.new_lines == 60
        assert "↓ 60 new lines (end)" in screen(app)[-1]
        transcript.follow()
        assert transcript.is_following
        assert transcript.new_lines == 0
        assert screen(app)[-1].strip() == "two"


async def test_the_place_is_kept_through_resizes_down_to_two_cells_and_back() -> None:
    blocks = [StubBlock(f"b{n}", f"{n} " + "abcdefghij" * 20) for n in range(60)]
    app = TranscriptApp(blocks)
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(app)
        app.transcript.scroll_rows(-50)
        place, rows = top_row(app), screen(app)
        for width in (2, 1, 5, 300, 20, 80):
            await pilot.resize_terminal(width, 12)
            await settle(app)
            if width > 1:
                assert top_row(app)[0] == place[0]
        assert (top_row(app), screen(app)) == (place, rows)


async def test_scrolling_back_through_everything_shows_every_row_once() -> None:
    app = TranscriptApp(many(50))
    async with app.run_test(size=(40, 12)):
        await settle(app)
        transcript = app.transcript
        while transcript.scroll_rows(-5):
            pass
        assert top_row(app) == ("b0", 0)
        rows = screen(app)
        while transcript.scroll_rows(1):
            rows.append(screen(app)[-1])
        right: list[str] = []
        for block in many(50):
            right.extend(([""] if right else []) + block.plain_text().split("\n"))
        assert [row for row in rows if row] == [row for row in right if row]
        assert transcript.is_following


async def test_stepping_a_density_leaves_the_header_where_it_is() -> None:
    blocks = [StubBlock(f"b{n}", *[f"{n}.{row}" for row in range(6)]) for n in range(30)]
    app = TranscriptApp(blocks)
    async with app.run_test(size=(40, 12)):
        await settle(app)
        transcript = app.transcript
        transcript.set_all_densities("title")
        transcript.show_block("b10")
        transcript.set_cursor("b12")
        before = screen(app).index("┃2.0")
        for _ in range(3):
            transcript.step_density("b12")
            assert screen(app)[before].startswith("┃2.0")


async def test_the_cursor_walks_blocks_and_users_and_stays_in_view() -> None:
    app = TranscriptApp(many(2000))
    async with app.run_test(size=(40, 12)):
        await settle(app)
        transcript = app.transcript
        assert transcript.move_cursor(-1) == "b1999"
        assert transcript.move_cursor(-1) == "b1998"
        assert transcript.move_cursor(-1) == "b1997"
        assert transcript.move_cursor(-1, "user") == "b1995"
        assert transcript.move_cursor(-1, "user") == "b1990"
        for _ in range(200):
            transcript.move_cursor(-1, "user")
            assert any(row.startswith("┃") for row in screen(app))
        transcript.cursor_to_top()
        assert (transcript.cursor_id, top_row(app)) == ("b0", ("b0", 0))
        assert transcript.move_cursor(1) == "b1"
        transcript.cursor_to_end()
        assert transcript.cursor_id == "b1999"


async def test_inserting_removing_and_renaming_keep_the_order() -> None:
    app = TranscriptApp([StubUser("a", "A"), StubBlock("b", "B")])
    async with app.run_test(size=(40, 12)):
        await settle(app)
        transcript = app.transcript
        transcript.insert_after("a", StubBlock("x", "X"))
        transcript.insert_after(None, StubBlock("0", "first"))
        transcript.rename_block("x", "y")
        transcript.remove_block("b")
        transcript.append_block(StubBlock("c", "C"))
        transcript.flush()
        assert [row for row in screen(app) if row] == ["first", "A", "X", "C"]
        transcript.clear()
        assert not any(screen(app))


async def test_nothing_runs_while_nothing_happens() -> None:
    app = TranscriptApp(many(100))
    async with app.run_test(size=(40, 12)):
        await settle(app)
        assert not [timer for timer in app.transcript._timers if timer is not None and timer._active.is_set()]
