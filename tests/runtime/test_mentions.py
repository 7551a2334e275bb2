"""Which `@names` of a prompt are files (case I2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.runtime.mentions import attach_mentions, mentioned_files

NAMES = ("my file.txt", "a b.txt", "ünï/日本.md", "x(1).py", "a.txt")


@pytest.fixture
def project(work: Path) -> Path:
    for name in NAMES:
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text(f"content of {name}")
    (work / "dir").mkdir()
    return work


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('see @"my file.txt" please', ["my file.txt"]),
        (r"see @a\ b.txt", ["a b.txt"]),
        ("@ünï/日本.md", ["ünï/日本.md"]),
        ("@x(1).py", ["x(1).py"]),
        ("mail@host.com and @nope and @dir/ and @", []),
        ("(@a.txt) and @a.txt, once more @a.txt.", ["a.txt"]),
        ("@my file.txt", []),
        ("@~/x", []),
        ("\0@a.txt @\0", []),
    ],
)
def test_names(project: Path, text: str, names: list[str]) -> None:
    assert mentioned_files(text, project) == [project / name for name in names]


def test_a_mentioned_file_is_attached_whole_and_a_large_one_is_left_to_the_tool(project: Path) -> None:
    (project / "big.txt").write_text("x" * 300_000)
    attached = attach_mentions("@a.txt @big.txt", project)
    assert attached.texts == [f'<file name="{project / "a.txt"}">\ncontent of a.txt\n</file>']
    assert "larger" in attached.skipped[0]
