"""What the options ask for is what the model is sent and what the disk holds."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Program
from tests.cli.server import Provider
from tests.cli.wires import ANTHROPIC, CHAT, bash, calls, says

KEY = "sk-test-7f3a9c1e5b2d8046"


def tools(request: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in request.get("tools") or ()]


def system(request: dict[str, Any]) -> str:
    first = request["messages"][0]
    assert first["role"] in ("system", "developer")
    content = first["content"]
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def test_all_seven_tools_are_offered_by_default_some_by_name_or_none(pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    for argv in ([], ["--tools", "grep, read"], ["--no-tools"]):
        assert pinyon.run(*argv, "-p", "hello").code == 0
    every, some, none = map(tools, asked.requests)
    assert sorted(every) == ["bash", "edit", "find", "grep", "ls", "read", "write"]
    assert some == ["grep", "read"]
    assert none == []
    assert pinyon.run("--tools", " , ", "-p", "hello").code == 2
    ended = pinyon.run("--tools", "read,fly", "-p", "hello")
    assert ended.code == 2
    assert "'fly'" in ended.complaint()


def test_a_tool_that_was_not_offered_is_not_run(pinyon: Program, asked: Provider) -> None:
    asked.play(calls(bash("touch ran")), says("ok"))
    assert pinyon.run("--tools", "read", "-p", "hello").code == 0
    assert not (pinyon.work / "ran").exists()
    assert pinyon.messages()[2]["isError"]


@pytest.mark.parametrize(("level", "sent"), [("high", "high"), ("low", "low"), ("off", None)])
def test_thinking_is_asked_for_at_the_level(level: str, sent: str | None, pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    assert pinyon.run("--thinking", level, "-p", "hello").code == 0
    assert asked.requests[0].get("reasoning_effort") == sent


def test_thinking_on_the_other_wire_has_a_budget(pinyon: Program, wire: Provider) -> None:
    pinyon.use(wire.address, ANTHROPIC)
    wire.play(says("ok", ANTHROPIC))
    assert pinyon.run("--thinking", "high", "-p", "hello").code == 0
    assert wire.requests[0]["thinking"]["budget_tokens"] > 1000


def test_a_system_prompt_is_text_or_a_file_and_more_is_appended(pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    (pinyon.work / "prompt.md").write_text("From a file.\n")
    (pinyon.work / "more.md").write_text("More from a file.\n")
    pinyon.run("--system-prompt", "You are a test.", "-p", "hello")
    pinyon.run("--system-prompt", "prompt.md", "--append-system-prompt", "One.", "--append-system-prompt=more.md", "x")
    plain, from_file = map(system, asked.requests)
    assert plain.startswith("You are a test.\n")
    assert "coding agent" not in plain
    assert from_file.startswith("From a file.\n\nOne.\n\nMore from a file.\n")
    assert str(pinyon.work) in from_file


def test_context_files_come_from_the_config_folder_then_from_the_root_down(
    pinyon: Program, asked: Provider, tmp_path: Path
) -> None:
    asked.play(says("ok"))
    inner = pinyon.work / "deep" / "er"
    inner.mkdir(parents=True)
    pinyon.configure("AGENTS.md", "rule one")
    (tmp_path / "CLAUDE.md").write_text("rule two")
    (pinyon.work / "AGENTS.md").write_text("rule three")
    (pinyon.work / "CLAUDE.md").write_text("never: AGENTS.md stands beside it")
    (inner / "CLAUDE.md").write_text("rule four")
    pinyon.run("--cwd", str(inner), "-p", "hello")
    pinyon.run("--cwd", str(inner), "--no-context-files", "-p", "hello")
    text, without = map(system, asked.requests)
    places = [text.index(f"rule {word}") for word in ("one", "two", "three", "four")]
    assert places == sorted(places)
    assert "never" not in text
    assert "rule" not in without.replace("guide", "")


def test_a_session_is_continued_by_c_by_its_id_and_by_its_path(pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    pinyon.run("-p", "first")
    (path,) = pinyon.sessions()
    session_id = pinyon.entries()[0]["id"]
    for argv in (["-c"], ["--session", session_id[:13]], ["--session", os.path.relpath(path, pinyon.work)]):
        assert pinyon.run(*argv, "-p", "more").code == 0
    assert pinyon.sessions() == [path]
    assert len(pinyon.messages()) == 8
    assert len(asked.requests[-1]["messages"]) == 8


def test_c_without_an_earlier_session_begins_one(pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    ended = pinyon.run("-c", "-p", "first")
    assert (ended.code, ended.out) == (0, "ok\n")
    assert len(pinyon.messages()) == 2


def test_a_fork_goes_on_in_a_copy_and_leaves_the_old_one_alone(pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    pinyon.run("-p", "first")
    (old,) = pinyon.sessions()
    before = old.read_bytes()
    assert pinyon.run("--fork", pinyon.entries()[0]["id"][:13], "-p", "second").code == 0
    assert old.read_bytes() == before
    (new,) = set(pinyon.sessions()) - {old}
    assert pinyon.entries(new)[0]["parentSession"] == str(old)
    assert len(pinyon.messages(new)) == 4
    assert len(asked.requests[-1]["messages"]) == 4


def test_a_session_dir_holds_the_session_and_c_looks_there(pinyon: Program, asked: Provider, tmp_path: Path) -> None:
    asked.play(says("ok"))
    place = tmp_path / "mine"
    for argv in ([], ["-c"]):
        assert pinyon.run("--session-dir", str(place), *argv, "-p", "hello").code == 0
    (path,) = place.rglob("*.jsonl")
    assert len(pinyon.messages(path)) == 4
    assert pinyon.sessions() == []


def test_no_session_leaves_nothing_behind(pinyon: Program, asked: Provider) -> None:
    asked.play(calls(bash("echo hi"), ("c2", "read", {"path": "none"})), says("ok"))
    ended = pinyon.run("--no-session", "-p", "hello")
    assert (ended.code, ended.out) == (0, "ok\n")
    assert not pinyon.data.exists()
    assert not pinyon.cache.exists()
    assert list(pinyon.work.iterdir()) == []
    assert sorted(path.name for path in pinyon.config.iterdir()) == ["models.json", "settings.json"]


def test_a_run_writes_its_session_and_nothing_else(pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    pinyon.run("-p", "hello")
    assert [path for path in pinyon.data.rglob("*") if path.is_file()] == pinyon.sessions()
    assert sorted(path.name for path in pinyon.config.iterdir()) == ["models.json", "settings.json"]


@pytest.mark.parametrize(
    ("way", "failing"),
    [("models.json", True), ("--api-key", True), ("variable", False), ("command", True), ("auth.json", False)],
)
def test_a_key_is_sent_and_shows_nowhere(way: str, failing: bool, pinyon: Program, wire: Provider) -> None:
    from tests.cli.server import Reply

    pinyon.use(wire.address, CHAT, key=KEY if way == "models.json" else "unused")
    argv: list[str] = []
    match way:
        case "--api-key":
            argv = ["--api-key", KEY]
        case "variable":
            pinyon.use(wire.address, CHAT, key="MY_KEY")
            pinyon.env["MY_KEY"] = KEY
        case "command":
            pinyon.use(wire.address, CHAT, key=f"!echo {KEY}")
        case "auth.json":
            pinyon.configure("auth.json", {"wire": {"type": "api_key", "key": KEY}})
        case _:
            pass
    echoed = json.dumps({"error": {"message": f"the key {KEY} is wrong", "type": "authentication_error"}})
    wire.play(Reply(echoed.encode(), 401, {"content-type": "application/json"}) if failing else says("ok"))
    ended = pinyon.run(*argv, "--mode", "json", "-p", "hello")
    assert ended.code == int(failing)
    assert wire.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in ended.out + ended.err
    for folder in (pinyon.data, pinyon.cache):
        for path in folder.rglob("*"):
            assert not path.is_file() or KEY.encode() not in path.read_bytes()


def test_without_a_key_one_line_says_where_it_may_come_from(pinyon: Program) -> None:
    ended = pinyon.run("--provider", "anthropic", "-p", "hello")
    assert (ended.code, ended.out) == (2, "")
    assert "ANTHROPIC_API_KEY" in ended.complaint()
    assert not pinyon.sessions()


@pytest.mark.parametrize(
    "argv", [["--modle", "x"], ["-q", "hi"], ["--model"], ["serve"], ["sessions", "dance"], ["--resume", "-p", "x"]]
)
def test_a_usage_error_is_one_line_and_exit_code_2(argv: list[str], pinyon: Program) -> None:
    ended = pinyon.run(*argv)
    assert (ended.code, ended.out) == (2, "")
    assert ended.complaint()


def test_help_and_version_need_nothing_and_write_nothing(pinyon: Program) -> None:
    pinyon.configure("settings.json", "{broken")
    for argv in (["--version"], ["-v", "-p"], ["--help"], ["-h"]):
        ended = pinyon.run(*argv)
        assert (ended.code, ended.err) == (0, "")
        assert "pinyon" in ended.out
    assert not pinyon.data.exists()


def test_a_session_with_odd_calls_is_continued(pinyon: Program, asked: Provider) -> None:
    """Case S5: what a stored session may hold."""
    asked.play(says("goes on"))
    odd: list[dict[str, Any]] = [
        {"role": "user", "content": "plain text"},
        {
            "role": "assistant",
            "content": [
                {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": 5}},
                {"type": "toolCall", "id": "c2", "name": "bash", "arguments": {"command": ["ls"]}},
                {"type": "toolCall", "id": "c3", "name": "bash", "arguments": None},
                {"type": "toolCall", "id": "c4", "name": "no_such_tool", "arguments": {}},
            ],
            "stopReason": "toolUse",
        },
        *({"role": "toolResult", "toolCallId": f"c{n}", "toolName": "read", "content": "as text"} for n in range(1, 5)),
        {"role": "assistant", "content": "a string", "timestamp": 5},
    ]
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "odd", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": str(pinyon.work)}
    ]
    for place, message in enumerate(odd):
        parent = f"e{place - 1}" if place else None
        lines.append({"type": "message", "id": f"e{place}", "parentId": parent, "message": message})
    path = pinyon.work / "odd.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ended = pinyon.run("--session", str(path), "-p", "go on")
    assert (ended.code, ended.out) == (0, "goes on\n")
    sent = asked.requests[0]["messages"][1:]
    assert [message["role"] for message in sent] == ["user", "assistant", *["tool"] * 4, "assistant", "user"]
    for call in sent[1]["tool_calls"]:
        assert isinstance(json.loads(call["function"]["arguments"]), dict)


def test_the_version_is_the_installed_one_and_is_found_without_heavy_modules(pinyon: Program) -> None:
    from importlib import metadata

    ended = pinyon.run("--version")
    assert ended.out == f"pinyon {metadata.version('pinyon')}\n"
    pinyon.env["PYTHONPROFILEIMPORTTIME"] = "1"
    process = pinyon.start("--version")
    _, imports = process.communicate(timeout=15)
    loaded = {line.rpartition(b"|")[2].strip().decode() for line in imports.split(b"\n")}
    assert "app.version" in loaded
    assert loaded & {"importlib.metadata", "app.cli.main", "pydantic", "asyncio", "textual", "json"} == set()
