"""Grep, find and ls: the same files for every way to say it, nothing hangs (cases G1–G9)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from app.errors import ToolError
from app.tools import grep as grep_module
from app.tools.context import ToolContext
from app.tools.ripgrep import find_ripgrep
from app.tools.searching import PIECE_BYTES
from tests.tools.conftest import Toolbox, text_of

pytestmark = pytest.mark.anyio

WAYS = [
    "walker",
    pytest.param("ripgrep", marks=pytest.mark.skipif(find_ripgrep() is None, reason="ripgrep is not installed")),
]


@pytest.fixture(params=WAYS)
def box(request: pytest.FixtureRequest, work: Path, tmp_path: Path) -> Toolbox:
    """The tools, once with each way of grep."""
    return Toolbox(ToolContext(cwd=work, output_dir=tmp_path / "output"), use_ripgrep=request.param == "ripgrep")


@pytest.fixture
def tree(work: Path) -> Callable[..., None]:
    """A function that makes files: `tree("a/b.txt", "c", content="x")`."""

    def make(*names: str, content: str = "needle\n") -> None:
        for name in names:
            path = work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    return make


Tree = Callable[..., None]


async def names(box: Toolbox, **arguments: object) -> list[str]:
    """The paths that a search names, sorted."""
    tool = "grep" if "glob" in arguments or arguments.get("pattern") == "needle" else "find"
    text = await box.text(tool, **arguments)
    if text.startswith("No "):
        return []
    lines = text.partition("\n\n[")[0].split("\n")
    return sorted(line.partition(":")[0] for line in lines)


async def test_a_match_has_path_line_and_text(box: Toolbox, tree: Tree) -> None:
    tree("a/x.txt", content="one\nmatch line\r\nthree\n")
    assert await box.text("grep", pattern="match") == "a/x.txt:2: match line"
    assert await box.text("grep", pattern="match", path="a/x.txt") == "x.txt:2: match line"
    result = await box.call("grep", pattern="nothing")
    assert (text_of(result), result.details) == ("No matches found", None)


async def test_context_is_shown_once_and_limits_are_told(box: Toolbox, tree: Tree) -> None:
    tree("x", content="before\nmatch one\nafter\nmiddle\nmatch two\nafter two\n")
    result = await box.call("grep", pattern="match", limit=1, context=1)
    assert text_of(result).split("\n")[:4] == ["x-1- before", "x:2: match one", "x-3- after", ""]
    assert "match two" not in text_of(result)
    assert result.details == {"matchLimitReached": 1}
    assert (await box.text("grep", pattern="match", context=2)).split("\n") == [
        "x-1- before",
        "x:2: match one",
        "x-3- after",
        "x-4- middle",
        "x:5: match two",
        "x-6- after two",
    ]


async def test_the_limit_counts_all_files_in_a_fixed_order(box: Toolbox, tree: Tree) -> None:
    tree(*(f"f{n:02}" for n in range(30)), content="needle\nneedle\n")
    text = await box.text("grep", pattern="needle", limit=5)
    assert text.split("\n")[:5] == [f"f0{n // 2}:{n % 2 + 1}: needle" for n in range(5)]
    assert "[5 matches limit reached" in text


async def test_long_lines_are_cut_and_told(box: Toolbox, tree: Tree) -> None:
    tree("x", content="needle" + "é" * 600 + "\n")
    result = await box.call("grep", pattern="needle")
    assert "... [truncated]" in text_of(result)
    assert result.details == {"linesTruncated": True}


async def test_much_output_is_cut_at_the_byte_limit(box: Toolbox, tree: Tree) -> None:
    tree("x", content=("needle" + "y" * 400 + "\n") * 300)
    result = await box.call("grep", pattern="needle", limit=300)
    assert result.details["truncation"]["truncatedBy"] == "bytes"
    assert "50.0KB limit" in text_of(result)


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (r"\bfoo\b", "a foo b"),
        (r"^a.*z$", "abcz"),
        (r"[[:digit:]]{3}", "x123"),
        (r"\d+\s*=", "12 ="),
        (r"(?i)HELLO", "say hello"),
        (r"x(?i)HELLO", "xhello"),
        (r"(?P<n>a)(?<m>b)", "ab"),
        (r"[]x]", "a]"),
        (r"[^[]]", "a]"),
        (r"\x{1F642}", "🙂"),
        (r"[a&&b]", "&"),
        ("é|ü", "für"),
        (r"\p{L}\p{N}", "a1"),
        (r"(a)\1", "xaax"),
        (r"foo(?=bar)", "foobar"),
        (r"a\z", "ba"),
    ],
)
async def test_patterns_are_understood(box: Toolbox, tree: Tree, pattern: str, line: str) -> None:
    if box.use_ripgrep and pattern == "[a&&b]":
        pytest.skip("an intersection to ripgrep, two characters to re")
    tree("x", content=f"---\n{line}\n---\n")
    assert await box.text("grep", pattern=pattern) == f"x:2: {line}"


async def test_literal_and_case(box: Toolbox, tree: Tree) -> None:
    tree("x", content="a.c\nabc\nA.C\n(\n")
    assert await box.text("grep", pattern="a.c", literal=True) == "x:1: a.c"
    assert (await box.text("grep", pattern="a.c", ignoreCase=True)).count("\n") == 2
    assert await box.text("grep", pattern="(", literal=True) == "x:4: ("


async def test_a_bad_pattern_says_what_is_wrong(box: Toolbox, tree: Tree) -> None:
    tree("x")
    with pytest.raises(ToolError, match="no valid regular expression"):
        await box.call("grep", pattern="(needle")


async def test_a_missing_path_is_named(box: Toolbox, work: Path) -> None:
    for tool in ("grep", "find", "ls"):
        with pytest.raises(ToolError, match=f"{work}/gone.*ENOENT"):
            await box.call(tool, **({} if tool == "ls" else {"pattern": "x"}), path="gone")


async def test_find_takes_every_way_to_say_it(box: Toolbox, tree: Tree, work: Path) -> None:
    tree("src/a.ts", "src/b.ts", "src/deep/c.ts", "d.ts", "src/a.js")
    for pattern in ("src/*.ts", "./src/*.ts", f"{work}/src/*.ts", "**/src/*.ts"):
        for path in (".", "./", str(work), f"{work}/"):
            assert await names(box, pattern=pattern, path=path) == ["src/a.ts", "src/b.ts"]
    assert await names(box, pattern="*.ts", path="src/") == ["a.ts", "b.ts", "deep/c.ts"]
    assert await names(box, pattern="**/*.ts") == ["d.ts", "src/a.ts", "src/b.ts", "src/deep/c.ts"]
    assert await names(box, pattern="*.{js,md}") == ["src/a.js"]
    assert await names(box, pattern="[!a].ts") == ["d.ts", "src/b.ts", "src/deep/c.ts"]
    assert await names(box, pattern="deep") == ["src/deep/"]
    assert await names(box, pattern="src/**") == ["src/a.js", "src/a.ts", "src/b.ts", "src/deep/", "src/deep/c.ts"]


async def test_globs_of_grep_are_relative_to_path(box: Toolbox, tree: Tree, work: Path) -> None:
    tree("repo/migrations/main/a.js", "repo/migrations/b.js", "repo/c.ts", "repo/lib/migrations/main/d.js")
    for glob in ("migrations/main/*.js", "./migrations/main/*.js", f"{work}/repo/migrations/main/*.js"):
        assert await names(box, pattern="needle", path="repo", glob=glob) == ["migrations/main/a.js"]
    assert await names(box, pattern="needle", path="repo", glob="*.ts") == ["c.ts"]
    assert await names(box, pattern="needle", path="repo", glob="!*.js") == ["c.ts"]
    assert await names(box, pattern="needle", path="repo", glob="!migrations") == ["c.ts"]
    assert len(await names(box, pattern="needle", path="repo", glob="**/*.js")) == 3


async def test_hidden_files_are_searched_but_never_git(box: Toolbox, tree: Tree) -> None:
    tree(".github/ci.yml", ".env", ".git/config", "sub/.git/config", "a")
    assert await names(box, pattern="needle") == [".env", ".github/ci.yml", "a"]
    assert await names(box, pattern="needle", path=".github") == ["ci.yml"]
    assert await names(box, pattern="needle", path=".git") == ["config"]
    assert await names(box, pattern="needle", path=".git/config") == ["config"]
    assert await names(box, pattern="*") == [".env", ".github/", ".github/ci.yml", "a", "sub/"]


async def test_ignored_files_are_left_out_as_git_does(box: Toolbox, tree: Tree, work: Path) -> None:
    tree(
        "a.log", "keep.log", "build/x", "sub/a.tmp", "sub/keep.tmp", "other/a.tmp", "src/build/x", "src/ok", "top.only"
    )
    tree("sub/top.only", "excluded", "spaced name", "dir.d/x")
    tree(".gitignore", content="*.log\n!keep.log\nbuild/\n/top.only\n# comment\nspaced\\ name\ndir.d\n")
    tree("sub/.gitignore", content="*.tmp\n!keep.tmp\n")
    subprocess.run(["git", "init", "-q"], cwd=work, check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"})
    tree(".git/info/exclude", content="excluded\n")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--others", "--exclude-standard"], cwd=work, check=True, capture_output=True
    )
    wanted = sorted(name for name in listed.stdout.decode().split("\0") if name)
    assert "sub/keep.tmp" in wanted
    assert "sub/a.tmp" not in wanted
    assert [name for name in await names(box, pattern="*") if not name.endswith("/")] == wanted
    found = await names(box, pattern="needle")
    assert found == [name for name in wanted if "gitignore" not in name]


async def test_rules_hold_without_git_below_a_folder_and_from_above(box: Toolbox, tree: Tree) -> None:
    tree("a/b/x.log", "a/b/y", "a/c/x.log", "z.log")
    tree("a/.gitignore", content="b/*.log\n")
    assert await names(box, pattern="needle") == ["a/b/y", "a/c/x.log", "z.log"]
    assert await names(box, pattern="needle", path="a/b") == ["y"]


async def test_what_is_named_outright_is_searched_though_ignored(box: Toolbox, tree: Tree) -> None:
    tree("build/x", "build/in/y", "a.log")
    tree(".gitignore", content="build/**\nbuild\n*.log\n")
    assert await names(box, pattern="needle") == []
    assert await names(box, pattern="needle", path="build") == ["in/y", "x"]
    assert await names(box, pattern="needle", path="build/in") == ["y"]
    assert await names(box, pattern="needle", path="a.log") == ["a.log"]
    assert await names(box, pattern="*", path="build") == ["in/", "in/y", "x"]


async def test_a_repository_inside_does_not_take_the_rules_from_outside(box: Toolbox, tree: Tree) -> None:
    tree("inner/.git/HEAD", "inner/a.log", "a.log")
    tree(".git/HEAD", ".gitignore", content="*.log\n")
    assert await names(box, pattern="needle") == ["inner/a.log"]


async def test_the_users_search_settings_change_nothing(
    box: Toolbox, tree: Tree, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree("x", "y.txt", content="abc\n")
    before = await box.text("grep", pattern="a.c")
    tree(".ripgreprc", content="--fixed-strings\n")
    tree(".fdignore", ".ignore", ".rgignore", content="x\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(work / ".ripgreprc"))
    monkeypatch.setenv("GREP_OPTIONS", "--invert-match")
    assert await box.text("grep", pattern="a.c") == before == "x:1: abc\ny.txt:1: abc"


async def test_binary_files_are_passed_over_and_told_when_named(box: Toolbox, tree: Tree, work: Path) -> None:
    tree("text")
    (work / "early").write_bytes(b"\0needle\n")
    (work / "late").write_bytes(b"needle\n" * 10 + b"\0")
    assert await names(box, pattern="needle") == ["text"]
    assert "binary file" in await box.text("grep", pattern="needle", path="late")


async def test_nothing_blocks_or_goes_round_in_circles(box: Toolbox, tree: Tree, work: Path) -> None:
    tree("d/file", "d/deep/er/file")
    os.symlink("..", work / "d/self")
    os.symlink("b", work / "d/a")
    os.symlink("a", work / "d/b")
    os.symlink("nowhere", work / "d/dangling")
    os.symlink("file", work / "d/link")
    os.mkfifo(work / "d/pipe")
    with open(os.fsencode(work) + b"/d/\xff.txt", "w") as file:
        file.write("needle\n")
    (work / "d/new\nline").write_text("needle\n")
    with anyio.fail_after(5):
        assert await names(box, pattern="needle") == ["d/\\xff.txt", "d/deep/er/file", "d/file", "d/new\\nline"]
        found = await names(box, pattern="*", path="d")
        listed = (await box.text("ls", path="d")).split("\n")
        for path in ("d/pipe",):
            with pytest.raises(ToolError, match="named pipe"):
                await box.call("grep", pattern="x", path=path)
    once = ["\\xff.txt", "a", "b", "dangling", "deep/", "deep/er/", "deep/er/file", "file", "link"]
    assert found == [*once, "new\\nline", "pipe", "self"]
    assert sorted(listed) == sorted({*found} - {"deep/er/", "deep/er/file", "self"} | {"self/"})


@pytest.mark.usefixtures("nobody")
async def test_an_unreadable_folder_is_told_not_fatal(box: Toolbox, tree: Tree, work: Path) -> None:
    tree("open/x", "closed/x")
    os.chmod(work / "closed", 0)
    try:
        text = await box.text("grep", pattern="needle")
        assert text.startswith("open/x:1: needle\n\n[1 place could not be read")
        assert "[1 folder could not be read]" in await box.text("find", pattern="x")
    finally:
        os.chmod(work / "closed", 0o755)


async def test_a_limit_of_results_is_told(box: Toolbox, tree: Tree) -> None:
    tree(*(f"f{n:02}" for n in range(20)))
    result = await box.call("find", pattern="f*", limit=5)
    assert text_of(result).startswith("f00\nf01\nf02\nf03\nf04\n\n[5 results limit reached")
    assert result.details == {"resultLimitReached": 5}
    assert (await box.call("find", pattern="f*", limit=20)).details is None
    listed = await box.call("ls", limit=5)
    assert listed.details == {"entryLimitReached": 5}
    assert "[5 of 20 entries" in text_of(listed)


async def test_ls_sorts_without_case_and_marks_folders(box: Toolbox, tree: Tree, work: Path) -> None:
    assert await box.text("ls") == "(empty directory)"
    tree("b", "A", ".hidden-dir/x", "C/x")
    assert await box.text("ls") == ".hidden-dir/\nA\nb\nC/"
    with pytest.raises(ToolError, match="not a directory"):
        await box.call("ls", path="b")


async def test_lines_are_found_across_the_pieces_of_a_large_file(box: Toolbox, tree: Tree) -> None:
    line = "x" * 99 + "\n"
    count = PIECE_BYTES // 100
    tree("big", content=line * (count - 1) + "needle a\n" + line * count + "needle b\n" + line * count)
    text = await box.text("grep", pattern="needle", context=1)
    assert f"big:{count}: needle a" in text
    assert f"big:{2 * count + 1}: needle b" in text
    assert text.count("\n") == 5


async def test_a_hit_must_lie_within_one_line(box: Toolbox, tree: Tree) -> None:
    tree("x", content="a\nb\nbb\n \n")
    assert await box.text("grep", pattern="[^x]b") == "x:3: bb"
    assert await box.text("grep", pattern=r"b\s") == "No matches found"
    assert await box.text("grep", pattern="^b$") == "x:2: b"


async def test_a_catastrophic_pattern_can_be_aborted_and_leaves_the_loop_free(work: Path, tmp_path: Path) -> None:
    box = Toolbox(ToolContext(cwd=work, output_dir=tmp_path), use_ripgrep=False)
    (work / "x").write_text("a" * 60 + "!\n")
    ticks = 0
    with anyio.move_on_after(3) as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: box.call("grep", pattern="(a+)+$"))
            while True:
                await anyio.sleep(0.01)
                ticks += 1
    assert scope.cancelled_caught
    assert ticks > 50
    assert await box.text("grep", pattern="a+!") == f"x:1: {'a' * 60}!"


async def test_hits_are_shown_while_the_search_goes_on(
    work: Path, tmp_path: Path, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = Toolbox(ToolContext(cwd=work, output_dir=tmp_path), use_ripgrep=False)
    monkeypatch.setattr(grep_module, "BATCH_FILES", 1)
    monkeypatch.setattr(grep_module, "UPDATE_INTERVAL_S", 0)
    tree("a", "b", "c")
    await box.call("grep", pattern="needle")
    assert [text_of(update).count("needle") for update in box.updates] == [1, 2, 3]
