"""Real session files as the tree draws them, odd and damaged ones too."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.errors import PinyonError
from app.session.file import SessionFile
from app.session.tree_filter import TreeFilter, TreeQuery
from app.session.tree_layout import TreeLayout
from app.session.view import SessionView
from widgets.tree_line import TreeLook, row_pieces
from widgets.tree_text import EntryTexts, clock

DATA = Path(__file__).parent.parent / "data" / "sessions"
NOW = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)


def rows(name: str, mode: TreeFilter = TreeFilter.DEFAULT, width: int = 60, most: int = 99) -> list[str]:
    view = SessionView(SessionFile.read(DATA / f"{name}.jsonl"))
    layout = TreeLayout(view.tree, mode)
    here = layout.ancestor_row(view.tree.leaf_id)
    look = TreeLook(view.tree, EntryTexts(view.tree, view.read), TreeQuery(""), NOW, here)
    shown = range(min(most, len(layout.rows)))
    return ["".join(text for text, _ in row_pieces(layout, at, width, look)).rstrip() for at in shown]


def test_two_roots_stand_beside_each_other() -> None:
    assert rows("two-roots") == [
        "╭─○ first try                           ▸ 2 entries · 14:50",
        "● second try from the start                           14:50",
        "╰ ◇ second answer                                    ◀ here",
    ]


def test_what_two_processes_wrote_are_two_branches() -> None:
    assert rows("concurrent-writers") == [
        "● start                                           1/1 00:00",
        "│ ◇ ok",
        "├─○ from process one                ▸ 2 entries · 1/1 00:00",
        "● from process two                                1/1 00:00",
        "╰ ◇ answer two                                       ◀ here",
    ]


def test_a_run_that_was_cut_and_one_that_was_stopped() -> None:
    assert rows("parallel-orphans") == [
        "● do three things                                     14:50",
        "│ ◇ On it.",
        "│ · 1 tool call (bash)",
        "● you there?                                          14:50",
        "╰ ◇ (interrupted)                                    ◀ here",
    ]


def test_a_failed_request_says_its_error() -> None:
    assert rows("tw-error-message", width=100)[1].startswith("╰ ✗ 429 rate limit")


def test_a_compaction_says_how_much_went_and_the_tree_still_holds_all() -> None:
    shown = rows("compaction-retain-none")
    assert "● question 1                                          14:50" in shown
    assert any(row.startswith("│ Σ compaction of 50k tokens: SUMMARY ONE") for row in shown)


def test_a_hooks_message_has_a_row_of_its_own() -> None:
    assert rows("v2-hook-message")[1] == "│ ◆ myhook: from a hook"


def test_all_shows_bookkeeping_by_its_facts() -> None:
    default, everything = rows("cli-three-apis"), rows("cli-three-apis", TreeFilter.ALL)
    assert len(everything) > len(default)
    assert any("· model " in row for row in everything)
    assert any("· thinking " in row for row in everything)


def test_a_long_old_file_has_its_years_and_runs_of_tools() -> None:
    assert rows("v1-large", most=6) == [
        "● /mode                                      25/11/20 23:33",
        "│ ◇ (interrupted)",
        "● read packages/coding-agent/docs/theme.md … 25/11/20 23:33",
        "│ ◇ I'll read the theme documentation, theme.ts, and the se…",
        "│ · 3 tool calls (read ×2, bash)",
        "│ ◇ Now let me read a few of the selector files to understa…",
    ]


@pytest.mark.parametrize("path", sorted(DATA.glob("*.jsonl")), ids=lambda path: path.stem)
@pytest.mark.parametrize("width", [7, 33, 140])
def test_every_file_fits_every_width(path: Path, width: int) -> None:
    try:
        view = SessionView(SessionFile.read(path))
    except PinyonError:
        assert path.stem == "not-a-session"
        return
    for mode in TreeFilter:
        layout = TreeLayout(view.tree, mode)
        look = TreeLook(view.tree, EntryTexts(view.tree, view.read), TreeQuery.parse("e"), NOW, None, label_times=True)
        for at in range(min(60, len(layout.rows))):
            from renderers.text import cell_width

            assert sum(cell_width(text) for text, _ in row_pieces(layout, at, width, look)) == width


def test_a_clock_says_no_more_than_it_must() -> None:
    assert clock("2026-11-30T09:12:00Z", NOW) == "09:12"
    assert clock("2026-03-14T09:12:00Z", NOW) == "3/14 09:12"
    assert clock("2024-03-14T09:12:00Z", NOW) == "24/3/14 09:12"
    assert clock("no time", NOW) == ""
