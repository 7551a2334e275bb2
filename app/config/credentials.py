"""Keys of model providers: where they come from and how they are kept; a key must never be printed or logged.

Precedence (spec core §6.7, §1.16): `--api-key` > auth.json > environment > models.json (asked by app.ai.catalogue).
"""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from app.config import jsonc, paths
from app.config.jsonc import Problem
from app.errors import ConfigError

COMMAND_LIMIT_S = 10.0
_OUTPUT_LIMIT_BYTES = 64 * 1024  # no key is longer; a command that floods is not waited for

# Spec core §1.11, for providers that our adapters can talk to; the first one that is set and not empty wins.
ENV_KEYS: dict[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "google": ("GEMINI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "cerebras": ("CEREBRAS_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "zai": ("ZAI_API_KEY",),
    "moonshotai": ("MOONSHOT_API_KEY",),
    "huggingface": ("HF_TOKEN",),
    "fireworks": ("FIREWORKS_API_KEY",),
    "vercel-ai-gateway": ("AI_GATEWAY_API_KEY",),
}


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a configured value came to: `value`, or None and the `reason`."""

    value: str | None = field(default=None, repr=False)
    reason: str = ""


def env_key(provider: str) -> str | None:
    """The key of `provider` in the environment, looked up anew at each call; empty values count as unset."""
    return next((os.environ[name] for name in ENV_KEYS.get(provider, ()) if os.environ.get(name)), None)


async def resolve_value(configured: str) -> Resolved:
    """A configured value as it counts now: `!command` its trimmed output, the name of a set variable that variable,
    else the text itself. Never raises.
    """
    if configured.startswith("!"):
        return await _command_output(configured[1:])
    return Resolved(os.environ.get(configured) or configured)


class Credentials:
    """The keys of one configuration folder: auth.json, a key given for this run, and the environment."""

    def __init__(self, config_dir: Path) -> None:
        self.path = config_dir / "auth.json"
        self.problems: list[Problem] = []
        self._stored: dict[str, object] = {}
        self._runtime: dict[str, str] = {}
        self._commands: dict[str, Resolved] = {}
        self.reload()

    def __repr__(self) -> str:
        return f"Credentials({str(self.path)!r})"

    def reload(self) -> None:
        """Read auth.json again; a malformed one is a problem and counts as empty."""
        self._stored, self.problems = jsonc.read_object(self.path)
        for provider, entry in self._stored.items():
            if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
                self.problems.append(Problem(self.path, provider, 'must be an object with "type" and "key"'))
            elif entry["type"] == "api_key" and not isinstance(entry.get("key"), str):
                self.problems.append(Problem(self.path, provider, '"key" must be a string'))

    def use_for_this_run(self, provider: str, key: str) -> None:
        """Let `key` go before all others until the process ends (`--api-key`); it is not stored."""
        self._runtime[provider] = key

    def providers(self) -> list[str]:
        """The providers with a stored key, sorted."""
        return sorted(provider for provider in self._stored if self._stored_key(provider) is not None)

    def has_key(self, provider: str) -> bool:
        """Whether a key is configured; cheap, runs no command, so the key may still turn out unresolved."""
        return bool(self._runtime.get(provider) or self._stored_key(provider) or env_key(provider))

    def source(self, provider: str) -> str:
        """Where the key of `provider` comes from, for display (`--api-key`, `auth.json`, a variable's name, or "")."""
        if self._runtime.get(provider):
            return "--api-key"
        if self._stored_key(provider):
            return "auth.json"
        return next((name for name in ENV_KEYS.get(provider, ()) if os.environ.get(name)), "")

    async def key(self, provider: str) -> Resolved:
        """The key of `provider` now; no value and no reason means that none is configured. Never raises.

        The output of a `!command` in auth.json is kept for the life of the process once it succeeded.
        """
        if given := self._runtime.get(provider):
            return Resolved(given)
        stored = self._stored_key(provider)
        if stored is None:
            return Resolved(env_key(provider))
        known = self._commands.get(stored)
        if known is None:
            known = await resolve_value(stored)
            if stored.startswith("!") and known.value is not None:
                self._commands[stored] = known
        return known if known.value else Resolved(None, f"{self.path}, {provider}: {known.reason}")

    def store(self, provider: str, key: str) -> None:
        """Keep `key` (literal, variable's name or `!command`) in auth.json. Raises ConfigError if it can't be."""
        self._change(provider, {"type": "api_key", "key": key})

    def remove(self, provider: str) -> bool:
        """Forget the stored key of `provider`; whether there was one. Raises ConfigError if it can't be written."""
        return self._change(provider, None)

    def _change(self, provider: str, entry: dict[str, str] | None) -> bool:
        """Change one provider's entry and nothing else, in what the file holds by now."""
        try:
            with paths.locked(self.path):
                stored, problems = jsonc.read_object(self.path)
                if problems:
                    raise ConfigError(self.path, problems[0].reason, problems[0].place, "Mend or remove the file first")
                known = stored.pop(provider, None) is not None
                if entry is not None:
                    stored[provider] = entry
                if entry is not None or known:
                    paths.write_private(self.path, json.dumps(stored, indent=2, ensure_ascii=False) + "\n")
        except OSError as error:
            raise ConfigError(self.path, f"can't be written: {error.strerror or error}") from error
        self.reload()
        return known

    def _stored_key(self, provider: str) -> str | None:
        entry = self._stored.get(provider)
        if not isinstance(entry, dict) or entry.get("type") != "api_key":
            return None
        key = entry.get("key")
        return key if isinstance(key, str) and key else None


async def _command_output(command: str) -> Resolved:
    """The trimmed output of a shell command that may not ask anything: no terminal, no input, 10 seconds."""
    import subprocess

    import anyio

    try:
        process = await anyio.open_process(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # may hold the key
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Resolved(None, f"its command could not be started: {error}")
    chunks: list[bytes] = []
    size = 0
    try:
        with anyio.move_on_after(COMMAND_LIMIT_S) as limit:
            if process.stdout is not None:
                async for chunk in process.stdout:
                    chunks.append(chunk)
                    size += len(chunk)
                    if size > _OUTPUT_LIMIT_BYTES:
                        return Resolved(None, "its command printed far too much for a key")
            await process.wait()
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with anyio.CancelScope(shield=True):
            await process.aclose()
    if limit.cancelled_caught:
        return Resolved(None, f"its command gave nothing within {COMMAND_LIMIT_S:.0f} seconds")
    if process.returncode != 0:
        return Resolved(None, f"its command failed with exit code {process.returncode}")
    text = b"".join(chunks).decode("utf-8", "replace").strip()
    return Resolved(text) if text else Resolved(None, "its command printed nothing")
