"""The same program and provider as in tests/cli."""

from __future__ import annotations

from tests.cli.conftest import asked, pinyon, release, wire

__all__ = ["asked", "pinyon", "release", "wire"]
