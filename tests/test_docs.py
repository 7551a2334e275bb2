"""What the README, `--help` and the offline guide promise is there; it must never need a network or a model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.ai.adapters.offline_topics import TOPICS
from app.cli.options import COMMANDS, OPTIONS, help_text
from app.config.credentials import ENV_KEYS
from app.config.settings import _READERS
from app.runtime.commands import parse_command
from app.tui.keymap import ACTIONS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
PAGES = {"README": README, **TOPICS, "--help": help_text()}
FLAGS = {name for option in OPTIONS for name in option.names}
OF_COMMANDS = {"--search", "--json"}  # `pinyon sessions` has options of its own


@pytest.mark.parametrize("page", PAGES)
def test_every_slash_command_that_a_page_names_exists(page: str) -> None:
    for word in re.findall(r"`(/[a-z][a-z-]*)[ `]", PAGES[page]):
        line = parse_command(word)
        assert line is not None
        assert line.command is not None, word


@pytest.mark.parametrize("page", PAGES)
def test_every_option_that_a_page_names_exists(page: str) -> None:
    named = set(re.findall(r"(?:^|[\s`])pinyon(?: sessions| export)?(?: [^`\n]*?)? (--?[a-z][a-z-]*)", PAGES[page]))
    named |= set(re.findall(r"`(--[a-z][a-z-]*)[ `]", PAGES[page]))
    assert named <= FLAGS | OF_COMMANDS


def test_every_setting_that_is_read_stands_in_the_readme() -> None:
    table = README[README.index("| setting |") : README.index("## Over SSH")]
    names = {part for key in _READERS for part in key.split(".")[-1:]}
    assert {name for name in names if not re.search(rf"`[a-zA-Z.]*\b{name}`", table)} == set()


def test_the_variables_for_keys_and_the_ids_of_keys_in_the_readme_are_known() -> None:
    known = {name for names in ENV_KEYS.values() for name in names}
    assert set(re.findall(r"\b[A-Z]+_API_KEY\b", README)) <= known
    assert set(re.findall(r'\{"(\w+\.\w+)": "f4"\}', README)) <= set(ACTIONS)


def test_every_page_and_picture_that_the_readme_points_at_is_there() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_help_names_the_commands_of_this_version_only() -> None:
    named = set(re.findall(r"^ +pinyon ([a-z]+) ", help_text(), re.MULTILINE))
    assert named == {"sessions", "export"}
    assert named < set(COMMANDS)
