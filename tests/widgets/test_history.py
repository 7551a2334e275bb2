"""The prompt history: appended to by several processes, bounded, private, and never in the way of a draft."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets.history import HistorySearch, HistoryWalk, PromptHistory
from widgets.kill_ring import KillRing
from widgets.pastes import Pastes


def stored(path: Path) -> list[str]:
    return [json.loads(line) for line in path.read_text().split("\n") if line]


def test_prompts_of_one_run_are_found_in_the_next(tmp_path: Path) -> None:
    path = tmp_path / "data" / "history.txt"
    first = PromptHistory(path)
    for prompt in ("one\ntwo", "ünï 日本 \u2028", "[/red]"):
        assert first.add(prompt)
        first.store(prompt)
    second = PromptHistory(path)
    second.load()
    assert second.prompts == ["one\ntwo", "ünï 日本 \u2028", "[/red]"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_equal_prompts_in_a_row_and_empty_ones_are_dropped() -> None:
    history = PromptHistory()
    assert [history.add(prompt) for prompt in ("a", "a", " \n", "b", "a")] == [True, False, False, True, True]
    assert history.prompts == ["a", "b", "a"]


def test_the_session_s_prompts_are_the_newest(tmp_path: Path) -> None:
    path = tmp_path / "history.txt"
    path.write_text('"old"\n"shared"\n')
    history = PromptHistory(path)
    history.load()
    history.set_session(["shared", "mine"])
    assert history.prompts == ["old", "shared", "mine"]


def test_broken_lines_are_passed_over_and_a_torn_end_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "history.txt"
    path.write_bytes(b'"good"\n{"a": 1}\n\xff\xfe\n\n"  "\n"torn')
    history = PromptHistory(path)
    history.load()
    assert history.prompts == ["good"]
    history.store("next")
    history.load()
    assert history.prompts == ["good", "next"]
    assert history.problem is None


def test_the_file_is_rewritten_when_it_has_twice_its_limit_and_keeps_the_newest(tmp_path: Path) -> None:
    path = tmp_path / "history.txt"
    history = PromptHistory(path, limit=10)
    for number in range(100):
        history.store(f"prompt {number} " + "x" * 60)
    kept = stored(path)
    assert len(kept) <= 21
    assert kept[-1].startswith("prompt 99 ")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    history.load()
    assert len(history.prompts) == 10


def test_several_processes_lose_nothing_while_one_rewrites(tmp_path: Path) -> None:
    path = tmp_path / "history.txt"
    code = (
        "import sys; from pathlib import Path; from widgets.history import PromptHistory\n"
        "history = PromptHistory(Path(sys.argv[1]), limit=40)\n"
        "for number in range(60): history.store(sys.argv[2] + str(number) + 'x' * 50)\n"
        "assert history.problem is None"
    )
    root = Path(__file__).parents[2]
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path), name], cwd=root) for name in "abc"]
    assert [writer.wait(timeout=15) for writer in writers] == [0, 0, 0]
    kept = stored(path)
    assert 40 <= len(kept) <= 81
    for name in "abc":  # whatever is kept of one writer is its newest, whole and in order
        numbers = [int(prompt[1:].rstrip("x")) for prompt in kept if prompt.startswith(name)]
        assert numbers == sorted(numbers)
        assert not numbers or numbers == list(range(numbers[0], numbers[-1] + 1))


def test_a_folder_that_cannot_be_written_is_a_problem_not_an_exception(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    history = PromptHistory(tmp_path / "file" / "history.txt")
    history.store("x")
    assert history.problem is not None


def test_a_huge_prompt_is_kept_for_this_run_only(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path / "history.txt")
    assert history.add("x" * 100_000)
    history.store("x" * 100_000)
    assert not (tmp_path / "history.txt").exists()


def test_a_walk_ends_at_the_draft_and_begins_anew() -> None:
    history = PromptHistory()
    history.set_session(["a", "b"])
    walk = HistoryWalk(history)
    assert walk.newer("draft") is None
    assert walk.older("draft") == "b"
    assert walk.older("b") == "a"
    assert walk.older("a") is None
    assert walk.newer("a") == "b"
    assert walk.newer("b") == "draft"
    assert not walk.is_active


@given(st.lists(st.tuples(st.booleans(), st.text(max_size=5)), max_size=40))
def test_whatever_is_walked_and_edited_the_draft_comes_back(steps: list[tuple[bool, str]]) -> None:
    history = PromptHistory()
    history.set_session(["a", "b", "c"])
    walk = HistoryWalk(history)
    text = draft = "draft"
    for is_older, edit in steps:
        found = walk.older(text) if is_older else walk.newer(text)
        if found is not None:
            text = found
        text += edit
        if not walk.is_active:
            draft = text
    for _ in range(4):
        found = walk.newer(text)
        text = text if found is None else found
    assert text == draft


def test_a_search_goes_back_over_different_prompts_only() -> None:
    history = PromptHistory()
    history.set_session(["Fix A", "fix b", "other", "fix b"])
    search = HistorySearch(history, "draft")
    assert search.hit is None
    search.set_query("fix")
    assert search.hit == "fix b"
    assert search.older()
    assert search.hit == "Fix A"
    assert not search.older()
    search.set_query("nothing")
    assert search.hit is None


def test_kills_join_on_the_side_they_came_from() -> None:
    ring = KillRing()
    ring.kill("b", before_cursor=True)
    ring.kill("a", before_cursor=True)
    ring.kill("c", before_cursor=False)
    assert ring.last == "abc"
    ring.close()
    ring.kill("new", before_cursor=True)
    ring.kill("", before_cursor=True)
    assert ring.last == "new"


@pytest.mark.parametrize(
    ("text", "is_large"),
    [("\n".join("x" * 10), False), ("\n".join("x" * 11), True), ("x" * 1000, False), ("x" * 1001, True)],
)
def test_a_paste_is_large_above_10_lines_or_1000_characters(text: str, is_large: bool) -> None:
    assert Pastes.is_large(text) == is_large


@given(st.text(max_size=30), st.text(min_size=1001, max_size=1100), st.text(max_size=30))
def test_what_collapses_expands_to_the_same(before: str, pasted: str, after: str) -> None:
    pastes = Pastes()
    pastes.add(pasted)
    whole = before + pasted + after
    assert pastes.expand(pastes.collapse(whole)) == whole


def test_a_marker_inside_a_paste_stays_text() -> None:
    pastes = Pastes()
    first = pastes.add("a" * 1001)
    second = pastes.add(first + "b" * 1001)
    assert pastes.expand(second) == first + "b" * 1001


def test_a_huge_text_that_was_never_pasted_becomes_a_marker() -> None:
    pastes = Pastes()
    shown = pastes.collapse("line\n" * 5_000)
    assert shown.startswith("[paste #1 +5001 lines]")
    assert pastes.expand(shown) == "line\n" * 5_000
