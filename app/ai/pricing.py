"""What an answer cost, from its tokens and the model's prices; it must never guess a price."""

from __future__ import annotations

from app.ai.messages import Cost, Model, Usage


def cost_of(model: Model, usage: Usage) -> Cost:
    """US dollars for each kind of token and in total (`model.cost` is dollars per million tokens)."""
    price = model.cost
    parts = (
        usage.input * price.input / 1e6,
        usage.output * price.output / 1e6,
        usage.cache_read * price.cache_read / 1e6,
        usage.cache_write * price.cache_write / 1e6,
    )
    return Cost(input=parts[0], output=parts[1], cache_read=parts[2], cache_write=parts[3], total=sum(parts))


def settle_usage(model: Model, usage: Usage, total_tokens: int | None = None) -> None:
    """Fill in `total_tokens` (the provider's own, else the sum of the four counters) and `cost`, in place."""
    total = usage.input + usage.output + usage.cache_read + usage.cache_write
    usage.total_tokens = total if total_tokens is None else total_tokens
    usage.cost = cost_of(model, usage)


def tokens_from_wire(value: object) -> int:
    """A provider's token counter as a whole number; what is missing, negative or no number counts as 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return max(0, int(value)) if abs(value) < 1e15 else 0
