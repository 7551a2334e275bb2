"""The user's settings: read from settings.json, saved key by key; it must never import pydantic (start-up).

Names and defaults are the reference's (spec core §6.8); `ssh` is ours. What is wrong in a file is left out and told.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal, TypeVar, cast

from app.config import jsonc, paths
from app.config.jsonc import Problem
from app.errors import ConfigError

Level = Literal["off", "minimal", "low", "medium", "high", "xhigh"]
QueueMode = Literal["one-at-a-time", "all"]
PROJECT_FOLDER = ".pinyon"


@dataclass(frozen=True, slots=True)
class RetrySettings:
    """How often a failed request is tried again; the waits double from `base_delay_ms`."""

    enabled: bool = True
    max_retries: int = 3
    base_delay_ms: int = 2000


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    """When history is summarised (tokens)."""

    enabled: bool = True
    reserve_tokens: int = 16_384
    keep_recent_tokens: int = 20_000


@dataclass(frozen=True, slots=True)
class ImageSettings:
    """What happens to images on their way to a model."""

    auto_resize: bool = True
    block_images: bool = False


@dataclass(frozen=True, slots=True)
class BranchSummarySettings:
    """How an abandoned branch is summarised (tokens)."""

    reserve_tokens: int = 16_384
    skip_prompt: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings with their defaults; None means that nothing was chosen. `raw` has unknown keys as well."""

    default_provider: str | None = None
    default_model: str | None = None
    default_thinking_level: Level | None = None
    retry: RetrySettings = RetrySettings()
    compaction: CompactionSettings = CompactionSettings()
    images: ImageSettings = ImageSettings()
    branch_summary: BranchSummarySettings = BranchSummarySettings()
    steering_mode: QueueMode = "one-at-a-time"
    follow_up_mode: QueueMode = "one-at-a-time"
    shell_path: str | None = None
    shell_command_prefix: str | None = None
    session_dir: str | None = None
    http_idle_timeout_ms: int = 120_000
    theme: str | None = None
    ssh: Literal["auto", "on", "off"] = "auto"
    enabled_models: tuple[str, ...] | None = None
    thinking_budgets: Mapping[str, int] = field(default_factory=dict)
    raw: Mapping[str, object] = field(default_factory=dict)


class _WrongTypeError(Exception):
    """The value can't be used; the text says what is wanted."""


Reader = Callable[[object], object]


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise _WrongTypeError("must be a string")


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise _WrongTypeError("must be true or false")


def _count(value: object) -> int:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15 and value == int(value):
        return int(value)
    raise _WrongTypeError("must be a whole number, 0 or more")


def _wait_ms(value: object) -> int:
    if isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value < 1e9:
        return int(value)
    raise _WrongTypeError("must be a number of milliseconds, 1 or more")


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise _WrongTypeError("must be an array of strings")


def _budgets(value: object) -> dict[str, int]:
    if not isinstance(value, dict):
        raise _WrongTypeError("must be an object")
    return {key: _count(part) for key, part in value.items()}


def _one_of(*allowed: str) -> Reader:
    def read(value: object) -> str:
        if isinstance(value, str) and value in allowed:
            return value
        raise _WrongTypeError("must be one of " + ", ".join(allowed))

    return read


