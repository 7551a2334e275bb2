"""Read: what is asked for of a file of any size, never more in memory (cases E9)."""

from __future__ import annotations

import base64
import io
import os
import unicodedata
from pathlib import Path

import anyio
import pytest
from PIL import Image
from pydantic import ValidationError

from app.agent.tool import AgentToolResult
from app.ai.messages import ImageContent
from app.errors import ToolError
from app.tools import line_reader
from tests.tools.conftest import Toolbox, text_of

pytestmark = pytest.mark.anyio


async def test_a_small_file_is_shown_whole_without_details(box: Toolbox, work: Path) -> None:
    (work / "f").write_bytes(b"\xef\xbb\xbfa\nb\n")
    result = await box.call("read", path="f")
    assert text_of(result) == "a\nb\n"
    assert result.details is None
    (work / "empty").write_text("")
    assert text_of(await box.call("read", path="empty")) == ""


async def test_a_final_line_feed_begins_no_line(box: Toolbox, work: Path) -> None:
    (work / "f").write_text("".join(f"{n}\n" for n in range(1, 11)))
    assert await box.text("read", path="f", offset=10) == "10\n"
    with pytest.raises(ToolError, match=r"Offset 11 .* 10 lines in total"):
        await box.call("read", path="f", offset=11)
    with pytest.raises(ToolError, match=r"Offset 100 .* 10 lines"):
        await box.call("read", path="f", offset=100)


async def test_odd_ranges_work_or_fail_validation(box: Toolbox, work: Path) -> None:
    (work / "f").write_text("1\n2\n3\n")
    assert await box.text("read", path="f", offset=0) == "1\n2\n3\n"
    assert await box.text("read", path="f", offset="3") == "3\n"
    assert await box.text("read", path="f", limit=10**9) == "1\n2\n3\n"
    for odd in ({"offset": -1}, {"limit": 0}):
        with pytest.raises(ValidationError):
            await box.call("read", path="f", **odd)


async def test_the_users_own_limit_is_no_truncation(box: Toolbox, work: Path) -> None:
    (work / "f").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    result = await box.call("read", path="f", limit=10)
    assert text_of(result).endswith("line 10\n\n[90 more lines in the file. Use offset=11 to continue.]")
    assert result.details is None
    middle = await box.text("read", path="f", offset=51, limit=2)
    assert middle.startswith("line 51\nline 52\n\n[48 more")


async def test_many_lines_are_cut_after_2000(box: Toolbox, work: Path) -> None:
    (work / "f").write_text("".join(f"{n}\n" for n in range(1, 2501)))
    result = await box.call("read", path="f")
    text = text_of(result)
    assert "\n2000\n\n[Showing lines 1-2000 of 2500. Use offset=2001 to continue.]" in text
    cut = result.details["truncation"]
    assert (cut["totalLines"], cut["outputLines"], cut["truncatedBy"]) == (2500, 2000, "lines")
    assert await box.text("read", path="f", offset=2001, limit=3) == (
        "2001\n2002\n2003\n\n[497 more lines in the file. Use offset=2004 to continue.]"
    )


async def test_long_text_is_cut_by_bytes_between_lines(box: Toolbox, work: Path) -> None:
    (work / "f").write_text("".join("x" * 199 + "\n" for _ in range(500)))
    result = await box.call("read", path="f")
    assert "[Showing lines 1-256 of 500 (50.0KB limit). Use offset=257 to continue.]" in text_of(result)
    assert result.details["truncation"]["truncatedBy"] == "bytes"
    assert len(text_of(result).encode()) < 51_500


async def test_wide_characters_at_the_byte_limit_are_not_torn(box: Toolbox, work: Path) -> None:
    for shift in range(4):
        (work / "f").write_text("a" * shift + ("🙂" * 300 + "\n") * 100)
        assert "\ufffd" not in await box.text("read", path="f")


async def test_a_first_line_over_the_limit_gives_a_command_instead(box: Toolbox, work: Path) -> None:
    (work / "f").write_text("short\n" + "x" * 60_000 + "\nend\n")
    result = await box.call("read", path="f", offset=2)
    assert text_of(result) == (
        "[Line 2 of f is 58.6KB, over the 50.0KB limit. Use bash: sed -n '2p' f | head -c 51200]"
    )
    assert result.details["truncation"]["firstLineExceedsLimit"] is True
    assert "[Showing lines 1-1 of 3 (50.0KB limit)." in await box.text("read", path="f")


@pytest.mark.parametrize("piece_bytes", [1, 2, 3, 7, 64])
async def test_the_size_of_the_pieces_changes_nothing(
    box: Toolbox, work: Path, monkeypatch: pytest.MonkeyPatch, piece_bytes: int
) -> None:
    data = "é1\n2🙂\n\n4\nfünf".encode()
    (work / "f").write_bytes(data)
    monkeypatch.setattr(line_reader, "PIECE_BYTES", piece_bytes)
    assert await box.text("read", path="f") == data.decode()
    for first in range(1, 6):
        for limit in range(1, 6):
            text = (await box.text("read", path="f", offset=first, limit=limit)).partition("\n\n[")[0]
            expected = "\n".join(data.decode().split("\n")[first - 1 : first - 1 + limit])
            assert text.removesuffix("\n") == expected.removesuffix("\n")


