from __future__ import annotations

import pytest
from textual.content import Content

from renderers.header import STATE_STYLES, Header, ToolState, render_collapsible_header, render_header
from tests.renderers.draw import HOSTILE, draw, metas, shown, styled

STATES: tuple[ToolState, ...] = ("inprogress", "complete", "error")
PATH = "src/some/quite/deep/folder/tests/test_parse.py"


def header(**changes: object) -> Header:
    fields: dict[str, object] = {
        "state": "error", "name": "read", "subject": PATH, "is_path": True,
        "outcome": ("exit 1", "2.3 s"), "expanded": True, "extra": Content("+2 −1"),
    }  # fmt: skip
    return Header(**{**fields, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("width", range(1, 130))
def test_a_header_is_one_row_that_never_exceeds_the_width(width: int) -> None:
    for state in STATES:
        for subject in (PATH, "日本語" * 20, "👩‍👩‍👧 " * 20, ""):
            assert len(draw(header(state=state, subject=subject), width)) == 1
            assert len(draw(header(state=state, subject=subject, plain=True), width)) == 1


def test_the_end_of_a_path_is_kept_and_its_middle_shortened() -> None:
    row = shown(header(), 60)
    assert "test_parse.py" in row
    assert "…" in row
    assert "src/" in row


def test_the_outcome_stands_at_the_right_edge() -> None:
    (row,) = draw(header(), 100)
    assert row.endswith("exit 1 · 2.3 s ▾")
    assert len(row) == 100


def test_on_a_narrow_screen_the_weightiest_outcome_stays() -> None:
    row = shown(header(extra=Content("")), 24)
    assert "exit 1" in row
    assert "2.3 s" not in row


def test_states_differ_by_glyph_colour_and_in_plain_mode_by_word() -> None:
    assert [shown(header(state=state))[2] for state in STATES] == ["◐", "✓", "✗"]
    for state in STATES:
        assert styled(header(state=state), STATE_STYLES[state])
    words = [shown(header(state=state, plain=True)).split()[0] for state in STATES]
    assert words == ["running:", "done:", "failed:"]


def test_plain_mode_draws_no_signs() -> None:
    row = shown(header(plain=True), 100)
    assert not set(row) & set("✓✗⠋◐▾▸│")
    assert row.endswith("(open)")
    assert shown(header(plain=True, expanded=False), 100).endswith("(closed)")


def test_the_spinner_turns_by_frames() -> None:
    assert shown(header(state="inprogress", frame=0)) != shown(header(state="inprogress", frame=1))
    assert shown(header(state="inprogress", frame=1)) == shown(header(state="inprogress", frame=11))


def test_a_line_range_stands_at_its_path() -> None:
    assert f"{PATH}:3-9" in shown(header(extra=Content(":3-9")), 120)


def test_whether_the_subject_is_whole_depends_on_the_width() -> None:
    assert header().shows_whole(100)
    assert not header().shows_whole(50)


@pytest.mark.parametrize("state", STATES)
def test_the_simple_headers_show_state_icon_and_text(state: ToolState) -> None:
    assert shown(render_header(state, "⚙", "Doing [red]it[/]\nnow")).endswith(" ⚙ Doing [red]it[/] now")
    assert shown(render_collapsible_header(state, "⚙", "Doing it", expanded=True)).endswith("▾")
    assert shown(render_collapsible_header(state, "⚙", "Doing it", expanded=False)).endswith("▸")
    assert len(draw(render_header(state, "⚙", "long " * 50), 30)) == 1


@pytest.mark.parametrize("text", HOSTILE)
def test_header_text_is_never_markup(text: str) -> None:
    visual = render_header("complete", text, text)
    assert shown(visual, 120).count(text) == 2
    assert all(not meta for meta in metas(visual, 120))
