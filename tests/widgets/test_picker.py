"""Pickers and dialogs: the choice is kept by id, typing highlights the best, escape means no."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import on
from textual.app import App
from textual.containers import VerticalScroll

from app.tui.themes import DARK, register_themes, theme_variable_defaults
from widgets.dialogs import ChoiceScreen, Options, TextScreen
from widgets.picker import Picker, PickerItem, PickerScreen

FOREIGN = ("[/a/b]", "[red]x", "[/]", "[data: /m?s=b-]", "\\[", "[@click=app.quit]x[/]")
MODELS = [
    PickerItem("a/opus", "claude-opus", "anthropic"),
    PickerItem("a/sonnet", "sonnet", "anthropic", is_current=True),
    PickerItem("o/gpt", "gpt", "openai"),
]


class PickApp(App[None]):
    CSS_PATH = Path(__file__).parents[2] / "styles.tcss"

    def __init__(self) -> None:
        super().__init__()
        register_themes(self)
        self.theme = DARK
        self.results: list[str | None] = []
        self.previews: list[str] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme_variable_defaults(self.current_theme)

    def ask(self, screen: PickerScreen | ChoiceScreen) -> None:
        if isinstance(screen, PickerScreen):
            self.push_screen(screen, self.results.append)
        else:
            self.push_screen(screen, self.results.append)

    @on(Picker.Highlighted)
    def _preview(self, message: Picker.Highlighted) -> None:
        self.previews.append(message.id)


def rows(picker: Picker) -> list[str]:
    return [picker.render_line(y).text.rstrip() for y in range(picker.size.height)]


@pytest.mark.anyio
async def test_the_current_item_is_highlighted_first_and_enter_chooses_it() -> None:
    app = PickApp()
    async with app.run_test(size=(60, 20)) as pilot:
        picker = Picker("Models", MODELS)
        app.ask(PickerScreen(picker))
        await pilot.pause()
        assert rows(picker) == [
            f" Models{'3':>50}",
            " ❯  type to filter",
            "     claude-opus  anthropic",
            " ▸ ✓ sonnet       anthropic",
            "     gpt          openai",
            " enter choose · esc cancel",
        ]
        await pilot.press("enter")
        await pilot.pause()
        assert app.results == ["a/sonnet"]


@pytest.mark.anyio
async def test_typing_highlights_the_best_match_and_escape_chooses_nothing() -> None:
    app = PickApp()
    async with app.run_test(size=(60, 20)) as pilot:
        picker = Picker("Models", MODELS)
        app.ask(PickerScreen(picker))
        await pilot.press(*"op")
        await pilot.pause()
        assert picker.shown_ids[:2] == ["a/opus", "o/gpt"]  # a name beats what is said of another
        assert picker.selected == "a/opus"
        await pilot.press("backspace", "backspace", *"zz")
        assert picker.shown_ids == []
        assert "nothing here" in rows(picker)[2]
        await pilot.press("enter", "ctrl+u", "escape")
        await pilot.pause()
        assert app.results == [None]


@pytest.mark.anyio
async def test_a_list_that_reloads_never_moves_the_choice() -> None:
    app = PickApp()
    async with app.run_test(size=(60, 20)) as pilot:
        picker = Picker("Models", MODELS)
        app.ask(PickerScreen(picker))
        await pilot.press("down")
        assert picker.selected == "o/gpt"
        picker.set_items([PickerItem("x", "new first"), *MODELS])
        assert picker.selected == "o/gpt"
        picker.set_items(MODELS[:2])
        assert picker.selected == "a/sonnet"  # it is gone: its neighbour
        await pilot.press("up", "enter")
        await pilot.pause()
        assert app.results == ["a/opus"]


@pytest.mark.anyio
async def test_keys_move_round_the_ends_and_by_pages() -> None:
    app = PickApp()
    async with app.run_test(size=(60, 12)) as pilot:
        picker = Picker("Many", [PickerItem(str(number), f"item {number}") for number in range(1_000)])
        app.ask(PickerScreen(picker))
        await pilot.press("up")
        assert picker.selected == "199"  # no more than 200 are kept
        await pilot.press("down", "pagedown")
        page = int(picker.selected or "")
        assert 1 <= page < 12
        await pilot.press("end", "home")
        assert picker.selected == "0"
        await pilot.press(*"999")
        assert picker.shown_ids == ["999"]


@pytest.mark.anyio
async def test_the_highlighted_row_is_always_in_sight() -> None:
    app = PickApp()
    async with app.run_test(size=(40, 12)) as pilot:
        picker = Picker("Many", [PickerItem(str(number), f"item {number}") for number in range(60)])
        app.ask(PickerScreen(picker))
        await pilot.pause()
        for key in ["down"] * 15 + ["pagedown"] * 3 + ["up"] * 9:
            await pilot.press(key)
            assert any(row.startswith(" ▸") and row.endswith(f"item {picker.selected}") for row in rows(picker))


@pytest.mark.anyio
async def test_highlighting_is_told_for_a_preview() -> None:
    app = PickApp()
    async with app.run_test(size=(60, 12)) as pilot:
        app.ask(PickerScreen(Picker("Themes", MODELS)))
        await pilot.press("down", *"opus")
        await pilot.pause()
        assert app.previews[0] == "o/gpt"
        assert app.previews[-1] == "a/opus"


@pytest.mark.anyio
@pytest.mark.parametrize("size", [(20, 5), (40, 10), (60, 15), (80, 24), (120, 40), (6, 4), (2, 3)])
@pytest.mark.parametrize("text", [*FOREIGN, "日本語" * 30, "👩‍💻" * 50, "\x1b[31mR\rL\nT\t\u202eevil" * 900])
async def test_every_row_is_as_wide_as_the_picker_and_foreign_text_is_literal(size: tuple[int, int], text: str) -> None:
    app = PickApp()
    async with app.run_test(size=size) as pilot:
        picker = Picker(text, [PickerItem("a", text, text), PickerItem("b", text, is_current=True)])
        app.ask(PickerScreen(picker))
        await pilot.press("x")
        await pilot.press("backspace")
        await pilot.pause()
        strips = [picker.render_line(y) for y in range(picker.size.height)]
        assert [strip.cell_length for strip in strips] == [picker.size.width] * len(strips)
        assert not any(set(strip.text) & {"\x1b", "\r", "\n", "\t", "\u202e"} for strip in strips)
        if text in FOREIGN and size[0] >= 40:
            assert all(text in strips[y].text for y in (0, 2, 3))


@pytest.mark.anyio
async def test_a_click_chooses_the_row() -> None:
    app = PickApp()
    async with app.run_test(size=(60, 20)) as pilot:
        picker = Picker("Models", MODELS)
        app.ask(PickerScreen(picker))
        await pilot.pause()
        await pilot.click(Picker, offset=(5, 5))
        await pilot.pause()
        assert app.results == ["o/gpt"]


# -- questions


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["enter"], "no"), (["escape"], "no"), (["ctrl+c"], "no"), (["up", "enter"], "yes"), (["1", "enter"], "yes"),
        (["y", "enter"], "no"), (["1", "escape"], "no"), (["9", "tab", "tab", "enter"], "no"),
    ],
)  # fmt: skip
async def test_a_question_defaults_to_no_and_no_letter_answers(keys: list[str], answer: str) -> None:
    app = PickApp()
    async with app.run_test(size=(60, 20)) as pilot:
        app.ask(ChoiceScreen("Fork [red]here[/]?", [("yes", "Fork"), ("no", "Don't")]))
        await pilot.press(*keys)
        await pilot.pause()
        assert app.results == [answer]


@pytest.mark.anyio
async def test_a_click_answers() -> None:
    app = PickApp()
    async with app.run_test(size=(60, 20)) as pilot:
        app.ask(ChoiceScreen("Fork?", [("yes", "Fork"), ("no", "Don't")]))
        await pilot.pause()
        await pilot.click(Options, offset=(4, 0))
        await pilot.pause()
        assert app.results == ["yes"]


@pytest.mark.anyio
@pytest.mark.parametrize("size", [(20, 8), (40, 10), (80, 24)])
async def test_the_answers_stay_in_sight_under_a_long_text(size: tuple[int, int]) -> None:
    app = PickApp()
    async with app.run_test(size=size) as pilot:
        body = "\n".join(f"line {number} [/x]" for number in range(200))
        app.ask(ChoiceScreen("Really?", [("yes", "Yes"), ("no", "No")], body=body))
        await pilot.pause()
        options = app.screen.query_one(Options)
        assert options.size.height == 2
        assert app.screen.region.contains_region(options.region)
        text = app.screen.query_one(VerticalScroll)
        await pilot.press("pagedown")
        await pilot.pause()
        assert text.scroll_y > 0


@pytest.mark.anyio
@pytest.mark.parametrize("key", ["escape", "enter", "q"])
async def test_a_text_scrolls_and_closes(key: str) -> None:
    app = PickApp()
    async with app.run_test(size=(40, 10)) as pilot:
        app.push_screen(TextScreen("Help [x]", "\n".join(f"[b]{number}" for number in range(100))))
        await pilot.press("pagedown", "G")
        await pilot.pause()
        box = app.screen.query_one(VerticalScroll)
        assert box.scroll_y == box.max_scroll_y > 0
        await pilot.press(key)
        await pilot.pause()
        assert not isinstance(app.screen, TextScreen)


@pytest.mark.anyio
async def test_what_is_said_of_short_labels_stands_in_one_column() -> None:
    app = PickApp()
    async with app.run_test(size=(60, 20)) as pilot:
        picker = Picker("Commands", [PickerItem("a", "/new", "begin"), PickerItem("b", "/undo-restore", "take back")])
        app.ask(PickerScreen(picker))
        await pilot.pause()
        places = {row.index(word) for row in rows(picker) for word in ("begin", "take back") if word in row}
    assert len(places) == 1
