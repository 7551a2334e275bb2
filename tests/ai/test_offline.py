"""The offline guide at work: real results only, tools on offer only, a pure function of the request."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from app.ai.adapters.offline import open_stream, reply
from app.ai.adapters.offline_topics import LABEL, TOPICS
from app.ai.catalogue import built_in_models
from app.ai.events import AssistantMessageEvent, StreamDone, TextDelta
from app.ai.messages import AssistantMessage, Context, Message, TextContent, ToolCall, ToolResultMessage, ToolSpec
from app.ai.messages import UserMessage as User
from app.ai.stream import StreamOptions, stream

GUIDE = built_in_models()[-1]
NAMES = ("read", "bash", "edit", "write", "grep", "find", "ls")
Answer = tuple[str, bool, Any]
Tools = Callable[[ToolCall], Answer]


def specs(*names: str) -> list[ToolSpec]:
    return [ToolSpec(name, "", {}) for name in names]


class Conversation:
    """A loop in small: asks the guide, answers its calls by `tools`, keeps every message."""

    def __init__(self, tools: Tools, names: tuple[str, ...] = NAMES) -> None:
        self.messages: list[Message] = []
        self._tools = tools
        self._specs = specs(*names)

    def turn(self) -> AssistantMessage:
        message = reply(Context("", list(self.messages), self._specs))
        message.provider = "offline"
        self.messages.append(message)
        for call in message.tool_calls():
            text, failed, details = self._tools(call)
            self.messages.append(
                ToolResultMessage(
                    tool_call_id=call.id,
                    tool_name=call.name,
                    content=[TextContent(text=text)],
                    is_error=failed,
                    details=details,
                )
            )
        return message

    def ask(self, text: str) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
        self.messages.append(User(content=text))
        calls = []
        for _ in range(30):
            message = self.turn()
            calls += [(call.name, call.arguments) for call in message.tool_calls()]
            if not message.tool_calls():
                return message.text(), calls
        raise AssertionError("the guide never ends")


def table(answers: dict[str, Answer | str]) -> Tools:
    def tools(call: ToolCall) -> Answer:
        key = next((key for key in (f"{call.name} {_what(call)}", call.name) if key in answers), None)
        given = answers[key] if key else "ok"
        return (given, False, None) if isinstance(given, str) else given

    return tools


def _what(call: ToolCall) -> str:
    return str(call.arguments.get("command") or call.arguments.get("path"))


def test_the_first_report_of_a_conversation_begins_by_saying_that_it_is_no_language_model() -> None:
    for text in ("list files", "help", "gibberish of mine"):
        talk = Conversation(table({"ls": "a.txt\nsrc/"}))
        assert talk.ask(text)[0].startswith(LABEL + "\n")
        assert LABEL not in talk.ask("help")[0]
    assert "not a language model" in LABEL


def test_a_listing_reports_what_the_tool_gave() -> None:
    text, calls = Conversation(table({"ls": "a.txt\nsrc/\n"})).ask("list the files here")
    assert calls == [("ls", {"path": "."})]
    assert "2 entries" in text
    assert "1 folder" in text
    assert "a.txt" in text


def test_a_failure_is_reported_in_the_tools_words() -> None:
    text, _ = Conversation(table({"read": ("no such file: x.txt", True, None)})).ask("read x.txt")
    assert "failed: no such file: x.txt" in text


def test_a_failing_command_reports_its_exit_code_and_output() -> None:
    talk = Conversation(table({"bash": ("boom\n\nCommand exited with code 3", True, {"exitCode": 3})}))
    text, calls = talk.ask("run `make all`")
    assert calls == [("bash", {"command": "make all"})]
    assert "exit code 3" in text
    assert "boom" in text


def test_several_files_are_read_in_one_go() -> None:
    talk = Conversation(table({"read a.txt": "one", "read b.txt": "two\nthree"}))
    text, calls = talk.ask("read a.txt and b.txt")
    assert [name for name, _ in calls] == ["read", "read"]
    assert len([message for message in talk.messages if isinstance(message, AssistantMessage)]) == 2
    assert "1 line" in text
    assert "2 lines" in text


def test_requests_in_a_row_run_in_order_and_each_is_reported() -> None:
    talk = Conversation(table({"ls": "x", "bash": "done", "write": "Wrote 2 bytes to n.txt"}))
    text, calls = talk.ask('list files then write n.txt with "a" and then run `true`')
    assert [name for name, _ in calls] == ["ls", "write", "bash"]
    assert text.index("1 entry") < text.index("Wrote 2 bytes") < text.index("exit code 0")


def test_an_edit_shows_its_diff() -> None:
    details = {"diff": "-1 a\n+1 b", "firstChangedLine": 1}
    talk = Conversation(table({"edit": ("Replaced 1 block", False, details)}))
    text, calls = talk.ask("replace `a` with `b` in x.txt")
    assert calls == [("edit", {"path": "x.txt", "edits": [{"oldText": "a", "newText": "b"}]})]
    assert "```diff\n-1 a\n+1 b\n```" in text


def test_text_from_a_tool_cannot_close_its_block() -> None:
    text, _ = Conversation(table({"read": "```\n# not a heading\n````"})).ask("read x.md")
    assert "`````md\n```\n# not a heading\n````\n`````" in text


def test_a_long_result_is_cut_and_says_so() -> None:
    text, _ = Conversation(table({"bash": "\n".join(map(str, range(1000)))})).ask("run `seq 1000`")
    assert "960 lines before." in text
    assert "999" in text


def test_a_tool_that_is_not_on_offer_is_never_called() -> None:
    talk = Conversation(table({}), ("read", "ls"))
    text, calls = talk.ask("run `ls`")
    assert calls == []
    assert "`bash`" in text
    assert "`ls`, `read`" in text
    assert talk.ask("show me everything you can do")[1] == []
    assert "No tool is active" in Conversation(table({}), ()).ask("list files")[0]


FAILING = """\
F
tests/test_calc.py:7: AssertionError
E       assert -1 == 3
FAILED tests/test_calc.py::test_add - assert -1 == 3

