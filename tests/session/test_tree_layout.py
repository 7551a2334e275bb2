"""The rows of a tree, against random trees: nothing is lost, nothing stands twice, and no depth is too much."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from app.session.facts import IndexEntry
from app.session.tree import Tree
from app.session.tree_filter import TreeFilter, TreeQuery, is_call_only, shown_by
from app.session.tree_folds import child_point, fold, parent_point, unfold
from app.session.tree_lanes import Lanes
from app.session.tree_layout import TreeLayout

ROLES = ("user", "assistant", "call", "toolResult", "label", "custom")


def entry(number: int, parent: int | None, role: str = "user") -> IndexEntry:
    kind = "message" if role not in ("label", "custom") else role
    made = IndexEntry(f"n{number}", None if parent is None else f"n{parent}", kind, "2026-11-30T09:00:00Z", number)
    if kind == "message":
        made.role = "assistant" if role == "call" else role
        made.calls = int(role == "call")
        made.preview = "" if role == "call" else f"text {number}"
        made.fact = "toolUse" if role == "call" else "read" if role == "toolResult" else None
    if role == "label":
        made.target, made.fact = f"n{max(0, number - 3)}", "kept"
    return made


@st.composite
def trees(draw: st.DrawFn, most: int = 40) -> list[IndexEntry]:
    made: list[IndexEntry] = []
    for number in range(draw(st.integers(0, most))):
        parent = None if not number or draw(st.integers(0, 12)) == 0 else draw(st.integers(0, number - 1))
        if draw(st.booleans()) and number:
            parent = number - 1
        made.append(entry(number, parent, draw(st.sampled_from(ROLES))))
    return made


def with_leaf(tree: Tree, draw: st.DataObject) -> Tree:
    moves = draw.draw(st.booleans())
    if tree.entries and moves:
        target = draw.draw(st.sampled_from([*(e.id for e in tree.entries), None]))
        tree.add(IndexEntry("leaf", target, "custom", "", len(tree.entries), fact="pinyon.leaf", own=True))
    return tree


@given(trees(), st.data())
@settings(max_examples=150, deadline=None)
def test_every_entry_stands_in_exactly_one_lane_and_the_first_ends_at_the_leaf(
    made: list[IndexEntry], draw: st.DataObject
) -> None:
    tree = with_leaf(Tree(made), draw)
    lanes = Lanes(tree)
    assert sorted(e.id for lane in lanes.all for e in lane.entries) == sorted(e.id for e in tree.entries)
    assert [e.id for e in lanes.main.entries] == ([e.id for e in tree.branch()] if tree.leaf_id else [])
    for lane in lanes.all:
        for above, below in zip(lane.entries, lane.entries[1:], strict=False):
            assert tree.parent_id(below.id) == above.id
    assert lanes.main.total == len(tree.entries)


@given(trees(), st.sampled_from(TreeFilter), st.data())
@settings(max_examples=200, deadline=None)
def test_opened_everywhere_the_rows_are_exactly_what_the_filter_shows(
    made: list[IndexEntry], mode: TreeFilter, draw: st.DataObject
) -> None:
    tree = with_leaf(Tree(made), draw)
    layout = TreeLayout(tree, mode)
    shows = shown_by(mode, tree)
    order = [e.id for e in layout.order()]
    assert len(order) == len(set(order))
    wanted = {e.id for e in tree.entries if shows(e)}
    assert set(order) <= wanted
    assert {e.id for e in tree.entries if e.id in wanted - set(order)} <= {
        e.id for e in tree.entries if is_call_only(e)
    }, "only answers that do nothing but call tools are shown by their calls"


@given(trees(), st.sampled_from(TreeFilter), st.data())
@settings(max_examples=150, deadline=None)
def test_whatever_is_folded_and_opened_rows_stay_sound(
    made: list[IndexEntry], mode: TreeFilter, draw: st.DataObject
) -> None:
    tree = with_leaf(Tree(made), draw)
    layout = TreeLayout(tree, mode)
    for _ in range(draw.draw(st.integers(0, 12))):
        if not layout.rows:
            break
        at = draw.draw(st.integers(0, len(layout.rows) - 1))
        act = draw.draw(st.sampled_from([fold, unfold, parent_point, child_point]))
        assert act(layout, at) in tree
        seen: set[str] = set()
        for number, row in enumerate(layout.rows):
            assert row.column.last >= number
            assert layout.row_of(row.entry.id) == number
            ids = {e.id for e in row.column.lane.entries[row.first : row.last + 1]}
            assert not ids & seen
            seen |= ids
            assert row.depth == 0 or row.column.parent is not None
            assert row.depth == 0 or row.column.parent is None or row.column.parent.depth == row.depth - 1


@given(trees(), st.sampled_from([TreeFilter.DEFAULT, TreeFilter.ALL, TreeFilter.USER]), st.data())
@settings(max_examples=150, deadline=None)
def test_what_is_revealed_has_a_row_of_its_own(made: list[IndexEntry], mode: TreeFilter, draw: st.DataObject) -> None:
    tree = with_leaf(Tree(made), draw)
    layout = TreeLayout(tree, mode)
    order = layout.order()
    if order:
        target = draw.draw(st.sampled_from(order))
        layout.reveal(target.id)
        at = layout.row_of(target.id)
        assert at is not None
        assert layout.rows[at].entry.id == target.id


@given(trees(25), st.lists(st.sampled_from(ROLES), max_size=8), st.data())
@settings(max_examples=150, deadline=None)
def test_growing_row_by_row_is_the_same_as_building_anew(
    made: list[IndexEntry], more: list[str], draw: st.DataObject
) -> None:
    tree = with_leaf(Tree(made), draw)
    layout = TreeLayout(tree)
    number = 1000
    for role in more:
        parent = (
            tree.leaf_id
            if draw.draw(st.integers(0, 4))
            else draw.draw(st.sampled_from([*(e.id for e in tree.entries), None]))
        )
        made_now = entry(number, None, role)
        made_now.parent_id = parent
        tree.add(made_now)
        number += 1
        layout.refresh()
        fresh = TreeLayout(tree)
        assert [(r.entry.id, r.first, r.last, r.kind, r.depth, r.starts, r.more) for r in layout.rows] == [
            (r.entry.id, r.first, r.last, r.kind, r.depth, r.starts, r.more) for r in fresh.rows
        ]
        assert [r.column.last for r in layout.rows] == [r.column.last for r in fresh.rows]


def test_a_chain_of_100_000_entries_and_5_000_siblings_do_not_recurse() -> None:
    chain = [entry(n, n - 1 if n else None, ROLES[n % 4]) for n in range(100_000)]
    layout = TreeLayout(Tree(chain))
    assert layout.row_of("n99999") is not None
    siblings = [entry(0, None), *(entry(n, 0) for n in range(1, 5_001))]
    layout = TreeLayout(Tree(siblings))
    assert len(layout.rows) == 5_001


def test_lanes_nested_thousands_deep_can_all_be_opened() -> None:
    half = 5_000
    made = [entry(n, n - 1 if n else None) for n in range(half)]
    made += [entry(half + n, half - 1 - n) for n in range(half)]
    layout = TreeLayout(Tree(made))
    layout.reveal(f"n{half - 1}")
    assert max(row.depth for row in layout.rows) == half - 1


def test_a_query_has_words_phrases_and_patterns() -> None:
    assert TreeQuery.parse('parse "two words"').fits("two   words to Parse")
    assert not TreeQuery.parse('parse "two words"').fits("two other words to parse")
    assert TreeQuery.parse("re:^us.r").fits("user text")
    assert TreeQuery.parse('un"closed').fits('un"closed')
    assert TreeQuery.parse("re:(").problem
    assert not TreeQuery.parse("re:(").fits("(")
    assert TreeQuery.parse("  ").is_empty
    assert TreeQuery.parse("aa a").spans("baaa") == [(1, 4)]
