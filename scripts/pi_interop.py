"""Sessions to and fro between Pinyon and the real pi (dev only, needs Node 20): `python scripts/pi_interop.py PI_DIR`.

PI_DIR is a folder where `npm install @mariozechner/pi-coding-agent@0.73.1` was run. Nothing of it is copied. How to
run it, and what came out: docs/interop.md. It leaves nothing behind but what it prints.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import anyio

from app.ai.messages import AssistantMessage, TextContent, ThinkingContent, ToolCall, ToolResultMessage, UserMessage
from app.session.inspect import inspect
from app.session.messages import bash_execution_message
from app.session.session import Session
from tests.cli.server import Provider, provider
from tests.cli.wires import bash, calls, says

PINYON = str(Path(sys.executable).parent / "pinyon")
PACKAGE = "node_modules/@mariozechner/pi-coding-agent/dist/"
WHEN = "2026-01-31T12:00:00.000Z"
# What pi's own code says of a session: the list that its picker shows, the tree, the leaf, the context it would send.
LOOK = """
const { SessionManager } = await import(process.argv[1]);
const [, , dir, file, cwd] = process.argv;
const one = SessionManager.open(file);
const context = one.buildSessionContext();
const flat = (nodes) => nodes.flatMap((node) => [[node.entry.id, node.label ?? null], ...flat(node.children)]);
console.log(JSON.stringify({
  listed: (await SessionManager.list(cwd, dir)).map((info) => [info.id, info.name ?? null, info.messageCount]),
  leaf: one.getLeafEntry(), name: one.getSessionName() ?? null, entries: one.getEntries().length,
  labels: Object.fromEntries(flat(one.getTree()).filter(([, label]) => label)), reached: flat(one.getTree()).length,
  roles: context.messages.map((message) => message.role).join(), model: context.model, level: context.thinkingLevel,
}));
"""

# Moves that only pi's screen has, by its own code.
WALK = """
const { SessionManager } = await import(process.argv[1]);
const [, , file, place] = process.argv;
const one = SessionManager.open(file);
const other = one.getEntries().find((entry) => entry.type === "compaction").id;
one.branch(place);
one.appendLabelChange(place, undefined);
one.appendSessionInfo("named by pi");
one.appendCustomEntry("theirs", { deep: [1, { x: null }] });
one.branchWithSummary(other, "SUMMARY BY PI", { readFiles: [], modifiedFiles: [] });
one.appendMessage({ role: "user", content: [{ type: "text", text: "by hand" }], timestamp: Date.now() });
const kept = one.getLeafId();
one.appendCompaction("COMPACTED BY PI", kept, 99);
one.appendThinkingLevelChange("high");
one.appendLabelChange(kept, "kept by pi");
"""


def answer(*content: Any, stop: str = "stop") -> AssistantMessage:
    """An answer as our loop stores it, with the provider and model of the test server."""
    fields = {"api": "openai-completions", "provider": "wire", "model": "m", "stop_reason": stop}
    return AssistantMessage.model_validate({"content": [item.model_dump(by_alias=True) for item in content], **fields})


def text(words: str) -> TextContent:
    return TextContent(text=words)


async def build(folder: Path, work: Path) -> tuple[Path, str]:
    """A session with everything that ours can hold; the leaf stands in the middle. Gives the file and that place."""
    session = await anyio.to_thread.run_sync(lambda: Session.create(work, folder))
    await session.append_model_change("wire", "m")
    await session.append_thinking_level("medium")
    await session.append_message(UserMessage(content=[text("old question \u2028 ü 🎉")]))
    await session.append_message(answer(text("old answer")))
    kept = await session.append_message(UserMessage(content="kept question"))
    call = ToolCall(id="call-1", name="bash", arguments={"command": "echo hi"})
    thought = ThinkingContent(thinking="hm", thinking_signature="reasoning_content", duration_ms=1234)
    await session.append_message(answer(thought, call, stop="toolUse"))
    await session.append_custom("pinyon.snapshot", {"phase": "before", "manifest": "0" * 64, "parent": None})
    result = ToolResultMessage(tool_call_id="call-1", tool_name="bash", content=[text("hi\n")], duration_ms=17)
    await session.append_message(result)
    told = await session.append_message(answer(text("it said hi")))
    await session.append_custom("pinyon.snapshot", {"phase": "after", "manifest": "1" * 64, "parent": "0" * 64})
    await session.append_compaction("SUMMARY OF OLD", kept, 4321, {"readFiles": ["a"], "modifiedFiles": []})
    fork = await session.append_message(UserMessage(content="after the compaction"))
    await session.append_message(answer(text("one way")))
    await session.append_message(bash_execution_message("ls", "NOTES", WHEN, exit_code=0))
    await session.append_custom_message("note", [text("from an extension")], display=True, details={"a": [1, None]})
    await session.append_custom_message("hidden", "sent and not shown", display=False)
    middle = await session.append_message(answer(text("one way goes on")))
    await session.append_branch_summary(fork, "SUMMARY OF ONE WAY", {"readFiles": [], "modifiedFiles": ["b"]})
    await session.append_message(UserMessage(content="the other way"))
    await session.append_message(answer(text("other answer")))
    await session.set_label(told, "good ü")
    await session.set_label(middle, "here")
    await session.set_name("both ways")
    await session.move_leaf(middle)
    await session.close()
    assert session.path is not None
    return session.path, middle


class World:
    """Both programs with folders of their own, asking the same local server."""

    def __init__(self, root: Path, pi: Path, server: Provider) -> None:
        self.root, self.pi, self.server = root, pi.absolute(), server
        self.work, self.sessions, self.agent = root / "work", root / "data" / "sessions", root / "agent"
        for folder in (self.work, root / "config", self.agent):
            folder.mkdir()
        model = {"id": "m", "reasoning": True, "contextWindow": 200_000, "maxTokens": 8000}
        wire = {"baseUrl": server.address + "/v1", "apiKey": "k", "api": "openai-completions", "models": [model]}
        for place in (root / "config", self.agent):
            (place / "models.json").write_text(json.dumps({"providers": {"wire": wire}}))
            (place / "settings.json").write_text(json.dumps({"defaultProvider": "wire", "defaultModel": "m"}))
        keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        ours = {f"PINYON_{name.upper()}_DIR": str(root / name) for name in ("config", "data", "cache")}
        theirs = {"PI_OFFLINE": "1", "PI_CODING_AGENT_DIR": str(self.agent)}
        self.env = {**keep, **ours, **theirs, "HOME": str(root), "NO_PROXY": "127.0.0.1"}

    def run(self, *argv: str) -> str:
        done = subprocess.run(
            argv, cwd=self.work, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
        )
        if done.returncode:
            raise SystemExit(f"{argv} ended with {done.returncode}\n{done.stdout.decode()}\n{done.stderr.decode()}")
        return done.stdout.decode().strip()

    def script(self, code: str, *argv: str) -> str:
        package = str(self.pi / PACKAGE / "index.js")
        return self.run("node", "--input-type=module", "-e", code, "--", package, *argv)

    def look(self, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.script(LOOK, str(path.parent), str(path), str(self.work)))
        return found

    def pinyon(self, *argv: str) -> str:
        return self.run(PINYON, *argv)

    def real_pi(self, *argv: str) -> str:
        return self.run(str(self.pi / "node_modules" / ".bin" / "pi"), *argv)

    def sent(self, number: int = -1) -> list[tuple[str, str]]:
        """Role and text of what a request held, without its system prompt; calls are named by their ids."""
        found: list[tuple[str, str]] = []
        for message in self.server.requests[number]["messages"]:
            content = message.get("content") or ""
            words = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
            words += "".join(f"<{call['id']}>" for call in message.get("tool_calls") or ())
            if message["role"] not in ("system", "developer"):
                found.append((message["role"], words + str(message.get("tool_call_id") or "")))
        return found


def check(what: str, is_true: bool, seen: object = "") -> None:
    print(f"{'ok  ' if is_true else 'FAIL'} {what}" + ("" if is_true else f"\n     {seen}"), flush=True)
    check.failed += not is_true  # type: ignore[attr-defined]


check.failed = 0  # type: ignore[attr-defined]


def ours_in_pi(world: World) -> None:
    """Our session, listed and continued by pi, then by us again."""
    folder = world.sessions / f"--{str(world.work)[1:].replace('/', '-')}--"
    path, middle = anyio.run(build, folder, world.work)
    before = path.read_bytes()
    mine, seen = inspect(path), world.look(path)
    check("pi lists it by id and name", [row[:2] for row in seen["listed"]] == [[mine["id"], "both ways"]], seen)
    check("pi stands at our leaf", seen["leaf"]["parentId"] == middle == mine["leaf"], seen["leaf"])
    check("pi reaches every entry", seen["reached"] == seen["entries"] == mine["entries"], seen)
    check("pi reads our labels", seen["labels"] == mine["labels"], seen["labels"])
    check("pi builds the same context", seen["roles"] == mine["context_roles"], (seen["roles"], mine["context_roles"]))
    check("pi takes model and level", (seen["model"], seen["level"]) == (mine["model"], "medium"), seen)
    check("looking changed nothing", path.read_bytes() == before)
    world.server.play(*[says("unused")] * len(world.server.requests), says("pi was here"))
    said = world.real_pi("--session", str(path), "-p", "asked of pi")
    by_pi = world.sent()
    check("pi continues it in print mode", said == "pi was here", said)
    check("pi only appended", path.read_bytes().startswith(before))
    copy = world.root / "copy.jsonl"
    copy.write_bytes(before)
    world.server.play(*[says("unused")] * len(world.server.requests), says("the same of ours"))
    world.pinyon("--session", str(copy), "-p", "asked of pi")
    by_us = world.sent()
    check("both send the same roles and calls", [row[0] for row in by_pi] == [row[0] for row in by_us], (by_pi, by_us))
    apart = [pair for pair in zip(by_pi, by_us, strict=False) if pair[0] != pair[1]]
    check("only the words around a summary differ", all("SUMMARY" in pair[0][1] for pair in apart), apart)
    mine = inspect(path)
    check(
        "ours stands behind pi's answer", mine["context_roles"].endswith("user,assistant") and not mine["notes"], mine
    )
    for turn in range(3):
        world.server.play(*[says("unused")] * len(world.server.requests), says(f"ours {turn}"), says(f"theirs {turn}"))
        check(f"ours goes on ({turn})", world.pinyon("-c", "-p", f"question {turn}") == f"ours {turn}")
        words = ("--session-dir", str(folder), "-c", "-p", f"question {turn} to pi")
        check(f"pi -c goes on ({turn})", world.real_pi(*words) == f"theirs {turn}")
    mine, seen = inspect(path), world.look(path)
    check("one leaf after it all", seen["leaf"]["id"] == mine["leaf"], (seen["leaf"], mine["leaf"]))
    check("one context after it all", seen["roles"] == mine["context_roles"], (seen["roles"], mine["context_roles"]))
    check("nothing was odd", mine["notes"] == [] and mine["set_aside"] == mine["recovered"] == 0, mine["notes"])
    check("the end has every word", len(world.sent()) == len(by_pi) + 2 * 6, len(world.sent()))
    world.script(WALK, str(path), middle)
    mine, seen = inspect(path), world.look(path)
    check("pi's walk: leaf", seen["leaf"]["id"] == mine["leaf"], (seen["leaf"], mine["leaf"]))
    check("pi's walk: name, labels", (seen["name"], seen["labels"]) == (mine["name"], mine["labels"]), (seen, mine))
    check("pi's walk: context", seen["roles"] == mine["context_roles"] == "compactionSummary,user", (seen, mine))
    check("pi's walk: level", seen["level"] == mine["thinkingLevel"] == "high", (seen, mine))
    world.server.play(*[says("unused")] * len(world.server.requests), says("after the walk"), says("pi as well"))
    check("ours goes on there", world.pinyon("-c", "-p", "and now?") == "after the walk")
    check("and pi", world.real_pi("--session", str(path), "-p", "and then?") == "pi as well")
    check("with the summary", "COMPACTED BY PI" in world.sent()[0][1] and len(world.sent()) == 5, world.sent())


def killed_in_pi(world: World) -> None:
    """A session of ours whose process was killed during a call, continued by pi and then by us."""
    path = world.sessions / "killed.jsonl"

    async def write() -> None:
        session = await anyio.to_thread.run_sync(lambda: Session.create(world.work, path=path))
        await session.append_message(UserMessage(content="run it"))
        call = ToolCall(id="open-1", name="bash", arguments={"command": "sleep 9"})
        await session.append_message(answer(call, stop="toolUse"))
        await session.close()

    anyio.run(write)
    path.write_bytes(path.read_bytes() + b'{"type":"message","id":"torn')
    world.server.play(*[says("unused")] * len(world.server.requests), says("pi goes on"), says("ours goes on"))
    check("pi continues a torn file", world.real_pi("--session", str(path), "-p", "still there?") == "pi goes on")
    mine = inspect(path)
    print("     what ours says of it:", mine["notes"], mine["context_roles"])
    check("and ours after it", world.pinyon("--session", str(path), "-p", "yes?") == "ours goes on")
    roles = [row[0] for row in world.sent()]
    check("the open call has a result", roles[:3] == ["user", "assistant", "tool"], world.sent())
    check("with every word", sum(role == "user" for role in roles) == 3, world.sent())


def pis_in_ours(world: World) -> None:
    """A session that pi began, with calls, continued by us, and then by pi."""
    world.server.play(*[says("unused")] * len(world.server.requests), calls(bash("echo $((6*7))")), says("it is 42"))
    check("pi begins a session", world.real_pi("-p", "what is six times seven") == "it is 42")
    (path,) = (world.agent / "sessions").rglob("*.jsonl")
    before = path.read_bytes()
    rows = json.loads(world.pinyon("sessions", "list", "--pi", "--json"))
    check("ours lists it", [row["firstMessage"] for row in rows] == ["what is six times seven"], rows)
    mine, seen = json.loads(world.pinyon("sessions", "inspect", str(path), "--json")), world.look(path)
    check("ours stands at pi's leaf", mine["leaf"] == seen["leaf"]["id"], (mine, seen))
    check("ours builds the same context", mine["context_roles"] == seen["roles"], (mine, seen))
    check("looking changed nothing", path.read_bytes() == before)
    count = len(world.server.requests)
    world.server.play(*[says("unused")] * count, says("ours knows"), says("pi knows"), says("the import knows"))
    check("ours continues it", world.pinyon("--session", str(path), "-p", "and again?") == "ours knows")
    check("ours only appended", path.read_bytes().startswith(before))
    check("pi -c continues that", world.real_pi("-c", "-p", "and now?") == "pi knows")
    roles = [row[0] for row in world.sent()]
    check("with every word", roles == ["user", "assistant", "tool", "assistant", "user", "assistant", "user"], roles)
    world.pinyon("sessions", "import", str(path))
    check("an imported copy goes on", world.pinyon("-c", "-p", "still there?") == "the import knows")


def main() -> int:
    """1 when a line says FAIL."""
    with tempfile.TemporaryDirectory(prefix="pinyon-interop-") as name, provider() as server:
        world = World(Path(name), Path(sys.argv[1]), server)
        print(world.pinyon("--version"))
        ours_in_pi(world)
        killed_in_pi(world)
        pis_in_ours(world)
    return 1 if check.failed else 0  # type: ignore[attr-defined]


if __name__ == "__main__":
    sys.exit(main())
