"""The ripgrep side of grep, against a stand-in that prints what rg prints: no file is searched here."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from app.errors import ToolError
from app.tools.context import ToolContext
from app.tools.ripgrep import is_for_ripgrep, ripgrep_arguments
from app.tools.searching import Query
from tests.tools.conftest import Toolbox, text_of

pytestmark = pytest.mark.anyio


def begin(path: str) -> str:
    return json.dumps({"type": "begin", "data": {"path": {"text": path}}})


def line(kind: str, number: int, text: str) -> str:
    data = {"path": {"text": "?"}, "lines": {"text": text}, "line_number": number, "absolute_offset": 0}
    return json.dumps({"type": kind, "data": {**data, "submatches": []}})


def end(binary_offset: int | None = None) -> str:
    return json.dumps({"type": "end", "data": {"path": {"text": "?"}, "binary_offset": binary_offset, "stats": {}}})


SUMMARY = json.dumps({"type": "summary", "data": {}})


@pytest.fixture
def box(work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toolbox:
    """The tools with the stand-in first on PATH; `rg(...)` says what it prints."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return Toolbox(ToolContext(cwd=work, output_dir=tmp_path), use_ripgrep=True)


def stand_in(tmp_path: Path, *lines: str, code: int = 0, errors: str = "", endless: bool = False) -> None:
    """An rg that prints these lines and ends with the code, or goes on for ever."""
    script = tmp_path / "bin" / "rg"
    text = "\n".join(lines) + "\n" if lines else ""
    script.write_text(
        f"#!{sys.executable}\nimport sys\n"
        f"sys.stdout.write({text!r})\nsys.stdout.flush()\nsys.stderr.write({errors!r})\n"
        f"while {endless}:\n    sys.stdout.write({line('match', 9, 'more')!r} + chr(10))\nsys.exit({code})\n"
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def here(work: Path) -> Callable[..., str]:
    """Makes a file, since the walker says what is searched, and gives rg's `begin` event for it."""

    def make(name: str) -> str:
        path = work / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x\n")
        return begin(str(path))

    return make


Here = Callable[..., str]


async def test_its_events_become_the_same_lines(box: Toolbox, tmp_path: Path, here: Here) -> None:
    stand_in(
        tmp_path,
        here("src/a.ts"),
        line("context", 1, "before\r\n"),
        line("match", 2, "hit\n"),
        end(),
        here("late"),
        line("match", 1, "binary"),
        end(binary_offset=70),
        SUMMARY,
    )
    result = await box.call("grep", pattern="x", context=1)
    assert text_of(result) == "src/a.ts-1- before\nsrc/a.ts:2: hit"
    assert result.details is None


async def test_it_is_stopped_at_the_limit_with_the_last_context(box: Toolbox, tmp_path: Path, here: Here) -> None:
    rows = [line("match", 2, "two\n"), line("match", 3, "three\n"), line("context", 4, "four\n")]
    stand_in(tmp_path, here("a"), *rows, line("match", 9, "nine\n"), endless=True)
    with anyio.fail_after(5):
        result = await box.call("grep", pattern="x", context=1, limit=1)
    assert text_of(result).split("\n")[:3] == ["a:2: two", "a-3- three", ""]
    assert result.details == {"matchLimitReached": 1}


async def test_a_pattern_that_it_refuses_is_tried_with_our_own(box: Toolbox, tmp_path: Path, work: Path) -> None:
    (work / "a").write_text("foobar\nfoo\n")
    stand_in(tmp_path, errors="rg: regex parse error:\n  look-around is not supported", code=2)
    assert await box.text("grep", pattern="foo(?=bar)") == "a:1: foobar"
    with pytest.raises(ToolError, match="no valid regular expression"):
        await box.call("grep", pattern="(foo")


async def test_its_failure_is_told_and_what_it_found_is_kept(box: Toolbox, tmp_path: Path, here: Here) -> None:
    here("a")
    stand_in(tmp_path, errors="rg: something broke", code=2)
    with pytest.raises(ToolError, match="something broke"):
        await box.call("grep", pattern="x")
    stand_in(tmp_path, here("a"), line("match", 1, "x"), end(), SUMMARY, errors="rg: ./b: denied", code=2)
    assert await box.text("grep", pattern="x") == "a:1: x\n\n[1 place could not be read]"


async def test_an_abort_kills_it(box: Toolbox, tmp_path: Path, here: Here) -> None:
    stand_in(tmp_path, here("other"), endless=True)
    with anyio.move_on_after(0.5) as scope:
        await box.call("grep", pattern="x", limit=10_000_000)
    assert scope.cancelled_caught


def test_the_users_configuration_and_ignore_files_are_shut_out() -> None:
    arguments = ripgrep_arguments("rg", Query("-x", literal=True, ignore_case=True, context=2), ["/a", "/b"])
    for wanted in ("--no-config", "--hidden", "--no-ignore", "--fixed-strings", "--ignore-case"):
        assert wanted in arguments
    assert arguments[-5:] == ["--regexp", "-x", "--", "/a", "/b"]


def test_anchors_of_the_buffer_are_left_to_our_own_search() -> None:
    assert not is_for_ripgrep(Query(r"a\z"))
    assert is_for_ripgrep(Query(r"a\z", literal=True))
