"""The tree view: its rows, what each key does to them, and that no step costs more in a larger tree."""

from __future__ import annotations

import pytest
from textual import events

from app.session.facts import IndexEntry
from app.session.tree import Tree
from renderers.text import cell_width
from tests.widgets.tree_kit import Maker, TreeApp, painted, sample, screen
from widgets.tree_field import LineField
from widgets.tree_view import TreeView

pytestmark = pytest.mark.anyio


async def test_the_current_path_is_leftmost_and_other_branches_hang_folded_from_it() -> None:
    app = TreeApp(sample())
    async with app.run_test(size=(64, 12)):
        assert screen(app.view) == [
            "● The CSV test fails since yesterday                      09:00",
            "│ ◇ I'll look at the failing test first",
            "│ · 4 tool calls (read ×2, bash, edit)",
            "├─○ try a regex instead  ⚑ regex-attempt    ▸ 4 entries · 09:07",
            "├─○ write it in Rust                        ▸ 2 entries · 09:11",
            "● and keep the public signature                           09:13",
            "╰ ◇ Done: the signature stays                            ◀ here",
        ]


async def test_a_branch_is_opened_and_folded_where_it_hangs() -> None:
    app = TreeApp(sample())
    async with app.run_test(size=(64, 12)) as pilot:
        await pilot.press("up", "up", "up")
        assert app.view.entry is not None
        assert app.view.entry.id == "regex"
        await pilot.press("right")
        assert screen(app.view)[3:9] == [
            "├─○ try a regex instead  ⚑ regex-attempt      4 entries · 09:07",
            "│ │ ◇ Rewrote split() with re",
            "│ ○ is it faster?                                         09:09",
            "│ ╰ ◇ A little",
            "├─○ write it in Rust                        ▸ 2 entries · 09:11",
            "● and keep the public signature                           09:13",
        ]
        assert painted(app) == screen(app.view)
        await pilot.press("down", "left")
        assert app.view.entry.id == "regex", "the first step goes to the start of what would be folded"
        await pilot.press("left")
        assert len(screen(app.view)) == 7
        await pilot.press("left")
        assert app.view.row is not None
        assert app.view.row.kind == "run", "and from a folded branch to the point that it left"


async def test_a_branch_inside_a_branch_hangs_one_step_further() -> None:
    make = sample()
    make.user("try pandas", "pandas", "rewrote")
    make.add("custom", "leaf", "done", customType="pinyon.leaf")
    app = TreeApp(make)
    async with app.run_test(size=(64, 14)) as pilot:
        app.view.select("regex")
        await pilot.press("right")
        assert screen(app.view)[3:7] == [
            "├─○ try a regex instead  ⚑ regex-attempt      5 entries · 09:07",
            "│ │ ◇ Rewrote split() with re",
            "│ ├─○ is it faster?                         ▸ 2 entries · 09:09",
            "│ ○ try pandas                                            09:16",
        ]


async def test_a_run_of_tool_calls_opens_into_its_calls() -> None:
    app = TreeApp(sample())
    async with app.run_test(size=(64, 14)) as pilot:
        await pilot.press("home", "down", "down", "right")
        assert screen(app.view)[1:7] == [
            "│ ◇ I'll look at the failing test first",
            "│ ✓ read read0.py",
            "│ ✓ read read0.py",
            "│ ✓ bash bash1.py",
            "│ ✓ edit edit2.py",
            "├─○ try a regex instead  ⚑ regex-attempt    ▸ 4 entries · 09:07",
        ]
        await pilot.press("down", "left")
        assert screen(app.view)[2] == "│ · 4 tool calls (read ×2, bash, edit)"
        assert app.view.row is not None
        assert app.view.row.kind == "run"


async def test_a_segment_folds_into_its_first_row() -> None:
    app = TreeApp(sample())
    async with app.run_test(size=(64, 14)) as pilot:
        await pilot.press("home", "left")
        assert screen(app.view)[:3] == [
            "● The CSV test fails since yesterday            ▸ 6 more  09:00",
            "├─○ try a regex instead  ⚑ regex-attempt    ▸ 4 entries · 09:07",
            "├─○ write it in Rust                        ▸ 2 entries · 09:11",
        ]
        assert app.view.entry is not None
        assert app.view.entry.id == "root"
        await pilot.press("right")
        assert len(screen(app.view)) == 7


async def test_ctrl_arrows_go_from_branch_point_to_branch_point() -> None:
    app = TreeApp(sample())
    async with app.run_test(size=(64, 14)) as pilot:
        await pilot.press("ctrl+left")
        assert app.view.at == 2
        await pilot.press("ctrl+left")
        assert app.view.at == 0
        await pilot.press("ctrl+right")
        assert app.view.at == 2
        await pilot.press("ctrl+right")
        assert app.view.at == len(app.view.laid_out.rows) - 1
        app.view.select("rust")
        await pilot.press("ctrl+right")
        assert app.view.entry is not None
        assert app.view.entry.id == "no"
        await pilot.press("ctrl+left")
        assert app.view.at == 2


@pytest.mark.parametrize(
    ("key", "rows"),
    [
        ("ctrl+u", ["● The CSV test fails", "├─○ try a regex", "├─○ write it in Rust", "● and keep the public"]),
        ("ctrl+t", ["● The CSV test fails", "│ ◇ I'll look", "├─○ try", "├─○ write", "● and keep", "╰ ◇ Done"]),
        ("ctrl+l", ["╭─○ try a regex instead"]),
        ("ctrl+a", ["● The", "│ ◇", "│ · 4", "├─○", "├─○", "● and keep", "│ ◇ Done", "╰ · label regex-attempt"]),
    ],
)
async def test_a_filter_shows_its_kind_and_a_second_press_shows_all_again(key: str, rows: list[str]) -> None:
    app = TreeApp(sample())
    async with app.run_test(size=(64, 14)) as pilot:
        before = screen(app.view)
        await pilot.press(key)
        shown = screen(app.view)
        assert len(shown) == len(rows)
        assert all(row.startswith(start) for row, start in zip(shown, rows, strict=True))
        await pilot.press(key)
        assert screen(app.view) == before


async def test_the_selection_is_kept_by_id_through_filters() -> None:
    app = TreeApp(sample())
    async with app.run_test(size=(64, 14)) as pilot:
        await pilot.press("up")
        await pilot.press(*["ctrl+o"] * 5)
        assert app.view.entry is not None
        assert app.view.entry.id == "keep"
        app.view.select("done")
        await pilot.press("ctrl+u")
        assert app.view.entry.id == "keep", "the nearest ancestor that is shown"
        await pilot.press("ctrl+u")
        assert app.view.entry.id == "done"


async def test_a_search_marks_its_hits_and_opens_what_hides_them() -> None:
    app = TreeApp(sample())
    async with app.run_test(size=(64, 14)) as pilot:
        await pilot.press("home", "slash", *"little")
        assert app.view.entry is not None
        assert app.view.entry.id == "little"
        rows = screen(app.view)
        assert rows[0].startswith("/ little")
        assert "1 of 1" in rows[0]
        marked = [
            segment.text
            for y in range(app.view.size.height)
            for segment in app.view.render_line(y)
            if segment.style and segment.style.bgcolor == app.view.get_component_rich_style("tree--hit").bgcolor
        ]
        assert marked == ["little"]
        await pilot.press("escape")
        assert app.view.entry.id == "root"
        assert len(screen(app.view)) == 7, "escape folds again what the search had opened"


async def test_n_and_N_go_through_the_hits_round_the_ends() -> None:
    app = TreeApp(sample())
    async with app.run_test(size=(64, 14)) as pilot:
        await pilot.press("home", "slash", *"re:^user.*(rust|regex)", "enter")
        seen = []
        for key in ("n", "n", "N", "N"):
            assert app.view.entry is not None
            seen.append(app.view.entry.id)
            await pilot.press(key)
        assert seen == ["rust", "regex", "rust", "regex"] or seen == ["regex", "rust", "regex", "rust"]
        await pilot.press("escape")
        assert not screen(app.view)[0].startswith("/")
        assert app.posted == []
        await pilot.press("escape")
        assert isinstance(app.posted[-1], TreeView.Left)


async def test_a_wrong_pattern_is_said_and_finds_nothing() -> None:
    app = TreeApp(sample())
    async with app.run_test(size=(80, 14)) as pilot:
        await pilot.press("slash", *"re:(", "enter")
        assert "not a pattern" in screen(app.view)[0]
        await pilot.press("n")
        assert app.view.is_typing is False


