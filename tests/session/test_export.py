"""Exports hold everything, execute nothing, fetch nothing, and never overwrite what is there."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re
from pathlib import Path
from typing import Any

import pytest

from app.errors import NotASessionError, SessionError, UsageError
from app.session.export import export_session, kind_of
from app.session.inspect import inspect
from app.session.tree import UnknownEntryError
from tests.session.sessions_kit import said, tool_said, write_session

DATA = Path(__file__).parent.parent / "data" / "sessions"
VOID = {"meta", "img", "br", "hr", "link", "input"}
EVIL = (
    "<script>alert(1)</script><img src=x onerror=alert(1)> [x](javascript:alert(1)) ![y](http://evil.test/p.png) \"'&"
)


class Page(html.parser.HTMLParser):
    """Tags, attributes and text of a page; `open` must be empty at its end."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["script"], ["style"]):
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


def branched(folder: Path) -> Path:
    call: dict[str, Any] = {
        "type": "toolCall",
        "id": "c1",
        "name": "edit",
        "arguments": {"path": "src/a.py", "edits": []},
    }
    answer = {
        "type": "message",
        "message": {
            "role": "assistant",
            "model": "m",
            "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "**bold** `x`"}, call],
        },
    }
    diff = "+ 1 new line\n- 1 old line\n  2 same"
    return write_session(
        folder,
        "one",
        [
            said("user", "question"),
            answer,
            tool_said("edited", "edit", details={"diff": diff, "firstChangedLine": 1}),
            said("assistant", "done on main"),
            {**said("user", "side question"), "id": "s0", "parentId": "e0"},
            {**said("assistant", "side answer"), "id": "s1", "parentId": "s0"},
            {"type": "label", "id": "l", "parentId": "s1", "targetId": "e3", "label": "good <b>"},
            {"type": "custom", "id": "leaf", "customType": "pinyon.leaf", "parentId": "e3"},
        ],
    )


def test_the_page_holds_every_branch_the_leafs_first(tmp_path: Path) -> None:
    out = export_session(branched(tmp_path), tmp_path / "out.html")
    text = out.read_text()
    page = Page(text)
    assert page.open == []
    main, side = text.index("done on main</p>"), text.index("side answer</p>")
    assert main < side
    assert text.index('<section class="branch"><details') < side
    parents = {attrs["id"]: attrs["data-p"] for _, attrs in page.tags if "data-p" in attrs}
    assert parents == {"n1": "", "n2": "n1", "n3": "n2", "n4": "n3", "n5": "n1", "n6": "n5"}
    linked = {str(attrs["href"])[1:] for attrs in page.all("a") if str(attrs.get("href")).startswith("#")}
    assert linked <= set(parents)
    assert "good <b>" in page.text


def test_tool_blocks_fold_and_diffs_are_coloured(tmp_path: Path) -> None:
    text = export_session(branched(tmp_path), tmp_path / "out.html").read_text()
    assert '<details class="tool ok" open><summary><b>✓ edit</b> src/a.py</summary>' in text
    assert "<ins>+ 1 new line</ins><del>- 1 old line</del>" in text
    assert "<strong>bold</strong> <code>x</code>" in text
    assert text.count('<details class="think">') == 1


def test_foreign_text_can_not_become_code_or_reach_the_network(tmp_path: Path) -> None:
    call = {"type": "toolCall", "id": EVIL, "name": EVIL, "arguments": {EVIL: EVIL, "command": EVIL}}
    image = {"type": "image", "mimeType": "image/png", "data": '" onload="alert(1)'}
    svg = {"type": "image", "mimeType": "image/svg+xml", "data": "PHN2Zz4="}
    odd = {"type": EVIL}
    path = write_session(
        tmp_path,
        "one",
        [
            {**said("user", EVIL), "id": '"><script>'},
            {
                "type": "message",
                "message": {
                    "role": "assistant",
                    "model": EVIL,
                    "errorMessage": EVIL,
                    "content": [call, image, svg, odd],
                },
            },
            tool_said(EVIL, EVIL, EVIL, details={"diff": f"+{EVIL}"}),
            {"type": "custom_message", "customType": EVIL, "content": EVIL, "display": True},
            {"type": "compaction", "summary": EVIL},
            {"type": "branch_summary", "summary": f"</details></section>{EVIL}"},
            {"type": "session_info", "name": EVIL},
            said(EVIL, EVIL),
        ],
        cwd=EVIL,
    )
    page = Page(export_session(path, tmp_path / "out.html").read_text())
    assert page.open == []
    assert len(page.all("script")) == 1
    assert page.all("img") == []
    for tag, attrs in page.tags:
        assert not any(name.startswith("on") or name in ("src", "style", "srcdoc") for name in attrs), tag
        assert tag not in ("iframe", "object", "embed", "link", "form", "base", "svg")
    for attrs in page.all("a"):
        assert re.match(r"#|https?://", str(attrs["href"]))
    assert "alert(1)" in page.text


