"""The header says what matters most at every width, and foreign text literally."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.widgets.bars import FOREIGN, BarApp, rows, widths
from widgets.header import Header, HeaderState, gauge_style

STATE = HeaderState("~/src/acme", "main*", "Refactor the parser", "sonnet", "high", 68_000, 200_000)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("width", "row"),
    [
        (
            120,
            " ▲ pinyon  ~/src/acme  main*  Refactor the parser"
            "                                sonnet · high   ▰▰▰▱▱▱▱▱▱▱ 34% of 200k ",
        ),
        (70, " ▲ pinyon  ~/src/acme  Refactor the parser         sonnet · high  34% "),
        (40, " ~/src/acme          sonnet · high  34% "),
        (20, " sonnet · high  34% "),
    ],
)
async def test_tokens_give_way_by_weight(width: int, row: str) -> None:
    app = BarApp(Header(STATE))
    async with app.run_test(size=(width, 5)):
        assert rows(app.bar) == [row]


@pytest.mark.anyio
@pytest.mark.parametrize("width", [1, 2, 3, 20, 40, 60, 79, 80, 120, 200])
@pytest.mark.parametrize("text", [*FOREIGN, "", "日本語" * 20, "👩‍💻🇩🇪" * 20, "a\x1b[31mb\nc\u202ed" * 9])
async def test_the_row_is_always_as_wide_as_the_screen(width: int, text: str) -> None:
    app = BarApp(Header(HeaderState(text, text, text, text, text, 10, 100, text)))
    async with app.run_test(size=(width, 5)):
        assert widths(app.bar) == [width]
        assert not set(rows(app.bar)[0]) & {"\x1b", "\n", "\u202e"}


@pytest.mark.anyio
async def test_foreign_text_stands_literally() -> None:
    title = " ".join(FOREIGN)
    app = BarApp(Header(replace(STATE, title=title, folder="", branch="")))
    async with app.run_test(size=(160, 5)):
        assert title in rows(app.bar)[0]


def test_the_gauge_warns_above_70_and_90_percent() -> None:
    assert [gauge_style(share) for share in (None, 0.0, 0.7, 0.71, 0.9, 0.91, 2.0)] == [
        "header--gauge",
        "header--gauge",
        "header--gauge",
        "header--gauge-warning",
        "header--gauge-warning",
        "header--gauge-error",
        "header--gauge-error",
    ]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tokens", "shown"),
    [(None, "▱▱▱▱▱▱▱▱▱▱ ? of 200k"), (0, "▱▱▱▱▱▱▱▱▱▱ 0% of 200k"), (300_000, "▰▰▰▰▰▰▰▰▰▰ 150% of 200k")],
)
async def test_unknown_empty_and_overfull_contexts_have_a_gauge(tokens: int | None, shown: str) -> None:
    app = BarApp(Header(replace(STATE, context_tokens=tokens)))
    async with app.run_test(size=(120, 5)):
        assert rows(app.bar)[0].rstrip().endswith(shown)


@pytest.mark.anyio
async def test_a_change_repaints_the_changed_cells_only() -> None:
    header = Header(STATE)
    app = BarApp(header)
    async with app.run_test(size=(120, 5)) as pilot:
        await pilot.pause()
        header.show(replace(STATE, context_tokens=72_000))
        await pilot.pause()
        header.show(replace(STATE, context_tokens=74_000))
        changed = header._exchange_repaint_regions()
        assert [(region.width, region.height) for region in changed] == [(1, 1)]
