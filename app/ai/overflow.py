"""Whether a request failed because the conversation no longer fits the model; it must never read a rate limit as one.

The texts are those of spec core §1.12, one alternative a provider.
"""

from __future__ import annotations

import re

from app.ai.messages import AssistantMessage
from app.errors import ErrorKind

_OVERFLOW = re.compile(
    r"""prompt\ is\ too\ long
    |request_too_large
    |input\ is\ too\ long\ for\ requested\ model
    |exceeds\ the\ context\ window
    |input\ token\ count.{0,200}exceeds\ the\ maximum
    |maximum\ prompt\ length\ is\ \d+
    |reduce\ the\ length\ of\ the\ messages
    |maximum\ context\ length\ is\ \d+\ tokens
    |exceeds\ the\ limit\ of\ \d+
    |exceeds\ the\ available\ context\ size
    |greater\ than\ the\ context\ length
    |context\ window\ exceeds\ limit
    |exceeded\ model\ token\ limit
    |too\ large\ for\ model\ with\ \d+\ maximum\ context\ length
    |model_context_window_exceeded
    |prompt\ too\ long;\ exceeded\ (?:max\ )?context\ length
    |context[_ ]length[_ ]exceeded
    |too\ many\ tokens
    |token\ limit\ exceeded
    |^4(?:00|13)(?:\ status\ code)?\ \(no\ body\)
    |answered\ 4(?:00|13)\ \(no\ body\)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_EXCLUDED = re.compile(r"^(?:Throttling error|Service unavailable):|rate limit|too many requests", re.IGNORECASE)
# 99 %: some providers answer "length" with no output when the prompt fills the window (spec core §1.12).
_FULL = 0.99


def is_overflow_text(text: str) -> bool:
    """Whether an error text of a provider says that the request exceeds the context window."""
    return _OVERFLOW.search(text) is not None and _EXCLUDED.search(text) is None


def is_context_overflow(message: AssistantMessage, context_window: int | None = None) -> bool:
    """Whether this answer shows an overflow: an error that says so, or (given the window, tokens) a silent one."""
    prompt = message.usage.input + message.usage.cache_read
    match message.stop_reason:
        case "error":
            if message.error_kind is not None and message.error_kind != ErrorKind.BAD_REQUEST:
                return message.error_kind == ErrorKind.OVERFLOW
            return is_overflow_text(message.error_message or "")
        case "stop":
            return context_window is not None and prompt > context_window
        case "length":
            return context_window is not None and message.usage.output == 0 and prompt >= _FULL * context_window
        case _:
            return False
