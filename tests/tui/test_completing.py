"""What the prompt offers of files: names that can be typed, and no others."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.tui.completing import Completing

pytestmark = pytest.mark.anyio

ODD = ("new\nline.txt", "esc\x1b[31m.txt", "c1\x9bm.txt", "line\u2028end.txt")
FINE = ("my file.txt", "日本.md", "👩‍👩‍👧.txt", "[red]x.txt", "x(1).py", "-dash")


async def test_names_that_no_prompt_can_hold_are_not_offered(work: Path) -> None:
    for name in (*ODD, *FINE):
        (work / name).write_text("")
    screen: Any = SimpleNamespace(session=None)
    completing = Completing(screen, work)
    offered = {each.text for each in await completing.files("")}
    assert offered == set(FINE)
    assert {each.text for each in await completing.paths("")} == set(FINE)
