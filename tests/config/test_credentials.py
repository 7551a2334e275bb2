"""Keys: where they come from, how they are kept, and that they are never shown."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import anyio
import pytest

from app.config import credentials as module
from app.config.credentials import Credentials, env_key, resolve_value
from app.errors import ConfigError

KEY = "sk-very-secret-1234"


@pytest.fixture
def keys(tmp_path: Path) -> Credentials:
    return Credentials(tmp_path / "config")


@pytest.mark.anyio
async def test_the_run_goes_before_the_file_and_the_file_before_the_environment(
    keys: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await keys.key("anthropic") == module.Resolved()
    assert (keys.has_key("anthropic"), keys.source("anthropic")) == (False, "")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-env")
    assert (await keys.key("anthropic")).value == "from-env"
    assert keys.source("anthropic") == "ANTHROPIC_API_KEY"
    keys.store("anthropic", "from-file")
    assert (await keys.key("anthropic")).value == "from-file"
    assert keys.source("anthropic") == "auth.json"
    keys.use_for_this_run("anthropic", "from-flag")
    assert (await keys.key("anthropic")).value == "from-flag"
    assert keys.source("anthropic") == "--api-key"
    assert "from-flag" not in keys.path.read_text()


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "")
    assert env_key("openai") is None
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert env_key("openai") == "k"
    assert env_key("no-such-provider") is None


def test_the_file_is_private_and_only_one_entry_changes(keys: Credentials) -> None:
    keys.store("openai", KEY)
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(keys.path.parent.stat().st_mode) == 0o700
    other = {"type": "oauth", "refresh": "r", "access": "a", "expires": 5}
    keys.path.write_text(json.dumps({**json.loads(keys.path.read_text()), "github-copilot": other}))
    keys.store("groq", "k2")
    assert json.loads(keys.path.read_text()) == {
        "openai": {"type": "api_key", "key": KEY},
        "github-copilot": other,
        "groq": {"type": "api_key", "key": "k2"},
    }
    assert keys.providers() == ["groq", "openai"]
    assert keys.remove("openai")
    assert not keys.remove("openai")
    assert keys.providers() == ["groq"]


def test_a_malformed_file_is_told_and_left_byte_for_byte(keys: Credentials) -> None:
    keys.path.parent.mkdir()
    keys.path.write_text('{"openai": ')
    keys.reload()
    assert keys.problems[0].place.startswith("line 1")
    with pytest.raises(ConfigError):
        keys.store("openai", KEY)
    assert keys.path.read_text() == '{"openai": '


def test_a_malformed_entry_is_told_by_name_and_the_others_count(keys: Credentials) -> None:
    keys.path.parent.mkdir()
    keys.path.write_text(
        json.dumps({"openai": "text", "groq": {"type": "api_key", "key": 5}, "xai": {"type": "api_key", "key": "k"}})
    )
    keys.reload()
    assert [problem.place for problem in keys.problems] == ["openai", "groq"]
    assert keys.providers() == ["xai"]


@pytest.mark.anyio
async def test_a_value_is_a_command_a_variable_or_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "from-variable")
    assert (await resolve_value("MY_KEY")).value == "from-variable"
    assert (await resolve_value("sk-literal")).value == "sk-literal"
    assert (await resolve_value("!printf ' a\\nb \\n' | cat")).value == "a\nb"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("exit 3", "exit code 3"),
        ("true", "printed nothing"),
        ("no-such-command-here", "exit code 127"),
        ("yes", "far too much"),
        ("cat; echo read", ""),
    ],
)
async def test_a_command_that_fails_says_why_and_none_can_wait_for_input(command: str, reason: str) -> None:
    resolved = await resolve_value("!" + command)
    assert reason in resolved.reason
    assert (resolved.value is None) == bool(reason)


@pytest.mark.anyio
async def test_a_command_ends_with_its_children_when_its_time_is_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "COMMAND_LIMIT_S", 0.3)
    pid_file = tmp_path / "pid"
    with anyio.fail_after(5):
        resolved = await resolve_value(f"!sleep 60 & echo $! > {pid_file}; wait")
    assert "within" in resolved.reason
    await _gone(int(pid_file.read_text()))


async def _gone(pid: int) -> None:
    """Wait until no such process lives (a zombie has ended as well)."""
    with anyio.fail_after(5):
        while True:
            try:
                state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            except (FileNotFoundError, ProcessLookupError):
                return
            if state == "Z":
                return
            await anyio.lowlevel.checkpoint()


@pytest.mark.anyio
async def test_a_stored_command_runs_once_and_a_failure_names_file_and_provider(
    keys: Credentials, tmp_path: Path
) -> None:
    count = tmp_path / "count"
    keys.store("openai", f"!echo x >> {count}; echo {KEY}")
    assert (await keys.key("openai")).value == KEY
    assert (await keys.key("openai")).value == KEY
    assert count.read_text() == "x\n"
    keys.store("groq", "!exit 1")
    failed = await keys.key("groq")
    assert failed.value is None
    assert str(keys.path) in failed.reason
    assert "groq" in failed.reason


@pytest.mark.anyio
async def test_no_key_shows_in_a_repr(keys: Credentials) -> None:
    keys.store("openai", KEY)
    keys.use_for_this_run("groq", KEY)
    assert KEY not in repr(keys) + repr(await keys.key("openai"))
