"""What is told of a branch that is left: which entries, how much of them, and what the model is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.session.branch_summary import branch_summary, left_behind, plan_branch_summary
from app.session.session import Session
from app.session.summary_text import BRANCH_PREAMBLE, NO_CONTENT
from tests.session.test_compaction import Scribe, calls, result, said, user

pytestmark = pytest.mark.anyio


async def branched(folder: Path) -> tuple[Session, list[str]]:
    """A session with one branch of eight entries, and their ids."""
    session = Session.create(folder, folder)
    ids = [
        await session.append_message(user("question")),
        await session.append_message(said("answer")),
        await session.append_message(user("way")),
        await session.append_thinking_level("low"),
        await session.append_message(calls("1", path="a.py")),
        await session.append_message(result("1")),
        await session.append_compaction("earlier", "nowhere", 10),
        await session.append_message(said("end")),
    ]
    return session, ids


async def test_entries_from_the_leaf_back_to_the_fork_are_left_through_compactions(tmp_path: Path) -> None:
    session, ids = await branched(tmp_path)
    behind = left_behind(session.tree, ids[1], session.leaf_id)
    assert [entry.id for entry in behind] == [ids[2], ids[4], ids[5], ids[6], ids[7]]
    assert [entry.id for entry in left_behind(session.tree, ids[2], session.leaf_id)] == [ids[4], *ids[5:]]
    assert left_behind(session.tree, ids[7], ids[1]) == []
    assert len(left_behind(session.tree, None, session.leaf_id)) == 7
    await session.close()


async def test_tool_results_are_not_told_but_the_files_of_their_calls_are(tmp_path: Path) -> None:
    session, ids = await branched(tmp_path)
    plan = plan_branch_summary(session, left_behind(session.tree, ids[1], session.leaf_id), 10_000)
    assert [getattr(m, "role", "") for m in plan.messages] == ["user", "assistant", "compactionSummary", "assistant"]
    assert plan.files.details() == {"readFiles": ["a.py"], "modifiedFiles": []}
    assert plan.left_out == 0
    await session.close()


async def test_the_newest_are_told_when_not_all_fit(tmp_path: Path) -> None:
    session = Session.create(tmp_path, tmp_path)
    for number in range(10):
        await session.append_message(user(f"{number}" * 400))
    plan = plan_branch_summary(session, left_behind(session.tree, None, session.leaf_id), 350)
    assert [str(getattr(m, "content", ""))[0] for m in plan.messages] == ["7", "8", "9"]
    assert (plan.tokens, plan.left_out) == (300, 7)
    scribe = Scribe("told")
    await branch_summary(plan, scribe, 1000)
    assert "[7 earlier messages of this branch are left out]" in scribe.asked[0][0]
    await session.close()


@pytest.mark.parametrize(("newest_chars", "is_taken"), [(400, True), (3900, False)])
async def test_a_summary_that_does_not_fit_is_taken_while_there_is_room(
    tmp_path: Path, newest_chars: int, is_taken: bool
) -> None:
    session = Session.create(tmp_path, tmp_path)
    await session.append_message(user("old"))
    await session.append_branch_summary(session.leaf_id, "s" * 8000)
    await session.append_message(user("n" * newest_chars))
    plan = plan_branch_summary(session, left_behind(session.tree, None, session.leaf_id), 1000)
    assert (len(plan.messages), plan.left_out) == ((2, 1) if is_taken else (1, 2))
    await session.close()


async def test_files_of_earlier_branch_summaries_are_taken_over_unless_an_extension_wrote_them(tmp_path: Path) -> None:
    session = Session.create(tmp_path, tmp_path)
    await session.append_message(user("old"))
    details = {"readFiles": ["r.py"], "modifiedFiles": ["m.py"]}
    await session.append_branch_summary(session.leaf_id, "s", details)
    await session.append_branch_summary(session.leaf_id, "s", {"readFiles": ["x.py"]}, from_hook=True)
    plan = plan_branch_summary(session, left_behind(session.tree, None, session.leaf_id), 10)
    assert plan.files.details() == details
    await session.close()


async def test_the_summary_has_a_preamble_and_lists_and_an_empty_branch_costs_nothing(tmp_path: Path) -> None:
    session, ids = await branched(tmp_path)
    plan = plan_branch_summary(session, left_behind(session.tree, ids[1], session.leaf_id), 10_000)
    scribe = Scribe("learnt")
    text = await branch_summary(plan, scribe, 1000, "the tests")
    assert text == BRANCH_PREAMBLE + "learnt\n\n<read-files>\na.py\n</read-files>"
    asked, most = scribe.asked[0]
    assert "## Next Steps" in asked
    assert "Critical Context" not in asked
    assert asked.endswith("Additional focus: the tests")
    assert most == 800
    empty = plan_branch_summary(session, [], 10)
    assert await branch_summary(empty, Scribe(), 1000) == NO_CONTENT
    await session.close()
