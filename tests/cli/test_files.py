"""Files and folders in every bad state: file, place and reason are told, the rest works, nothing is lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.cli.server import Provider
from tests.cli.wires import CHAT, bash, calls, says

BROKEN = '{\n  "a": 1,\n  oops\n}\n'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("settings.json", BROKEN),
        ("auth.json", BROKEN),
        ("trust.json", BROKEN),
        ("settings.json", "\x00\x01"),
        ("auth.json", "[1, 2]"),
        ("trust.json", "nul"),
    ],
)
def test_a_malformed_file_is_named_with_place_and_reason_and_the_rest_works(
    name: str, text: str, pinyon: Program, asked: Provider
) -> None:
    asked.play(says("ok"))
    path = pinyon.configure(name, text)
    ended = pinyon.run("--model", "wire/m", "-p", "hello")
    assert (ended.code, ended.out) == (0, "ok\n")
    assert str(path) in ended.complaint()
    if text == BROKEN:
        assert "line 3, column 3" in ended.complaint()
    assert path.read_text() == text


def test_a_malformed_models_file_leaves_the_guide_and_the_known_models(pinyon: Program) -> None:
    path = pinyon.configure("models.json", BROKEN)
    ended = pinyon.run("-p", "list the files here")
    assert ended.code == 0
    assert "Offline guide" in ended.out
    assert f"{path}, line 3, column 3" in ended.complaint()
    assert "anthropic/" in pinyon.run("--list-models").out


@pytest.mark.parametrize("name", ["settings.json", "models.json", "auth.json", "trust.json", "AGENTS.md"])
def test_a_folder_in_the_place_of_a_file_is_told(name: str, pinyon: Program) -> None:
    (pinyon.config / name).mkdir(parents=True)
    ended = pinyon.run("-p", "list the files here")
    assert (ended.code, "Offline guide" in ended.out) == (0, True)
    if name != "AGENTS.md":
        assert str(pinyon.config / name) in ended.complaint()


def test_a_wrong_value_is_named_and_the_other_settings_count(pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    pinyon.use(asked.address, CHAT, steeringMode="sometimes", retry={"maxRetries": "many"})
    ended = pinyon.run("-p", "hello")
    assert (ended.code, ended.out) == (0, "ok\n")
    assert ["steeringMode" in line or "retry.maxRetries" in line for line in ended.err.rstrip().split("\n")] == [
        True
    ] * 2


@pytest.mark.parametrize("variable", ["PINYON_CONFIG_DIR", "PINYON_CACHE_DIR"])
def test_a_file_in_the_place_of_a_folder_of_ours_leaves_the_rest_working(
    variable: str, pinyon: Program, tmp_path: Path
) -> None:
    blocker = tmp_path / "blocker"
    blocker.write_text("a file")
    pinyon.env[variable] = str(blocker)
    ended = pinyon.run("-p", "list the files here")
    assert (ended.code, "Offline guide" in ended.out) == (0, True)
    if variable == "PINYON_CONFIG_DIR":
        assert str(blocker) in ended.complaint()


@pytest.mark.parametrize("place", ["data", "session-dir"])
def test_a_place_for_sessions_that_can_not_be_made_is_told_in_one_line(
    place: str, pinyon: Program, asked: Provider, tmp_path: Path
) -> None:
    asked.play(says("ok"))
    blocker = tmp_path / "blocker"
    blocker.write_text("a file")
    argv = ["--session-dir", str(blocker / "s")] if place == "session-dir" else []
    pinyon.env["PINYON_DATA_DIR"] = str(blocker)
    ended = pinyon.run(*argv, "-p", "hello")
    assert (ended.code, ended.out) == (1, "")
    assert str(blocker) in ended.complaint()
    assert "--no-session" in ended.err
    assert asked.requests == [], "nothing is asked that could not be kept"
    assert pinyon.run("--no-session", "-p", "hello").out == "ok\n"


def test_a_disk_that_is_full_when_the_session_begins_stops_before_asking(pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    ended = pinyon.run("-p", "hello", before=full_after(0))
    assert (ended.code, ended.out) == (1, "")
    assert ended.complaint()
    assert asked.requests == []


def test_a_disk_that_gets_full_in_a_run_stops_it_and_what_was_stored_is_sound(pinyon: Program, asked: Provider) -> None:
    asked.play(calls(bash("head -c 40000 /dev/zero | tr '\\0' x")), says("never told"))
    ended = pinyon.run("-p", "hello", before=full_after(8000))
    assert ended.code == 1
    assert "session" in ended.complaint()
    asked.play(*[says("unused")] * len(asked.requests), says("goes on"))
    again = pinyon.run("-c", "-p", "again")
    assert (again.code, again.out) == (0, "goes on\n")
    sent = asked.requests[-1]["messages"]
    wanted = [call["id"] for message in sent for call in message.get("tool_calls") or ()]
    assert [message["tool_call_id"] for message in sent if message["role"] == "tool"] == wanted == ["c1"]


def full_after(size: int) -> str:
    """Code for a new process whose files can't grow beyond so many bytes, as on a full disk."""
    ignored = "import resource; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)"
    return f"{ignored}; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))"


