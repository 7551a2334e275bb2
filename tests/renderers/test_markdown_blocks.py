"""The incremental block parser finds the blocks that markdown-it finds in the whole text."""

from __future__ import annotations

import random

import pytest
from markdown_it import MarkdownIt

from renderers.markdown_blocks import BlockParser
from renderers.markdown_leaf import split_cells

Found = list[tuple[str, str, str]]
REFERENCE = MarkdownIt("commonmark", {"html": False}).enable("table")

LINES = [
    "a", "b c", "", "", "- x", "* y", "1. n", "2. m", "> q", "# h", "## ", "```", "```py", "~~~", "***", "=", "  a",
    "   b", "10) z", "> - v", "- - w", "  ", "- ", ">", "- > x", "| a | b |", "1234567890. a", "+ p", "a  ", "\\# no",
]  # fmt: skip


def expected(text: str) -> Found:
    found: Found = []
    stack: list[str] = []
    kind = ""
    cells: list[str] = []
    for token in REFERENCE.parse(text):
        if token.type in ("blockquote_open", "list_item_open"):
            stack.append("q" if token.type == "blockquote_open" else "i")
        elif token.type in ("blockquote_close", "list_item_close"):
            stack.pop()
        elif token.type in ("paragraph_open", "heading_open", "tr_open"):
            kind, cells = token.tag, []
        elif token.type == "tr_close":
            found.append(("tr", " | ".join(cells), "".join(stack)))
        elif token.type == "inline" and kind == "tr":
            cells.append(token.content)
        elif token.type == "inline":
            found.append((kind, trimmed(token.content), "".join(stack)))
        elif token.type in ("fence", "code_block"):
            found.append(("code", trimmed(token.content), "".join(stack)))
        elif token.type == "hr":
            found.append(("hr", "", "".join(stack)))
    return found


def ours(text: str) -> Found:
    parser = BlockParser()
    for line in text.split("\n"):
        parser.feed(line)
    parser.close()
    found: Found = []
    for leaf in parser.leaves:
        path = "".join("i" if container.is_item else "q" for container in leaf.path)
        if leaf.kind == "table":
            count = len(split_cells(leaf.lines[1]))
            for line in (leaf.lines[0], *leaf.lines[2:]):
                cells = split_cells(line)[:count]
                found.append(("tr", " | ".join([*cells, *[""] * (count - len(cells))]), path))
        elif leaf.kind != "paragraph" or leaf.lines:
            name = {"paragraph": "p", "heading": f"h{leaf.level}", "rule": "hr"}.get(leaf.kind, "code")
            found.append((name, trimmed("\n".join(leaf.lines)), path))
    return found


def trimmed(text: str) -> str:
    return "\n".join([line.strip() for line in text.split("\n")]).strip("\n")


@pytest.mark.parametrize("seed", range(300))
def test_blocks_are_those_of_the_reference(seed: int) -> None:
    chosen = random.Random(seed)
    text = "\n".join(chosen.choice(["", "", "> ", "- ", "  "]) + chosen.choice(LINES) for _ in range(8))
    assert ours(text) == expected(text)


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n|---|:-:|\n| 1 | 2 | 3 |\n| x |\nnot a row\n\nafter",
        "text\n| a | b |\n|---|---|\n| 1 | 2 |",
        "| a\\|b | `c` |\n|--|--|",
        "- item\n\n      code in item\n\n  para",
        "1. a\n   - b\n\n     c\n2. d\n\ne",
        "> ```\n> code\nout",
        "- ```\n  code\n\n  more\n  ```\n- b",
        "Title\n===\nSub\n---\n- - -\n* * *",
        "\tcode\n\n\tmore\n\nend",
        "para\n    not code\n\n    code\n\n\n    code",
        "# a #\n#b\n####### seven\n## c ##  ",
        "````\n```\n````\n~~~ info `x`\n~~~~",
        "* a\n\n  b\n\n\n  c\n* d",
        "para\n2. not a list\n\n2. a list",
        "[a]: http://x 'title'\n[b]: <y z>\ntext",
    ],
)
def test_known_shapes_are_those_of_the_reference(text: str) -> None:
    assert ours(text) == expected(text)


@pytest.mark.parametrize(
    "partial", ["- it", "> q", "# h", "===", "| - |", "    x", "```", "text", "[a]: b", "2) b", "<div>"]
)
@pytest.mark.parametrize(
    "before", ["para", "- a\n- b", "> q", "```\nx", "| a |\n|---|", "    code\n", "- ", "1. a\n\n", ""]
)
def test_a_line_that_was_only_tried_leaves_nothing_behind(before: str, partial: str) -> None:
    tried, untouched = BlockParser(), BlockParser()
    for line in before.split("\n"):
        tried.feed(line)
        untouched.feed(line)
    with tried.trying(partial):
        pass
    for parser in (tried, untouched):
        parser.feed("  next")
        parser.feed("- last")
        parser.close()
    assert [(leaf.kind, leaf.lines, len(leaf.path), leaf.gap, leaf.level) for leaf in tried.leaves] == [
        (leaf.kind, leaf.lines, len(leaf.path), leaf.gap, leaf.level) for leaf in untouched.leaves
    ]
    assert tried.references == untouched.references


def test_a_footnote_of_one_word_is_not_taken_for_an_address() -> None:
    assert ours("[^1]: note") == [("p", "[^1]: note", "")]


def test_depth_has_a_bound() -> None:
    parser = BlockParser()
    parser.feed("> " * 5_000 + "x")
    parser.feed("- " * 5_000 + "x")
    assert max(len(leaf.path) for leaf in parser.leaves) <= 16
