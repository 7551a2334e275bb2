"""Whose settings count: only those of a folder that the user trusts."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.config.trust import is_trusted, set_trust, trust_file, untrusted_settings
from app.errors import ConfigError


def test_trusting_a_folder_is_remembered_for_it_and_what_lies_below(work: Path) -> None:
    (work / ".pinyon").mkdir()
    (work / ".pinyon" / "settings.json").write_text("{}")
    assert "not trusted" in untrusted_settings(work)
    set_trust(work, True)
    assert is_trusted(work / "below")
    assert untrusted_settings(work) == ""
    assert not is_trusted(work.parent)
    set_trust(work / "below", False)
    assert is_trusted(work)
    assert not is_trusted(work / "below")
    trust_file().write_text("{broken")
    with pytest.raises(ConfigError, match=r"trust\.json"):
        set_trust(work, True)
    assert trust_file().read_text() == "{broken"
