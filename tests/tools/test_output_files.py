"""Old full outputs are removed at a session's start, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

from app.tools.output_files import KEPT_S, prune_outputs

NOW = 1_800_000_000.0


def test_only_old_outputs_go(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("kept")
    names = {
        "bash-0123456789abcdef.log": (KEPT_S + 10, False),
        "bash-fedcba9876543210.log": (KEPT_S - 10, True),
        "bash-notes.log": (KEPT_S * 2, True),
        "0123456789abcdef.log": (KEPT_S * 2, True),
    }
    for name, (age, _) in names.items():
        (tmp_path / name).write_text("x")
        os.utime(tmp_path / name, (NOW - age, NOW - age))
    link = tmp_path / "bash-aaaaaaaaaaaaaaaa.log"
    link.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "bash-bbbbbbbbbbbbbbbb.log").mkdir()
    assert prune_outputs(tmp_path, NOW) == 1
    assert {name: (tmp_path / name).exists() for name in names} == {name: kept for name, (_, kept) in names.items()}
    assert link.is_symlink()


def test_a_missing_folder_is_nothing_to_prune(tmp_path: Path) -> None:
    assert prune_outputs(tmp_path / "none") == 0
    (tmp_path / "file").write_text("")
    assert prune_outputs(tmp_path / "file") == 0