async def test_a_huge_sparse_file_is_read_in_pieces_and_counted_only_so_far(
    box: Toolbox, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_reader, "MAX_COUNT_BYTES", 1_000_000)
    with open(work / "f", "wb") as file:
        file.write(b"line\n" * 1_000_000)
    text = await box.text("read", path="f")
    assert "[Showing lines 1-2000 of more than " in text


async def test_other_encodings_are_shown_with_a_note(box: Toolbox, work: Path) -> None:
    (work / "f").write_bytes(b"caf\xe9\n")
    text = await box.text("read", path="f")
    assert text.startswith("caf\ufffd\n")
    assert "not UTF-8" in text


async def test_what_is_no_text_is_refused_with_a_hint(box: Toolbox, work: Path) -> None:
    (work / "binary").write_bytes(b"\x7fELF\0\0")
    (work / "utf16").write_bytes("hello".encode("utf-16"))
    (work / "doc").write_bytes(b"%PDF-1.7\n")
    (work / "folder").mkdir()
    os.mkfifo(work / "pipe")
    for path, words in (
        ("binary", "binary"),
        ("utf16", "iconv"),
        ("doc", "pdftotext"),
        ("folder", "EISDIR"),
        ("pipe", "named pipe"),
        ("gone", "ENOENT"),
        ("/dev/zero", "device"),
    ):
        with anyio.fail_after(5), pytest.raises(ToolError, match=words):
            await box.call("read", path=path)


async def test_names_are_found_in_the_forms_of_other_systems(box: Toolbox, work: Path) -> None:
    (work / unicodedata.normalize("NFD", "é.txt")).write_text("1")
    (work / "it\u2019s.txt").write_text("2")
    (work / "at 5\u202fPM.txt").write_text("3")
    (work / "a b.txt").write_text("4")
    assert await box.text("read", path="é.txt") == "1"
    assert await box.text("read", path="it's.txt") == "2"
    assert await box.text("read", path="at 5 PM.txt") == "3"
    assert await box.text("read", path="@a\u00a0b.txt") == "4"
    home = Path(os.environ["HOME"])
    (home / "h").write_text("5")
    assert await box.text("read", path="~/h") == "5"


def image_in(result: AgentToolResult) -> Image.Image:
    """The image block of a result, opened."""
    block = result.content[1]
    assert isinstance(block, ImageContent)
    return Image.open(io.BytesIO(base64.b64decode(block.data)))


async def test_an_image_is_known_by_its_bytes(box: Toolbox, work: Path) -> None:
    Image.new("RGB", (8, 6), "red").save(work / "i.png")
    data = (work / "i.png").read_bytes()
    (work / "i.txt").write_bytes(data)
    (work / "t.png").write_text("just text")
    result = await box.call("read", path="i.txt")
    block = result.content[1]
    assert isinstance(block, ImageContent)
    assert (base64.b64decode(block.data), block.mime_type) == (data, "image/png")
    assert result.details is None
    assert await box.text("read", path="t.png") == "just text"


async def test_a_large_image_is_shrunk_and_says_how(box: Toolbox, work: Path) -> None:
    Image.new("RGB", (4000, 1000), "blue").save(work / "i.jpg")
    result = await box.call("read", path="i.jpg")
    assert image_in(result).size == (2000, 500)
    assert "Original 4000x1000, shown at 2000x500. Multiply coordinates by 2.00" in text_of(result)
    box.context.auto_resize_images = False
    assert image_in(await box.call("read", path="i.jpg")).size == (4000, 1000)


async def test_an_image_is_turned_upright(box: Toolbox, work: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (30, 10)).save(work / "i.jpg", exif=exif)
    assert image_in(await box.call("read", path="i.jpg")).size == (10, 30)


async def test_an_image_that_cannot_be_shown_is_a_note(box: Toolbox, work: Path) -> None:
    (work / "i.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 50)
    result = await box.call("read", path="i.png")
    assert len(result.content) == 1
    assert "Not shown" in text_of(result)


async def test_a_model_without_eyes_is_told_so(box: Toolbox, work: Path) -> None:
    box.context.model_sees_images = lambda: False
    Image.new("RGB", (8, 6)).save(work / "i.png")
    assert "takes no images" in await box.text("read", path="i.png")


async def test_an_abort_does_not_wait_for_a_huge_file(box: Toolbox, work: Path) -> None:
    with open(work / "f", "wb") as file:
        file.write(b"text\n" * 100_000)
        file.truncate(1 << 40)
    with anyio.fail_after(5), anyio.move_on_after(0.2) as scope:
        await box.call("read", path="f", offset=10_000_000)
    assert scope.cancelled_caught
