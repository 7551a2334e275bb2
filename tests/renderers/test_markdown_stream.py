"""A stream ends as the whole text would look, keeps what is finished, and costs the same for each token."""

from __future__ import annotations

import random

import pytest
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions

from renderers.markdown import MarkdownVisual
from renderers.palette import style_resolver
from tests.renderers.test_markdown import EVERYTHING

OPTIONS = RenderOptions(style_resolver(), RulesMap())
WORDS = ["the", "parser", "reads", "`tokens`", "from", "**bold**", "streams", "[a](http://x.y)", "around;", "nothing"]


def draw(visual: MarkdownVisual, width: int = 60) -> list[Strip]:
    return visual.render_strips(width, None, Style(), OPTIONS)


def cells(strips: list[Strip]) -> list[list[tuple[str, object]]]:
    return [[(segment.text, segment.style) for segment in strip] for strip in strips]


def stream(text: str, size: int, width: int = 60) -> list[Strip]:
    """Feed the text in pieces, drawing after each; the stable rows must be the strips of the time before."""
    visual = MarkdownVisual()
    old: list[Strip] = []
    for start in range(0, len(text), size):
        visual.append(text[start : start + size])
        new = draw(visual, width)
        assert visual.stable_rows <= min(len(old), len(new))
        assert all(ours is theirs for ours, theirs in zip(old[: visual.stable_rows], new, strict=False))
        old = new
    visual.finish()
    return draw(visual, width)


def prose(words: int, seed: int = 1) -> str:
    chosen = random.Random(seed)
    return " ".join(chosen.choice(WORDS) for _ in range(words))


def fence(lines: int) -> str:
    return "```python\n" + "".join(f"    value_{n} = call({n})  # note\n" for n in range(lines)) + "```\n"


def items(count: int) -> str:
    return "".join(f"- item {n} {prose(5, n)}\n" for n in range(count))


def table(rows: int) -> str:
    return "| a | b | c |\n|---|:-:|--:|\n" + "".join(f"| row {n} | {prose(3, n)} | {n} |\n" for n in range(rows))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 10_000])
@pytest.mark.parametrize("width", [2, 20, 60])
def test_a_streamed_text_ends_like_one_that_came_whole(size: int, width: int) -> None:
    assert cells(stream(EVERYTHING, size, width)) == cells(draw(MarkdownVisual(EVERYTHING), width))


FRAGMENTS = [
    "a", "b c", "", "", "- x", "- ", "* y", "1. n", "2. m", "> q", ">", "# h", "```", "```py", "~~~", "---", "===",
    "***", "    code", "| a | b |", "|---|---|", "| 1 | 2 | 3 |", "- - w", "> - v", "\tt", "- [ ] t", "**b",
    "`c", "[r]", "[r]: http://r",
    "<div>", "日本語", "\x1b[1mz", "x\r",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(150))
def test_any_mixture_of_lines_streams_to_the_same_end(seed: int) -> None:
    chosen = random.Random(seed)
    lines = [chosen.choice(["", "", "  ", "> ", "- ", "   "]) + chosen.choice(FRAGMENTS) for _ in range(14)]
    text = "\n".join(lines)
    assert cells(stream(text, chosen.randint(1, 9), 30)) == cells(draw(MarkdownVisual(text), 30))


@pytest.mark.parametrize(
    "text",
    [prose(700), "> " + prose(700), "x" * 9_000, "\n".join(prose(9, n) for n in range(90)), "*" + prose(900)],
    ids=["one line", "quoted", "one word", "many lines", "never balanced"],
)
def test_a_very_long_paragraph_streams_to_the_same_end(text: str) -> None:
    assert cells(stream(text, 40)) == cells(draw(MarkdownVisual(text)))


def test_a_long_fence_is_coloured_like_one_that_came_whole() -> None:
    text = "```python\n" + ('def f():\n    """Many\n    lines."""\n\n' * 150) + "```\n"
    assert cells(stream(text, 90)) == cells(draw(MarkdownVisual(text)))


@pytest.mark.parametrize(
    ("text", "unsettled"),
    [("some text\n\n- on", 2), ("```py\nx = 1\ny", 1), ("- a\n- b\n- c", 1), ("| a |\n|---|\n| 1 |\n| 2 |\n| 3", 1)],
)
def test_only_the_open_end_is_drawn_again(text: str, unsettled: int) -> None:
    visual = MarkdownVisual()
    visual.append(text)
    before = draw(visual)
    visual.append("d")
    after = draw(visual)
    assert visual.stable_rows >= len(before) - unsettled
    assert [strip for strip in before[: visual.stable_rows] if strip not in after] == []


