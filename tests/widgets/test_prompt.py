"""The prompt: every key acts in the order it was typed, and no text is lost on any way."""

from __future__ import annotations

import random

import pytest
from textual import events, on
from textual.app import App, ComposeResult
from textual.message import Message
from textual.widgets import Static

from widgets.history import PromptHistory
from widgets.prompt import Prompt


class PromptApp(App[None]):
    def __init__(self, history: PromptHistory | None = None) -> None:
        super().__init__()
        self.prompt_history = history or PromptHistory()
        self.heard: list[Message] = []
        self.keys_gone_up: list[str] = []

    def compose(self) -> ComposeResult:
        yield Static("", id="space")
        yield Prompt(history=self.prompt_history, placeholder="Ask")

    def on_mount(self) -> None:
        self.query_one("#space").styles.height = "1fr"
        self.prompt.focus()

    def on_key(self, event: events.Key) -> None:
        self.keys_gone_up.append(event.key)

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)

    @on(Prompt.Submitted)
    @on(Prompt.FollowUp)
    @on(Prompt.EditQueue)
    @on(Prompt.ClearRequested)
    @on(Prompt.QuitRequested)
    @on(Prompt.EditorRequested)
    def _hear(self, message: Message) -> None:
        self.heard.append(message)

    @property
    def sent(self) -> list[str]:
        return [message.text for message in self.heard if isinstance(message, Prompt.Submitted | Prompt.FollowUp)]


def rows(prompt: Prompt) -> list[str]:
    return [prompt.render_line(y).text.rstrip() for y in range(prompt.size.height)]


@pytest.mark.anyio
async def test_enter_sends_the_trimmed_text_and_clears() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press(*" hi", "space", "enter", *"x")
        await pilot.pause()
        assert app.sent == ["hi"]
        assert app.prompt.text == "x"


@pytest.mark.anyio
async def test_keys_typed_behind_an_enter_in_one_burst_do_not_land_in_what_it_sends() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        for key, character in [("a", "a"), ("enter", "\r"), ("b", "b"), ("enter", "\r"), ("c", "c")]:
            app.post_message(events.Key(key, character))
        await pilot.pause()
        assert app.sent == ["a", "b"]
        assert app.prompt.text == "c"


async def _type(app: PromptApp, text: str) -> None:
    app.prompt.insert_typed(text)


@pytest.mark.anyio
async def test_newlines_by_ctrl_j_and_by_backslash_enter_grow_the_prompt() -> None:
    app = PromptApp()
    async with app.run_test(size=(40, 40)) as pilot:
        assert app.prompt.size.height == 1
        await pilot.press("a", "ctrl+j", "b", "backslash", "enter", "c")
        await pilot.pause()
        assert app.prompt.text == "a\nb\nc"
        assert app.prompt.size.height == 3
        assert rows(app.prompt) == ["❯ a", "  b", "  c"]
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent == ["a\nb\nc"]
        assert app.prompt.size.height == 1


@pytest.mark.anyio
@pytest.mark.parametrize(("height", "rows_at_most"), [(5, 1), (10, 3), (20, 6), (40, 12), (100, 12)])
async def test_the_prompt_takes_at_most_30_percent_of_the_screen_and_12_rows(height: int, rows_at_most: int) -> None:
    app = PromptApp()
    async with app.run_test(size=(40, height)) as pilot:
        app.prompt.load_prompt("\n".join(str(number) for number in range(50)))
        await pilot.pause()
        assert app.prompt.size.height == rows_at_most
        assert rows(app.prompt)[-1].strip() == "49"


@pytest.mark.anyio
async def test_messages_for_the_session_go_up() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("q", "alt+enter", "alt+up", "ctrl+c", "x", "ctrl+c", "ctrl+d")
        await pilot.pause()
        kinds = [type(message) for message in app.heard]
        assert kinds == [
            Prompt.FollowUp,
            Prompt.EditQueue,
            Prompt.ClearRequested,
            Prompt.ClearRequested,
            Prompt.QuitRequested,
        ]
        cleared = [message.had_text for message in app.heard if isinstance(message, Prompt.ClearRequested)]
        assert cleared == [False, True]


