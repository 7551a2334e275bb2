from __future__ import annotations

import pytest
from textual.visual import Visual

from renderers.grep import matcher_of
from renderers.registry import Density, ToolOutcome, render_tool
from renderers.rows import FULL_ROWS
from tests.renderers.draw import Block, Outcome, draw, result, shown, styled

LINES_40 = "".join(f"line {i}\n" for i in range(40))


def tool(
    name: str,
    params: object,
    outcome: ToolOutcome | None = None,
    streaming: bool | None = None,
    *,
    density: Density = "preview",
    elapsed_s: float | None = None,
    plain: bool = False,
) -> Visual:
    is_streaming = outcome is None if streaming is None else streaming
    return render_tool(name, params, outcome, is_streaming, density=density, elapsed_s=elapsed_s, plain=plain).content


# bash


def test_bash_shows_its_command_exit_code_and_time_in_one_row() -> None:
    failed = result("boom\n\nCommand exited with code 1", {"exitCode": 1}, error=True, ms=2300)
    rows = draw(tool("bash", {"command": "pytest -q"}, failed, density="title"), 60)
    assert rows == ["  ✗ bash  pytest -q" + "exit 1 · 2.3 s ▸".rjust(41)]


def test_bash_preview_shows_the_last_five_drawn_rows_and_counts_the_rest() -> None:
    rows = draw(tool("bash", {"command": "x"}, result(LINES_40)), 60)
    assert rows[1] == "    │ … 35 earlier lines  (enter shows more, o opens all)"
    assert rows[2:] == [f"    │ line {i}" for i in range(35, 40)]


def test_bash_preview_counts_drawn_rows_not_lines() -> None:
    rows = draw(tool("bash", {"command": "x"}, result("a" * 500 + "end\n")), 60)
    assert len(rows) == 1 + 1 + 5
    assert rows[-1].endswith("end")


def test_bash_full_shows_all_of_it_up_to_a_cap() -> None:
    assert len(draw(tool("bash", {"command": "x"}, result(LINES_40), density="full"))) == 41
    huge = draw(tool("bash", {"command": "x"}, result("l\n" * 5_000), density="full"))
    assert len(huge) == 1 + 1 + FULL_ROWS
    assert huge[1] == "    │ … 3,000 earlier lines  (o opens all)"


def test_bash_shows_the_whole_command_where_the_header_cannot() -> None:
    command = "cat <<EOF\n[red]one\ntwo\nEOF"
    body = shown(tool("bash", {"command": command}, result("ok")))
    assert "+3 lines" in body
    for line in command.split("\n"):
        assert line in body.split("\n", 1)[1]
    long = "grep -rn " + "x" * 80 + " src"
    assert "src" in shown(tool("bash", {"command": long}, result("ok")), 60)
    assert len(draw(tool("bash", {"command": long}, result("ok")), 200)) == 2


def test_bash_running_shows_its_live_tail_and_time() -> None:
    rows = draw(tool("bash", {"command": "make"}, result(LINES_40), True, elapsed_s=1.2), 60)
    assert rows[0].endswith("running 1.2 s ▾")
    assert rows[-1] == "    │ line 39"


@pytest.mark.parametrize(
    ("text", "details", "said"),
    [
        ("out\n\nCommand exited with code 2", {}, "exit 2"),
        ("Command exited with code 127", None, "exit 127"),
        ("out\n\nCommand timed out after 5 seconds", {}, "timed out after 5 s"),
        ("out", {"timedOut": True}, "timed out"),
        ("out\n\nOperation aborted", {}, "aborted"),
        ("out", {"exitCode": 3}, "exit 3"),
        ("cannot start", {}, "failed"),
    ],
)
def test_bash_failures_say_how_they_failed(text: str, details: object, said: str) -> None:
    row = draw(tool("bash", {"command": "x"}, result(text, details, error=True), density="title"))[0]
    assert said in row


def test_bash_does_not_repeat_the_status_under_the_output() -> None:
    body = shown(tool("bash", {"command": "x"}, result("out\n\nCommand exited with code 2", {}, error=True)))
    assert "exited" not in body
    assert body.endswith("│ out")


