"""Edit keeps every byte that it was not asked to change (cases E1, E3, E5, E7)."""

from __future__ import annotations

import os
import stat
import unicodedata
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from app.agent.tool import tool_spec
from app.errors import ToolError
from app.tools.edit import Replacement, apply_edits
from app.tools.matching import LooseView, loosen
from tests.tools.conftest import Toolbox, text_of

pytestmark = pytest.mark.anyio


def edited(data: bytes, *pairs: tuple[str, str]) -> bytes:
    """The bytes after the edits, as the tool handles text."""
    edits = [Replacement(old_text=old, new_text=new) for old, new in pairs]
    return apply_edits(data.decode("utf-8", "surrogateescape"), edits, "f").encode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\nc\r\n", "b", "B", b"a\r\nB\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny", b"x\r\ny\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\nc\r\n"),
        (b"a\nb\nc\n", "a\nb", "x\r\ny", b"x\ny\nc\n"),
        (b"a\r\nb\r\n", "b", "b\nc", b"a\r\nb\r\nc\r\n"),
        (b"a\r\nb\r\n", "\nb", "b", b"ab\r\n"),
        (b"a\r\nb\nc\nd\n", "b\nc", "b\nnew\nc", b"a\r\nb\nnew\nc\nd\n"),
        (b"a\rb\rc", "a\nb", "x\ny", b"x\ry\rc"),
        (b"one\r\ntwo\r\n", "one\n", "", b"two\r\n"),
        (b"x\r\ny\nx\r\n", "y\n", "y\nz\n", b"x\r\ny\nz\nx\r\n"),
    ],
)
async def test_new_lines_end_as_the_matched_place_does(before: bytes, old: str, new: str, after: bytes) -> None:
    assert edited(before, (old, new)) == after


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [(b"a\nb", "b", "c", b"a\nc"), (b"a\nb", "a", "", b"\nb"), (b"a\nb\n", "b\n", "", b"a\n")],
)
async def test_the_end_of_the_file_stays_as_it_is(before: bytes, old: str, new: str, after: bytes) -> None:
    assert edited(before, (old, new)) == after


async def test_bytes_that_are_not_utf8_and_the_mark_survive(box: Toolbox, work: Path) -> None:
    (work / "f").write_bytes(b"\xef\xbb\xbfcaf\xe9\r\nb\xff\r\nc")
    await box.call("edit", path="f", edits=[{"oldText": "c", "newText": "x"}, {"oldText": "b", "newText": "y"}][1:])
    assert (work / "f").read_bytes() == b"\xef\xbb\xbfcaf\xe9\r\ny\xff\r\nc"


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        # Only the matched bytes change: unrelated blanks and quotes stay (defect 11 of the reference).
        ("a  \n\u201cq\u201d\nfoo  \nbar\t\nz  \n", "foo\nbar", "FOO\nBAR", "a  \n\u201cq\u201d\nFOO\nBAR\t\nz  \n"),
        ("say \u201chi\u201d\n", 'say "hi"', 'say "ho"', 'say "ho"\n'),
        ("it\u2019s \u2014 ok\n", "it's - ok", "no", "no\n"),
        ("，（）ＡＢＣ\n", ",()ABC", "x", "x\n"),
        ("cafe\u0301!\n", "caf\u00e9!", "tea", "tea\n"),
        ("a\u00a0b\n", "a b", "c", "c\n"),
        # Lines that old and new text share keep the file's own writing.
        ("\u201ckeep\u201d  \nold\n", '"keep"\nold', '"keep"\nnew', "\u201ckeep\u201d  \nnew\n"),
        ("x \r\ny\r\n", "x\ny", "x\nz", "x \r\nz\r\n"),
        # Blanks at the end of the searched text may be the beginning of what follows, or really an end.
        ("foo \n  rest\n", "foo\n  ", "bar\n  ", "bar\n  rest\n"),
        ("foo \n  rest\n", "foo\n  ", "bar\n\t", "bar\n\trest\n"),
        ("“a” b c\n", '"a" b ', '"x" ', '"x" c\n'),
        ("foo\n“bar”\nx\n", 'foo\n"bar"  ', "y", "y\nx\n"),
        ("foo\nbar\n", "foo  \nbar  ", "y", "y\n"),
    ],
)
async def test_a_loose_match_replaces_only_what_it_matched(before: str, old: str, new: str, after: str) -> None:
    assert edited(before.encode(), (old, new)) == after.encode()


