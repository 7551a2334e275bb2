"""The footer says what escape would do now, ticks only while busy, and shows foreign text literally."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.widgets.bars import FOREIGN, BarApp, rows, widths
from widgets.footer import Footer, FooterState, elapsed, money

BUSY = FooterState(
    12_300, 1_900, 80_000, 0.14, False, "working", 92.0, "stop", ("ctrl+t tree", "ctrl+l model", "f1 help")
)


def footer(state: FooterState) -> Footer:
    return Footer(state, clock=lambda: 100.0)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("width", "row"),
    [
        (
            120,
            " ↑12.3k ↓1.9k  cache 80k  $0.14   ● working 8 s"
            "                         esc stop · ctrl+t tree · ctrl+l model · f1 help ",
        ),
        (60, " ↑12.3k ↓1.9k  cache 80k  $0.14   ● working 8 s    esc stop "),
        (40, " ↑12.3k ↓1.9k   ● working 8 s  esc stop "),
        (26, " ● working 8 s   esc stop "),
        (20, " ● working 8 s      "),
    ],
)
async def test_tokens_give_way_by_weight(width: int, row: str) -> None:
    app = BarApp(footer(BUSY))
    async with app.run_test(size=(width, 5)):
        assert rows(app.bar) == [row]


@pytest.mark.anyio
@pytest.mark.parametrize("width", [1, 2, 3, 20, 40, 60, 80, 120])
@pytest.mark.parametrize("text", [*FOREIGN, "日本語" * 20, "a\x1b[31mb\nc\u202ed" * 9])
async def test_the_row_is_always_as_wide_as_the_screen(width: int, text: str) -> None:
    app = BarApp(footer(replace(BUSY, activity=text, escape_hint=text, hints=(text, text), statuses=(text,))))
    async with app.run_test(size=(width, 5)):
        assert widths(app.bar) == [width]


@pytest.mark.anyio
async def test_foreign_text_stands_literally() -> None:
    app = BarApp(footer(FooterState(statuses=(" ".join(FOREIGN),), note="copied [b]")))
    async with app.run_test(size=(160, 5)):
        assert " ".join(FOREIGN) in rows(app.bar)[0]
        assert rows(app.bar)[0].endswith("copied [b] ")


@pytest.mark.anyio
async def test_no_timer_runs_when_idle() -> None:
    bar = footer(FooterState())
    app = BarApp(bar)
    async with app.run_test(size=(80, 5)):
        assert not bar.is_ticking
        bar.show(BUSY)
        assert bar.is_ticking
        bar.show(replace(BUSY, activity="compacting"))
        assert bar.is_ticking
        bar.show(FooterState())
        assert not bar.is_ticking


@pytest.mark.anyio
async def test_a_tick_repaints_the_seconds_only() -> None:
    now = 100.0
    bar = Footer(BUSY, clock=lambda: now)
    app = BarApp(bar)
    async with app.run_test(size=(120, 5)) as pilot:
        await pilot.pause()
        bar.refresh()
        await pilot.pause()
        now = 101.0
        bar.refresh()
        assert [(region.width, region.height) for region in bar._exchange_repaint_regions()] == [(1, 1)]


def test_elapsed_and_money_are_short() -> None:
    assert [elapsed(seconds) for seconds in (-1, 0.9, 8.99, 59.9, 65, 3_720)] == [
        "0 s",
        "0 s",
        "8 s",
        "59 s",
        "1 m 05 s",
        "1 h 02 m",
    ]
    assert [money(cost) for cost in (0, 0.0042, 0.14, 12.3)] == ["$0.00", "$0.0042", "$0.14", "$12.30"]


@pytest.mark.anyio
async def test_nothing_spent_says_nothing_and_a_subscription_is_named() -> None:
    bar = footer(FooterState(cost=0.0))
    app = BarApp(bar)
    async with app.run_test(size=(40, 5)):
        assert rows(bar)[0].strip() == ""
        bar.show(FooterState(cost=0.0, is_subscription=True))
        assert rows(bar)[0].strip() == "$0.00 (sub)"


@pytest.mark.anyio
async def test_what_is_waited_for_is_counted_down() -> None:
    times = [100.0]
    app = BarApp(
        Footer(
            FooterState(activity="retry 1 of 3", busy_since=100.0, due=104.0, escape_hint="stop"),
            clock=lambda: times[-1],
        )
    )
    async with app.run_test(size=(60, 5)):
        seen = []
        for now in (100.0, 101.02, 103.4, 106.0):
            times.append(now)
            seen.append(rows(app.bar)[0].strip().split("   ")[0])
    assert seen == ["● retry 1 of 3 in 4 s", "● retry 1 of 3 in 3 s", "● retry 1 of 3 in 1 s", "● retry 1 of 3 in 0 s"]