def test_the_policy_forbids_all_but_its_own_script_and_style(tmp_path: Path) -> None:
    text = export_session(branched(tmp_path), tmp_path / "out.html").read_text()
    page = Page(text)
    policy = next(str(attrs["content"]) for attrs in page.all("meta") if attrs.get("http-equiv"))
    assert policy.startswith("default-src 'none'; img-src data:;")
    for tag in ("script", "style"):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert body is not None
        digest = base64.b64encode(hashlib.sha256(body[1].encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "http://" not in text
    assert "https://" not in text
    assert "prefers-color-scheme: dark" in text


@pytest.mark.parametrize("file", sorted(DATA.glob("*.jsonl")), ids=lambda file: file.stem)
def test_reference_sessions_are_exported_whole(file: Path, tmp_path: Path) -> None:
    before = file.read_bytes()
    if file.stem == "not-a-session":
        with pytest.raises(NotASessionError):
            export_session(file, tmp_path / "x.html")
        assert list(tmp_path.iterdir()) == []
        return
    page = Page(export_session(file, tmp_path / "x.html").read_text())
    assert page.open == []
    facts = inspect(file)
    assert len([tag for tag, attrs in page.tags if "data-p" in attrs]) >= facts["context_messages"] > -1
    export_session(file, tmp_path / "x.md")
    chain = inspect(export_session(file, tmp_path / "x.jsonl"))
    assert chain["context_roles"] == facts["context_roles"]
    assert (chain["tips"], chain["branch_points"]) == (min(1, facts["tips"]), 0)
    assert chain["notes"] == []
    assert file.read_bytes() == before


def test_a_branch_as_jsonl_is_a_session_of_its_own(tmp_path: Path) -> None:
    out = export_session(branched(tmp_path), tmp_path / "out.jsonl", leaf="s1")
    rows = [json.loads(line) for line in out.read_bytes().split(b"\n")[:-1]]
    assert [row["id"] for row in rows] == ["one", "e0", "s0", "s1"]
    assert [row.get("parentId") for row in rows[1:]] == [None, "e0", "s0"]
    main = inspect(export_session(tmp_path / "one.jsonl", tmp_path / "main.jsonl"))
    assert main["labels"] == {"e3": "good <b>"}


def test_a_branch_as_markdown_fences_what_it_quotes(tmp_path: Path) -> None:
    path = write_session(tmp_path, "one", [said("user", "# ask"), tool_said("```\nfake\n```` \x1b[31mred\x1b[0m")])
    text = export_session(path, tmp_path / "out.md").read_text()
    assert "\n`````text\n```\nfake\n```` red\n`````\n" in text
    assert "## You · 2026-02-01 00:00\n\n# ask\n" in text
    assert "\x1b" not in text


def test_nothing_is_overwritten_unasked_and_nothing_is_left_behind(tmp_path: Path) -> None:
    path = branched(tmp_path / "s")
    out = tmp_path / "out.html"
    out.write_text("mine")
    with pytest.raises(SessionError, match="exists"):
        export_session(path, out)
    assert out.read_text() == "mine"
    export_session(path, out, force=True)
    assert out.read_text() != "mine"
    for force in (False, True):
        with pytest.raises(UsageError):
            export_session(path, path, force=force)
    with pytest.raises(UnknownEntryError):
        export_session(path, tmp_path / "other.html", leaf="nope")
    with pytest.raises(SessionError):
        export_session(path, tmp_path / "no" / "folder.html")
    with pytest.raises(UsageError, match="no kind"):
        kind_of(Path("x.pdf"))
    assert [item.name for item in tmp_path.iterdir() if item.is_file()] == ["out.html"]
    assert export_session(path, tmp_path, "markdown") == tmp_path / "one.md"


def test_deep_and_wide_trees_are_cut_into_rows(tmp_path: Path) -> None:
    chain = [said("user", f"m{number}") for number in range(3_000)]
    wide = [{**said("user", f"w{number}"), "id": f"w{number}", "parentId": "e0"} for number in range(500)]
    ladder = [
        {**said("user", f"d{n}"), "id": f"d{n}", "parentId": f"d{n - 2}" if n > 1 else "e1"} for n in range(1_000)
    ]
    page = Page(
        export_session(write_session(tmp_path, "big", [*chain, *wide, *ladder]), tmp_path / "x.html").read_text()
    )
    assert page.open == []
    assert len([attrs for _, attrs in page.tags if "data-p" in attrs]) == 4_500