def test_a_removed_working_folder_is_a_usage_error(pinyon: Program, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    ended = pinyon.run("-p", "hello", cwd=gone, before=f"os.rmdir({str(gone)!r})")
    assert (ended.code, ended.out) == (2, "")
    assert "folder is gone" in ended.complaint()
    gone.mkdir()
    ended = pinyon.run("sessions", cwd=gone, before=f"os.rmdir({str(gone)!r})")
    assert (ended.code, "folder is gone" in ended.complaint()) == (2, True)
    assert pinyon.run("--cwd", str(tmp_path), "-p", "list the files here", cwd=tmp_path).code == 0


def test_a_working_folder_that_goes_in_the_run_is_a_failed_call_and_the_run_goes_on(
    pinyon: Program, asked: Provider, tmp_path: Path
) -> None:
    asked.play(calls(bash("rmdir ../gone")), calls(bash("echo hi", "c2"), ("c3", "ls", {})), says("it is gone"))
    gone = tmp_path / "gone"
    gone.mkdir()
    ended = pinyon.run("--cwd", str(gone), "-p", "hello")
    assert (ended.code, ended.out) == (0, "it is gone\n")
    results = [message for message in pinyon.messages() if message["role"] == "toolResult"]
    assert [result["isError"] for result in results] == [False, True, True]


@pytest.mark.parametrize("cwd", ["no/such/folder", "a-file", ""])
def test_a_cwd_that_is_none_is_a_usage_error(cwd: str, pinyon: Program) -> None:
    (pinyon.work / "a-file").write_text("x")
    ended = pinyon.run("--cwd", cwd, "-p", "hello")
    assert (ended.code, ended.out) == (2, "")
    assert "--cwd" in ended.complaint()


@pytest.mark.parametrize("content", [None, "folder", "a poem\nof two lines\n", '{"type":"message"}\n', "\x00" * 100])
def test_what_is_no_session_is_refused_and_stays_as_it_is(
    content: str | None, pinyon: Program, asked: Provider
) -> None:
    asked.play(says("ok"))
    path = pinyon.work / "file.jsonl"
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_text(content)
    way = "--session" if content in ("folder", "\x00" * 100) else "--fork"
    ended = pinyon.run(way, str(path), "-p", "hello")
    assert (ended.code, ended.out) == (2, "")
    assert "file.jsonl" in ended.complaint()
    if content not in (None, "folder"):
        assert path.read_text() == content
    assert asked.requests == []


def test_a_file_named_without_its_folder_is_not_taken_for_an_id(pinyon: Program) -> None:
    (pinyon.work / "notes").write_text("no session\n")
    ended = pinyon.run("--session", "notes", "-p", "hello")
    assert ended.code == 2
    assert "notes" in ended.err
    assert "id begins" not in ended.err
    assert (pinyon.work / "notes").read_text() == "no session\n"


def test_a_session_path_that_does_not_exist_yet_becomes_that_file(pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    path = pinyon.work / "deep" / "mine.jsonl"
    assert pinyon.run("--session", str(path), "-p", "hello").code == 0
    assert [message["role"] for message in pinyon.messages(path)] == ["user", "assistant"]
    assert oct(path.stat().st_mode & 0o777) == "0o600"


@pytest.mark.parametrize("what", ["--session", "--fork"])
def test_an_unknown_session_id_is_a_usage_error(what: str, pinyon: Program) -> None:
    ended = pinyon.run(what, "0123abcd", "-p", "hello")
    assert (ended.code, ended.out) == (2, "")
    assert "0123abcd" in ended.complaint()


def test_a_torn_session_goes_on_and_its_torn_bytes_stay(pinyon: Program, asked: Provider) -> None:
    asked.play(says("one"), says("two"))
    pinyon.run("-p", "first")
    (path,) = pinyon.sessions()
    before = path.read_bytes()
    path.write_bytes(before + b'{"type":"message","id":"x')
    ended = pinyon.run("-c", "-p", "second")
    assert (ended.code, ended.out) == (0, "two\n")
    assert path.read_bytes().startswith(before + b'{"type":"message","id":"x\n')
    assert [message["role"] for message in asked.requests[1]["messages"][1:]] == ["user", "assistant", "user"]


def test_a_session_that_another_process_writes_is_forked_with_a_note(pinyon: Program, asked: Provider) -> None:
    asked.play(says("one"), calls(bash(f"{held_run()}")), says("from the fork"), says("from the holder"))
    pinyon.run("-p", "first")
    (path,) = pinyon.sessions()
    (pinyon.work / "hold").write_text("")
    os.mkfifo(pinyon.work / "go")
    holder = pinyon.start("-c", "-p", "hold it")
    asked.wait_for(2)
    with open(pinyon.work / "go", "w") as go:  # opens once the command waits for it
        ended = pinyon.run("-c", "-p", "me too")
        assert (ended.code, ended.out) == (0, "from the fork\n")
        assert "in use by another Pinyon" in ended.err
        go.write("\n")
    assert pinyon.end(holder).out == "from the holder\n"
    assert len(pinyon.sessions()) == 2
    for file in pinyon.sessions():
        assert pinyon.messages(file)[0]["content"][0]["text"] == "first"
    assert path in pinyon.sessions()


def held_run() -> str:
    return "read line < go"


@pytest.mark.parametrize("env", [{"HOME": None}, {"LANG": "C", "LC_ALL": "C"}, {"LC_ALL": "POSIX"}, {"TERM": None}])
def test_a_bare_environment_is_enough(env: dict[str, str | None], pinyon: Program, asked: Provider) -> None:
    asked.play(calls(bash("printf 'z\\303\\274rich\\n'")), says("Zürich 日本 🎉"))
    pinyon.env.update(env)
    ended = pinyon.run("-p", "wo? ü")
    assert (ended.code, ended.out) == (0, "Zürich 日本 🎉\n")
    assert pinyon.messages()[0]["content"][0]["text"] == "wo? ü"
    assert pinyon.messages()[2]["content"][0]["text"].startswith("zürich")


def test_without_a_home_and_folders_of_ours_it_still_answers(pinyon: Program, tmp_path: Path) -> None:
    pinyon.env |= dict.fromkeys(("HOME", "PINYON_CONFIG_DIR", "PINYON_DATA_DIR", "PINYON_CACHE_DIR"))
    pinyon.env |= {"XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    assert pinyon.run("-p", "list the files here").code == 0


def test_argument_bytes_that_are_no_utf8_are_no_crash(pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    process = pinyon.start("-p", os.fsdecode(b"what is \xff\xfe here"))
    assert pinyon.end(process).code == 0
    assert len(pinyon.messages()) == 2


@pytest.mark.parametrize("option", ["--session", "--cwd", "--session-dir", "@"])
def test_a_name_too_long_for_the_system_is_told_in_one_line(option: str, pinyon: Program) -> None:
    name = "x" * 5000 + (".jsonl" if option == "--session" else "")
    ended = pinyon.run(*([option + name] if option == "@" else [option, name]), "-p", "hello")
    assert ended.code in (1, 2)
    assert "too long" in ended.complaint().lower()


def test_a_long_system_prompt_is_no_file_name(pinyon: Program, asked: Provider) -> None:
    asked.play(says("ok"))
    assert pinyon.run("--system-prompt", "be kind " * 1000, "-p", "hello").code == 0
    assert "be kind be kind" in str(asked.requests[0]["messages"][0])


def test_a_device_without_an_end_as_a_file_is_refused(pinyon: Program) -> None:
    ended = pinyon.run("@/dev/zero", "-p", "what is it?")
    assert (ended.code, "larger than" in ended.complaint()) == (2, True)
