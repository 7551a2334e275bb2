"""Completion offers what fits, writes it whole, and enter never runs what was not typed in full."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest
from textual import events, on
from textual.app import App, ComposeResult
from textual.widgets import Static

from widgets.completion import Candidate, CompletionToken, Providers, replacement, token_at
from widgets.completion_popup import CompletionPopup
from widgets.fuzzy import fit, rank
from widgets.prompt import Prompt
from widgets.prompt_area import PromptArea

COMMANDS = [
    Candidate("model", detail="Choose a model", is_open=True),
    Candidate("new", detail="New session"),
    Candidate("name", detail="Name this session [x]", is_open=True),
    Candidate("density"),
    Candidate("quit", detail="Leave"),
]
FILES = [
    Candidate("src/parse.py"),
    Candidate("src/my file.txt"),
    Candidate("src/", is_open=True),
    Candidate("tests/test_parse.py"),
    Candidate("ünï/日本.md"),
]


class AreaApp(App[None]):
    CSS = "#space { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []
        self.asked: list[str] = []
        self.may_answer = anyio.Event()
        self.may_answer.set()

    def compose(self) -> ComposeResult:
        yield Static("", id="space")
        yield PromptArea(
            providers=Providers(lambda: COMMANDS, self._arguments, self._files, self._files), placeholder="Ask"
        )

    def on_mount(self) -> None:
        self.area.prompt.focus()

    async def _arguments(self, command: str, query: str) -> Sequence[Candidate]:
        return [Candidate("opus"), Candidate("sonnet")] if command == "model" else []

    async def _files(self, query: str) -> Sequence[Candidate]:
        self.asked.append(query)
        await self.may_answer.wait()
        return FILES

    @on(Prompt.Submitted)
    def _hear(self, message: Prompt.Submitted) -> None:
        self.sent.append(message.text)

    @property
    def area(self) -> PromptArea:
        return self.query_one(PromptArea)

    @property
    def popup(self) -> CompletionPopup:
        return self.query_one(CompletionPopup)

    @property
    def text(self) -> str:
        return self.area.prompt.text

    def names(self) -> list[str]:
        return [candidate.text for candidate in self.popup.candidates]


# -- the token


@pytest.mark.parametrize(
    ("text", "kind", "query"),
    [
        ("/mo", "command", "mo"), ("/", "command", ""), ("/usr/bin", None, ""), (" /mo", None, ""), ("a /mo", None, ""),
        ("/model son", "argument", "son"), ("/model ", "argument", ""),
        ("see @src/p", "file", "src/p"), ("@", "file", ""), ('@"my fi', "file", "my fi"), ("@a\\ b", "file", "a b"),
        ("(@a", "file", "a"), ("mail@host.com", None, ""), ("@a b", None, ""), ("@x(1).py", "file", "x(1).py"),
        ("@ünï/日", "file", "ünï/日"), ("@~/x", "file", "~/x"), ("/model @a", "file", "a"), ("x", None, ""),
    ],
)  # fmt: skip
def test_the_token_before_the_cursor(text: str, kind: str | None, query: str) -> None:
    token = token_at(text, 0, len(text))
    assert (token.kind if token else None, token.query if token else "") == (kind, query)


def test_commands_stand_in_the_first_row_only() -> None:
    assert token_at("/mo", 1, 3) is None


def test_a_plain_path_is_completed_when_asked_only() -> None:
    assert token_at("see src/p", 0, 9) is None
    assert token_at("see src/p", 0, 9, is_asked=True) == CompletionToken("path", 0, 4, 9, "src/p")


@pytest.mark.parametrize(
    ("text", "candidate", "result"),
    [
        ("see @s", Candidate("src/a.py"), "see @src/a.py "),
        ("@m", Candidate("my file.txt"), '@"my file.txt" '),
        ('@"m', Candidate("my file.txt"), '@"my file.txt" '),
        ("@m", Candidate("my dir/", is_open=True), '@"my dir/'),
        ("@s", Candidate("src/", is_open=True), "@src/"),
        ("@x", Candidate("x(1).py"), '@"x(1).py" '),
        ("@a", Candidate('a"b c'), '@a\\"b\\ c '),
        ("/m", Candidate("model", is_open=True), "/model "),
        ("/q", Candidate("quit"), "/quit"),
        ("/model so", Candidate("sonnet"), "/model sonnet"),
    ],
)
def test_a_choice_is_written_so_that_it_reads_back(text: str, candidate: Candidate, result: str) -> None:
    token = token_at(text, 0, len(text))
    assert token is not None
    assert text[: token.start] + replacement(token, candidate) == result


# -- the score


def test_prefix_beats_word_start_beats_substring_beats_letters_in_order() -> None:
    names = ["xp_a_r_s_e", "comparse", "the parser", "parse_me", "parse", "other"]
    assert [name for name, _ in rank("parse", names, str, 9)] == [
        "parse",
        "parse_me",
        "the parser",
        "comparse",
        "xp_a_r_s_e",
    ]


def test_the_name_of_a_file_counts_more_than_its_folders() -> None:
    names = ["parse/util.py", "src/parse.py"]
    assert next(name for name, _ in rank("parse", [f"a/{name}" for name in names], str, 9)) == "a/src/parse.py"


def test_matched_letters_stay_in_place_when_lower_case_is_longer() -> None:
    found = fit("x", "İİx")
    assert found is not None
    assert found.positions == (2,)


def test_each_word_of_a_query_must_fit() -> None:
    assert fit("son hi", "sonnet · high") is not None
    assert fit("son lo", "sonnet · high") is None


# -- the popup


@pytest.mark.anyio
async def test_typing_a_slash_offers_commands_and_a_tab_takes_the_best() -> None:
    app = AreaApp()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("/")
        await pilot.pause()
        assert app.names() == [candidate.text for candidate in COMMANDS]
        assert app.popup.region.bottom == app.area.region.y
        await pilot.press("m", "o")
        await pilot.pause()
        assert app.names() == ["model"]
        await pilot.press("tab")
        await pilot.pause()
        assert app.text == "/model "
        assert app.names() == ["opus", "sonnet"]
        await pilot.press("s", "tab")
        assert app.text == "/model sonnet"


@pytest.mark.anyio
async def test_enter_on_a_name_typed_in_full_runs_exactly_that() -> None:
    app = AreaApp()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"/new", "enter")
        await pilot.pause()
        assert app.sent == ["/new"]
        assert not app.area.is_completing


@pytest.mark.anyio
async def test_enter_on_a_part_of_a_name_completes_and_sends_nothing() -> None:
    app = AreaApp()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"/qu", "enter")
        await pilot.pause()
        assert (app.text, app.sent) == ("/quit", [])
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent == ["/quit"]


@pytest.mark.anyio
async def test_a_burst_of_keys_does_what_the_same_keys_do_slowly() -> None:
    app = AreaApp()
    async with app.run_test(size=(60, 20)) as pilot:
        for key, character in [("/", "/"), ("q", "q"), ("enter", "\r"), ("enter", "\r"), ("/", "/"), ("n", "n")]:
            app.post_message(events.Key(key, character))
        await pilot.pause()
        assert (app.sent, app.text) == (["/quit"], "/n")


@pytest.mark.anyio
async def test_an_unknown_command_is_sent_as_typed() -> None:
    app = AreaApp()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"/zzz", "enter")
        await pilot.pause()
        assert app.sent == ["/zzz"]


@pytest.mark.anyio
async def test_arrows_choose_and_enter_takes_what_was_chosen() -> None:
    app = AreaApp()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("/", "up", "enter")
        assert app.text == "/quit"
        await pilot.press("ctrl+u", "/", "down", "down", "tab")
        assert app.text == "/name "


@pytest.mark.anyio
async def test_escape_closes_until_something_else_is_typed_and_goes_no_further() -> None:
    app = AreaApp()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("/", "n", "escape")
        await pilot.pause()
        assert not app.area.is_completing
        assert app.text == "/n"
        await pilot.press("e")
        await pilot.pause()
        assert app.names()[0] == "new"


@pytest.mark.anyio
async def test_files_come_off_the_path_of_a_key_and_are_quoted() -> None:
    app = AreaApp()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"see @my")
        await pilot.pause()
        assert app.names() == ["src/my file.txt"]
        await pilot.press("enter", *"ok")
        await pilot.pause()
        assert app.text == 'see @"src/my file.txt" ok'
        assert app.sent == []


@pytest.mark.anyio
async def test_an_answer_to_a_token_that_is_gone_is_dropped() -> None:
    app = AreaApp()
    app.may_answer = anyio.Event()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"@sr")
        await pilot.press("ctrl+u")
        app.may_answer.set()
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.asked
        assert not app.area.is_completing


@pytest.mark.anyio
async def test_tab_on_a_path_takes_the_only_fit_at_once_and_opens_a_list_of_several() -> None:
    app = AreaApp()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"cat ünï", "tab")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.text == "cat ünï/日本.md "
        await pilot.press("ctrl+u", *"parse", "tab")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.names() == ["src/parse.py", "tests/test_parse.py"]
        await pilot.press("tab")
        assert app.text == "src/parse.py "


@pytest.mark.anyio
@pytest.mark.parametrize("size", [(20, 5), (40, 10), (60, 15), (80, 24), (120, 40), (2, 5)])
async def test_rows_fit_above_the_prompt_and_are_as_wide_as_the_popup(size: tuple[int, int]) -> None:
    app = AreaApp()
    async with app.run_test(size=size) as pilot:
        await pilot.press("/")
        await pilot.pause()
        popup = app.popup
        assert popup.row_count <= min(8, max(0, app.area.region.y))
        assert [popup.render_line(y).cell_length for y in range(popup.size.height)] == [
            popup.size.width
        ] * popup.size.height
        if popup.is_open:
            assert popup.region.y >= 0


@pytest.mark.anyio
async def test_foreign_names_stand_literally() -> None:
    app = AreaApp()
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press(*"/nam")
        await pilot.pause()
        assert "Name this session [x]" in app.popup.render_line(0).text


@pytest.mark.anyio
async def test_a_click_takes_the_row() -> None:
    app = AreaApp()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("/")
        await pilot.pause()
        await pilot.click(CompletionPopup, offset=(4, 1))
        await pilot.pause()
        assert app.text == "/new"
