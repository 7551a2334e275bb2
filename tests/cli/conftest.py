"""What every test from outside needs: the program, and a provider that it asks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.cli.server import Provider, provider
from tests.cli.wires import CHAT


@pytest.fixture
def pinyon(work: Path) -> Program:
    return Program(work)


@pytest.fixture
def wire() -> Iterator[Provider]:
    with provider() as made:
        yield made


@pytest.fixture
def asked(pinyon: Program, wire: Provider) -> Provider:
    """A provider that the program is configured to ask, over Chat Completions."""
    pinyon.use(wire.address, CHAT)
    return wire


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Lets a server that holds its breath go, when it is set or the test is over."""
    event = threading.Event()
    yield event
    event.set()