async def test_letters_typed_into_the_search_never_act() -> None:
    app = TreeApp(sample())
    async with app.run_test(size=(64, 14)) as pilot:
        await pilot.press("slash", *"efrtdcyLT")
        assert app.posted == []
        assert screen(app.view)[0].startswith("/ efrtdcyLT")


async def test_a_label_is_typed_in_place() -> None:
    app = TreeApp(sample())
    async with app.run_test(size=(64, 14)) as pilot:
        app.view.select("regex")
        await pilot.press("L", *"!", "enter")
        message = app.posted[-1]
        assert isinstance(message, TreeView.LabelChosen)
        assert (message.entry_id, message.text) == ("regex", "regex-attempt!")
        await pilot.press("L", "x", "escape")
        assert app.posted[-1] is message


async def test_label_times_are_shown_on_request() -> None:
    app = TreeApp(sample())
    async with app.run_test(size=(80, 14)) as pilot:
        await pilot.press("T")
        assert "⚑ regex-attempt 09:15" in screen(app.view)[3]


async def test_keys_ask_for_what_only_the_screen_can_do() -> None:
    app = TreeApp(sample())
    async with app.run_test(size=(64, 14)) as pilot:
        await pilot.press("up", "enter", "e", "f", "d", "c", "t", "r", "y", "alt+left", "alt+right")
        asked = [(m.action, m.entry_id) for m in app.posted if isinstance(m, TreeView.Asked)]
        actions = ["go", "edit", "fork", "diff", "compare", "take", "restore", "copy"]
        assert asked == [(action, "keep") for action in actions] + [("back", None), ("forward", None)]


async def test_the_view_follows_the_leaf_while_one_stands_there() -> None:
    make = sample()
    tree = make.tree()
    app = TreeApp(make, tree)
    async with app.run_test(size=(64, 14)) as pilot:
        make.user("also add a test for empty fields", "empty")
        tree.add(make.entries[-1])
        app.view.tree_grew()
        await pilot.pause()
        assert screen(app.view)[-2:] == [
            "│ ◇ Done: the signature stays",
            "● also add a test for empty fields                09:16  ◀ here",
        ]
        assert painted(app) == screen(app.view)
        app.view.select("root")
        make.answer("Added", "added")
        tree.add(make.entries[-1])
        app.view.tree_grew()
        assert app.view.entry is not None
        assert app.view.entry.id == "root"


@pytest.mark.parametrize("width", [1, 2, 3, 5, 8, 13, 20, 40, 80, 200])
async def test_every_row_is_exactly_as_wide_as_the_view(width: int) -> None:
    make = sample()
    make.user("日本語のテキストと 👩‍👩‍👧 emoji 한국어 " * 5, "cjk")
    make.answer("[red]no markup[/red] \x1b[31mno escape\x1b[0m\ttab\nline", "odd")
    make.label("cjk", "标签" * 20)
    app = TreeApp(make)
    async with app.run_test(size=(width, 16)) as pilot:
        app.view.select("regex")
        await pilot.press("right", "slash", *"te", "enter", "T")
        for y in range(16):
            strip = app.view.render_line(y)
            assert cell_width(strip.text) == strip.cell_length == width
            assert "\x1b" not in strip.text


async def test_foreign_text_is_no_markup() -> None:
    make = Maker()
    make.user("[red]x[/] [@click=app.quit]y[/]", "a")
    app = TreeApp(make)
    async with app.run_test(size=(64, 4)):
        assert screen(app.view)[0].startswith("● [red]x[/] [@click=app.quit]y[/]")


async def test_far_to_the_right_only_the_nearest_columns_are_drawn() -> None:
    make = Maker()
    make.user("m0", "m0")
    for n in range(1, 40):
        make.user(f"m{n}", f"m{n}")
    for n in range(38, -1, -1):
        make.user(f"s{n}", f"s{n}", f"m{n}")
    app = TreeApp(make)
    async with app.run_test(size=(60, 60)):
        app.view.select("m39", reveal=True)
        rows = screen(app.view)
        deepest = next(row for row in rows if "m39" in row)
        assert deepest.startswith("‹")
        assert all("m" in row or "s" in row for row in rows)