def test_bash_says_where_all_of_a_cut_output_is() -> None:
    details = {"truncation": {"totalLines": 9_000}, "fullOutputPath": "/tmp/out.log"}
    assert "/tmp/out.log" in shown(tool("bash", {"command": "x"}, result("tail", details), density="full"))
    assert "9,000 lines" in shown(tool("bash", {"command": "x"}, result("tail", details)))


def test_bash_partial_arguments_are_drawn_as_they_come() -> None:
    assert "git sta" in shown(tool("bash", {"command": "git sta"}))
    assert len(draw(tool("bash", {}))) == 1


# edit and write


def test_edit_draws_its_diff_before_it_has_run() -> None:
    params = {"path": "a.py", "edits": [{"oldText": "x = 1\n", "newText": "x = 2\n"}]}
    body = shown(tool("edit", params))
    assert "- x = 1" in body
    assert "+ x = 2" in body
    assert "+1 −1" in body


def test_edit_after_it_has_run_shows_numbers_of_the_file() -> None:
    done = result("Replaced 1 block", {"diff": " 41 a\n-42 b\n+42 c\n+43 d", "firstChangedLine": 42})
    rows = draw(tool("edit", {"path": "src/parse.py"}, done), 60)
    assert rows[0].startswith("  ✓ edit  src/parse.py +2 −1")
    assert rows[1:] == ["    │ 41   a", "    │ 42 - b", "    │ 42 + c", "    │ 43 + d"]


def test_edit_preview_is_twenty_rows_and_full_is_all() -> None:
    done = result("ok", {"diff": "\n".join(f"+{i:>3} line" for i in range(1, 101))})
    preview = draw(tool("edit", {"path": "a"}, done))
    assert len(preview) == 1 + 20 + 1
    assert "80 more lines" in preview[-1]
    assert len(draw(tool("edit", {"path": "a"}, done, density="full"))) == 101


def test_a_failed_edit_says_why_and_can_show_what_it_wanted() -> None:
    params = {"path": "a", "edits": [{"oldText": "q", "newText": "z"}]}
    failed = result("Could not find the text", {}, error=True)
    preview = shown(tool("edit", params, failed))
    assert "Could not find the text" in preview
    assert "- q" not in preview
    assert "- q" in shown(tool("edit", params, failed, density="full"))
    assert styled(tool("edit", params, failed), "$text-error")


@pytest.mark.parametrize(
    "params",
    [
        {"path": "a", "edits": '[{"oldText": "x", "newText": "y"}]'},
        {"path": "a", "oldText": "x", "newText": "y"},
        {"file_path": "a", "old_string": "x", "new_string": "y"},
    ],
)
def test_edit_arguments_of_other_shapes_are_understood(params: object) -> None:
    body = shown(tool("edit", params))
    assert "- x" in body
    assert "+ y" in body


def test_write_shows_the_end_of_what_comes_and_the_head_of_what_came() -> None:
    params = {"path": "a.txt", "content": LINES_40}
    coming = draw(tool("write", params))
    assert coming[0].rstrip(" ▾").endswith("40 lines")
    assert coming[-1].endswith("40 line 39")
    came = draw(tool("write", params, result("Wrote 300 bytes")))
    assert came[1].endswith(" 1 line 0")
    assert "30 more lines" in came[-1]


def test_arguments_that_still_come_cost_no_more_the_longer_they_are() -> None:
    for lines in (500, 5_000):
        text = "x = 1\n" * lines
        assert len(draw(tool("write", {"path": "a.py", "content": text}, density="full"))) == 1 + 1 + 60
        edits = [{"oldText": "y\n", "newText": text}]
        assert len(draw(tool("edit", {"path": "a.py", "edits": edits}, density="full"))) == 1 + 1 + 60


def test_write_is_coloured_by_file_type() -> None:
    assert "def" in styled(tool("write", {"path": "a.py", "content": "def f(): pass\n"}), "$code-keyword")
    assert not styled(tool("write", {"path": "a.txt", "content": "def f(): pass\n"}), "$code-keyword")


