from __future__ import annotations

import pytest
from textual.style import Style
from textual.visual import RenderOptions

from renderers.messages import (
    SIBLING_META,
    bash_execution_visual,
    custom_visual,
    error_visual,
    interrupted_visual,
    note_visual,
    summary_visual,
    thinking_visual,
    user_visual,
)
from renderers.palette import style_resolver
from tests.renderers.draw import HOSTILE, draw, metas, shown, strips, styled


def test_a_user_message_stands_behind_a_bar_on_a_tint_of_the_whole_width() -> None:
    visual = user_visual("Find out why.\nThen fix it.")
    assert draw(visual, 40) == ["▌ Find out why.", "▌ Then fix it."]
    assert all(sum(len(segment.text) for segment in row) == 40 for row in strips(visual, 40))
    assert "".join(styled(visual, "on $user-background", 40)).count("Find out why.") == 1


def test_siblings_are_shown_at_the_right_and_their_arrows_can_be_clicked() -> None:
    visual = user_visual("Find out why.", siblings=(2, 3))
    assert draw(visual, 40)[0].endswith("‹ 2/3 ›")
    assert [meta[SIBLING_META] for meta in metas(visual, 40) if SIBLING_META in meta] == [-1, 1]
    assert "‹" not in shown(user_visual("x", siblings=(1, 1)), 40)
    assert "‹ 2/3 ›" in shown(visual, 14)
    assert "version 2 of 3" in shown(user_visual("x", siblings=(2, 3), plain=True), 60)


def test_prose_is_never_wider_than_a_hundred_cells() -> None:
    long = "word " * 100
    for visual in (user_visual(long), error_visual(long), note_visual(long)):
        assert max(len(row) for row in draw(visual, 200)) <= 104


def test_words_are_not_broken_where_there_is_a_blank() -> None:
    assert draw(error_visual("alpha beta gamma"), 14) == ["✗ alpha beta", "  gamma"]


def test_images_are_counted() -> None:
    assert "[1 image]" in shown(user_visual("look", images=1))
    assert draw(user_visual("", images=2), 40) == ["▌ [2 images]"]


def test_thinking_folds_to_one_line_that_says_how_long() -> None:
    assert draw(thinking_visual("a\nb", "title", 4.2)) == ["  thought for 4 s ▸"]
    assert draw(thinking_visual("a\nb", "title", 62.0)) == ["  thought for 1 m 02 s ▸"]
    assert draw(thinking_visual("a", "title")) == ["  thought ▸"]
    assert draw(thinking_visual("", "title", 2.0, True)) == ["  thinking 2 s"]


def test_thinking_that_took_no_time_tells_none() -> None:
    assert draw(thinking_visual("x", elapsed_s=0.02)) == ["  thought ▸"]


def test_open_thinking_shows_its_head_and_while_it_streams_its_end() -> None:
    text = "\n".join(f"step {i}" for i in range(20))
    assert "step 0" in shown(thinking_visual(text, "preview", 4.0))
    assert "step 19" not in shown(thinking_visual(text, "preview", 4.0))
    assert "step 19" in shown(thinking_visual(text, "preview", 4.0, True))
    assert len(draw(thinking_visual(text, "full", 4.0))) == 21
    assert any("italic" in str(segment.style) for row in strips(thinking_visual("a", "full"), 40) for segment in row)


def test_a_bash_execution_shows_command_output_and_exit() -> None:
    rows = draw(bash_execution_visual("ls -la", "a\nb\n", exit_code=2), 60)
    assert rows[0].startswith("  ✗ !  ls -la")
    assert rows[0].endswith("exit 2 ▾")
    assert rows[1:] == ["    │ a", "    │ b"]


def test_a_bash_execution_that_the_model_is_not_told_says_so() -> None:
    assert "not told to the model" in shown(bash_execution_visual("ls", "", excluded=True))
    assert shown(bash_execution_visual("ls", "", excluded=True)).lstrip().startswith("✓ !!")