async def test_a_click_stands_on_a_row_and_a_second_one_opens_it() -> None:
    app = TreeApp(sample())
    async with app.run_test(size=(64, 14)) as pilot:
        await pilot.click(TreeView, offset=(10, 3))
        assert app.view.entry is not None
        assert app.view.entry.id == "regex"
        await pilot.click(TreeView, offset=(10, 3))
        assert "Rewrote" in screen(app.view)[4]


async def test_a_paste_goes_into_the_search_on_one_line() -> None:
    app = TreeApp(sample())
    async with app.run_test(size=(64, 14)) as pilot:
        await pilot.press("slash")
        app.view.post_message(events.Paste("public\nsignature"))
        await pilot.pause()
        assert screen(app.view)[0].startswith("/ public signature")
        assert app.view.entry is not None
        assert app.view.entry.id == "keep"


async def test_plain_mode_has_words_for_signs() -> None:
    app = TreeApp(sample())
    async with app.run_test(size=(90, 14)):
        app.view.set_plain(True)
        rows = screen(app.view)
        assert rows[0].startswith("you The CSV test")
        assert rows[3].startswith("1 you try a regex instead  label regex-attempt")
        assert not set("".join(rows)) & set("●○◇│├╰▸◀⚑")


def test_a_field_edits_by_clusters_and_shows_the_cursor() -> None:
    field = LineField("ab")
    for key, character in (("left", None), ("👩‍👩‍👧", "👩‍👩‍👧"), ("日", "日"), ("left", None), ("backspace", None)):
        assert field.press(key, character)
    assert field.text == "a日b"
    assert field.window(10) == ("a", "日", "b")
    field = LineField("one two three")
    field.press("ctrl+w", None)
    assert field.text == "one two "
    field.press("ctrl+u", None)
    assert (field.text, field.window(5)) == ("", ("", " ", ""))
    assert not field.press("f5", None)
    field.insert("x" * 1000)
    before, under, after = field.window(7)
    assert cell_width(before + under + after) <= 7


async def test_an_empty_session_has_an_empty_tree() -> None:
    app = TreeApp(Maker())
    async with app.run_test(size=(40, 6)) as pilot:
        await pilot.press("up", "down", "left", "right", "enter", "L", "n", "ctrl+left", "ctrl+right", "ctrl+o")
        assert app.posted == []
        assert "nothing" in screen(app.view)[0]


def chain(count: int) -> Tree:
    """A chain with a short side branch at every tenth entry."""
    entries: list[IndexEntry] = []
    for n in range(count):
        role = ("user", "assistant", "toolResult")[n % 3]
        parent = f"n{n - 1}" if n else None
        entries.append(
            IndexEntry(f"n{n}", parent, "message", "2026-11-30T09:00:00Z", n, role=role, preview=f"text {n}")
        )
    sides = [
        IndexEntry(f"side{n}", f"n{n}", "message", "2026-11-30T09:00:00Z", count + n, role="user", preview="side")
        for n in range(0, count, 10)
    ]
    leaf = IndexEntry("leaf", f"n{count - 1}", "custom", "2026-11-30T09:00:00Z", 2 * count, own=True)
    return Tree([*entries, *sides, leaf])


async def work_of_keys(count: int) -> list[int]:
    app = TreeApp(Maker(), chain(count))
    done: list[int] = []
    async with app.run_test(size=(80, 24)) as pilot:
        for key in ("up", "up", "down", "pageup", "home", "down", "end", "up", "ctrl+left", "up"):
            before = app.view.rendered_rows, app.view.laid_out.built
            await pilot.press(key)
            done.append(app.view.rendered_rows - before[0] + app.view.laid_out.built - before[1])
    return done


async def test_a_step_costs_the_same_in_a_large_tree() -> None:
    small, large = await work_of_keys(100), await work_of_keys(20_000)
    assert small == large
    assert max(small) <= 2 * 24


async def test_an_entry_that_comes_costs_the_same_in_a_large_tree() -> None:
    built = []
    for count in (100, 20_000):
        tree = chain(count)
        app = TreeApp(Maker(), tree)
        async with app.run_test(size=(80, 24)):
            before = app.view.laid_out.built
            entry = IndexEntry("new", tree.leaf_id, "message", "", 3 * count, role="user", preview="new")
            tree.add(entry)
            app.view.tree_grew()
            built.append(app.view.laid_out.built - before)
    assert built[0] == built[1] <= 3