@pytest.mark.anyio
async def test_what_ctrl_c_cleared_comes_back_by_undo() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press(*"draft", "ctrl+c")
        assert app.prompt.text == ""
        await pilot.press("ctrl+underscore")
        assert app.prompt.text == "draft"
        await pilot.press("ctrl+shift+minus")
        assert app.prompt.text == ""


@pytest.mark.anyio
async def test_ctrl_d_deletes_when_there_is_text() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press(*"ab", "ctrl+a", "ctrl+d")
        await pilot.pause()
        assert app.prompt.text == "b"
        assert app.heard == []


@pytest.mark.anyio
async def test_keys_with_alt_or_ctrl_that_mean_nothing_here_type_nothing_and_go_up() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.post_message(events.Key("alt+t", "t"))
        await pilot.press("ctrl+z", "ctrl+x", "f6", "pageup", "escape", "tab")
        await pilot.pause()
        assert app.prompt.text == ""
        assert app.focused is app.prompt
        assert app.keys_gone_up == ["alt+t", "ctrl+z", "ctrl+x", "f6", "pageup", "escape"]


@pytest.mark.anyio
async def test_kills_in_a_row_are_one_and_yank_puts_them_back() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press(*"one two three", "ctrl+w", "alt+backspace")
        assert app.prompt.text == "one "
        await pilot.press("ctrl+y")
        assert app.prompt.text == "one two three"
        await pilot.press("ctrl+a", "alt+d", "ctrl+k")
        assert app.prompt.text == ""
        await pilot.press("ctrl+y")
        assert app.prompt.text == "one two three"
        await pilot.press("alt+b", "ctrl+u", "ctrl+e", "ctrl+y")
        assert app.prompt.text == "threeone two "
        await pilot.press("ctrl+a", "alt+f", *"!")
        assert app.prompt.text == "threeone! two "


@pytest.mark.anyio
async def test_line_keys_mean_the_line_not_the_wrapped_row() -> None:
    app = PromptApp()
    async with app.run_test(size=(20, 20)) as pilot:
        await _type(app, "aaaa bbbb cccc dddd eeee\nsecond")
        await pilot.press("up", "ctrl+a", "x", "ctrl+e", "y")
        assert app.prompt.text == "xaaaa bbbb cccc dddd eeeey\nsecond"


@pytest.mark.anyio
async def test_history_walks_at_the_edges_and_brings_the_draft_back() -> None:
    history = PromptHistory()
    history.set_session(["first", "second\nline"])
    app = PromptApp(history)
    async with app.run_test(size=(60, 40)) as pilot:
        await pilot.press(*"dr", "up")
        assert (app.prompt.text, app.prompt.cursor_location) == ("dr", (0, 0))  # first to the start of the line
        await pilot.press("up")
        assert app.prompt.text == "second\nline"
        await pilot.press("up", "up")
        assert app.prompt.text == "first"
        await pilot.press(*"!", "up")
        assert app.prompt.text == "first!"  # the oldest: stays
        await pilot.press("down")
        assert app.prompt.text == "second\nline"
        await pilot.press("up", "up")
        assert app.prompt.text == "first!"  # what was edited on the way is kept
        await pilot.press("down", "down")
        assert app.prompt.text == "dr"


@pytest.mark.anyio
async def test_ctrl_r_searches_backwards_takes_with_enter_and_gives_back_with_escape() -> None:
    history = PromptHistory()
    history.set_session(["fix the parser", "other", "fix [red] tests"])
    app = PromptApp(history)
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press(*"dr", "ctrl+r", *"fix")
        assert app.prompt.text == "fix [red] tests"
        await pilot.press("ctrl+r")
        assert app.prompt.text == "fix the parser"
        await pilot.press("escape")
        assert (app.prompt.text, app.prompt.is_searching) == ("dr", False)
        await pilot.press("ctrl+r", *"[red]", "enter")
        assert (app.prompt.text, app.prompt.is_searching, app.sent) == ("fix [red] tests", False, [])


