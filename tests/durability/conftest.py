"""The program and its provider, as for the tests of the command line."""

from __future__ import annotations

from tests.cli.conftest import asked, pinyon, release, wire

__all__ = ["asked", "pinyon", "release", "wire"]
