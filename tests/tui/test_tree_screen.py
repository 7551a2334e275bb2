"""The tree screen over a real session: the pane, what each key gives back, what is asked first, live growth."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from app.ai.adapters.scripted import answer, text
from app.runtime.events import SessionSwitched
from app.runtime.navigation import go_to
from app.tui.screens.compare import CompareScreen
from app.tui.screens.tree import TreeScreen
from app.tui.screens.tree_files import FilesScreen
from app.tui.tree_services import SessionServices, TreeChoice
from tests.runtime.support import scripted_session
from tests.tui.chat_kit import until
from tests.tui.tree_kit import ScreenApp, entry_id, shown, two_branches
from widgets.dialogs import ChoiceScreen

pytestmark = pytest.mark.anyio


def results(pilot: Any) -> list[TreeChoice | None]:
    app = pilot.app
    assert isinstance(app, ScreenApp)
    return app.results


def row_of(app: Any, start: str) -> str:
    return next((row for row in shown(app).split("\n") if row.startswith(start)), "")


async def test_the_header_counts_and_the_pane_says_what_the_branch_is(work: Path) -> None:
    async with two_branches(work) as (pilot, session, screen):
        screen.tree_view.select(entry_id(session, "try a regex"))
        await until(pilot, lambda: "files changed on this branch" in shown(pilot.app))
        words = shown(pilot.app)
    assert "2 branches · 1" in words.split("\n")[0]
    assert "filter: default · no-tools · user · labeled · all" in words.split("\n")[0]
    for said in ("another branch", "branch here   4 entries", "tokens", "context here", "parse.py +2 −1", "snapshot"):
        assert said in words, words
    assert "enter: write this message anew" in words


async def test_under_100_columns_the_tree_has_the_width_to_itself(work: Path) -> None:
    async with two_branches(work, size=(80, 24)) as (pilot, _, screen):
        assert not screen.preview.display
        assert screen.tree_view.size.width == 80
        await pilot.resize_terminal(130, 24)
        await until(pilot, lambda: screen.preview.display and "branch here" in shown(pilot.app))


async def test_enter_on_an_answer_of_another_branch_asks_about_what_is_left(work: Path) -> None:
    async with two_branches(work) as (pilot, session, screen):
        target = entry_id(session, "Rewrote")
        screen.tree_view.select(target, reveal=True)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
        assert "Going there leaves 6 entries, about" in shown(pilot.app)
        await pilot.press("down", "enter")
        await until(pilot, lambda: bool(results(pilot)))
        assert results(pilot) == [TreeChoice("go", target, "plain")]


async def test_escape_in_the_summary_question_stays_in_the_tree(work: Path) -> None:
    async with two_branches(work) as (pilot, session, screen):
        screen.tree_view.select(entry_id(session, "Rewrote"), reveal=True)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        assert results(pilot) == []


async def test_a_focus_for_the_summary_is_typed(work: Path) -> None:
    async with two_branches(work) as (pilot, session, screen):
        target = entry_id(session, "Rewrote")
        screen.tree_view.select(target, reveal=True)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
        await pilot.press("3", "enter")
        await until(pilot, lambda: not isinstance(pilot.app.screen, ChoiceScreen | TreeScreen))
        await pilot.press(*"tests", "enter")
        await until(pilot, lambda: bool(results(pilot)))
        assert results(pilot) == [TreeChoice("go", target, "tests")]


async def test_never_ask_again_is_given_back(work: Path) -> None:
    async with two_branches(work) as (pilot, session, screen):
        target = entry_id(session, "Rewrote")
        screen.tree_view.select(target, reveal=True)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
        await pilot.press("4", "enter")
        await until(pilot, lambda: bool(results(pilot)))
        assert results(pilot) == [TreeChoice("go", target, None, never_ask=True)]


async def test_nothing_is_asked_when_nothing_is_left_or_the_setting_says_so(work: Path) -> None:
    async with two_branches(work) as (pilot, session, _):
        await pilot.press("enter")
        await until(pilot, lambda: bool(results(pilot)))
        leaf = entry_id(session, "Wrote it by hand")
        assert results(pilot) == [TreeChoice("go", leaf)], "the leaf: here already"
        screen = TreeScreen(session, SessionServices(session))
        monkey = SimpleNamespace(branch_summary=SimpleNamespace(skip_prompt=True))
        session.settings = monkey  # type: ignore[assignment]
        pilot.app.push_screen(screen, results(pilot).append)
        await pilot.pause()
        target = entry_id(session, "Rewrote")
        screen.tree_view.select(target, reveal=True)
        await pilot.press("enter")
        await until(pilot, lambda: len(results(pilot)) == 2)
        assert results(pilot)[1] == TreeChoice("go", target)


async def test_the_offline_guide_is_never_asked_for_a_summary(work: Path) -> None:
    async with two_branches(work) as (pilot, session, screen):
        session.agent.state.model = session.agent.state.model.model_copy(update={"provider": "offline"})
        target = entry_id(session, "Rewrote")
        screen.tree_view.select(target, reveal=True)
        await pilot.press("enter")
        await until(pilot, lambda: bool(results(pilot)))
        assert results(pilot) == [TreeChoice("go", target)]


async def test_e_takes_the_message_of_yours_that_the_row_answers(work: Path) -> None:
    async with two_branches(work) as (pilot, session, _):
        await pilot.press("e")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
        await pilot.press("enter")
        await until(pilot, lambda: bool(results(pilot)))
        assert results(pilot) == [TreeChoice("edit", entry_id(session, "write it by hand"))]


@pytest.mark.parametrize("key", ["f", "r"])
async def test_fork_and_restore_leave_with_their_entry(work: Path, key: str) -> None:
    async with two_branches(work) as (pilot, session, screen):
        target = entry_id(session, "try a regex")
        screen.tree_view.select(target)
        await pilot.press(key)
        await until(pilot, lambda: bool(results(pilot)))
        assert results(pilot) == [TreeChoice("fork" if key == "f" else "restore", target)]


async def test_without_snapshots_restore_and_diff_say_so_and_stay(work: Path) -> None:
    async with scripted_session(work, ["hello"]) as (session, _, _):
        await session.prompt("hi")
        app = ScreenApp()
        async with app.run_test(size=(100, 20)) as pilot:
            app.push_screen(TreeScreen(session, SessionServices(session)))
            await pilot.pause()
            for key in ("r", "d"):
                await pilot.press(key)
                await until(pilot, lambda: "no snapshot of the files at this point" in shown(app))
            assert "files here" not in shown(app)
            await pilot.press("c")
            await until(pilot, lambda: "there is no other branch to compare with" in shown(app))


async def test_escape_leaves_without_a_choice(work: Path) -> None:
    async with two_branches(work) as (pilot, _, _):
        await pilot.press("escape")
        await until(pilot, lambda: bool(results(pilot)))
        assert results(pilot) == [None]


async def test_a_label_is_stored_and_shown(work: Path) -> None:
    async with two_branches(work) as (pilot, session, screen):
        target = entry_id(session, "try a regex")
        screen.tree_view.select(target)
        await pilot.press("L", *"first try", "enter")
        await until(pilot, lambda: target in session.session.tree.labels)
        await until(pilot, lambda: "⚑ first try" in shown(pilot.app))
        assert "◀ here" in shown(pilot.app)


async def test_copy_takes_the_whole_text(work: Path) -> None:
    async with two_branches(work) as (pilot, _, _):
        await pilot.press("y")
        app = pilot.app
        assert isinstance(app, ScreenApp)
        assert app.copied == ["Wrote it by hand, with a test."]


async def test_alt_arrows_walk_through_the_jumps_in_the_tree(work: Path) -> None:
    async with two_branches(work) as (pilot, session, screen):
        here = session.session.leaf_id
        await pilot.press("alt+left")
        await until(pilot, lambda: session.session.leaf_id != here)
        entry = screen.tree_view.entry
        assert entry is not None
        assert entry.preview.startswith("Rewrote")
        await until(pilot, lambda: "◀ here" in row_of(pilot.app, "╰ ◇ Rewrote"))
        await pilot.press("alt+right")
        await until(pilot, lambda: session.session.leaf_id == here)
        await pilot.press("alt+right")
        await until(pilot, lambda: "no jump to go forward to" in shown(pilot.app))


async def test_d_shows_the_files_here_against_now(work: Path) -> None:
    async with two_branches(work) as (pilot, session, screen):
        screen.tree_view.select(entry_id(session, "Rewrote"), reveal=True)
        await pilot.press("d")
        await until(pilot, lambda: isinstance(pilot.app.screen, FilesScreen))
        await until(pilot, lambda: "+ def split(line):" in shown(pilot.app))
        words = shown(pilot.app)
        assert "2 files" in words
        assert "- split = re.split" in words
        await pilot.press("down")
        await until(pilot, lambda: "assert True" in shown(pilot.app))
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)


async def test_t_takes_a_branchs_files_or_a_message(work: Path) -> None:
    async with two_branches(work) as (pilot, session, screen):
        screen.tree_view.select(entry_id(session, "try a regex"))
        await pilot.press("t")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
        await pilot.press("enter")
        await until(pilot, lambda: bool(results(pilot)))
        assert results(pilot) == [TreeChoice("take_files", entry_id(session, "Rewrote"))]


async def test_c_compares_with_the_current_branch_and_its_choice_leaves_both_screens(work: Path) -> None:
    async with two_branches(work) as (pilot, session, screen):
        screen.tree_view.select(entry_id(session, "try a regex"))
        await pilot.press("c")
        await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen))
        await pilot.press("t")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
        await pilot.press("enter")
        await until(pilot, lambda: bool(results(pilot)))
        assert results(pilot) == [TreeChoice("take_files", entry_id(session, "Rewrote"))]


async def test_the_tree_grows_while_a_turn_runs_and_a_move_then_asks_to_stop_it(work: Path) -> None:
    held = anyio.Event()

    async def waits(*_: Any) -> Any:
        await held.wait()
        return answer(text("Late."))

    async with two_branches(work, waits) as (pilot, session, screen):
        session.submit("one more thing")
        await until(pilot, lambda: "one more thing" in shown(pilot.app))
        await until(pilot, lambda: "● working" in shown(pilot.app))
        target = entry_id(session, "Rewrote")
        screen.tree_view.select(target, reveal=True)
        await pilot.press("enter")
        await until(pilot, lambda: "A run goes on." in shown(pilot.app))
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        await pilot.press("enter")
        await until(pilot, lambda: "A run goes on." in shown(pilot.app))
        await pilot.press("up", "enter")
        await until(pilot, lambda: "Summarise the branch?" in shown(pilot.app))
        await pilot.press("enter")
        await until(pilot, lambda: bool(results(pilot)))
        assert results(pilot) == [TreeChoice("go", target, None, stop_first=True)]
        held.set()
        await until(pilot, lambda: not session.is_busy)


async def test_working_is_no_longer_said_once_the_run_has_ended(work: Path) -> None:
    held = anyio.Event()

    async def waits(*_: Any) -> Any:
        await held.wait()
        return answer(text("Late."))

    async with two_branches(work, waits) as (pilot, session, _):
        session.submit("one more thing")
        await until(pilot, lambda: "● working" in shown(pilot.app))
        held.set()
        await until(pilot, lambda: "Late." in shown(pilot.app) and "● working" not in shown(pilot.app))


async def test_a_move_from_elsewhere_is_shown_at_once(work: Path) -> None:
    async with two_branches(work) as (pilot, session, screen):
        await go_to(session, entry_id(session, "Rewrote"))
        await until(pilot, lambda: "◀ here" in row_of(pilot.app, "╰ ◇ Rewrote"))
        rows = shown(pilot.app).split("\n")
        assert any(row.startswith("├─○ write it by hand") for row in rows), "what was left hangs, folded"
        assert screen.tree_view.entry is not None
        assert screen.tree_view.entry.id == session.session.leaf_id


async def test_what_a_choice_does_to_the_session_does_not_reach_the_screen_that_gave_it(work: Path) -> None:
    async with two_branches(work) as (pilot, session, first):
        pilot.app.pop_screen()
        screen = TreeScreen(session, SessionServices(session))
        pilot.app.push_screen(screen, lambda _: session.emit(SessionSwitched("tree")))
        await pilot.pause()
        target = entry_id(session, "Rewrote")
        screen.tree_view.select(target, reveal=True)
        await pilot.press("f")
        await until(pilot, lambda: not screen.is_attached)
        session.emit(SessionSwitched("tree"))
        assert [note.text for note in session.notes.after(None) if "view failed" in note.text] == []
        assert not first.is_attached


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 200])
async def test_it_fits_any_width(work: Path, width: int) -> None:
    async with two_branches(work, size=(width, 12)) as (pilot, session, screen):
        screen.tree_view.select(entry_id(session, "try a regex"))
        await pilot.press("right", "slash", "r", "enter")
        await pilot.pause()
        rows = shown(pilot.app).split("\n")
        assert len(rows) == 12
        assert rows[0].strip().startswith("▲ tree")
        assert "esc back" in rows[-1] or width < 30


async def test_a_branch_is_summed_up_once_and_growth_only_adds_what_is_new(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_branches(work, "And more.") as (pilot, session, screen):
        main = screen.tree_view.laid_out.lanes.main
        await until(pilot, lambda: screen._sums.known(main) is not None)
        sums = screen._sums.known(main)
        assert sums is not None
        assert sums.output
        monkeypatch.setattr("app.tui.tree_figures.usage_of", lambda raw: {})
        await session.prompt("one more")
        later = await screen._sums.of(session.session, screen.tree_view.laid_out.lanes.main)
        assert later.entries > sums.entries
        assert later.output == sums.output, "what was known is kept"
        assert await screen._sums.of(session.session, screen.tree_view.laid_out.lanes.main) == later


async def test_the_pane_calls_a_broken_off_answer_interrupted(work: Path) -> None:
    broken = answer()
    broken.stop_reason = "aborted"
    broken.error_message = "Request was aborted"
    async with two_branches(work) as (pilot, session, screen):
        await session.session.append_message(broken)
        screen.tree_changed()
        screen.tree_view.select(session.session.leaf_id, reveal=True)
        await until(pilot, lambda: shown(pilot.app).count("(interrupted)") == 2)
        assert "aborted" not in shown(pilot.app).split("\n")[1]
