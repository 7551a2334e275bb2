"""What the tests of header, footer and queue strip share."""

from __future__ import annotations

from textual.app import App, ComposeResult

from widgets.bar import Bar

FOREIGN = ("[/a/b]", "[red]x", "[/]", "[data: /m?s=b-]", "\\[", "[@click=app.quit]x[/]")


class BarApp(App[None]):
    def __init__(self, bar: Bar) -> None:
        super().__init__()
        self.bar = bar

    def compose(self) -> ComposeResult:
        yield self.bar


def rows(bar: Bar) -> list[str]:
    return [bar.render_line(y).text for y in range(bar.size.height)]


def widths(bar: Bar) -> list[int]:
    return [bar.render_line(y).cell_length for y in range(bar.size.height)]
