"""kill -9 at random moments of a run: what was asked is kept, what is kept stays, and -c goes on (cases W2, S1)."""

from __future__ import annotations

import pytest

from tests.cli.program import Program
from tests.cli.server import Provider
from tests.durability.killing import kill_once


@pytest.mark.parametrize("seed", range(10))
def test_a_killed_run_loses_nothing_and_is_gone_on_with(seed: int, pinyon: Program, asked: Provider) -> None:
    assert kill_once(pinyon, asked, seed).faults == ()