@pytest.mark.anyio
async def test_a_large_paste_is_one_marker_and_is_sent_whole() -> None:
    app = PromptApp()
    pasted = "\n".join(f"line {number}" for number in range(42))
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press(*"see ")
        app.post_message(events.Paste(pasted.replace("\n", "\r\n")))
        await pilot.pause()
        await pilot.press(*" ok")
        assert app.prompt.text == "see [paste #1 +42 lines] ok"
        assert app.prompt.full_text == f"see {pasted} ok"
        await pilot.press("ctrl+a", *["right"] * 5)
        assert app.prompt.cursor_location == (0, len("see [paste #1 +42 lines]"))  # over it in one step
        await pilot.press("backspace")
        assert app.prompt.text == "see  ok"
        await pilot.press("ctrl+underscore", "enter")
        await pilot.pause()
        assert app.sent == [f"see {pasted} ok"]
        await pilot.press("up")
        assert app.prompt.text == "see [paste #1 +42 lines] ok"
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent[1] == app.sent[0]


@pytest.mark.anyio
@pytest.mark.parametrize("key", ["backspace", "ctrl+w", "ctrl+u", "alt+backspace"])
async def test_deletion_at_a_marker_takes_the_whole_marker(key: str) -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.post_message(events.Paste("x" * 1001))
        await pilot.pause()
        assert app.prompt.text == "[paste #1 1001 chars]"
        await pilot.press(key)
        assert app.prompt.text == ""
        await pilot.press("ctrl+underscore")
        assert app.prompt.full_text == "x" * 1001


@pytest.mark.anyio
async def test_a_typed_look_alike_of_a_marker_is_text() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await _type(app, "[paste #7 +42 lines]")
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent == ["[paste #7 +42 lines]"]


@pytest.mark.anyio
async def test_a_paste_loses_control_bytes_and_keeps_text() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.post_message(events.Paste("a\x1b[31mb\x00c\r\nd\te\u2028f\u202eg [/red] 日本 👩‍💻"))
        await pilot.pause()
        assert app.prompt.text == "abc\nd    e\nfg [/red] 日本 👩‍💻"


@pytest.mark.anyio
async def test_queued_text_returns_before_the_draft() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press(*"draft")
        app.prompt.prepend_text("queued one\n\nqueued two")
        assert app.prompt.text == "queued one\n\nqueued two\n\ndraft"


@pytest.mark.anyio
async def test_bash_mode_and_thinking_level_are_classes() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.prompt.thinking = "high"
        await pilot.press("!")
        assert app.prompt.has_class("-bash")
        assert not app.prompt.has_class("-bash-private")
        await pilot.press("!")
        assert app.prompt.has_class("-bash-private")
        await pilot.press("backspace", "backspace")
        assert not app.prompt.has_class("-bash")
        assert app.prompt.has_class("-thinking-high")
        assert not app.prompt.has_class("-thinking-off")


@pytest.mark.anyio
@pytest.mark.parametrize("width", [1, 2, 5, 20, 40, 120])
@pytest.mark.parametrize(
    "text", ["", "[/a/b] [red]x [/] \\[ [@click=app.quit]x[/]", "日本語のテキスト" * 5, "👩‍💻🇩🇪e\u0301" * 9]
)
async def test_every_row_is_exactly_as_wide_as_the_prompt(width: int, text: str) -> None:
    app = PromptApp()
    async with app.run_test(size=(width, 40)) as pilot:
        app.prompt.load_prompt(text)
        await pilot.pause()
        prompt = app.prompt
        assert [prompt.render_line(y).cell_length for y in range(prompt.size.height)] == [
            prompt.size.width
        ] * prompt.size.height
        if width == 120 and text:
            assert rows(prompt) == ["❯ " + text]


