"""Where our files lie."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from app.config import paths


def test_each_folder_comes_from_its_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.setenv(f"PINYON_{name}_DIR", str(tmp_path / name))
    assert paths.config_dir() == tmp_path / "CONFIG"
    assert paths.data_dir() == tmp_path / "DATA"
    assert paths.cache_dir() == tmp_path / "CACHE"
    assert paths.sessions_dir() == tmp_path / "DATA" / "sessions"
    assert list(tmp_path.iterdir()) == []


def test_without_variables_the_folders_lie_under_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.delenv(f"PINYON_{name}_DIR")
    for folder in (paths.config_dir(), paths.data_dir(), paths.cache_dir()):
        assert folder.is_relative_to(tmp_path)
        assert folder.name == "pinyon"


def test_a_private_folder_is_made_with_its_parents_closed_to_others(tmp_path: Path) -> None:
    folder = paths.ensure_private_dir(tmp_path / "a" / "b")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert paths.ensure_private_dir(folder) == folder


def test_a_file_in_the_way_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(NotADirectoryError):
        paths.ensure_private_dir(tmp_path / "a")


def test_a_private_write_replaces_the_target_of_a_link_and_leaves_no_draft(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "settings.json"
    target.write_text("old")
    link = tmp_path / "settings.json"
    link.symlink_to(target)
    paths.write_private(link, "new\n")
    assert link.is_symlink()
    assert target.read_text() == "new\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert [path.name for path in target.parent.iterdir()] == ["settings.json"]


def test_home_is_shortened_only_at_a_folder_border(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert paths.tilde("/home/ann") == "~"
    assert paths.tilde(Path("/home/ann/src")) == "~/src"
    assert paths.tilde("/home/anne/src") == "/home/anne/src"
    assert paths.expand("~/x", Path("/w")) == Path("/home/ann/x")
    assert paths.expand("x", Path("/w")) == Path("/w/x")


def test_the_stylesheet_is_found_in_a_checkout() -> None:
    assert paths.stylesheet().name == "styles.tcss"


def test_the_home_of_nobody_is_a_name_like_any_other(tmp_path: Path) -> None:
    assert paths.expand("~no-such-user/x", tmp_path) == tmp_path / "~no-such-user" / "x"
    assert paths.expand("~/x", tmp_path) == Path.home() / "x"
