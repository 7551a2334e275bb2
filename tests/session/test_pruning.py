"""Old tool outputs left out of requests: in large steps, the same at every request, and never from the history."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.ai.messages import AssistantMessage, ImageContent, ToolResultMessage, Usage
from app.session import pruning
from app.session.messages import AgentMessage, CompactionSummaryMessage
from app.session.pruning import choose, pruning_note, without
from app.session.token_estimate import estimate_context, estimate_message
from tests.session.test_compaction import calls, result, said, user


def turn(number: int, chars: int, total: int = 0) -> list[AgentMessage]:
    asked = calls(f"{number}")
    asked.usage = Usage(total_tokens=total)
    asked.timestamp = number + 1
    return [asked, result(f"{number}", chars)]


def conversation(turns: int, chars: int = 4000) -> list[AgentMessage]:
    messages: list[AgentMessage] = [user("go")]
    for number in range(turns):
        messages += turn(number, chars)
    return messages


def test_nothing_is_left_out_below_the_threshold() -> None:
    messages = conversation(8)
    pruned = choose(messages, 10_000, 2000)
    assert pruned.places == set()
    assert without(messages, pruned) == messages
    assert pruned.context_tokens == estimate_context(messages).tokens


def test_above_it_all_but_the_newest_outputs_go_at_one_stroke() -> None:
    messages = conversation(12)
    pruned = choose(messages, 10_000, 2000)
    assert len(pruned.places) == 8  # at the request that first exceeded it
    assert pruned.tokens == 8000
    sent = without(messages, pruned)
    placeholder = sent[2]
    assert isinstance(placeholder, ToolResultMessage)
    assert placeholder.tool_call_id == "0"
    assert "read" in placeholder.text()
    assert "1.0k tokens" in placeholder.text()
    assert sent[-1] is messages[-1]
    assert messages[2] is not placeholder
    assert pruning_note(pruned) == "8 old tool outputs (8.0k tokens) are left out of requests"


def test_what_is_left_out_stays_the_same_until_the_next_step() -> None:
    steps = [frozenset(choose(conversation(turns), 10_000, 2000).places) for turns in range(1, 40)]
    changes = [one for one, other in pairwise(steps) if one != other]
    assert len(changes) <= 5
    assert all(one <= other for one, other in pairwise(steps))


def test_results_that_the_model_has_not_seen_always_stay() -> None:
    messages: list[AgentMessage] = [user(), calls("1", "2", "3"), *(result(i, 40_000) for i in "123")]
    assert choose(messages, 10_000, 1000).places == set()


def test_small_outputs_are_not_worth_a_placeholder_and_small_steps_not_a_new_cache() -> None:
    small = conversation(300, 100)
    assert choose(small, 5000, 100).places == set()
    talk: list[AgentMessage] = [user("x" * 40_000), *turn(1, 2000), *turn(2, 40)]
    assert choose(talk, 10_000, 0).places == set()


def test_reported_usage_decides_not_the_estimate() -> None:
    messages = [user(), *turn(1, 4000, 50_000), *turn(2, 4000, 99_500), *turn(3, 4000)]
    assert choose(messages, 100_000, 0).places == set()
    messages = [user(), *turn(1, 4000, 50_000), *turn(2, 4000, 9000), *turn(3, 4000, 10_500), *turn(4, 40)]
    assert choose(messages, 10_000, 0).places == {2, 4}


def test_usage_from_before_a_compaction_prunes_nothing() -> None:
    summary = CompactionSummaryMessage(summary="s", timestamp=100)
    assert choose([summary, user(), *turn(1, 4000, 90_000), *turn(2, 4000)], 50_000, 0).places == set()


def test_images_of_tools_go_as_well() -> None:
    shot = ToolResultMessage(tool_call_id="1", tool_name="read", content=[ImageContent(data="x")] * 10)
    messages: list[AgentMessage] = [user(), calls("1"), shot, said("seen"), user("x" * 40_000)]
    sent = without(messages, choose(messages, 11_000, 0))
    assert isinstance(sent[2], ToolResultMessage)
    assert not any(isinstance(block, ImageContent) for block in sent[2].content)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9000), st.sampled_from([0, 3000, 9000, 20_000])), max_size=25),
    st.integers(1000, 20_000),
    st.integers(0, 9000),
)
def test_a_longer_conversation_leaves_out_at_least_the_same(
    turns: list[tuple[int, int]], threshold: int, keep: int
) -> None:
    messages: list[AgentMessage] = [user("go")]
    before: set[int] = set()
    for number, (chars, total) in enumerate(turns):
        messages += turn(number, chars, total)
        pruned = choose(messages, threshold, keep)
        assert before <= pruned.places
        before = pruned.places
        sent = without(messages, pruned)
        assert [getattr(m, "role", "") for m in sent] == [getattr(m, "role", "") for m in messages]
        assert pruned.tokens == sum(estimate_message(messages[place]) for place in pruned.places)
        assert all(isinstance(messages[place], ToolResultMessage) for place in pruned.places)
        newest = max(place for place, m in enumerate(messages) if isinstance(m, AssistantMessage))
        assert all(place < newest for place in pruned.places)


def test_an_output_is_not_looked_at_again_at_every_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def looks(turns: int, chars: int) -> int:
        seen = 0

        def counting(items: Any) -> Any:
            nonlocal seen
            for item in reversed_as_it_is(items):
                seen += 1
                yield item

        monkeypatch.setattr(pruning, "reversed", counting, raising=False)
        choose(conversation(turns, chars), 2000, 500)
        return seen

    reversed_as_it_is = reversed
    for chars in (100, 260):
        few, many = looks(1000, chars), looks(8000, chars)
        assert many <= 12 * max(few, 100)  # 64 times as many, were it quadratic