def test_a_bash_execution_shows_its_last_twenty_rows_and_states() -> None:
    rows = draw(bash_execution_visual("x", "".join(f"{i}\n" for i in range(50)), exit_code=0))
    assert len(rows) == 1 + 1 + 20
    assert "(no output)" in shown(bash_execution_visual("x", "", exit_code=0))
    assert "running 3 s" in shown(bash_execution_visual("x", "", running=True, elapsed_s=3.0))
    assert "stopped" in shown(bash_execution_visual("x", "a", cancelled=True))
    assert "/tmp/all" in shown(bash_execution_visual("x", "a", full_output_path="/tmp/all"))


def test_summaries_fold_to_one_line_and_open_as_markdown() -> None:
    assert draw(summary_visual("compaction", "# Goal\ntext", 12_345)) == ["  compacted from 12,345 tokens ▸"]
    shorter = summary_visual("compaction", "# Goal\ntext", 12_345, tokens_after=2_000)
    assert draw(shorter) == ["  compacted from 12,345 tokens to about 2,000 ▸"]
    assert draw(summary_visual("branch", "text"))[0].startswith("  branch summary ▸")
    body = shown(summary_visual("branch", "# Goal\n\nsome **bold** text", density="full"))
    assert "Goal" in body
    assert "some bold text" in body


def test_a_long_custom_message_is_cut_in_the_preview() -> None:
    text = "\n\n".join(f"part {i}" for i in range(30))
    assert "part 29" in shown(custom_visual("ext", text, "full"))
    assert "part 29" not in shown(custom_visual("ext", text, "preview"))
    assert len(draw(custom_visual("ext", text, "title"))) == 1


def test_an_error_is_red_and_says_what_can_be_done() -> None:
    visual = error_visual("401 unauthorized", "type /login")
    assert draw(visual) == ["  ✗ 401 unauthorized", "    type /login"]
    assert "401 unauthorized" in "".join(styled(visual, "$text-error"))
    assert draw(error_visual(""))[0].strip("✗ ")


def test_notes_carry_their_level_as_sign_and_in_plain_mode_as_word() -> None:
    assert draw(note_visual("saved")) == ["  · saved"]
    assert draw(note_visual("careful", "warning")) == ["  ! careful"]
    assert draw(note_visual("careful", "warning", plain=True)) == ["  warning: careful"]
    assert draw(error_visual("x", plain=True)) == ["  error: x"]
    assert draw(interrupted_visual(plain=True))[0].startswith("  stopped: interrupted")
    assert "▸" not in shown(thinking_visual("a", plain=True))


@pytest.mark.parametrize("text", HOSTILE)
def test_messages_are_never_markup(text: str) -> None:
    visuals = (
        user_visual(text),
        thinking_visual(text, "full"),
        bash_execution_visual(text, text, exit_code=1),
        error_visual(text, text),
        note_visual(text),
        summary_visual("branch", f"`{text}`", density="full"),
        custom_visual(text, f"`{text}`"),
    )
    for visual in visuals:
        assert text in shown(visual)
        assert all(not meta for meta in metas(visual))


@pytest.mark.parametrize("width", [1, 2, 3, 5, 9])
def test_every_message_survives_narrow_screens(width: int) -> None:
    text = "日本語 👩‍👩‍👧 word\n\ttab\x1b[31m"
    visuals = (
        user_visual(text, siblings=(1, 2), images=3),
        thinking_visual(text, "full", 3.0),
        bash_execution_visual(text, text, exit_code=1, excluded=True, elapsed_s=3.0),
        error_visual(text, text),
        note_visual(text, "error"),
        interrupted_visual(),
        summary_visual("compaction", text, 99, "full"),
        custom_visual(text, text),
    )
    for visual in visuals:
        # Half of a wide character can't be shown in one cell.
        rows = visual.render_strips(width, None, *_plain())
        assert len(rows) == visual.get_height({}, width)
        assert max((row.cell_length for row in rows), default=0) <= max(2, width)


def _plain() -> tuple[Style, RenderOptions]:
    return Style(), RenderOptions(style_resolver(), {})


def test_a_huge_text_is_cut_and_says_how_much_is_left() -> None:
    rows = draw(user_visual("line\n" * 50_000))
    assert len(rows) == 2_001
    assert rows[-1] == "▌ … 48,000 more lines"
    assert len(draw(error_visual("<p>\n" * 500))) == 41
    assert draw(note_visual("x" * 300_000), 100)[-1].strip() == "…"
