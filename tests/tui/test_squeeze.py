from __future__ import annotations

import pyte
from hypothesis import given
from hypothesis import strategies as st

from app.tui.squeeze import squeezed

Screen = list[list[tuple[str, ...]]]
COLUMNS, ROWS = (
    20,
    32,
)  # lower than any example goes: Textual never feeds a line behind the last one, which would scroll
COLOURS = ["38;2;1;2;3", "38;2;200;100;0", "38;5;200", "31", "97", "39"]
BEHIND = ["48;2;9;9;9", "48;5;17", "44", "103", "49"]
ATTRIBUTES = ["1", "3", "4", "7", "9", "22", "23", "24", "27", "29", "0", ""]


def shown(data: str) -> Screen:
    screen = pyte.Screen(COLUMNS, ROWS)
    pyte.Stream(screen).feed(data)
    rows = []
    for y in range(ROWS):
        row = []
        for x in range(COLUMNS):
            cell = screen.buffer[y][x]
            marked = cell.reverse or cell.underscore or cell.strikethrough
            looks = (cell.fg, str(cell.bold), str(cell.italics)) if cell.data != " " or marked else ()
            row.append((cell.data, cell.bg, str(cell.underscore), str(cell.reverse), str(cell.strikethrough), *looks))
        rows.append(row)
    return rows


@st.composite
def segments(draw: st.DrawFn) -> str:
    parts = draw(st.lists(st.sampled_from([*COLOURS, *BEHIND, *ATTRIBUTES]), min_size=1, max_size=4))
    text = draw(st.sampled_from(["a", "  ", "word ", "你", "", " x ", "\r\n"]))
    place = draw(st.sampled_from(["", "", "\x1b[2;3H", "\r\n\x1b[4;1H"]))
    end = draw(st.sampled_from(["\x1b[0m", "\x1b[0m", ""]))
    return f"{place}\x1b[{';'.join(parts)}m{text}{end}"


@given(st.lists(segments(), max_size=12).map("".join))
def test_squeezed_output_leaves_the_same_screen(data: str) -> None:
    assert shown(squeezed(data) + "\x1b[0mend") == shown(data + "\x1b[0mend")


def test_neighbours_of_one_style_cost_no_sequence_between_them() -> None:
    style = "\x1b[38;2;216;216;210;48;2;20;22;26m"
    row = "".join(f"\x1b[{y};1H{style}  {style}one\x1b[0m{style} two\x1b[0m\r\n" for y in (1, 2, 3))
    assert squeezed(row).count("38;2;216") == 1
    assert squeezed(row).endswith("\x1b[0m\r\n") or squeezed(row).endswith("\r\n\x1b[0m")


def test_a_code_that_nobody_knows_leaves_the_output_as_it_is() -> None:
    data = "\x1b[58;5;1mx\x1b[0m \x1b[38;2;1mx"
    assert squeezed(data) == data


def test_output_that_begins_in_the_default_style_ends_in_it() -> None:
    assert squeezed("\x1b[1mx\x1b[0m") == "\x1b[1mx\x1b[0m"
