"""What the tree screen asks before a choice is final: stop the run, summarise what is left, what to take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from renderers.text import humanise
from widgets.dialogs import ChoiceScreen
from widgets.prompt_keys import normalise_key
from widgets.text_input import ask_text

if TYPE_CHECKING:
    from textual import events
    from textual.app import App, ReturnType

STAY = "stay"


class SureChoice(ChoiceScreen):
    """A question whose likely answer is highlighted, and whose escape still means no."""

    def on_key(self, event: events.Key) -> None:
        """Escape stays."""
        if normalise_key(event.key) in ("escape", "ctrl+c"):
            event.stop()
            event.prevent_default()
            self.dismiss(STAY)
        else:
            super().on_key(event)


async def ask_summary(app: App[ReturnType], entries: int, tokens: int) -> tuple[str | None, bool] | None:
    """The summary wanted (None: none, "plain", or what it shall mind) and whether never to ask again.

    None: stay. Only inside a worker.
    """
    lost = f"{entries:,} {'entry' if entries == 1 else 'entries'}, about {humanise(tokens)} tokens"
    body = f"Going there leaves {lost}. They stay in the tree; the model will not see them from there."
    options = [
        ("none", "No summary"),
        ("plain", "Summarise what is left, for the model to know"),
        ("focus", "Summarise, and say what it shall mind…"),
        ("never", "No summary, and don't ask again"),
        (STAY, "Stay here"),
    ]
    answer = await app.push_screen_wait(SureChoice("Summarise the branch?", options, body=body, default="none"))
    match answer:
        case "none":
            return None, False
        case "plain":
            return "plain", False
        case "never":
            return None, True
        case "focus":
            focus = await ask_text(app, "What shall the summary mind?")
            return None if focus is None else ((focus.strip() or "plain"), False)
        case _:
            return None


async def ask_stop(app: App[ReturnType], what: str) -> bool:
    """Whether to stop the run that goes on. Only inside a worker."""
    options = [("stop", f"Stop it and {what}"), ("no", "Let it go on")]
    return await app.push_screen_wait(ChoiceScreen("A run goes on.", options)) == "stop"


async def ask_take(app: App[ReturnType], *, has_files: bool, has_text: bool, files_note: str = "") -> str | None:
    """What to take: "files", "text", or None. Only inside a worker."""
    options: list[tuple[str, str]] = []
    if has_files:
        options.append(("files", "This branch's file changes, onto the files as they are now"))
    if has_text:
        options.append(("text", "This message's text, into the prompt"))
    if not options:
        return None
    options.append((STAY, "Nothing"))
    answer = await app.push_screen_wait(SureChoice("Take…", options, body=files_note, default=options[0][0]))
    return None if answer == STAY else answer
