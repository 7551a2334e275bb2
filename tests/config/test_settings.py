"""Settings: what is sound works, what is wrong is told, what is saved changes nothing else."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from app.config import paths
from app.config.settings import load_settings, project_settings_path, save_setting, settings_path
from app.errors import ConfigError


def write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))


def test_without_files_the_defaults_hold_and_nothing_is_created(work: Path) -> None:
    settings, problems = load_settings(work, trusted=True)
    assert problems == []
    assert (settings.default_provider, settings.default_thinking_level, settings.theme) == (None, None, None)
    assert (settings.retry.enabled, settings.retry.max_retries, settings.retry.base_delay_ms) == (True, 3, 2000)
    assert (settings.compaction.reserve_tokens, settings.compaction.keep_recent_tokens) == (16_384, 20_000)
    assert settings.images.auto_resize
    assert not settings.images.block_images
    assert settings.steering_mode == settings.follow_up_mode == "one-at-a-time"
    assert not paths.config_dir().exists()
    assert list(work.iterdir()) == []


def test_every_key_of_the_file_reaches_its_attribute(work: Path) -> None:
    write(
        settings_path(),
        {
            "defaultProvider": "anthropic",
            "defaultModel": "m",
            "defaultThinkingLevel": "high",
            "retry": {"enabled": False, "maxRetries": 1, "baseDelayMs": 10},
            "compaction": {"enabled": False, "reserveTokens": 1, "keepRecentTokens": 2},
            "images": {"autoResize": False, "blockImages": True},
            "branchSummary": {"reserveTokens": 3, "skipPrompt": True},
            "steeringMode": "all",
            "followUpMode": "all",
            "shellPath": "/bin/sh",
            "shellCommandPrefix": "set -e",
            "sessionDir": "~/s",
            "theme": "light",
            "ssh": True,
            "enabledModels": ["a*"],
            "thinkingBudgets": {"high": 9},
            "ofAnotherProgram": {"x": 1},
        },
    )
    settings, problems = load_settings(work, trusted=False)
    assert problems == []
    assert settings.default_thinking_level == "high"
    assert (settings.retry.enabled, settings.retry.max_retries, settings.retry.base_delay_ms) == (False, 1, 10)
    assert (settings.compaction.enabled, settings.compaction.reserve_tokens) == (False, 1)
    assert (settings.images.auto_resize, settings.images.block_images) == (False, True)
    assert (settings.branch_summary.reserve_tokens, settings.branch_summary.skip_prompt) == (3, True)
    assert (settings.steering_mode, settings.shell_path, settings.session_dir) == ("all", "/bin/sh", "~/s")
    assert settings.ssh == "on"
    assert settings.enabled_models == ("a*",)
    assert settings.thinking_budgets == {"high": 9}
    assert settings.raw["ofAnotherProgram"] == {"x": 1}


def test_the_project_counts_only_when_trusted_and_merges_deep(work: Path) -> None:
    write(
        settings_path(), {"theme": "light", "retry": {"maxRetries": 1, "provider": {"timeoutMs": 5, "maxRetries": 0}}}
    )
    write(project_settings_path(work), {"retry": {"baseDelayMs": 7, "provider": {"timeoutMs": 6}}, "theme": "ansi"})
    untrusted, _ = load_settings(work, trusted=False)
    assert (untrusted.theme, untrusted.retry.base_delay_ms) == ("light", 2000)
    trusted, _ = load_settings(work, trusted=True)
    assert (trusted.theme, trusted.retry.max_retries, trusted.retry.base_delay_ms) == ("ansi", 1, 7)
    assert trusted.raw["retry"]["provider"] == {"timeoutMs": 6, "maxRetries": 0}  # type: ignore[index]


def test_a_value_of_the_wrong_kind_is_left_out_and_told_with_its_key(work: Path) -> None:
    write(
        settings_path(),
        {
            "theme": 5,
            "retry": {"maxRetries": -1, "baseDelayMs": 10},
            "steeringMode": "both",
            "images": [],
            "defaultModel": None,
            "thinkingBudgets": {"high": "x"},
            "shellPath": "/bin/sh",
        },
    )
    settings, problems = load_settings(work, trusted=False)
    assert {problem.place for problem in problems} == {
        "theme", "retry.maxRetries", "steeringMode", "images", "thinkingBudgets",
    }  # fmt: skip
    assert all(str(settings_path()) in str(problem) for problem in problems)
    assert (settings.theme, settings.retry.max_retries, settings.retry.base_delay_ms) == (None, 3, 10)
    assert settings.shell_path == "/bin/sh"


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1e300", "0.5"])
def test_a_number_beyond_counting_is_a_problem_and_no_crash(work: Path, number: str) -> None:
    write(settings_path(), f'{{"retry": {{"maxRetries": {number}}}, "httpIdleTimeoutMs": {number}}}')
    settings, problems = load_settings(work, trusted=False)
    assert {problem.place for problem in problems} == {"retry.maxRetries", "httpIdleTimeoutMs"}
    assert settings.retry.max_retries == 3


def test_a_wrong_project_value_does_not_hide_the_global_one(work: Path) -> None:
    write(settings_path(), {"theme": "light"})
    write(project_settings_path(work), {"theme": ["x"]})
    settings, problems = load_settings(work, trusted=True)
    assert settings.theme == "light"
    assert problems[0].path == project_settings_path(work)


def test_a_malformed_file_is_told_with_its_place_and_the_other_still_counts(work: Path) -> None:
    write(settings_path(), '{\n  "theme": light\n}')
    write(project_settings_path(work), {"shellPath": "/bin/sh"})
    settings, problems = load_settings(work, trusted=True)
    assert settings.shell_path == "/bin/sh"
    assert [problem.place for problem in problems] == ["line 2, column 12"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_a_problem(work: Path) -> None:
    write(settings_path(), {})
    settings_path().chmod(0)
    assert "can't be read" in load_settings(work, trusted=False)[1][0].reason


def test_a_folder_in_place_of_the_file_is_a_problem(work: Path) -> None:
    settings_path().mkdir(parents=True)
    assert "can't be read" in load_settings(work, trusted=False)[1][0].reason


def test_the_old_name_of_the_queue_mode_still_counts(work: Path) -> None:
    write(settings_path(), {"queueMode": "all"})
    assert load_settings(work, trusted=False)[0].steering_mode == "all"


def test_saving_changes_one_key_and_keeps_comments(work: Path) -> None:
    write(settings_path(), '{\n  // dark hurts\n  "theme": "light",\n  "x": {"y": 1}\n}\n')
    save_setting("theme", "ansi")
    save_setting("retry.enabled", False)
    text = settings_path().read_text()
    assert "// dark hurts" in text
    settings, problems = load_settings(work, trusted=False)
    assert problems == []
    assert (settings.theme, settings.retry.enabled, settings.raw["x"]) == ("ansi", False, {"y": 1})
    save_setting("theme", None)
    assert load_settings(work, trusted=False)[0].theme is None


def test_the_first_save_makes_a_private_folder_and_file() -> None:
    save_setting("theme", "light")
    assert stat.S_IMODE(settings_path().parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(settings_path().stat().st_mode) == 0o600
    assert json.loads(settings_path().read_text()) == {"theme": "light"}


def test_a_file_that_cannot_be_parsed_is_never_written_over() -> None:
    write(settings_path(), '{"theme": ')
    with pytest.raises(ConfigError) as caught:
        save_setting("theme", "light")
    assert caught.value.place
    assert settings_path().read_text() == '{"theme": '


def test_doubled_keys_do_not_spoil_a_save() -> None:
    write(settings_path(), '{"theme": "a", "theme": "b"}')
    save_setting("theme", "c")
    assert json.loads(settings_path().read_text())["theme"] == "c"


def test_loading_settings_imports_no_pydantic() -> None:
    code = (
        "import sys, pathlib; from app.config.settings import load_settings;"
        "load_settings(pathlib.Path('.'), trusted=False);"
        "sys.exit(bool({'pydantic', 'anyio', 'platformdirs'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
