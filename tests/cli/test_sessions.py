"""`pinyon sessions` and `pinyon export`: what they print, their exit codes, and that they change no session."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli.commands import run_command
from app.cli.sessions import run_sessions
from app.errors import NotASessionError, SessionError, UsageError
from app.session.naming import project_folder
from tests.session.sessions_kit import said, tool_said, write_session


@pytest.fixture
def ours(work: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(work)
    here = project_folder(str(work))
    write_session(
        here, "aaa-1", [said("user", "fix \x1b[31mthe parser"), tool_said("needle in the output")], cwd=str(work)
    )
    write_session(project_folder("/else"), "bbb-2", [said("user", "another needle")], cwd="/else", day=2)
    return here / "aaa-1.jsonl"


def test_the_list_shows_this_folder_and_all_on_request(ours: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_sessions([]) == 0
    out = capsys.readouterr().out
    assert "aaa-1" in out
    assert "bbb-2" not in out
    assert "\x1b" not in out
    assert run_sessions(["list", "--all", "--json"]) == 0
    assert [row["id"] for row in json.loads(capsys.readouterr().out)] == ["bbb-2", "aaa-1"]


@pytest.mark.parametrize("name", ["sessions", "export"])
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_a_command_explains_itself(name: str, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(name, [flag]) == 0
    assert f"usage: pinyon {name}" in capsys.readouterr().out


def test_a_search_finds_tool_output_and_says_where(ours: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_sessions(["--search", "needle", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["id"] == "aaa-1"
    assert row["hits"] == [{"entryId": "e1", "role": "bash", "text": "needle in the output", "marks": [[0, 6]]}]
    assert run_sessions(["--search=needle", "--all"]) == 0
    assert capsys.readouterr().out.count("needle") == 3
    assert run_sessions(["--search", "nothing like it"]) == 1
    with pytest.raises(UsageError):
        run_sessions(["--search", "re:("])


def test_doctor_has_an_exit_code_for_faults(ours: Path, capsys: pytest.CaptureFixture[str], work: Path) -> None:
    assert run_sessions(["doctor", str(ours)]) == 0
    assert capsys.readouterr().out == "nothing is wrong\n"
    with ours.open("ab") as stream:
        stream.write(b'{"torn')
    assert run_sessions(["doctor", "aaa"]) == 1
    assert capsys.readouterr().out.startswith("line 4: torn")
    assert run_sessions(["doctor", str(ours), "--repair", "fixed.jsonl", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["repaired"] == "fixed.jsonl"
    assert told["findings"][0]["harm"] is True
    assert run_sessions(["doctor", "fixed.jsonl"]) == 0
    (work / "no.jsonl").write_text("no session")
    with pytest.raises(NotASessionError):
        run_sessions(["doctor", "no.jsonl"])


def test_import_takes_a_session_into_this_folder(ours: Path, work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_session(work, "theirs", [said("user", "from pi")], cwd="/gone")
    assert run_sessions(["import", "theirs.jsonl", "--here"]) == 0
    run_sessions(["--json"])
    out = capsys.readouterr().out
    assert "theirs" in out
    with pytest.raises(SessionError):
        run_sessions(["import", "theirs.jsonl"])


def test_sessions_of_pi_are_listed_and_not_touched(ours: Path, work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    theirs = Path.home() / ".pi" / "agent" / "sessions" / "--x--"
    path = write_session(theirs, "pi-1", [said("user", "a needle of pi")], cwd=str(work))
    assert run_sessions(["--pi"]) == 0
    assert "pi-1" in capsys.readouterr().out
    assert run_sessions(["--pi", "--search", "needle", "--all", "--json"]) == 0
    assert [row["id"] for row in json.loads(capsys.readouterr().out)] == ["pi-1"]
    assert [item.name for item in theirs.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "words", [["inspect"], ["--nope"], ["doctor", "a", "b"], ["import", "x", "--all"], ["--search"]]
)
def test_what_is_not_understood_is_a_usage_error(words: list[str]) -> None:
    with pytest.raises(UsageError):
        run_sessions(words)


def test_export_writes_once_and_again_only_by_force(ours: Path, work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command("export", [str(ours)]) == 0
    assert capsys.readouterr().out == f"{work / 'aaa-1.html'}\n"
    with pytest.raises(SessionError, match="--force"):
        run_command("export", [str(ours)])
    assert run_command("export", [str(ours), "--force"]) == 0
    assert run_command("export", ["aaa", "branch.jsonl", "--leaf", "e0"]) == 0
    assert (work / "branch.jsonl").read_bytes().count(b"\n") == 2
    for words in ([], ["a", "b", "c"], ["x", "--nope"], [str(ours), "x.pdf"], [str(ours), "--leaf"]):
        with pytest.raises(UsageError):
            run_command("export", words)
