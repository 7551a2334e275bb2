"""An overflow is known by the provider's words, and a rate limit is never taken for one."""

from __future__ import annotations

from typing import Any

import pytest

from app.ai.messages import AssistantMessage, Usage
from app.ai.overflow import is_context_overflow, is_overflow_text


@pytest.mark.parametrize(
    "text",
    [
        "prompt is too long: 213462 tokens > 200000 maximum",
        '413 {"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
        "Input is too long for requested model.",
        "Your input exceeds the context window of this model",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
        "Please reduce the length of the messages or completion",
        "This endpoint's maximum context length is 262144 tokens.",
        "prompt token count of 150000 exceeds the limit of 128000",
        "request (10010 tokens) exceeds the available context size (4096 tokens)",
        "tokens to keep from the initial prompt is greater than the context length",
        "invalid params, context window exceeds limit",
        "Your request exceeded model token limit: 262144",
        "Prompt contains 9000 tokens; too large for model with 8192 maximum context length",
        "model_context_window_exceeded",
        "prompt too long; exceeded max context length by 4 tokens",
        "context_length_exceeded",
        "context length exceeded",
        "too many tokens",
        "token limit exceeded",
        "400 (no body)",
        "413 status code (no body)",
        "host answered 400 (no body). Compact",
    ],
)
def test_the_words_of_each_provider_are_known(text: str) -> None:
    assert is_overflow_text(text)
    assert is_context_overflow(AssistantMessage(stop_reason="error", error_message=text))


@pytest.mark.parametrize(
    "text",
    [
        "Token limit reached",
        "Throttling error: too many tokens, please wait",
        "Service unavailable: token limit exceeded",
        "Rate limit reached: too many tokens per minute",
        "Too many requests, token limit exceeded",
        "500 (no body)",
        "",
    ],
)
def test_other_failures_are_none(text: str) -> None:
    assert not is_overflow_text(text)
    assert not is_context_overflow(AssistantMessage(stop_reason="error", error_message=text))


@pytest.mark.parametrize(("kind", "expected"), [("overflow", True), ("bad_request", True), ("rate_limit", False)])
def test_a_known_kind_counts_before_the_words(kind: str, expected: bool) -> None:
    message = AssistantMessage(stop_reason="error", error_message="prompt is too long", error_kind=kind)
    assert is_context_overflow(message) is expected


@pytest.mark.parametrize(
    ("reason", "usage", "expected"),
    [
        ("stop", {"input": 90, "cache_read": 11}, True),
        ("stop", {"input": 90, "cache_read": 10}, False),
        ("length", {"input": 99}, True),
        ("length", {"input": 98}, False),
        ("length", {"input": 99, "output": 1}, False),
        ("toolUse", {"input": 200}, False),
        ("aborted", {"input": 200}, False),
    ],
)
def test_a_silent_overflow_is_seen_by_its_tokens(reason: Any, usage: dict[str, int], expected: bool) -> None:
    message = AssistantMessage(stop_reason=reason, usage=Usage(**usage))
    assert is_context_overflow(message, 100) is expected
    assert is_context_overflow(message) is False