def _ssh(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return cast("str", _one_of("auto", "on", "off")(value))


_LEVEL = _one_of("off", "minimal", "low", "medium", "high", "xhigh")
_QUEUE = _one_of("one-at-a-time", "all")
# key in the file -> how its value is read; the attribute has the same name in snake_case
_READERS: dict[str, Reader] = {
    "defaultProvider": _text,
    "defaultModel": _text,
    "defaultThinkingLevel": _LEVEL,
    "retry.enabled": _flag,
    "retry.maxRetries": _count,
    "retry.baseDelayMs": _count,
    "compaction.enabled": _flag,
    "compaction.reserveTokens": _count,
    "compaction.keepRecentTokens": _count,
    "images.autoResize": _flag,
    "images.blockImages": _flag,
    "branchSummary.reserveTokens": _count,
    "branchSummary.skipPrompt": _flag,
    "steeringMode": _QUEUE,
    "followUpMode": _QUEUE,
    "shellPath": _text,
    "shellCommandPrefix": _text,
    "sessionDir": _text,
    "httpIdleTimeoutMs": _wait_ms,
    "theme": _text,
    "ssh": _ssh,
    "enabledModels": _texts,
    "thinkingBudgets": _budgets,
}
_GROUPS: dict[str, type] = {
    "retry": RetrySettings,
    "compaction": CompactionSettings,
    "images": ImageSettings,
    "branchSummary": BranchSummarySettings,
}


def settings_path() -> Path:
    """The global settings file; it need not exist."""
    return paths.config_dir() / "settings.json"


def project_settings_path(cwd: Path) -> Path:
    """The settings file of the project at `cwd`; it need not exist."""
    return cwd / PROJECT_FOLDER / "settings.json"


def load_settings(cwd: Path, *, trusted: bool) -> tuple[Settings, list[Problem]]:
    """The settings for `cwd`: project (only if `trusted`) over global over defaults, and what was left out.

    Objects merge deep, arrays and the rest replace. Never raises, never writes.
    """
    merged: dict[str, object] = {}
    problems: list[Problem] = []
    for path in [settings_path()] + ([project_settings_path(cwd)] if trusted else []):
        raw, found = jsonc.read_object(path)
        problems += found
        problems += _drop_wrong(path, raw)
        _merge(merged, raw)
    return _build(merged), problems


def save_setting(key_path: str, value: object) -> None:
    """Set `key_path` (`retry.enabled`) in the global file to a JSON value; None stands for "as if not set".

    Nothing else in the file changes, comments included; written at one stroke. Raises ConfigError when the file
    can't be parsed (it is left alone) or written.
    """
    path = settings_path()
    keys = tuple(key_path.split("."))
    try:
        with paths.locked(path):
            raw, problems = jsonc.read_object(path)
            if problems:
                raise ConfigError(path, problems[0].reason, problems[0].place, "Mend the file, then set it again")
            text = path.read_bytes().decode("utf-8") if path.exists() else ""
            written = jsonc.set_value(text, keys, value)
            if jsonc.loads(written) != _with(raw, keys, value):  # duplicate keys and the like: rather plain than wrong
                written = json.dumps(_with(raw, keys, value), indent=2, ensure_ascii=False) + "\n"
            paths.write_private(path, written)
    except OSError as error:
        raise ConfigError(path, f"can't be written: {error.strerror or error}") from error


def _with(raw: dict[str, object], keys: tuple[str, ...], value: object) -> dict[str, object]:
    inner = raw.get(keys[0])
    if len(keys) > 1:
        value = _with(inner if isinstance(inner, dict) else {}, keys[1:], value)
    return {**raw, keys[0]: value}


def _drop_wrong(path: Path, raw: dict[str, object]) -> list[Problem]:
    """Take out of `raw` what can't be used (and nulls: not set), bring old names up to date, say what went."""
    problems = []
    if "queueMode" in raw:  # the name before steeringMode
        raw.setdefault("steeringMode", raw.pop("queueMode"))
    for group in _GROUPS:
        if raw.get(group, {}) is None:
            del raw[group]
        elif not isinstance(raw.get(group, {}), dict):
            problems.append(Problem(path, group, f"must be an object, not {jsonc.kind(raw.pop(group))}"))
    for key, read in _READERS.items():
        *outer, name = key.split(".")
        holder = raw.get(outer[0], {}) if outer else raw
        if not isinstance(holder, dict) or name not in holder:
            continue
        if holder[name] is None:
            del holder[name]
            continue
        try:
            read(holder[name])
        except _WrongTypeError as error:
            shown = json.dumps(holder.pop(name), ensure_ascii=False)
            problems.append(Problem(path, key, f"{error}, not {shown if len(shown) <= 40 else shown[:39] + '…'}"))
    return problems


def _merge(into: dict[str, object], over: Mapping[str, object]) -> None:
    for key, value in over.items():
        below = into.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            merged = dict(below)
            _merge(merged, value)
            into[key] = merged
        else:
            into[key] = value


T = TypeVar("T")


def _build(merged: dict[str, object]) -> Settings:
    values: dict[str, object] = {"raw": merged}
    for group, shape in _GROUPS.items():
        values[_snake(group)] = _filled(shape, group + ".", merged.get(group, {}))
    return _filled(Settings, "", merged, values)


def _filled(shape: type[T], prefix: str, raw: object, given: dict[str, object] | None = None) -> T:
    values = dict(given or {})
    names = {item.name for item in fields(cast("type[Settings]", shape))}
    if isinstance(raw, dict):
        for key, value in raw.items():
            read = _READERS.get(prefix + key)
            if read is not None and _snake(key) in names:
                values[_snake(key)] = read(value)
    return shape(**values)


def _snake(key: str) -> str:
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in key)