async def test_an_exact_match_wins_over_loose_twins() -> None:
    assert edited(b"foo \nbar\nfoo\nbar\n", ("foo\nbar", "x")) == b"foo \nbar\nx\n"
    assert edited(b"a\r\nb\r\na\nb\n", ("a\nb", "x")) == b"a\r\nb\r\nx\n"
    with pytest.raises(ToolError, match="2 times"):
        edited(b"foo \nbar\nfoo\t\nbar\n", ("foo\nbar", "x"))


async def test_half_of_a_ligature_is_no_match() -> None:
    with pytest.raises(ToolError, match="exact text"):
        edited("\ufb01ne".encode(), ("ine", "x"))
    assert edited("\ufb01ne".encode(), ("fine", "x")) == b"x"


@pytest.mark.parametrize(
    ("data", "pairs", "words"),
    [
        (b"foo foo foo", [("foo", "x")], "3 times"),
        (b"aaa", [("aa", "x")], "2 times"),
        (b"abc", [("zzz", "x")], "exact text"),
        (b"abc", [("", "x")], "empty"),
        (b"a b", [("   ", "x")], "exact text"),
        (b"abc", [("b", "b")], "Nothing would change"),
        (b"abc", [], "no edits"),
        (b"abcdef", [("cd", "x"), ("bc", "y")], r"edits\[0\] and edits\[1\] overlap"),
        (b"abc", [("a", "x"), ("q", "y")], r"edits\[1\]"),
        (b"abc", [("a", "\ud83d")], "surrogate"),
    ],
)
async def test_what_is_unclear_is_refused_and_says_why(data: bytes, pairs: list[tuple[str, str]], words: str) -> None:
    with pytest.raises(ToolError, match=words):
        edited(data, *pairs)


async def test_all_edits_match_the_original_and_adjacent_ones_are_fine() -> None:
    assert edited(b"ab", ("a", "b"), ("b", "a")) == b"ba"
    assert edited(b"1\n2\n3\n", ("3\n", "c\n"), ("1\n", "a\n")) == b"a\n2\nc\n"


async def test_a_failing_edit_of_several_changes_nothing(box: Toolbox, work: Path) -> None:
    (work / "f").write_text("a b")
    with pytest.raises(ToolError):
        await box.call("edit", path="f", edits=[{"oldText": "a", "newText": "x"}, {"oldText": "q", "newText": "y"}])
    assert (work / "f").read_text() == "a b"
    assert os.listdir(work) == ["f"]


async def test_older_shapes_of_the_arguments_are_mended(box: Toolbox, work: Path) -> None:
    (work / "f").write_text("a b c")
    await box.call("edit", path="f", edits='[{"oldText": "a", "newText": "1"}]')
    await box.call("edit", path="f", oldText="b", newText="2")
    await box.call("edit", path="f", edits={"oldText": "c", "newText": "3"})
    assert (work / "f").read_text() == "1 2 3"
    with pytest.raises(ValidationError):
        await box.call("edit", path="f", edits=[], more=1)


async def test_the_result_holds_the_diff_and_the_first_changed_line(box: Toolbox, work: Path) -> None:
    (work / "f").write_text("".join(f"{n}\n" for n in range(1, 21)))
    edits = [{"oldText": "\n2\n", "newText": "\n2\nnew\n"}, {"oldText": "18", "newText": "x"}]
    result = await box.call("edit", path="f", edits=edits)
    assert text_of(result) == "Replaced 2 blocks in f"
    assert result.details["firstChangedLine"] == 3
    rows = result.details["diff"].split("\n")
    assert rows[:3] == ["  1 1", "  2 2", "+ 3 new"]
    assert "    ..." in rows
    assert rows[-5:] == [" 17 17", "-18 18", "+19 x", " 19 19", " 20 20"]


