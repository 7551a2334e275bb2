"""Every test runs in an empty home of its own, with no key, no proxy and no network of ours in its environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# In CI the same examples each time: what lands must not depend on luck. Elsewhere new ones are looked for.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

KEEP = ("PATH", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST")


@pytest.fixture(autouse=True)
def _empty_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path_factory.mktemp("home")
    for name in tuple(os.environ):
        if name not in KEEP and not name.startswith("COV"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PINYON_CONFIG_DIR", str(home / "config"))
    monkeypatch.setenv("PINYON_DATA_DIR", str(home / "data"))
    monkeypatch.setenv("PINYON_CACHE_DIR", str(home / "cache"))
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A working folder of the test's own."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder
