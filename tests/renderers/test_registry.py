from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from textual.content import Content

from renderers.registry import (
    DENSITIES,
    Params,
    ToolOutcome,
    ToolRenderResult,
    ToolView,
    default_density,
    get_tool_renderer,
    register_tool_renderer,
    render_tool,
    set_show_json_mode,
    tool_renderers,
)
from tests.renderers.draw import HOSTILE, Outcome, draw, metas, result, shown

BUILT_IN = ("read", "bash", "edit", "write", "grep", "find", "ls")
ODD_PARAMS: tuple[object, ...] = (
    None,
    {},
    "not json",
    '{"path": "x.py"}',
    ["ls"],
    {"path": 5, "command": ["ls"], "content": {"a": 1}, "edits": 7, "pattern": None, "offset": "x", "limit": {}},
    {"edits": [None, 3, {"oldText": 1, "newText": None}, {"oldText": "a"}], "path": ""},
    {"edits": '[{"oldText": "a', "path": "\ud800\x00\x1b[31m"},
)
ODD_RESULTS: tuple[object, ...] = (
    None,
    Outcome(),
    Outcome(content=[None, 3, {"type": "text", "text": "dict"}]),
    Outcome(content="a string"),  # type: ignore[arg-type]
    result("x", "details as text"),
    result("x", {"diff": 5, "truncation": "yes", "exitCode": "one", "fullOutputPath": 9, "timedOut": "maybe"}),
    result("x", {"truncation": {"totalLines": float("nan")}, "exitCode": float("inf")}),
    result("", error=True),
    result("a\x1b]0;t\x07b\u202ec\ud800", error=True),
)


@pytest.fixture(autouse=True)
def _registry() -> Iterator[None]:
    before = dict(tool_renderers)
    yield
    tool_renderers.clear()
    tool_renderers.update(before)
    set_show_json_mode(False)


class Fixed:
    def __init__(self, text: str) -> None:
        self.text = text

    def render(
        self, params: Params, result: ToolOutcome | None, is_streaming: bool, view: ToolView
    ) -> ToolRenderResult:
        return ToolRenderResult(Content(f"{self.text} {view.density}"), is_custom=True)


class Seed:
    def render(self, params: Params, result: ToolOutcome | None, is_streaming: bool) -> ToolRenderResult:
        return ToolRenderResult(Content(f"three {dict(params)}"))


class Broken:
    def render(
        self, params: Params, result: ToolOutcome | None, is_streaming: bool, view: ToolView
    ) -> ToolRenderResult:
        raise KeyError("[red]gone")


class Wrong:
    def render(
        self, params: Params, result: ToolOutcome | None, is_streaming: bool, view: ToolView
    ) -> ToolRenderResult:
        return ToolRenderResult(42)  # type: ignore[arg-type]


class Text:
    def render(
        self, params: Params, result: ToolOutcome | None, is_streaming: bool, view: ToolView
    ) -> ToolRenderResult:
        return ToolRenderResult("[red]x\x1b[31my")  # type: ignore[arg-type]


def test_importing_renderers_registers_the_seven_tools() -> None:
    assert set(BUILT_IN) <= set(tool_renderers)
    assert get_tool_renderer("nothing") is None


def test_the_last_renderer_registered_wins() -> None:
    register_tool_renderer("bash", Fixed("first"))
    register_tool_renderer("bash", Fixed("second"))
    drawn = render_tool("bash", {}, None, False, density="full")
    assert draw(drawn.content) == ["second full"]
    assert drawn.is_custom


def test_a_renderer_needs_not_know_densities() -> None:
    register_tool_renderer("x", Seed())
    assert draw(render_tool("x", {"a": 1}, None, True).content) == ["three {'a': 1}"]


@pytest.mark.parametrize("renderer", [Broken(), Wrong()])
def test_a_renderer_that_fails_leaves_the_default_drawing_and_a_note(renderer: Fixed) -> None:
    register_tool_renderer("bash", renderer)
    text = shown(render_tool("bash", {"command": "ls"}, result("out"), False).content)
    assert "the renderer of bash failed" in text
    assert '"command": "ls"' in text
    assert "out" in text


def test_a_renderer_that_gives_text_is_shown_as_text() -> None:
    register_tool_renderer("x", Text())
    assert draw(render_tool("x", {}, None, False).content) == ["[red]xy"]


def test_an_unknown_tool_is_drawn_as_pretty_json_and_never_blank() -> None:
    text = shown(render_tool("wat", {"a": [1], "ü": "日本"}, result('{"ok":true}'), False).content)
    assert '"a": [' in text
    assert '"ü": "日本"' in text
    assert '"ok": true' in text
    assert "(no output)" in shown(render_tool("wat", {}, Outcome(), False).content)
    assert shown(render_tool("", None, None, True).content).strip()


def test_json_mode_draws_every_tool_as_json() -> None:
    set_show_json_mode(True)
    assert '"command": "ls"' in shown(render_tool("bash", {"command": "ls"}, None, True).content)
    set_show_json_mode(False)
    assert '"command"' not in shown(render_tool("bash", {"command": "ls"}, None, True).content)


def test_arguments_in_a_json_string_are_read() -> None:
    assert "x.py" in shown(render_tool("read", '{"path": "x.py"}', None, True).content)


@pytest.mark.parametrize("name", [*BUILT_IN, "unknown"])
@pytest.mark.parametrize("width", [1, 2, 5, 20, 79])
def test_odd_arguments_and_results_are_drawn_at_every_width(name: str, width: int) -> None:
    for params in ODD_PARAMS:
        for outcome in ODD_RESULTS:
            for density in DENSITIES:
                for streaming in (False, True):
                    drawn = render_tool(name, params, outcome, streaming, density=density)  # type: ignore[arg-type]
                    text = shown(drawn.content, width)
                    assert text.strip()
                    assert not any((ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 for c in text)
                    assert not any("\ud800" <= c <= "\udfff" or c == "\u202e" for c in text)


@pytest.mark.parametrize("name", [*BUILT_IN, "unknown"])
@pytest.mark.parametrize("text", HOSTILE)
def test_foreign_text_is_never_markup(name: str, text: str) -> None:
    params = {
        "path": text,
        "command": text,
        "pattern": text,
        "content": text,
        "edits": [{"oldText": text, "newText": "q"}],
    }
    for outcome in (result(f"a {text} b"), result(f"a {text} b", error=True)):
        visual = render_tool(name, params, outcome, False, density="full").content
        body = shown(visual, 100)
        if name not in ("edit", "write") or outcome.is_error:
            assert f"a {text} b" in body
        assert body.count(text) >= 1
        assert all(not meta for meta in metas(visual, 100))


def test_a_call_without_result_that_nothing_runs_is_said_to_have_none() -> None:
    (row,) = draw(render_tool("read", {"path": "a.py"}, None, False).content)
    assert row.startswith("  ○ read  a.py")
    assert "no result" in row


def test_reads_and_searches_start_as_titles_and_failures_open() -> None:
    assert {name: default_density(name) for name in BUILT_IN} == {
        "read": "title", "write": "title", "grep": "title", "find": "title", "ls": "title",
        "bash": "preview", "edit": "preview",
    }  # fmt: skip
    assert default_density("read", is_error=True) == "preview"
    assert default_density("anything") == "preview"


def test_importing_renderers_loads_nothing_heavy() -> None:
    heavy = ("pydantic", "pygments", "markdown_it", "httpx")
    code = f"import renderers, sys; print(*[m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=15)
    assert done.stdout.strip() == ""