def test_write_over_a_file_shows_the_diff() -> None:
    body = shown(tool("write", {"path": "a", "content": "new\n"}, result("ok", {"diff": "-1 old\n+1 new"})))
    assert "- old" in body
    assert "+1 −1" in body


# read


def test_read_shows_path_range_and_lines_in_one_row() -> None:
    done = result("a\nb\n")
    assert draw(tool("read", {"path": "src/a.py", "offset": 3, "limit": 2}, done, density="title"), 60) == [
        "  ✓ read  src/a.py:3-4                             2 lines ▸"
    ]


def test_read_numbers_its_lines_as_in_the_file_and_keeps_the_remark_apart() -> None:
    done = result("x = 1\ny = 2\n\n[7 more lines in the file. Use offset=5 to continue.]")
    rows = draw(tool("read", {"path": "a.py", "offset": "3"}, done))
    assert rows[1:3] == ["    │ 3 x = 1", "    │ 4 y = 2"]
    assert rows[3] == "    │ [7 more lines in the file. Use offset=5 to continue.]"
    assert "2 lines" in rows[0]


def test_read_of_a_cut_file_says_how_much_of_how_much() -> None:
    done = result("a\nb\n\n[Showing lines 1-2 of 90. Use offset=3 to continue.]", {"truncation": {"totalLines": 90}})
    assert "2 of 90 lines" in shown(tool("read", {"path": "a"}, done))


def test_read_of_an_image_says_type_and_size() -> None:
    done = Outcome([Block("Read image file"), Block(data="A" * 4096, mime_type="image/png")])
    assert "image/png, 3 kB" in shown(tool("read", {"path": "a.png"}, done, density="title"))
    assert "[image/png, 3 kB]" in shown(tool("read", {"path": "a.png"}, done))


def test_a_failed_call_shows_its_error_in_the_preview() -> None:
    for name in ("read", "write", "grep", "find", "ls", "edit"):
        body = shown(tool(name, {"path": "a"}, result("ENOENT: no such file", error=True)))
        assert "ENOENT: no such file" in body
        assert "failed" in body
        assert "failed" in shown(tool(name, {"path": "a"}, result("ENOENT", error=True), density="title"))


def test_an_aborted_call_says_so() -> None:
    assert "aborted" in shown(tool("read", {"path": "a"}, result("Operation aborted", error=True), density="title"))


# grep, find, ls


def test_grep_groups_hits_by_file_and_marks_them() -> None:
    done = result("a.py:12: def foo():\na.py-13-     pass\nb/c.py:1: def bar():\n\n[100 matches limit reached]")
    visual = tool("grep", {"pattern": "DEF", "path": "src", "glob": "*.py", "ignoreCase": True}, done)
    rows = draw(visual, 70)
    assert rows[0].startswith("  ✓ grep  /DEF/ in src (*.py)")
    assert rows[0].endswith("2 matches ▾")
    assert rows[1:6] == [
        "    │ a.py", "    │    12 def foo():", "    │    13     pass", "    │ b/c.py", "    │     1 def bar():",
    ]  # fmt: skip
    assert "[100 matches limit reached]" in rows[6]
    assert styled(visual, "$hit") == ["def", "def"]


def test_grep_says_when_there_may_be_more_or_nothing() -> None:
    more = result("a:1: x", {"matchLimitReached": 1})
    assert "1+ matches" in shown(tool("grep", {"pattern": "x"}, more))
    assert "no matches" in shown(tool("grep", {"pattern": "x"}, result("No matches found")))
    assert "1 match " in shown(tool("grep", {"pattern": "x"}, result("a:1: x")))


def test_grep_marks_nothing_for_a_pattern_that_may_take_for_ever() -> None:
    assert matcher_of({"pattern": "(a+)+$"}) is None
    assert matcher_of({"pattern": ".*.*.*x"}) is None
    assert matcher_of({"pattern": "x["}) is None
    literal = matcher_of({"pattern": "(a+)+$", "literal": True})
    assert literal is not None
    assert literal.search("f(a+)+$")


