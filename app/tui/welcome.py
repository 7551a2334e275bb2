"""What an empty session shows: where we are, what was loaded, what can be asked, and how to get a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.config.paths import config_dir, tilde
from app.tui import keymap

if TYPE_CHECKING:
    from app.runtime.agent_session import AgentSession

EXAMPLES = ("list the files here", "find out why the test fails", "show me everything you can do")


def welcome_text(session: AgentSession, cwd: Path, overrides: dict[str, tuple[str, ...]]) -> str:
    """Plain text of a few lines."""
    from app.version import version

    model = session.agent.state.model
    tools = " ".join(tool.name for tool in session.agent.state.tools) or "none"
    lines = [
        f"pinyon {version()} in {tilde(cwd)}",
        f"model {model.name or model.id} · tools {tools}",
    ]
    if files := session.context_files:
        lines.append("read " + ", ".join(tilde(path) for path in files))
    if model.provider == "offline":
        lines += [
            "",
            "No model is configured, so the offline guide answers: no language model, it matches plain requests and "
            "runs the real tools. For a model set ANTHROPIC_API_KEY or OPENAI_API_KEY and start again, or write "
            f"{tilde(config_dir() / 'models.json')} (`explain providers` says how).",
        ]
    keys = " · ".join(
        filter(
            None,
            (
                keymap.hint("session.tree", "branches", overrides),
                keymap.hint("session.sessions", "sessions", overrides),
                keymap.hint("session.palette", "commands", overrides),
                keymap.hint("session.help", "keys", overrides),
            ),
        )
    )
    lines += ["", "Try:", *(f"  {example}" for example in EXAMPLES), "", "/ command · @ file · ! shell command", keys]
    return "\n".join(lines)