@pytest.mark.anyio
async def test_a_key_repaints_its_own_cells_only() -> None:
    app = PromptApp()
    async with app.run_test(size=(120, 20)) as pilot:
        await pilot.press(*"hello")
        await pilot.pause()
        prompt = app.prompt
        prompt._exchange_repaint_regions()
        prompt.insert_typed("x")
        regions = prompt._exchange_repaint_regions()
        assert [(region.width, region.height) for region in regions] == [(2, 1)]


@pytest.mark.anyio
async def test_the_rows_taken_for_shown_are_those_of_the_present_text() -> None:
    app = PromptApp()
    async with app.run_test(size=(30, 20)) as pilot:
        for keys in (["a"], ["b", "left", "x"], ["ctrl+j", "日"], ["up", "ctrl+k"], ["!"], ["ctrl+a", "delete"]):
            await pilot.press(*keys)
            await pilot.pause()
            prompt = app.prompt
            if prompt._shown is None or len(prompt._shown) != prompt.size.height:
                continue  # the prompt grew or shrank: the layout drew it, the next key draws it whole
            assert [strip.text for strip in prompt._shown] == [
                prompt.render_line(y).text for y in range(prompt.size.height)
            ]


@pytest.mark.anyio
async def test_a_text_higher_than_the_prompt_scrolls_without_any_scroll_bar() -> None:
    app = PromptApp()
    async with app.run_test(size=(40, 10)) as pilot:
        for _ in range(6):
            await pilot.press("x", "ctrl+j")
            assert not app.prompt.show_vertical_scrollbar  # refreshed out of sight, it leaves moved widgets undrawn
        await pilot.pause()
        assert app.prompt.size.height == 3
        assert app.prompt.scroll_offset.y == 4
        assert app.prompt.border_title == "↑ 4 more"
        await pilot.press(*["up"] * 6)
        await pilot.pause()
        assert app.prompt.scroll_offset.y == 0
        assert app.prompt.border_title is None


@pytest.mark.anyio
async def test_undo_of_lines_with_the_cursor_in_them_takes_them_back() -> None:
    app = PromptApp()
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.press("a", "ctrl+j", *"bcd", "ctrl+j", "e")
        app.prompt.set_text("\n".join("x" * 9))
        for _ in range(8):
            await pilot.press("ctrl+underscore")
        assert app.prompt.text == ""
        for _ in range(8):
            await pilot.press("ctrl+shift+minus")
        assert app.prompt.text == "\n".join("x" * 9)


KEYS = [
    "a",
    "ctrl+j",
    "left",
    "up",
    "down",
    "backspace",
    "ctrl+k",
    "ctrl+w",
    "ctrl+y",
    "ctrl+u",
    "ctrl+underscore",
    "ctrl+shift+minus",
    "ctrl+a",
    "alt+b",
    "alt+f",
    "shift+left",
    "delete",
    "ctrl+r",
    "escape",
    "ctrl+c",
    "!",
    "日",
]


@pytest.mark.anyio
@pytest.mark.parametrize("seed", range(3))
async def test_no_row_of_keys_breaks_the_prompt(seed: int) -> None:
    history = PromptHistory()
    history.set_session(["one\ntwo", "x" * 3_000, "three"])
    app = PromptApp(history)
    chance = random.Random(seed)
    async with app.run_test(size=(30, 12)) as pilot:
        for _ in range(15):
            if chance.random() < 0.1:
                app.post_message(events.Paste("p\n" * chance.choice((2, 14))))
            await pilot.press(*chance.choices(KEYS, k=3))
        await pilot.pause()
        row, column = app.prompt.cursor_location
        assert row < app.prompt.document.line_count
        assert column <= len(app.prompt.document[row])
