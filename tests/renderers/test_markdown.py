"""Markdown as rows of text: what each construct looks like, at any width, with foreign text kept literal."""

from __future__ import annotations

import pytest
from rich.style import Style as RichStyle
from textual.app import App, ComposeResult
from textual.css.styles import RulesMap
from textual.style import Style
from textual.visual import RenderOptions
from textual.widgets import Static

from renderers.markdown import MarkdownVisual
from renderers.palette import defaults, style_resolver
from renderers.text import cell_width

OPTIONS = RenderOptions(style_resolver(), RulesMap())

EVERYTHING = """\
# Title *em* `c`
Text with **bold** and [link](http://a.b/c) and <http://auto.link> and ![alt](u) and a
softbreak, hard  
break &amp; [ref][x] <b>html</b>.

Setext
------

- one
- two
  continued
  - nested `x`
    1. deep
    2. deeper
- [ ] todo
- [x] done

7. first

   para
8. second
   ```python
   def f(x):
       return x  # comment
   ```

> quote line
lazy
>
> - item in quote

| Name | Value | Right |
|:-----|:-----:|------:|
| a | **b** `c\\|d` | 1 |
| long cell text that wraps | 日本語 | 22 |

```js
\ttabbed();
```

    indented

***
<div>
 html
</div>

[x]: http://ref.example
end
"""  # noqa: W291

AT_44 = """\
Title em c

Text with bold and link (http://a.b/c) and
http://auto.link and [image: alt] and a
softbreak, hard
break & ref (http://ref.example)
<b>html</b>.

Setext

• one
• two continued
  ◦ nested x
    1. deep
    2. deeper
☐ todo
☑ done

7. first

   para
8. second
     def f(x):
         return x  # comment

▎ quote line lazy
▎
▎ • item in quote

Name                      │ Value  │ Right
──────────────────────────┼────────┼──────
a                         │ b c|d  │     1
long cell text that wraps │ 日本語 │    22

      tabbed();

  indented

────────────────────────────────────────────

<div>
 html
</div>

end
"""

HOSTILE = ["[/a/b]", "[red]x", "[/]", "[data: /m?s=b-]", "\\[", "[@click=app.quit]x[/]"]


def shown(text: str, width: int = 80) -> list[str]:
    return [strip.text for strip in MarkdownVisual(text).render_strips(width, None, Style(), OPTIONS)]


def style_of(text: str, part: str, width: int = 80) -> RichStyle:
    for strip in MarkdownVisual(text).render_strips(width, None, Style(), OPTIONS):
        for segment in strip:
            if segment.text == part and segment.style is not None:
                return segment.style
    raise AssertionError(f"{part!r} is not a segment of its own")


def test_every_construct_has_its_rows() -> None:
    assert "\n".join(shown(EVERYTHING, 44)) + "\n" == AT_44


@pytest.mark.parametrize("width", [1, 2, 3, 5, 8, 20, 40, 80, 120, 300])
def test_no_row_is_wider_than_the_screen(width: int) -> None:
    strips = MarkdownVisual(EVERYTHING).render_strips(width, None, Style(), OPTIONS)
    assert strips
    for strip in strips:
        assert strip.cell_length == cell_width(strip.text) <= width


def test_a_text_is_whole_again_after_it_was_narrow() -> None:
    visual = MarkdownVisual(EVERYTHING)
    before = [strip.text for strip in visual.render_strips(80, None, Style(), OPTIONS)]
    for width in (2, 1, 0, 5):
        visual.render_strips(width, None, Style(), OPTIONS)
    assert [strip.text for strip in visual.render_strips(80, None, Style(), OPTIONS)] == before


@pytest.mark.parametrize("width", [2, 5, 20])
def test_a_table_without_room_is_stacked_and_keeps_its_text(width: int) -> None:
    rows = shown("| alpha | beta | gamma | delta |\n|---|---|---|---|\n| one | two | three | four |\n", width)
    joined = "".join(rows).replace(" ", "")
    for word in ("one", "two", "three", "four", "alpha", "delta"):
        assert word in joined


def test_prose_is_at_most_100_cells_and_code_and_tables_use_the_width() -> None:
    prose = shown("word " * 100, 160)
    assert max(map(cell_width, prose)) <= 100
    code = shown("```\n" + "x" * 150 + "\n```", 160)
    assert [cell_width(row) for row in code] == [152]
    table = shown("|" + "a" * 70 + "|" + "b" * 70 + "|\n|-|-|\n", 160)
    assert cell_width(table[0]) == 143


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("frame", ["{}", "# {}", "- {}", "> {}", "```\n{}\n```", "|h|\n|-|\n|{}|"])
def test_foreign_markup_is_shown_as_it_was_written(hostile: str, frame: str) -> None:
    visual = MarkdownVisual(frame.format(hostile.replace("\\", "\\\\") if "`" not in frame else hostile))
    strips = visual.render_strips(60, None, Style(), OPTIONS)
    assert hostile in "\n".join(strip.text for strip in strips)
    for strip in strips:
        for segment in strip:
            assert segment.style is None or not segment.style.meta
            assert segment.style is None or segment.style.link is None


def test_a_link_is_text_and_address_and_nothing_to_click() -> None:
    text = "[home](https://x.y/a%20b) <https://x.y> [mail](mailto:a@b.c) [js](javascript:alert(1)) [@click=app.quit](http://x)"
    assert " ".join(shown(text, 300)) == (
        "home (https://x.y/a%20b) https://x.y mail (a@b.c) [js](javascript:alert(1)) @click=app.quit (http://x)"
    )
    assert style_of(text, "home").link is None
    assert style_of(text, "home").underline


@pytest.mark.parametrize("entity", ["&#27;[31m", "&#x1b;]0;t&#7;", "&#x202e;x", "&#0;", "a&#10;b", "&#9;"])
def test_an_entity_brings_no_control_character_in(entity: str) -> None:
    text = "".join(shown(f"x{entity}y `{entity}` [{entity}](http://x/{entity})"))
    assert all(character.isprintable() for character in text)


def test_html_is_literal() -> None:
    assert shown("<details>\n<summary>*x*</summary>\n\ntext <br> *em*") == [
        "<details>",
        "<summary>*x*</summary>",
        "",
        "text <br> em",
    ]


def test_emphasis_is_attributes() -> None:
    text = "**b** *i* ~~s~~ ***bi*** `c` **`bc`**"
    assert style_of(text, "b").bold
    assert style_of(text, "i").italic
    assert style_of(text, "s").strike
    both = style_of(text, "bi")
    assert both.bold
    assert both.italic
    assert style_of(text, "bc").bold
    assert style_of(text, "c").color == OPTIONS.get_style("$md-code").rich_style.color


def test_a_known_language_is_coloured_and_an_unknown_one_is_plain() -> None:
    assert (
        style_of("```python\nclass A: pass\n```", "class").color == OPTIONS.get_style("$code-keyword").rich_style.color
    )
    assert shown("```nonesuch\nclass A\n```") == ["  class A"]
    assert shown("```\n\nx\n\n```") == ["", "  x", ""]


def test_numbers_go_on_from_the_first_one() -> None:
    assert shown("3. a\n3. b\n9. c") == ["3. a", "4. b", "5. c"]
    assert shown("99. a\n    more\n100. b") == ["99. a more", "100. b"]


def test_an_item_may_be_empty_and_an_unfinished_list_of_marks_is_no_crash() -> None:
    assert shown("-\n- a\n-") == ["•", "• a", "•"]
    assert shown("- - - a") == ["• ◦ ▪ a"]
    assert shown("> " * 40 + "deep", 30)


def test_a_link_whose_address_comes_later_is_resolved_at_the_end() -> None:
    visual = MarkdownVisual()
    visual.append("first\n\nsee [docs]\n\nmore\n\n")
    visual.render_strips(40, None, Style(), OPTIONS)
    visual.append("[docs]: http://d.example")
    visual.finish()
    rows = [strip.text for strip in visual.render_strips(40, None, Style(), OPTIONS)]
    assert rows == ["first", "", "see docs (http://d.example)", "", "more"]
    assert visual.stable_rows == 2


def test_a_theme_change_paints_the_same_rows_anew() -> None:
    visual = MarkdownVisual(EVERYTHING)
    dark = visual.render_strips(60, None, Style(), OPTIONS)
    light = visual.render_strips(60, None, Style(), RenderOptions(style_resolver(False), RulesMap()))
    assert visual.stable_rows == 0
    assert [strip.text for strip in dark] == [strip.text for strip in light]
    assert [list(strip) for strip in dark] != [list(strip) for strip in light]


def test_height_and_width_are_those_of_the_rows() -> None:
    visual = MarkdownVisual(EVERYTHING)
    assert visual.get_height(RulesMap(), 44) == len(AT_44.splitlines(keepends=True))
    assert visual.get_optimal_width(RulesMap(), 44) == 44
    assert MarkdownVisual("short").get_optimal_width(RulesMap(), 80) == 5
    assert MarkdownVisual("").get_height(RulesMap(), 80) == 0
    assert visual.render_strips(44, 3, Style(), OPTIONS)[-1].text.startswith("Text with")


def test_the_source_comes_back_as_it_was() -> None:
    visual = MarkdownVisual()
    for part in ("a\x1b[1", "mb\r", "\nc", " **d"):
        visual.append(part)
    assert visual.text == "a\x1b[1mb\r\nc **d"
    visual.finish()
    assert "".join(strip.text for strip in visual.render_strips(20, None, Style(), OPTIONS)) == "ab c **d"


class Shower(App[None]):
    def __init__(self, visual: MarkdownVisual) -> None:
        super().__init__()
        self.visual = visual

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return defaults(dark=True)

    def compose(self) -> ComposeResult:
        yield Static(self.visual)


@pytest.mark.anyio
async def test_a_static_shows_it_and_a_click_does_nothing() -> None:
    visual = MarkdownVisual("[@click=app.quit]x[/]\n\n[link](http://x) `code`\n")
    app = Shower(visual)
    async with app.run_test(size=(60, 10)) as pilot:
        await pilot.pause()
        static = app.query_one(Static)
        assert static.size.height == 3
        assert static.render_line(0).text.startswith("[@click=app.quit]x[/]")
        await pilot.click(Static, offset=(3, 0))
        await pilot.click(Static, offset=(2, 2))
        assert app.is_running