@pytest.mark.parametrize("width", [3, 40])
def test_a_table_that_keeps_its_widths_shows_its_header_once(width: int) -> None:
    text = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n"
    assert cells(stream(text, 1, width)) == cells(draw(MarkdownVisual(text), width))


def test_marks_that_may_become_something_else_are_held_back() -> None:
    visual = MarkdownVisual()
    visual.append("text\n")
    for delta, rows in (("-", ["text"]), ("-", ["text"]), (" ", ["text"])):
        visual.append(delta)
        assert [strip.text for strip in draw(visual)] == rows
    visual = MarkdownVisual()
    visual.append("```\ncode\n``")
    assert [strip.text for strip in draw(visual)] == ["  code"]
    visual.finish()
    assert [strip.text for strip in draw(visual)] == ["  code", "  ``"]


@pytest.mark.parametrize("hostile", ["\x1b[31m", "\x1b]0;t\x07", "\x9b1m", "a\rb", "\ud800", "\x1b]"])
def test_a_long_hostile_line_is_safe_in_every_frame(hostile: str) -> None:
    visual = MarkdownVisual()
    for delta in (hostile * 40 + "some words ") * 30:
        visual.append(delta)
        if len(visual.text) % 97 == 0:
            for strip in draw(visual):
                assert not any(ord(character) < 32 or 0x7F <= ord(character) < 0xA0 for character in strip.text)
    visual.append("\nend")
    visual.finish()
    assert draw(visual)[-1].text.endswith("end")


def test_a_carriage_return_ends_a_line_before_the_line_feed_comes() -> None:
    visual = MarkdownVisual()
    visual.append("# one\rtwo\r")
    assert [strip.text for strip in draw(visual)] == ["one", "", "two"]
    visual.append("\nthree")
    assert [strip.text for strip in draw(visual)] == ["one", "", "two three"]


def test_drawing_again_without_news_makes_nothing_new() -> None:
    visual = MarkdownVisual()
    visual.append(EVERYTHING)
    first = draw(visual)
    painted, parsed = visual.painted_strips, visual.parsed_chars
    assert draw(visual) == first
    assert visual.stable_rows == len(first)
    assert (visual.painted_strips, visual.parsed_chars) == (painted, parsed)


def work(text: str) -> list[tuple[int, int]]:
    """Return (characters parsed, strips painted) for each append of 64 characters, in order."""
    visual = MarkdownVisual()
    spent: list[tuple[int, int]] = []
    for start in range(0, len(text), 64):
        before = visual.parsed_chars, visual.painted_strips
        visual.append(text[start : start + 64])
        draw(visual, 100)
        spent.append((visual.parsed_chars - before[0], visual.painted_strips - before[1]))
    return spent


@pytest.mark.parametrize(
    "text",
    ["\n\n".join(prose(60, n) for n in range(120)), fence(2_000), items(500), table(300), prose(6_000)],
    ids=["prose", "fence", "list", "table", "one paragraph"],
)
def test_a_token_costs_the_same_at_the_end_as_at_the_start(text: str) -> None:
    spent = work(text)
    quarter = len(spent) // 4
    for kind in (0, 1):
        early = sum(part[kind] for part in spent[quarter : 2 * quarter])
        late = sum(part[kind] for part in spent[-quarter - 1 : -1])
        assert late <= 1.3 * early + 50


@pytest.mark.parametrize(
    "text", [fence(2_000), items(500), table(300), prose(6_000)], ids=["fence", "list", "table", "long"]
)
def test_no_single_token_pays_for_the_whole_block(text: str) -> None:
    spent = work(text)
    assert max(parsed for parsed, _ in spent) < 10_000
    assert max(painted for _, painted in spent) < 300


def test_a_block_that_closes_is_laid_out_once_more_and_nothing_before_it() -> None:
    visual = MarkdownVisual()
    visual.append(prose(300) + "\n\n" + table(40))
    before = draw(visual)
    top = len(MarkdownVisual(prose(300)).render_strips(60, None, Style(), OPTIONS))
    visual.append("| a cell that is wider than all of the first rows were, by far | x | 1 |\n\nend")
    after = draw(visual)
    assert top <= visual.stable_rows < len(before)
    assert after[:top] == before[:top]
