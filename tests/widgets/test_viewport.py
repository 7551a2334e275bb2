"""BlockList against a plain list, and the viewport's rules with heights that turn out otherwise than guessed."""

from __future__ import annotations

import random

import pytest

from tests.widgets.transcript_kit import StubBlock, StubUser
from widgets.block_list import BlockList, Slot
from widgets.viewport import Viewport


def loaded(*heights: int) -> BlockList:
    blocks = BlockList()
    blocks.load(Slot(StubBlock(f"b{n}"), height) for n, height in enumerate(heights))
    return blocks


def slot(blocks: BlockList, block_id: str) -> Slot:
    found = blocks.get(block_id)
    assert found is not None
    return found


def window(view: Viewport) -> list[tuple[str, int]]:
    return [(place[0].block.id, place[1]) for place in view.layout()]


def test_sums_stay_true_through_any_mixture_of_changes() -> None:
    chance = random.Random(7)
    blocks = BlockList()
    plain: list[tuple[str, int]] = []
    for n in range(3000):
        height = chance.randrange(4)
        match chance.randrange(8):
            case 0 if plain:
                at = chance.randrange(len(plain))
                blocks.remove(slot(blocks, plain.pop(at)[0]))
            case 1 if plain:
                at = chance.randrange(len(plain))
                blocks.set_height(slot(blocks, plain[at][0]), height)
                plain[at] = (plain[at][0], height)
            case 2 if plain:
                at = chance.randrange(len(plain))
                blocks.rename(slot(blocks, plain[at][0]), f"r{n}")
                plain[at] = (f"r{n}", plain[at][1])
            case _:
                at = chance.randrange(len(plain) + 1)
                blocks.insert(Slot(StubBlock(f"b{n}"), height), slot(blocks, plain[at - 1][0]) if at else None)
                plain.insert(at, (f"b{n}", height))
    assert [each.block.id for each in blocks] == [name for name, _ in plain]
    assert blocks.total_rows == sum(height for _, height in plain)
    row = 0
    for name, height in plain:
        assert blocks.top_of(slot(blocks, name)) == row
        for each in range(height):
            found = blocks.at_row(row + each)
            assert found is not None
            assert (found[0].block.id, found[1]) == (name, each)
        row += height


def test_a_taken_id_is_refused_and_a_twice_loaded_one_kept_once() -> None:
    blocks = BlockList()
    blocks.load([Slot(StubBlock("a"), 1), Slot(StubBlock("a"), 1), Slot(StubBlock("b"), 1)])
    assert len(blocks) == 2
    with pytest.raises(KeyError):
        blocks.append(Slot(StubBlock("a"), 1))
    with pytest.raises(KeyError):
        blocks.rename(slot(blocks, "a"), "b")


def test_neighbours_of_a_kind_are_found_over_thousands_of_others() -> None:
    blocks = BlockList()
    kinds = {0, 5000, 9999}
    blocks.load(Slot((StubUser if n in kinds else StubBlock)(f"b{n}"), 1) for n in range(10_000))
    middle = slot(blocks, "b5000")
    before, after = blocks.neighbour_of_kind(middle, -1, "user"), blocks.neighbour_of_kind(middle, 1, "user")
    assert before is slot(blocks, "b0")
    assert after is slot(blocks, "b9999")
    assert blocks.is_before(slot(blocks, "b0"), middle)
    assert not blocks.is_before(slot(blocks, "b9999"), middle)
    assert blocks.neighbour_of_kind(slot(blocks, "b9999"), 1, "user") is None


def test_following_shows_the_end_and_a_short_session_from_its_start() -> None:
    view = Viewport(loaded(2, 1), lambda _slot: None)
    view.resize(5, width_changed=True)
    assert window(view) == [("b0", 0), ("b0", 1), ("b1", 0)]
    view = Viewport(loaded(*[1] * 20), lambda _slot: None)
    view.resize(5, width_changed=True)
    assert window(view)[0] == ("b15", 0)


def test_wrong_guesses_above_do_not_move_the_window() -> None:
    blocks = loaded(*[1] * 50)
    view = Viewport(blocks, lambda each: blocks.set_height(each, 3))
    view.resize(6, width_changed=True)
    view.layout()
    view.scroll(-10)
    place = window(view)
    view.scroll(-40)
    view.scroll(40)
    assert window(view) == place
    assert view.top == blocks.top_of(slot(blocks, place[0][0])) + place[0][1]


def test_only_blocks_in_view_are_measured() -> None:
    measured: set[str] = set()
    blocks = loaded(*[2] * 10_000)
    view = Viewport(blocks, lambda each: measured.add(each.block.id))
    view.resize(10, width_changed=True)
    view.layout()
    view.scroll(-5)
    view.go_to_row(3000)
    view.layout()
    assert len(measured) < 30


def test_the_anchor_moves_to_a_neighbour_when_its_block_leaves() -> None:
    blocks = loaded(*[2] * 30)
    view = Viewport(blocks, lambda _slot: None)
    view.resize(4, width_changed=True)
    view.layout()
    view.show(slot(blocks, "b10"))
    blocks.remove(slot(blocks, "b10"))
    blocks.remove(slot(blocks, "b9"))
    assert window(view)[0] == ("b8", 1)
    for each in list(blocks):
        blocks.remove(each)
    assert window(view) == []
    blocks.append(Slot(StubBlock("new"), 1))
    assert window(view) == [("new", 0)]


def test_new_rows_count_what_came_after_the_reader_left_the_end() -> None:
    blocks = loaded(*[1] * 30)
    view = Viewport(blocks, lambda _slot: None)
    view.resize(5, width_changed=True)
    view.layout()
    view.scroll(-3)
    assert view.new_rows == 0
    blocks.set_height(slot(blocks, "b29"), 4)
    blocks.append(Slot(StubBlock("more"), 2))
    blocks.set_height(slot(blocks, "b1"), 9)
    assert view.new_rows == 5
    view.scroll(100)
    view.scroll(100)
    assert view.is_following
    assert view.new_rows == 0


def test_a_step_is_small_on_a_small_screen() -> None:
    view = Viewport(loaded(1), lambda _slot: None)
    steps = []
    for height in (5, 12, 24, 40, 100):
        view.resize(height, width_changed=False)
        steps.append(view.step)
    assert steps == [1, 4, 8, 8, 8]


def test_a_window_that_grows_past_the_end_shows_rows_above_instead_of_nothing() -> None:
    view = Viewport(loaded(*[1] * 30), lambda _slot: None)
    view.resize(5, width_changed=True)
    view.layout()
    view.scroll(-2)
    view.resize(12, width_changed=False)
    assert window(view) == [(f"b{n}", 0) for n in range(18, 30)]
    assert view.is_following


def test_a_window_that_loses_a_row_while_following_moves_by_a_row_not_a_step() -> None:
    view = Viewport(loaded(*[1] * 60), lambda _slot: None)
    view.resize(40, width_changed=True)
    view.layout()
    view.resize(39, width_changed=False)
    assert window(view)[0] == ("b21", 0)
    assert len(window(view)) == 39
