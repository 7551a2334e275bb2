"""Taking one branch's changes into the present files: clean where it can be, told where not, never half of a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.session.snapshots.merge import merge
from app.session.snapshots.plan import RestorePlan
from app.session.snapshots.restore import apply
from app.session.snapshots.taking import plan_take
from app.session.snapshots.tracker import Tracker
from tests.session.snapshot_kit import Tree, read, tracker_of, write

TEN = "".join(f"{number}\n" for number in range(10))


def branches(work: Path, base: Tree, theirs: Tree, ours: Tree) -> tuple[Tracker, RestorePlan]:
    """Write base, then theirs; put base back, write ours; plan to take theirs."""
    tracker = tracker_of(work)
    write(work, base)
    first = tracker.snapshot()
    write(work, theirs)
    second = tracker.snapshot()
    from tests.session.test_snapshots_restore import restore

    restore(tracker, first)
    write(work, ours)
    return tracker, plan_take(tracker, tracker.snapshot(full=True), first, second)


def test_what_only_they_changed_is_taken_as_it_is(work: Path) -> None:
    base: Tree = {"a": "1", "gone": "g", "run": ("x", 0o644), "same": "s"}
    tracker, plan = branches(
        work, base, {"a": "2", "gone": None, "run": ("x", 0o755), "new": "n", "l": "-> a"}, {"mine": "m"}
    )
    assert {file.path: file.kind for file in plan.files} == {
        "a": "changed",
        "gone": "deleted",
        "l": "created",
        "new": "created",
        "run": "changed",
    }
    apply(tracker, plan)
    seen = read(work)
    assert {path: content for path, (_, content, _) in seen.items()} == {
        "a": b"2",
        "l": b"a",
        "mine": b"m",
        "new": b"n",
        "run": b"x",
        "same": b"s",
    }
    assert seen["run"][2] == 0o755


def test_changes_of_different_lines_come_together(work: Path) -> None:
    tracker, plan = branches(
        work, {"a": TEN}, {"a": TEN.replace("8\n", "eight\n")}, {"a": TEN.replace("1\n", "one\nand a half\n")}
    )
    assert [file.is_merged for file in plan.files] == [True]
    apply(tracker, plan)
    assert (work / "a").read_text() == TEN.replace("8\n", "eight\n").replace("1\n", "one\nand a half\n")


@pytest.mark.parametrize(
    ("theirs", "ours", "reason"),
    [
        (TEN.replace("5\n", "five\n"), TEN.replace("5\n", "fünf\n"), "same lines (here: 6)"),
        (None, "changed", "changed here, deleted there"),
        ("changed", None, "deleted here, changed there"),
        (b"\0\1", b"\0\2", "binary"),
        ("-> x", "-> y", "link"),
    ],
)
def test_a_conflict_is_listed_and_its_file_left_whole(
    work: Path, theirs: str | bytes | None, ours: str | bytes | None, reason: str
) -> None:
    tracker, plan = branches(work, {"a": TEN, "b": "1"}, {"a": theirs, "b": "2"}, {"a": ours})
    before = read(work)
    assert [one.path for one in plan.conflicts] == ["a"]
    assert reason in plan.conflicts[0].reason
    done = apply(tracker, plan)
    assert done.done == ("b",)
    assert {**read(work), "b": None} == {**before, "b": None}


def test_a_file_made_on_both_sides_is_a_conflict_unless_equal(work: Path) -> None:
    _, plan = branches(work, {"x": ""}, {"new": "1", "equal": "e"}, {"new": "2", "equal": "e"})
    assert [one.path for one in plan.conflicts] == ["new"]
    assert plan.is_empty


def test_only_the_paths_asked_for_are_taken(work: Path) -> None:
    write(work, {"a": "1", "b": "1"})
    tracker = tracker_of(work)
    base = tracker.snapshot()
    write(work, {"a": "2", "b": "2"})
    theirs = tracker.snapshot()
    write(work, {"a": "1", "b": "1"})
    plan = plan_take(tracker, tracker.snapshot(full=True), base, theirs, ["b"])
    assert [file.path for file in plan.files] == ["b"]


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=12).map("".join)


@given(base=LINES, ours=LINES, theirs=LINES)
def test_a_merge_is_symmetric_and_one_unchanged_side_gives_the_other(base: str, ours: str, theirs: str) -> None:
    assert merge(base, base, theirs).text == theirs
    assert merge(base, ours, base).text == ours
    assert merge(base, ours, ours).text == ours
    one, other = merge(base, ours, theirs), merge(base, theirs, ours)
    assert bool(one.conflicts) == bool(other.conflicts)
    if not one.conflicts:
        assert one.text == other.text


def test_a_missing_last_line_feed_is_a_change_like_any_other() -> None:
    assert merge("1\n2\n3", "1\n2\n3\n", "one\n2\n3").text == "one\n2\n3\n"
    assert merge("1\n2", "1\n2\n3", "1\n2").text == "1\n2\n3"
