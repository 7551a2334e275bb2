"""The sessions screen: the choice never moves by itself, nothing is lost, and the list costs the same at any length."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.app import App
from textual.pilot import Pilot

from app.config.paths import data_dir
from app.session.inspect import inspect
from app.session.naming import lease_path, project_folder
from app.session.session import Session
from app.tui.screens.sessions import SessionChoice, SessionsScreen
from app.tui.themes import DARK, register_themes, theme_variable_defaults
from tests.session.sessions_kit import said, tool_said, write_session
from widgets.dialogs import ChoiceScreen
from widgets.session_list import SessionList
from widgets.session_rows_view import age
from widgets.text_input import TextInputScreen

pytestmark = pytest.mark.anyio

FOREIGN = "[red]x[/] \x1b[31mred\x1b]0;title\x07 \u202e[@click=app.quit]y[/]"


class Sessions(App[None]):
    CSS_PATH = Path(__file__).parents[2] / "styles.tcss"

    def __init__(self) -> None:
        super().__init__()
        register_themes(self)
        self.theme = DARK
        self.results: list[SessionChoice | None] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme_variable_defaults(self.current_theme)


class Kit:
    """A screen under test."""

    def __init__(self, app: Sessions, pilot: Pilot[None], screen: SessionsScreen) -> None:
        self.app, self.pilot, self.screen = app, pilot, screen
        self.list = screen.query_one(SessionList)

    async def until(self, claim: Callable[[], object]) -> None:
        for _ in range(400):
            if claim():
                return
            await self.pilot.pause(0.01)
        raise AssertionError("it never came true:\n" + "\n".join(self.rows()))

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def top(self, kind: type[object]) -> None:
        await self.until(lambda: isinstance(self.app.screen, kind))

    def rows(self) -> list[str]:
        return [self.list.render_line(y).text.rstrip() for y in range(self.list.size.height)]

    def shown(self) -> str:
        return "\n".join(self.rows())

    def foot(self) -> str:
        return str(self.screen._foot.render_line(0).text).strip()

    def preview(self) -> str:
        return str(self.screen._preview.content)


@asynccontextmanager
async def opened(
    cwd: Path, *, size: tuple[int, int] = (120, 24), session: Session | None = None, query: str = ""
) -> AsyncIterator[Kit]:
    app = Sessions()
    async with app.run_test(size=size) as pilot:
        screen = SessionsScreen(cwd, session=session, query=query)
        app.push_screen(screen, app.results.append)
        await pilot.pause()
        kit = Kit(app, pilot, screen)
        await kit.until(lambda: not screen._is_loading)
        yield kit


@pytest.fixture
def folder(work: Path) -> Path:
    here = project_folder(str(work))
    write_session(here, "one", [said("user", "fix the parser"), tool_said("needle in hay")], cwd=str(work), day=1)
    write_session(here, "two", [said("user", "write docs")], cwd=str(work), day=2)
    write_session(here, "fork", [said("user", "other way")], cwd=str(work), day=3, parent="/old/place/one.jsonl")
    write_session(project_folder("/gone"), "far", [said("user", "far needle")], cwd="/gone", day=4)
    return here


async def test_sessions_stand_newest_first_with_forks_below_their_parents(work: Path, folder: Path) -> None:
    async with opened(work) as kit:
        lines = kit.rows()[1:5]
        assert [line.split()[0] for line in lines[1:]] == ["write", "fix", "└"]
        assert "1 msg" in lines[1]
        assert "2 msg" in lines[2]
        await kit.press("ctrl+a")
        assert kit.rows()[1].strip().startswith("/gone")
        assert "far needle" in kit.shown()
        await kit.press("ctrl+a")
        assert "far needle" not in kit.shown()


async def test_enter_opens_and_escape_closes(work: Path, folder: Path) -> None:
    async with opened(work) as kit:
        await kit.press("j", "enter")
        await kit.until(lambda: kit.app.results)
        assert kit.app.results == [SessionChoice(folder / "one.jsonl", None, "open")]
    async with opened(work) as kit:
        await kit.press("escape")
        await kit.until(lambda: kit.app.results == [None])


async def test_a_search_finds_tool_output_and_enter_opens_at_the_hit(work: Path, folder: Path) -> None:
    async with opened(work) as kit:
        await kit.press("/", *"needle")
        await kit.until(lambda: "needle in hay" in kit.shown())
        assert "far needle" not in kit.shown()
        strip = next(line for y in range(9) if "hay" in (line := kit.list.render_line(y)).text)
        marked = [piece.text for piece in strip if piece.style and piece.style.bold]
        assert marked == ["needle"]
        await kit.press("down")
        await kit.until(lambda: "asked before" in kit.preview())
        await kit.press("enter")
        await kit.until(lambda: kit.app.results)
        assert kit.app.results == [SessionChoice(folder / "one.jsonl", "e1", "open")]


async def test_letters_search_in_the_field_and_act_in_the_list(work: Path, folder: Path) -> None:
    async with opened(work) as kit:
        await kit.press("/", *"xpru")
        assert kit.list.query_text == "xpru"
        assert not (data_dir() / "pins.json").exists()
        await kit.press("escape")
        assert kit.list.query_text == ""
        assert "write docs" in kit.shown()
        await kit.press("z", "Q")
        assert kit.list.query_text == ""


async def test_names_are_found_loosely_and_a_wrong_pattern_is_told(work: Path, folder: Path) -> None:
    write_session(
        folder, "named", [said("user", "q"), {"type": "session_info", "name": "Refactor parser"}], cwd=str(work)
    )
    async with opened(work, query="rfctr") as kit:
        await kit.until(lambda: "Refactor parser" in kit.shown())
        assert "write docs" not in kit.shown()
        await kit.press("escape", "/", *"re:(")
        await kit.until(lambda: "no regular expression" in kit.rows()[0])


async def test_the_choice_stays_with_its_session_when_the_list_changes(work: Path, folder: Path) -> None:
    async with opened(work) as kit:
        await kit.press("j")
        chosen = kit.list.selected
        write_session(folder, "new", [said("user", "brand new")], cwd=str(work), day=9)
        kit.screen._is_loading = True
        kit.screen.run_worker(kit.screen._load, thread=True)
        await kit.until(lambda: not kit.screen._is_loading)
        assert "brand new" in kit.rows()[2]
        assert kit.list.selected == chosen


async def test_a_rename_is_an_entry_in_the_file(work: Path, folder: Path) -> None:
    async with opened(work) as kit:
        await kit.press("r")
        await kit.top(TextInputScreen)
        await kit.press(*"new name", "enter")
        await kit.until(lambda: "new name" in kit.shown())
    assert inspect(folder / "two.jsonl")["name"] == "new name"
    assert not lease_path(folder / "two.jsonl").exists()


async def test_a_session_that_is_written_elsewhere_is_neither_renamed_nor_moved(work: Path, folder: Path) -> None:
    other = await Session.open(folder / "two.jsonl")
    before = (folder / "two.jsonl").read_bytes()
    async with opened(work) as kit:
        await kit.press("r")
        await kit.top(TextInputScreen)
        await kit.press("x", "enter")
        await kit.until(lambda: "not renamed" in kit.foot())
        await kit.press("x")
        await kit.top(ChoiceScreen)
        await kit.press("1", "enter")
        await kit.until(lambda: "not moved" in kit.foot())
    await other.close()
    assert (folder / "two.jsonl").read_bytes() == before


async def test_the_trash_asks_first_and_gives_back(work: Path, folder: Path) -> None:
    path = folder / "two.jsonl"
    async with opened(work) as kit:
        await kit.press("x")
        await kit.top(ChoiceScreen)
        await kit.press("enter")
        await kit.top(SessionsScreen)
        assert path.exists(), "no is the default"
        await kit.press("x")
        await kit.top(ChoiceScreen)
        await kit.press("1", "enter")
        await kit.until(lambda: "u brings it back" in kit.foot())
        assert not path.exists()
        assert "write docs" not in kit.shown()
        await kit.press("u")
        await kit.until(lambda: "is back" in kit.foot())
        assert path.exists()
        assert "write docs" in kit.shown()
        await kit.press("u")
        assert path.exists()


async def test_pins_stand_on_top_and_are_kept(work: Path, folder: Path) -> None:
    async with opened(work) as kit:
        await kit.press("j", "p")
        await kit.until(lambda: "pinned" in kit.foot())
        assert kit.rows()[1].strip() == "pinned"
        assert "★ fix the parser" in kit.rows()[2]
    assert json.loads((data_dir() / "pins.json").read_text()) == ["one"]
    async with opened(work) as kit:
        assert "★ fix the parser" in kit.rows()[2]


@pytest.mark.parametrize(("key", "action"), [("1", "open_here"), ("2", "fork"), ("3", None)])
async def test_a_session_whose_folder_is_gone_offers_ways(
    work: Path, folder: Path, key: str, action: str | None
) -> None:
    async with opened(work) as kit:
        await kit.press("ctrl+a", "home")
        await kit.until(lambda: kit.list.selected.endswith("far.jsonl"))
        await kit.press("enter")
        await kit.top(ChoiceScreen)
        await kit.press(key, "enter")
        if action is None:
            await kit.top(SessionsScreen)
            assert kit.app.results == []
        else:
            await kit.until(lambda: kit.app.results)
            assert [choice and choice.action for choice in kit.app.results] == [action]


@pytest.mark.parametrize(("key", "action"), [("1", "view"), ("2", "fork")])
async def test_a_session_in_use_can_be_viewed_or_forked(work: Path, folder: Path, key: str, action: str) -> None:
    other = await Session.open(folder / "two.jsonl")
    async with opened(work) as kit:
        await kit.until(lambda: "in use" in kit.preview())
        await kit.press("enter")
        await kit.top(ChoiceScreen)
        await kit.press(key, "enter")
        await kit.until(lambda: kit.app.results)
        assert [choice and choice.action for choice in kit.app.results] == [action]
    await other.close()


async def test_waiting_ends_when_the_other_is_done_or_by_escape(work: Path, folder: Path) -> None:
    other = await Session.open(folder / "two.jsonl")
    async with opened(work) as kit:
        for ending in ("escape", "close"):
            await kit.press("enter")
            await kit.top(ChoiceScreen)
            await kit.press("3", "enter")
            await kit.until(lambda: kit.screen.is_waiting)
            if ending == "escape":
                await kit.press("escape")
                await kit.until(lambda: not kit.screen.is_waiting)
                assert kit.app.results == []
            else:
                await other.close()
                await kit.until(lambda: kit.app.results)
        assert kit.app.results == [SessionChoice(folder / "two.jsonl", None, "open")]


async def test_the_session_that_is_open_here_is_marked_renamed_and_kept(work: Path, folder: Path) -> None:
    session = await Session.open(folder / "two.jsonl")
    async with opened(work, session=session) as kit:
        assert "● write docs" in kit.rows()[2]
        await kit.press("x")
        await kit.until(lambda: "open here" in kit.foot())
        await kit.press("r")
        await kit.top(TextInputScreen)
        await kit.press(*"mine", "enter")
        await kit.until(lambda: "● mine" in kit.shown())
        await kit.press("enter")
        await kit.until(lambda: kit.app.results)
    assert session.name == "mine"
    await session.close()


async def test_foreign_text_is_only_text(work: Path) -> None:
    here = project_folder(str(work))
    entries = [said("user", FOREIGN), tool_said(FOREIGN, FOREIGN), {"type": "session_info", "name": FOREIGN}]
    write_session(here, "evil", entries, cwd=str(work), parent=FOREIGN)
    async with opened(work) as kit:
        await kit.until(lambda: "holds" in kit.preview())
        await kit.press("/", *"red")
        await kit.until(lambda: "hits" in kit.shown())
        await kit.press("down")
        await kit.until(lambda: "asked before" in kit.preview() or "you" in kit.preview())
        for text in (kit.shown(), kit.preview(), kit.foot()):
            assert "\x1b" not in text
            assert "\u202e" not in text
        assert "[red]x[/]" in kit.shown()
        await kit.press("escape", "x")
        await kit.top(ChoiceScreen)


@pytest.mark.parametrize("size", [(200, 50), (100, 24), (99, 24), (60, 12), (30, 5), (12, 3)])
async def test_every_size_is_drawn_and_only_wide_ones_have_a_preview(
    work: Path, folder: Path, size: tuple[int, int]
) -> None:
    write_session(folder, "cjk", [said("user", "日本語のとても長い題名がここにあります" * 9)], cwd=str(work), day=8)
    async with opened(work, size=size) as kit:
        assert kit.screen._preview.display == (size[0] >= 100)
        for y in range(kit.list.size.height):
            assert kit.list.render_line(y).cell_length == kit.list.size.width
        await kit.press("/", *"needle")
        await kit.until(lambda: kit.screen.shelf.found is not None)


@pytest.mark.parametrize("count", [30, 600])
async def test_a_step_draws_as_many_rows_in_a_long_list_as_in_a_short_one(work: Path, count: int) -> None:
    here = project_folder(str(work))
    for number in range(count):
        write_session(here, f"s{number:04}", [said("user", f"session {number}")], cwd=str(work), day=1 + number % 28)
    async with opened(work) as kit:
        assert len(kit.list.rows) == count + 1
        await kit.pilot.pause()
        before = kit.list.drawn_rows
        await kit.press("end")
        await kit.press("up")
        assert kit.list.drawn_rows - before < 6 * kit.list.size.height


async def test_a_folder_without_sessions_says_where_there_are_some(work: Path, folder: Path, tmp_path: Path) -> None:
    async with opened(tmp_path) as kit:
        assert "ctrl+a" in kit.shown()
        await kit.press("enter", "x", "p", "r", "u", "tab", "end")
        assert isinstance(kit.app.screen, SessionsScreen)


async def test_a_search_index_that_can_not_be_kept_is_told_and_names_still_work(work: Path, folder: Path) -> None:
    cache = Path(os.environ["PINYON_CACHE_DIR"])
    cache.write_text("no folder")
    async with opened(work) as kit:
        await kit.press("/", *"docs")
        await kit.until(lambda: "search index" in kit.rows()[0])
        assert "write docs" in kit.shown()


async def test_every_action_can_have_another_key(work: Path, folder: Path) -> None:
    async with opened(work) as kit:
        kit.list.use_keys({"sessions.pin": ("f5",), "sessions.rename": ()})
        await kit.press("p", "r")
        assert isinstance(kit.app.screen, SessionsScreen)
        await kit.press("f5")
        await kit.until(lambda: "is pinned" in kit.foot())


async def test_tab_walks_the_projects(work: Path, folder: Path) -> None:
    async with opened(work) as kit:
        await kit.press("ctrl+a", "home")
        chosen = []
        for key in ("tab", "tab", "shift+tab"):
            await kit.press(key)
            chosen.append(Path(kit.list.selected).stem)
        assert chosen == ["two", "two", "far"]


def test_ages_are_short() -> None:
    minute = 60_000
    steps = (0, 5, 59, 60, 1_439, 1_440, 10_080, 43_200, 525_600)
    assert [age(0, n * minute) for n in steps] == ["now", "5 m", "59 m", "1 h", "23 h", "1 d", "1 w", "1 mo", "1 y"]
    assert age(minute, 0) == "now"
