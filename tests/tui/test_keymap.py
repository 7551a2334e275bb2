"""Every action has an id and keys that a terminal can send; a user's file changes keys and never breaks the rest."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.binding import Binding
from textual.events import Key

from app.tui.keymap import (
    ACTIONS,
    SECTIONS,
    help_text,
    hint,
    ids_text,
    keys_of,
    load_keybindings,
    shown_key,
    teach_legacy_keys,
    textual_bindings,
    textual_keymap,
)
from widgets.prompt_keys import PROMPT_ACTIONS, key_table, normalise_key


def write(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "keybindings.json").write_text(text)
    return folder


def test_ids_are_given_once_and_no_two_actions_live_together_share_a_default_key() -> None:
    ids = [action.id for actions in SECTIONS.values() for action in actions]
    assert len(ids) == len(set(ids))
    for sections in (("prompt", "run", "view", "session"), ("browse", "run", "view", "session")):
        keys = [key for section in sections for action in SECTIONS[section] for key in action.keys]
        assert {key for key in keys if keys.count(key) > 1} <= {"end"}  # the prompt lets it go at the end of its text


def test_every_default_key_bears_the_name_that_textual_gives_it() -> None:
    for action in ACTIONS.values():
        assert [normalise_key(key) for key in action.keys] == list(action.keys)


def test_a_missing_file_changes_nothing(tmp_path: Path) -> None:
    assert load_keybindings(tmp_path / "none") == ({}, [])


def test_a_key_a_list_and_an_empty_list_replace_the_default(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "config",
        '{"session.tree": "Ctrl+B", "prompt.submit": ["ctrl+enter", "f12"], "view.density": [], // mine\n}',
    )
    overrides, problems = load_keybindings(folder)
    assert problems == []
    assert overrides == {"session.tree": ("ctrl+b",), "prompt.submit": ("ctrl+enter", "f12"), "view.density": ()}
    assert keys_of("session.tree", overrides) == ("ctrl+b",)
    assert textual_keymap(overrides)["view.density"] == "unbound"
    table = key_table(overrides)
    assert table["ctrl+enter"] == table["f12"] == "prompt.submit"
    assert "enter" not in table
    assert "ctrl+b" not in table


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"session.tre": "f3"}', "nearest: session.tree"),
        ('{"session.tree": 3}', "wants a key or a list of keys"),
        ('{"session.tree": "hyper+q"}', "no key 'hyper+q'"),
        ('{"session.tree": ["f3", "foo"]}', "no key 'foo'"),
        ('{"session.tree": "ctrl+l"}', "ctrl+l is bound to both session.tree and session.model"),
        ('{"browse.copy": "j"}', "j is bound to both browse.next and browse.copy"),
        ("{", "keybindings.json"),
        ("[]", "must hold an object"),
    ],
)
def test_what_is_wrong_is_told_once_and_the_rest_kept(tmp_path: Path, text: str, said: str) -> None:
    overrides, problems = load_keybindings(write(tmp_path / "config", text))
    assert len(problems) == 1
    assert said in problems[0]
    assert set(overrides) <= {"session.tree", "browse.copy"}


def test_one_key_in_browse_mode_and_in_the_prompt_is_no_conflict(tmp_path: Path) -> None:
    assert load_keybindings(write(tmp_path / "config", '{"browse.copy": "ctrl+a"}'))[1] == []


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Ctrl+T", "ctrl+t"), ("esc", "escape"), ("shift+j", "J"), ("J", "J"), ("alt+UP", "alt+up"), ("/", "slash"),
        ("ctrl+-", "ctrl+minus"), ("shift+\r", "shift+enter"), ("ctrl+\x08", "ctrl+backspace"), ("pgup", "pageup"),
        ("shift+ctrl+p", "ctrl+shift+p"), ("ctrl+alt+x", "alt+ctrl+x"), ("control+ x", "ctrl+x"), ("space", "space"),
    ],
)  # fmt: skip
def test_keys_are_normalised_to_the_names_of_textual(given: str, name: str) -> None:
    assert normalise_key(given) == name


def test_keys_are_shown_as_people_write_them() -> None:
    assert [shown_key(key) for key in ("alt+up", "slash", "escape", "J")] == ["alt+↑", "/", "esc", "J"]
    assert hint("session.tree", "tree") == "ctrl+t tree"
    assert hint("session.tree", "tree", {"session.tree": ()}) == ""


def test_help_lists_every_action() -> None:
    text = help_text({"session.tree": ("f4",)})
    assert all(action.description in text for action in ACTIONS.values())
    assert "f4" in text


def test_help_tells_the_id_of_every_action_for_the_users_file() -> None:
    first = {line.split()[0] for line in ids_text().split("\n")}
    assert first >= set(ACTIONS)


def test_bindings_for_a_screen_have_ids_and_plain_action_names() -> None:
    bindings = {item.id: item for item in textual_bindings("session", "view") if isinstance(item, Binding)}
    assert bindings["session.tree"].action == "session_tree"
    assert bindings["session.tree"].key == "ctrl+t"


def keys_for(text: str) -> list[str]:
    return [event.key for event in XTermParser().feed(text) if isinstance(event, Key)]


def test_alt_enter_of_a_terminal_without_kitty_keys_is_not_enter() -> None:
    teach_legacy_keys()
    assert keys_for("\x1b\r") == ["alt+enter"]
    assert keys_for("\r") == ["enter"]


@pytest.mark.parametrize(
    ("sent", "action"),
    [
        ("\x1b[13;2u", "prompt.newline"), ("\x1b[27;2;13~", "prompt.newline"), ("\n", "prompt.newline"),
        ("\x1b[13;3u", "prompt.follow_up"), ("\x1b[1;3A", "prompt.edit_queue"), ("\x1f", "prompt.undo"),
        ("\x1b[45;5u", "prompt.undo"), ("\x1b[45;6u", "prompt.redo"), ("\x1b\x7f", "prompt.kill_word_left"),
        ("\x1b[127;3u", "prompt.kill_word_left"), ("\x1bb", "prompt.word_left"), ("\x1bf", "prompt.word_right"),
        ("\x1b[102;3u", "prompt.word_right"), ("\x1b[3~", "prompt.delete_right"), ("\x08", "prompt.delete_left"),
        ("\x07", "prompt.external_editor"), ("\x12", "prompt.search_history"), ("\t", "prompt.complete"),
    ],
)  # fmt: skip
def test_what_terminals_send_reaches_the_action(sent: str, action: str) -> None:
    assert [key_table().get(normalise_key(key)) for key in keys_for(sent)] == [action]


@pytest.mark.anyio
async def test_textual_takes_the_changed_keys() -> None:
    class KeyApp(App[None]):
        BINDINGS = textual_bindings("session")
        opened = 0

        def action_session_tree(self) -> None:
            self.opened += 1

    app = KeyApp()
    async with app.run_test() as pilot:
        app.set_keymap(textual_keymap({"session.tree": ("f4",), "session.model": ()}))
        await pilot.press("ctrl+t", "f4", "ctrl+l")
        assert app.opened == 1


def test_the_prompt_is_a_section_of_the_map() -> None:
    assert SECTIONS["prompt"] is PROMPT_ACTIONS


@pytest.mark.parametrize("cells", [16, 28])
def test_what_keys_do_stands_in_one_column_however_many_keys_there_are(cells: int) -> None:
    second = {line[cells + 3 :] for line in help_text(key_cells=cells).split("\n")}
    assert {action.description for actions in SECTIONS.values() for action in actions} <= second
