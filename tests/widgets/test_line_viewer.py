"""The line viewer shows every character of its text, whatever the width."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from widgets.line_viewer import LineViewer

pytestmark = pytest.mark.anyio


class ViewerApp(App[None]):
    CSS = "LineViewer { background: #000000; color: #ffffff; }"

    def __init__(self, text: str) -> None:
        super().__init__()
        self._shown = text

    def compose(self) -> ComposeResult:
        yield LineViewer(self._shown)


def painted(app: App[None]) -> list[str]:
    return [strip.text for strip in app.screen._compositor.render_strips()]


@pytest.mark.parametrize("lines", [1, 30])
async def test_no_text_stands_under_the_scroll_bar(lines: int) -> None:
    words = "".join(chr(ord("a") + at % 26) for at in range(200))
    app = ViewerApp("\n".join([words, *["line"] * lines]))
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        rows = painted(app)
    gutter = len(str(lines + 1)) + 2
    shown = [row[gutter:59].strip() for row in rows]
    assert "".join(shown).startswith(words)


async def test_any_size_is_survived() -> None:
    app = ViewerApp("漢字 🎉 text\n" * 50)
    async with app.run_test(size=(40, 10)) as pilot:
        for size in ((1, 1), (2, 2), (5, 3), (300, 100), (40, 10)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        assert "漢字 🎉 text" in "\n".join(painted(app))