def test_find_and_ls_count_what_they_name() -> None:
    assert "3 files" in shown(tool("find", {"pattern": "*.py"}, result("a\nb\nc\n")))
    assert "no files" in shown(tool("find", {"pattern": "*.py"}, result("No files found matching pattern")))
    assert "1,000+ files" in shown(tool("find", {"pattern": "*"}, result("f\n" * 1000, {"resultLimitReached": 1000})))
    assert "1 entry" in shown(tool("ls", {"path": "src"}, result("a.py")))
    assert "empty" in shown(tool("ls", {}, result("(empty directory)"), density="title"))


def test_titles_are_one_row_for_every_tool() -> None:
    for name in ("read", "bash", "edit", "write", "grep", "find", "ls", "other"):
        assert len(draw(tool(name, {"path": "a", "command": "b\nc"}, result(LINES_40), density="title"))) == 1


def test_plain_mode_draws_no_gutter_and_no_signs() -> None:
    for name in ("read", "bash", "edit", "write", "grep", "find", "ls", "other"):
        body = shown(tool(name, {"path": "a", "command": "b\nc"}, result(LINES_40), plain=True))
        assert not set(body) & set("│✓✗▾▸⠋◐")
        assert "done:" in body


def test_long_outputs_cost_a_preview_no_more_than_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    from renderers import console

    looked: list[str] = []
    real = console.clean_line

    def counting(line: str, limit: int = console.LINE_LIMIT, *, keep_tail: bool = False) -> str:
        looked.append(line)
        return real(line, limit, keep_tail=keep_tail)

    monkeypatch.setattr(console, "clean_line", counting)
    counts = []
    for lines in (100, 20_000):
        looked.clear()
        for name in ("bash", "read", "grep", "find", "ls", "write"):
            draw(tool(name, {"path": "a", "command": "b", "content": "c\n" * lines}, result("a:1: x\n" * lines)))
        counts.append(len(looked))
    assert counts[0] == counts[1]


def test_a_file_that_ends_in_brackets_is_not_a_remark() -> None:
    done = result("a = 1\n\n[section]")
    assert shown(tool("read", {"path": "a.toml"}, done)).endswith("3 [section]")
    two = result(
        "a\n\n[The file is not UTF-8; bytes are shown as U+FFFD.]\n\n[9 more lines in the file. Use offset=2.]"
    )
    assert "1 line " in shown(tool("read", {"path": "a"}, two))


def test_the_remark_about_a_cut_output_stands_under_it_in_the_preview_too() -> None:
    details = {"truncation": {"totalLines": 5_000}, "fullOutputPath": "/tmp/all.log"}
    text = LINES_40 + "\n[Showing lines 3001-5000 of 5000. Full output: /tmp/all.log]"
    for outcome in (result(text, details), result(text + "\n\nCommand exited with code 1", details, error=True)):
        rows = draw(tool("bash", {"command": "x"}, outcome))
        assert rows[-1] == "    │ [Showing lines 3001-5000 of 5000. Full output: /tmp/all.log]"
        assert rows[-2] == "    │ line 39"
        assert shown(tool("bash", {"command": "x"}, outcome, density="full")).count("/tmp/all.log") == 1


def test_a_killed_command_names_the_signal() -> None:
    killed = result("out\n\nCommand terminated by signal 9 (SIGKILL)", {"exitCode": None}, error=True)
    assert "signal 9 (SIGKILL)" in draw(tool("bash", {"command": "x"}, killed))[0]
    late = result("out\n\nCommand timed out", {"timedOut": True, "exitCode": None}, error=True)
    assert "timed out ▾" in draw(tool("bash", {"command": "x"}, late))[0]
    assert "Command timed" not in shown(tool("bash", {"command": "x"}, late))


def test_a_call_drawn_too_narrow_is_whole_again_when_there_is_room() -> None:
    done = result("ok", {"diff": "-1 return a + b\n+1 return a - b 日本語"})
    for visual in (tool("edit", {"path": "src/a.py"}, done), tool("bash", {"command": "x " * 60}, result(LINES_40))):
        before = draw(visual, 80)
        for width in (5, 2, 1):
            assert draw(visual, width)
        assert draw(visual, 80) == before
