"""The scroll bar beside the transcript shows, at all times, what a bar drawn anew would show."""

from __future__ import annotations

import pytest

from tests.widgets.transcript_kit import StubBlock, TranscriptApp, many, settle

pytestmark = pytest.mark.anyio


def bar(app: TranscriptApp) -> list[str]:
    """The cells of the bar as they stand on the screen."""
    return [str(list(strip.crop(59, 60))) for strip in app.screen._compositor.render_strips()]


async def test_the_thumb_is_whole_once_the_text_outgrows_the_window() -> None:
    app = TranscriptApp([StubBlock("first", "one row")])
    async with app.run_test(size=(60, 24)) as pilot:
        await settle(app)
        assert len(set(bar(app))) == 1
        for block in many(40):
            app.transcript.append_block(block)
        await settle(app)
        await pilot.pause()
        drawn = bar(app)
        app.transcript.vertical_scrollbar.refresh()
        await pilot.pause()
        assert drawn == bar(app)
        assert len(set(drawn)) > 1
