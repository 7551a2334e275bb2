"""Write: exactly the given text, folders made, the old file replaced whole or not at all (cases E3, E7)."""

from __future__ import annotations

import os
import resource
import stat
from pathlib import Path

import pytest

from app.errors import ToolError
from tests.tools.conftest import Toolbox, text_of

pytestmark = pytest.mark.anyio


async def test_folders_are_made_and_real_bytes_counted(box: Toolbox, work: Path) -> None:
    result = await box.call("write", path="a/b/c.txt", content="é🙂")
    assert (work / "a/b/c.txt").read_bytes() == "é🙂".encode()
    assert "6 bytes" in text_of(result)
    assert result.details is None


async def test_replacing_a_text_tells_what_changed(box: Toolbox, work: Path) -> None:
    (work / "f").write_text("a\nb")
    result = await box.call("write", path="f", content="x")
    assert (work / "f").read_bytes() == b"x"
    assert result.details == {"diff": "-1 a\n-2 b\n+1 x", "firstChangedLine": 1}


async def test_a_binary_file_is_replaced_without_a_diff(box: Toolbox, work: Path) -> None:
    (work / "f").write_bytes(b"\0\1")
    assert (await box.call("write", path="f", content="x")).details is None


async def test_a_link_stays_a_link_and_modes_are_kept(box: Toolbox, work: Path) -> None:
    (work / "f").write_text("old")
    os.chmod(work / "f", 0o640)
    os.symlink("f", work / "link")
    os.symlink("new", work / "dangling")
    await box.call("write", path="link", content="x")
    await box.call("write", path="dangling", content="y")
    assert os.path.islink(work / "link")
    assert (work / "f").read_text() == "x"
    assert stat.S_IMODE(os.stat(work / "f").st_mode) == 0o640
    assert os.path.islink(work / "dangling")
    assert (work / "new").read_text() == "y"


async def test_a_new_file_gets_the_users_usual_mode(box: Toolbox, work: Path) -> None:
    previous = os.umask(0o027)
    try:
        await box.call("write", path="f", content="x")
    finally:
        os.umask(previous)
    assert stat.S_IMODE(os.stat(work / "f").st_mode) == 0o640


async def test_a_folder_a_pipe_and_a_file_as_folder_are_refused(box: Toolbox, work: Path) -> None:
    (work / "folder").mkdir()
    (work / "file").write_text("")
    os.mkfifo(work / "pipe")
    for path, words in (
        ("folder", "EISDIR"),
        ("new/", "folder"),
        ("pipe", "named pipe"),
        ("file/x", "Could not"),
        ("", "empty"),
        ("a\0b", "NUL"),
    ):
        with pytest.raises(ToolError, match=words):
            await box.call("write", path=path, content="x")
    assert sorted(os.listdir(work)) == ["file", "folder", "pipe"]


@pytest.mark.usefixtures("nobody")
async def test_read_only_folders_and_files_are_refused_or_written_in_place(box: Toolbox, work: Path) -> None:
    (work / "open").write_text("old")
    (work / "closed").write_text("old")
    os.chmod(work / "closed", 0o444)
    os.chmod(work, 0o555)
    try:
        with pytest.raises(ToolError, match="EACCES"):
            await box.call("write", path="new", content="x")
        with pytest.raises(ToolError, match="read-only"):
            await box.call("write", path="closed", content="x")
        await box.call("write", path="open", content="x")
        assert (work / "open").read_text() == "x"
    finally:
        os.chmod(work, 0o755)


async def test_half_a_surrogate_pair_is_refused(box: Toolbox, work: Path) -> None:
    with pytest.raises(ToolError, match="surrogate"):
        await box.call("write", path="f", content="\ud83d")
    assert not (work / "f").exists()


@pytest.mark.parametrize("tool", ["write", "edit"])
async def test_without_room_a_file_that_must_stay_in_place_keeps_its_content(
    box: Toolbox, work: Path, tool: str
) -> None:
    old = b"old line\n" + b"x" * 1000
    (work / "a.txt").write_bytes(old)
    os.link(work / "a.txt", work / "twin.txt")
    new = "new line\n" + "y" * 5000
    arguments = {"content": new} if tool == "write" else {"edits": [{"oldText": "old line", "newText": new}]}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
    try:
        with pytest.raises(ToolError, match="EFBIG"):
            await box.call(tool, path="a.txt", **arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (work / "a.txt").read_bytes() == old
    await box.call(tool, path="a.txt", **arguments)
    assert (work / "twin.txt").read_bytes().startswith(b"new line\ny")
