"""Costs follow the model's prices, each kind of token for itself."""

from __future__ import annotations

import pytest

from app.ai.messages import Usage
from app.ai.pricing import cost_of, settle_usage, tokens_from_wire
from tests.ai.wire_data import model_of

MODEL = model_of("chat")


def test_each_kind_of_token_costs_its_price_per_million() -> None:
    usage = Usage(input=1_000_000, output=500_000, cache_read=100_000, cache_write=10_000)
    cost = cost_of(MODEL, usage)
    assert (cost.input, cost.output) == (1, 1)
    assert cost.cache_read == pytest.approx(0.3)
    assert cost.cache_write == pytest.approx(0.04)
    assert cost.total == pytest.approx(2.34)


def test_the_total_is_the_sum_unless_the_provider_says_otherwise() -> None:
    usage = Usage(input=1, output=2, cache_read=3, cache_write=4)
    settle_usage(MODEL, usage)
    assert usage.total_tokens == 10
    settle_usage(MODEL, usage, total_tokens=12)
    assert usage.total_tokens == 12
    assert usage.cost.total > 0


@pytest.mark.parametrize(("value", "expected"), [(5, 5), (5.9, 5), (-1, 0), (None, 0), ("5", 0), (True, 0), (1e300, 0)])
def test_odd_counters_count_as_nothing(value: object, expected: int) -> None:
    assert tokens_from_wire(value) == expected
