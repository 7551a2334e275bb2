"""JSON mode: the reference's events in the reference's order, one object a line, nothing else, linear in the reply."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Program
from tests.cli.server import Provider, Reply
from tests.cli.wires import ANTHROPIC, CHAT, Call, bash, calls, cut, says

RECORDED = Path(__file__).parent.parent / "data" / "events"
FAMILIES = [CHAT, ANTHROPIC]
TEXT = "a few words of an answer"


def replies(scenario: str, family: str) -> list[Reply]:
    """The answers that the recorded scenario was played with, in shape."""
    done = says(TEXT, family)

    def step(*wanted: Call) -> Reply:
        return calls(*wanted, family=family)

    many = [bash(f"echo {number}", f"c{number}") for number in (1, 2, 3)]
    return {
        "plain": [done],
        "thinking": [says(TEXT, family, think="let me think about it")],
        "tool-once": [step(many[0]), done],
        "tool-twice": [step(many[0]), step(many[1]), done],
        "parallel-bash": [step(*many), done],
        "parallel-reads": [step(*((f"c{number}", "read", {"path": "none"}) for number in (1, 2, 3))), done],
        "tool-fails": [step(bash("echo out; exit 3")), done],
        "429-always": [Reply(b"", 429, {"retry-after": "0"})],
    }[scenario]


def shape(event: dict[str, Any]) -> dict[str, Any]:
    """What the recordings keep of an event."""
    told: dict[str, Any] = {"type": event["type"]}
    message = event.get("message", {})
    match event["type"]:
        case "message_start" | "message_end":
            told["role"] = message["role"]
            if message["role"] == "assistant" and event["type"] == "message_end":
                told["stopReason"] = message["stopReason"]
                told["blocks"] = [block["type"] for block in message["content"]]
            if message["role"] == "toolResult":
                told |= {"call": message["toolCallId"], "isError": message["isError"]}
        case "message_update":
            told["event"] = event["assistantMessageEvent"]["type"]
        case "tool_execution_end":
            told |= {"call": event["toolCallId"], "isError": event["isError"]}
        case "turn_end":
            told |= {"toolResults": len(event["toolResults"]), "stopReason": message["stopReason"]}
        case "agent_end":
            told["messages"] = [one["role"] for one in event["messages"]]
        case _:
            pass
    return told


def recorded(scenario: str, family: str) -> list[dict[str, Any]]:
    wanted = []
    for event in json.loads((RECORDED / f"{scenario}.json").read_text("utf-8"))[family]:
        kept = dict(event)
        kept.pop("repeats", None)
        if event["type"] == "message_start":
            kept.pop("stopReason", None)
            kept.pop("blocks", None)
        if event["type"] not in ("message_start", "message_end", "tool_execution_end"):
            kept.pop("call", None)
        wanted.append({key: kept[key] for key in kept if key in (*shape_keys, "type")})
    return folded(wanted)


shape_keys = ("role", "stopReason", "blocks", "call", "isError", "event", "toolResults", "messages")


def folded(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without updates of tools, whose number is a matter of time, and with equal neighbours as one delta."""
    kept: list[dict[str, Any]] = []
    for event in events:
        is_repeat = bool(kept) and kept[-1] == event and str(event.get("event", "")).endswith("_delta")
        if event["type"] != "tool_execution_update" and not is_repeat:
            kept.append(event)
    return kept


