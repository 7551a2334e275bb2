"""What is an option, what is a message (issue, "Command line"; case I4)."""

from __future__ import annotations

import pytest

from app.cli.arguments import parse_arguments
from app.errors import UsageError


@pytest.mark.parametrize(
    ("argv", "messages"),
    [
        (["-p", "---\ntitle: x\n---\nhello"], ["---\ntitle: x\n---\nhello"]),
        (["-p", "-x is what?"], ["-x is what?"]),
        (["-p", "--", "-x", "--model"], ["-x", "--model"]),
        (["-p", "one", "two"], ["one", "two"]),
        (["--", "sessions"], ["sessions"]),
        (["-"], ["-"]),
        (["hello", "sessions"], ["hello", "sessions"]),
        (["-p", ""], [""]),
    ],
)
def test_messages(argv: list[str], messages: list[str]) -> None:
    arguments = parse_arguments(argv)
    assert arguments.messages == messages
    assert arguments.command is None


@pytest.mark.parametrize("word", ["sessions", "auth", "export", "extensions", "install", "serve", "acp"])
def test_a_first_positional_that_is_a_command_is_that_command(word: str) -> None:
    arguments = parse_arguments(["--no-session", word, "--json", "x"])
    assert (arguments.command, arguments.rest) == (word, ["--json", "x"])


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--modle", "x"], "The nearest is --mode"),
        (["-q"], "-q is no option"),
        (["--model"], "needs a value"),
        (["--model", "-p"], "needs a value"),
        (["--print=yes"], "takes no value"),
        (["--model", ""], "needs a value"),
        (["--session-dir="], "needs a value"),
        (["--mode", "rpg"], "text, json"),
        (["--thinking", "lots"], "minimal"),
        (["-c", "--session", "x"], "don't go together"),
        (["-c", "--no-session"], "don't go together"),
        (["--no-tools", "--tools", "read"], "don't go together"),
    ],
)
def test_what_is_wrong_is_named(argv: list[str], said: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_arguments(argv)
    assert said in str(error.value)


def test_values_come_behind_a_blank_or_an_equals_sign() -> None:
    arguments = parse_arguments(["--model=a=b", "--provider", "openai", "--append-system-prompt=x", "@a b.txt"])
    assert (arguments.model, arguments.provider, arguments.append_system_prompt) == ("a=b", "openai", ["x"])
    assert arguments.files == ["a b.txt"]


def test_a_key_does_not_show_in_the_arguments_repr() -> None:
    assert "secret-key" not in repr(parse_arguments(["--api-key", "secret-key"]))
