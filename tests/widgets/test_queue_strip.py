"""The queue strip shows what waits, one row each, and takes no room when nothing does."""

from __future__ import annotations

import pytest

from tests.widgets.bars import FOREIGN, BarApp, rows, widths
from widgets.queue_strip import QueueStrip


@pytest.mark.anyio
async def test_an_empty_queue_takes_no_room() -> None:
    strip = QueueStrip()
    async with BarApp(strip).run_test(size=(80, 10)) as pilot:
        assert not strip.display
        strip.show(["a"], [])
        await pilot.pause()
        assert (strip.display, strip.size.height) == (True, 1)
        strip.show([], [])
        await pilot.pause()
        assert not strip.display


@pytest.mark.anyio
async def test_steering_comes_first_and_more_than_three_are_counted() -> None:
    strip = QueueStrip()
    async with BarApp(strip).run_test(size=(60, 10)) as pilot:
        strip.show(["one\ntwo", "b"], ["c", "d", "e"])
        await pilot.pause()
        assert [row.rstrip() for row in rows(strip)] == [
            " ▸ steer  one two                          alt+↑ edit queue",
            " ▸ steer  b",
            " ▸ follow-up  c",
            "   2 more",
        ]


@pytest.mark.anyio
@pytest.mark.parametrize("width", [1, 2, 5, 20, 40, 80, 120])
@pytest.mark.parametrize("text", [*FOREIGN, "日本語" * 40, "👩‍💻" * 60, "x" * 100_000])
async def test_rows_are_one_line_as_wide_as_the_screen(width: int, text: str) -> None:
    strip = QueueStrip()
    async with BarApp(strip).run_test(size=(width, 10)) as pilot:
        strip.show([text], [text])
        await pilot.pause()
        assert widths(strip) == [width, width]
        if text in FOREIGN and width >= 40:
            assert all(text in row for row in rows(strip))