def ends_sorted(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Parallel tools end in any order: their run of ends is sorted by call."""
    result: list[dict[str, Any]] = []
    for event in events:
        at = len(result)
        while event["type"] == "tool_execution_end" and at and result[at - 1]["type"] == event["type"]:
            if result[at - 1]["call"] <= event["call"]:
                break
            at -= 1
        result.insert(at, event)
    return result


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "scenario",
    [
        "plain",
        "thinking",
        "tool-once",
        "tool-twice",
        "parallel-bash",
        "parallel-reads",
        "tool-fails",
        "429-always",
    ],
)
def test_events_come_in_the_recorded_order(scenario: str, family: str, pinyon: Program, wire: Provider) -> None:
    pinyon.use(wire.address, family, retry={"baseDelayMs": 1, "maxRetries": 2})
    wire.play(*replies(scenario, family))
    ended = pinyon.run("--mode", "json", "-p", "go")
    assert ended.code == (1 if scenario == "429-always" else 0)
    seen = folded([shape(event) for event in ended.events()])
    assert ends_sorted(seen) == ends_sorted(recorded(scenario, family))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("failure", ["500", "cut"])
def test_a_failed_attempt_is_a_whole_run_and_the_retry_another(
    failure: str, family: str, pinyon: Program, wire: Provider
) -> None:
    pinyon.use(wire.address, family)
    wire.play(Reply(b"", 500) if failure == "500" else cut("half", family), says(TEXT, family))
    ended = pinyon.run("--mode", "json", "-p", "go")
    assert ended.code == 0
    seen = [event["type"] for event in ended.events() if event["type"] != "message_update"]
    failed = ["message_start", "message_end", "turn_end", "agent_end"]
    assert seen == [
        "session",
        *("agent_start", "turn_start", "message_start", "message_end", *failed),
        "auto_retry_start",
        *("agent_start", "turn_start", "message_start", "message_end"),
        *("auto_retry_end", "turn_end", "agent_end"),
    ]


def test_the_first_line_is_the_header_of_the_session_file(pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    events = pinyon.run("--mode", "json", "hello").events()
    assert events[0] == pinyon.entries()[0]
    assert (events[0]["type"], events[0]["version"], events[0]["cwd"]) == ("session", 3, str(pinyon.work))


def test_what_is_printed_is_what_is_stored(pinyon: Program, asked: Provider) -> None:
    asked.play(calls(bash("echo hi")), says("a\u2028b\x85c 日本 \x1b[31m"))
    ended = pinyon.run("--mode", "json", "hello")
    told = [event["message"] for event in ended.events() if event["type"] == "message_end"]
    assert told == pinyon.messages()
    assert ended.out.count("\n") == len(ended.events())


def test_an_update_carries_its_delta_alone_unless_partials_are_asked_for(pinyon: Program, asked: Provider) -> None:
    asked.play(says(TEXT))
    for flag in ([], ["--json-partials"]):
        events = pinyon.run("--mode", "json", *flag, "hello").events()
        updates = [event for event in events if event["type"] == "message_update"]
        deltas = [event["assistantMessageEvent"] for event in updates]
        assert "".join(delta["delta"] for delta in deltas if delta["type"] == "text_delta") == TEXT
        assert all("partial" not in delta for delta in deltas)
        assert [("message" in event) for event in updates] == [bool(flag)] * len(updates)
    assert updates[-1]["message"]["content"] == [{"type": "text", "text": TEXT}]


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_printed_grows_with_the_reply_and_no_faster(family: str, pinyon: Program, wire: Provider) -> None:
    pinyon.use(wire.address, family)
    sizes = []
    for words in (500, 2000):
        wire.play(says("some word " * words, family))
        wire.requests.clear()
        sizes.append(len(pinyon.run("--mode", "json", "--no-session", "hello").out))
    assert sizes[1] < sizes[0] * 4.2


def test_growing_arguments_of_a_call_are_not_repeated(pinyon: Program, asked: Provider) -> None:
    sizes = []
    for words in (200, 800):
        asked.play(calls(("c1", "write", {"path": "a", "content": "some word " * words})), says("ok"))
        asked.requests.clear()
        sizes.append(len(pinyon.run("--mode", "json", "--no-session", "hello").out))
        (pinyon.work / "a").unlink()
    assert sizes[1] < sizes[0] * 4.2


def test_a_usage_error_prints_no_json(pinyon: Program) -> None:
    ended = pinyon.run("--mode", "json", "--thinking", "lots", "hello")
    assert (ended.code, ended.out) == (2, "")


def test_what_a_tool_prints_stays_out_of_the_lines(pinyon: Program, asked: Provider) -> None:
    asked.play(calls(bash("echo to stdout; echo to stderr >&2; echo tty > /dev/tty 2>/dev/null")), says("ok"))
    ended = pinyon.run("--mode", "json", "hello")
    assert {event["type"] for event in ended.events()} >= {"session", "tool_execution_end", "agent_end"}
    assert ended.err == ""


def test_the_text_is_all_that_text_mode_prints(pinyon: Program, asked: Provider) -> None:
    asked.play(calls(bash("echo hi")), says("\n\nthe answer\nin two lines\n\n", think="hidden"))
    ended = pinyon.run("-p", "hello")
    assert (ended.out, ended.err) == ("the answer\nin two lines\n", "")