async def test_mode_and_link_are_kept(box: Toolbox, work: Path) -> None:
    (work / "run.sh").write_text("old")
    os.chmod(work / "run.sh", 0o755)
    os.symlink("run.sh", work / "link")
    os.link(work / "run.sh", work / "hard")
    await box.call("edit", path="link", oldText="old", newText="new")
    assert os.readlink(work / "link") == "run.sh"
    assert stat.S_IMODE(os.stat(work / "run.sh").st_mode) == 0o755
    assert (work / "hard").read_text() == "new"
    os.unlink(work / "hard")
    await box.call("edit", path="link", oldText="new", newText="newer")
    assert os.readlink(work / "link") == "run.sh"
    assert (work / "run.sh").read_text() == "newer"
    assert stat.S_IMODE(os.stat(work / "run.sh").st_mode) == 0o755
    assert sorted(os.listdir(work)) == ["link", "run.sh"]


async def test_a_folder_a_pipe_and_a_missing_file_are_refused_at_once(box: Toolbox, work: Path) -> None:
    os.mkfifo(work / "pipe")
    (work / "folder").mkdir()
    for path, words in (("pipe", "named pipe"), ("folder", "folder"), ("gone", "ENOENT")):
        with anyio.fail_after(5), pytest.raises(ToolError, match=words):
            await box.call("edit", path=path, oldText="a", newText="b")


async def test_changes_of_one_file_run_in_call_order(box: Toolbox, work: Path) -> None:
    for _ in range(50):
        (work / "f").write_text("a")
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: box.call("edit", path="f", oldText="a", newText="b c"))
            group.start_soon(lambda: box.call("edit", path="./f", oldText="b", newText="d"))
            group.start_soon(lambda: box.call("write", path="f", content="w1"))
            group.start_soon(lambda: box.call("edit", path=str(work / "f"), oldText="w1", newText="end"))
        assert (work / "f").read_text() == "end"


async def test_a_failed_change_does_not_stop_the_next_in_line(box: Toolbox, work: Path) -> None:
    (work / "f").write_text("a")

    async def failing() -> None:
        with pytest.raises(ToolError):
            await box.call("edit", path="f", oldText="zzz", newText="b")

    async with anyio.create_task_group() as group:
        group.start_soon(failing)
        group.start_soon(lambda: box.call("edit", path="f", oldText="a", newText="b"))
    assert (work / "f").read_text() == "b"


@given(st.text(alphabet="aé ｶﾞe\u0301\u1100\u1161\ufb01\u00a0\u201c\t\u09c7\u09be漢🙂", max_size=30))
@settings(max_examples=300, deadline=None)
def test_loose_places_map_back_to_whole_characters(line: str) -> None:
    assert loosen(line) == unicodedata.normalize("NFKC", line).translate({0x201C: '"', 0xA0: " "}).rstrip()
    view = LooseView(line)
    needle = loosen(line)
    if needle.strip():
        match = view.span(needle, 0, 0)
        assert match is not None
        assert loosen(line[match.start : match.end]).strip() == needle.strip()


@given(st.lists(st.sampled_from(["a", "b \r\n", "c\n", "\r\n", "é", "“x”\n"]), min_size=1, max_size=8), st.data())
@settings(max_examples=300, deadline=None)
def test_bytes_outside_the_match_never_change(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    needle = text[start:end].replace("\r\n", "\n")
    try:
        result = apply_edits(text, [Replacement(old_text=needle, new_text="NEW")], "f")
    except ToolError:
        return
    before, _, after = result.partition("NEW")
    assert text.startswith(before)
    assert text.endswith(after)


def test_the_schema_is_plain_and_strict(box: Toolbox) -> None:
    schema = tool_spec(box.tools["edit"]).parameters
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["path", "edits"]
    read = tool_spec(box.tools["read"]).parameters
    assert read["properties"]["limit"] == {"description": "At most so many lines.", "minimum": 1, "type": "integer"}