Command exited with code 1"""


def test_a_failing_test_is_found_read_and_reported_but_no_fix_is_made_up() -> None:
    answers: dict[str, Answer | str] = {
        "ls": "pyproject.toml\ntests/",
        "bash": (FAILING, True, None),
        "read": "def test_add",
    }
    text, calls = Conversation(table(answers)).ask("find out why the test fails and fix it")
    assert [name for name, _ in calls] == ["ls", "bash", "read"]
    assert calls[1][1]["command"] == "python3 -m pytest -q"
    assert calls[2][1]["path"] == "tests/test_calc.py"
    assert "exit code 1" in text
    assert "FAILED tests/test_calc.py::test_add" in text
    assert "can't think of the fix" in text


def test_passing_tests_are_reported_as_passing() -> None:
    text, calls = Conversation(table({"ls": ".venv/\npyproject.toml", "bash": "3 passed"})).ask("run the tests")
    assert calls[1][1]["command"] == ".venv/bin/python -m pytest -q"
    assert "The tests pass" in text
    assert "3 passed" in text


@pytest.mark.parametrize(
    ("entry", "command"),
    [
        ("package.json", "npm test --silent"),
        ("Cargo.toml", "cargo test"),
        ("go.mod", "go test ./..."),
        ("Makefile", "make test"),
    ],
)
def test_the_project_decides_how_tests_are_run(entry: str, command: str) -> None:
    _, calls = Conversation(table({"ls": f"README.md\n{entry}"})).ask("run the tests")
    assert calls[1] == ("bash", {"command": command, "timeout": 600})


def test_a_missing_test_runner_is_followed_by_the_next_one() -> None:
    answers: dict[str, Answer | str] = {
        "ls": "test_a.py",
        "bash python3 -m pytest -q": ("No module named pytest\n\nCommand exited with code 1", True, None),
        "bash pytest -q": ("pytest: not found\n\nCommand exited with code 127", True, None),
        "bash python3 -m unittest discover": "OK",
    }
    text, calls = Conversation(table(answers)).ask("run the tests")
    assert len(calls) == 4
    assert "python3 -m unittest discover` ended with exit code 0" in text


def test_without_any_test_that_is_said() -> None:
    text, calls = Conversation(table({"ls": "notes.txt", "find": "no files found"})).ask("run the tests")
    assert [name for name, _ in calls] == ["ls", "find"]
    assert "no tests here" in text


def test_the_tour_uses_every_kind_of_tool_and_clears_up_under_a_free_name() -> None:
    answers: dict[str, Answer | str] = {"ls": "pinyon-tour.txt\nx", "bash": ("x", False, None)}
    talk = Conversation(table(answers))
    text, calls = talk.ask("show me everything you can do")
    assert [name for name, _ in calls] == ["ls", "write", "read", "read", "grep", "edit", "bash", "bash", "bash"]
    assert calls[1][1]["path"] == "pinyon-tour-2.txt"
    assert calls[-1][1]["command"] == "rm -- pinyon-tour-2.txt"
    assert "| --- |" in text
    assert "```" in text


def test_a_tour_that_cannot_write_ends_early_and_touches_nothing() -> None:
    text, calls = Conversation(table({"ls": "x", "write": ("read-only", True, None)})).ask("demo")
    assert [name for name, _ in calls] == ["ls", "write"]
    assert "read-only" in text


def test_a_message_that_steers_is_added_to_what_is_being_done() -> None:
    talk = Conversation(table({"ls": "x", "bash": "out"}))
    talk.messages.append(User(content="list the files"))
    talk.turn()
    text, calls = talk.ask("also run `true`")
    assert [name for name, _ in calls] == ["bash"]
    assert "1 entry" in text
    assert "`true` ended well" in text


def test_instead_drops_what_was_asked_before() -> None:
    talk = Conversation(table({"ls": "x", "read": "body"}))
    talk.messages.append(User(content="list the files then run `false`"))
    talk.turn()
    text, calls = talk.ask("no, instead read a.txt")
    assert [name for name, _ in calls] == ["read"]
    assert "entry" not in text
    talk.messages.append(User(content="list the files then run `false`"))
    talk.turn()
    text, calls = talk.ask("stop")
    assert (calls, "Stopped" in text) == ([], True)


def test_an_aborted_request_does_not_come_back_with_the_next() -> None:
    talk = Conversation(table({"bash": ("Operation aborted", True, None), "ls": "x"}))
    talk.messages.append(User(content="run `sleep 9` then read a.txt"))
    talk.turn()
    text, calls = talk.ask("list files")
    assert [name for name, _ in calls] == ["ls"]
    assert "sleep" not in text


def test_a_new_request_after_an_answer_stands_alone() -> None:
    talk = Conversation(table({"ls": "x", "read": "body"}))
    talk.ask("list the files")
    text, calls = talk.ask("read a.txt")
    assert [name for name, _ in calls] == ["read"]
    assert "entry" not in text


def test_the_same_request_gives_the_same_answer_and_every_call_its_own_id() -> None:
    talk = Conversation(table({"ls": "x"}))
    talk.ask("list the files then list src")
    talk.ask("list the files")
    ids = [call.id for m in talk.messages if isinstance(m, AssistantMessage) for call in m.tool_calls()]
    assert len(set(ids)) == len(ids) == 3
    context = Context("", talk.messages[:1], specs(*NAMES))
    assert reply(context).content == reply(context).content


@pytest.mark.parametrize("topic", sorted(TOPICS))
def test_every_topic_is_explained_without_a_tool(topic: str) -> None:
    text, calls = Conversation(table({})).ask(f"explain {topic}")
    assert (TOPICS[topic] in text, calls) == (True, [])


def test_asked_for_a_summary_it_quotes_and_says_so() -> None:
    context = Context("Write a summary of the conversation.", [User(content="long talk")], [])
    assert "can't summarise" in reply(context).text()


@pytest.mark.anyio
async def test_the_stream_is_quick_and_bears_the_models_name() -> None:
    events: list[AssistantMessageEvent] = []
    context = Context("", [User(content="help")], specs(*NAMES))
    started = time.monotonic()
    message = await stream(GUIDE, context, StreamOptions()).run(events.append)
    assert time.monotonic() - started < 4
    assert isinstance(events[-1], StreamDone)
    assert (message.provider, message.model, message.api) == ("offline", "guide", "pinyon-offline")
    assert sum(isinstance(event, TextDelta) for event in events) > 5
    assert message.usage.input > 0
    assert message.usage.cost.total == 0


@pytest.mark.anyio
async def test_the_stream_can_be_cancelled() -> None:
    reached = anyio.Event()
    context = Context("", [User(content="help")], [])

    def watch(event: AssistantMessageEvent) -> None:
        if isinstance(event, TextDelta):
            reached.set()

    with anyio.fail_after(3):
        async with anyio.create_task_group() as group:
            group.start_soon(open_stream(GUIDE, context, StreamOptions()).run, watch)
            await reached.wait()
            group.cancel_scope.cancel()
