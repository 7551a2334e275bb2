"""A local model server for the bench: the prompt says what the answer is. Dev only; speaks Chat Completions.

    play kind=prose tokens=2000 rate=100 id=a1      an answer that ends with "done-a1"
    play tools=20 id=b1                             20 bash calls, one a request, then that end

Its log has one JSON line a request with the monotonic time of its arrival, so that the bench can say when it left.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

WORDS = re.findall(
    r"\w+",
    "session module reader buffer parser value stream screen layout branch commit message token editor render update "
    "config option worker server client request result error retry signal process handler context window column "
    "cursor input output string number vector object method return import export local remote change review search "
    "replace insert delete append create remove follow before after under which where there these those should could",
)
PIECE = re.compile(r"\n+ *| ?[A-Za-z]{1,6}| ?\d{1,3}| ?[^\sA-Za-z0-9]| +")


def blocks(kind: str) -> Iterator[str]:
    """Markdown without end: a mixture as models write it, or one fence that is never closed. Lower case only."""
    chance = random.Random(7)

    def sentence(words: int) -> str:
        chosen = [chance.choice(WORDS) for _ in range(words)]
        if words > 5:
            at = chance.randrange(1, words - 1)
            chosen[at] = chance.choice(("`{}()`", "**{}**", "{}", "{}", "*{}*")).format(chosen[at])
        return " ".join(chosen) + "."

    number = 0
    if kind == "fence":
        yield "```python\n"
        while True:
            number += 1
            one, two, three = (chance.choice(WORDS) for _ in range(3))
            yield f"def {one}_{two}_{number}({three}: int = {number % 97}) -> list[str]:\n"
            yield f'    """give the {one} of a {two}."""\n    total = {three} * {number % 13} + len("{two}")\n'
            yield f"    return [{one!r}] * total  # {three} first\n\n"
    while True:
        number += 1
        yield f"## {number}. {sentence(4)[:-1]}\n\n"
        yield " ".join(sentence(chance.randrange(7, 14)) for _ in range(4)) + "\n\n"
        yield "".join(f"- {sentence(chance.randrange(5, 10))}\n" for _ in range(4)) + "\n"
        yield " ".join(sentence(chance.randrange(7, 14)) for _ in range(3)) + "\n\n"
        if number % 3 == 0:
            word = chance.choice(WORDS)
            yield f"```python\nfor {word} in range({number}):\n    print({word}, {number} + 1)\n```\n\n"


def tokens(kind: str, count: int) -> Iterator[str]:
    """The first `count` pieces of such a text, about four characters each."""
    for block in blocks(kind):
        for piece in PIECE.findall(block):
            if count <= 0:
                return
            count -= 1
            yield piece


def events(order: dict[str, str], results: int) -> Iterator[tuple[bytes, int]]:
    """SSE events of one answer with the tokens that each carries."""

    def chunk(delta: dict[str, object], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return b"data: " + json.dumps({"id": "c", "model": "bench", "choices": [choice]}).encode() + b"\n\n"

    yield chunk({"role": "assistant", "content": ""}), 0
    if results < int(order.get("tools", 0)):
        arguments = json.dumps({"command": f"echo step {results}; seq 1 30"})
        function = {"name": "bash", "arguments": arguments}
        yield (
            chunk({"tool_calls": [{"index": 0, "id": f"call_{results}", "type": "function", "function": function}]}),
            1,
        )
        yield chunk({}, "tool_calls"), 0
    else:
        for piece in tokens(order.get("kind", "prose"), int(order.get("tokens", 5))):
            yield chunk({"content": piece}), 1
        close = "\n```" if order.get("kind") == "fence" else ""
        yield chunk({"content": f"{close}\n\ndone-{order.get('id', 'x')}"}), 1
        yield chunk({}, "stop"), 0
    yield b"data: [DONE]\n\n", 0


def order_of(body: dict[str, object]) -> tuple[dict[str, str], int]:
    """The last message that says "play", as its words, and how many tool results came after it."""
    messages = body.get("messages")
    results = 0
    for message in reversed(messages if isinstance(messages, list) else []):
        text = json.dumps(message.get("content"))
        if message.get("role") == "tool":
            results += 1
        elif message.get("role") == "user" and "play " in text:
            return dict(re.findall(r"(\w+)=(\w+)", text)), results
    return {}, results


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, log: Path) -> None:
    """Requests of one connection, one after the other."""
    plans: dict[str, list[tuple[bytes, int]]] = {}
    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            arrived = time.monotonic()
            length = re.search(r"content-length: *(\d+)", head, re.IGNORECASE)
            body = json.loads(await reader.readexactly(int(length.group(1))) if length else b"{}")
            order, results = order_of(body)
            with log.open("a") as file:
                file.write(json.dumps({"t": arrived, "id": order.get("id"), "results": results}) + "\n")
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            key = json.dumps([order, results])
            plan = plans[key] = plans.get(key) or list(events(order, results))
            await play(plan, float(order.get("rate", 0)), writer)
            writer.write(b"0\r\n\r\n")
            await writer.drain()
    writer.close()


async def play(plan: list[tuple[bytes, int]], rate: float, writer: asyncio.StreamWriter) -> None:
    """Write the events, `rate` tokens a second; 0: as fast as they are taken, one HTTP chunk an event."""
    start, sent, pending, size = time.monotonic(), 0, list[bytes](), 0
    for data, carried in plan:
        pending.append(b"%x\r\n%s\r\n" % (len(data), data))
        size += len(data)
        sent += carried
        if rate or size > 8192:
            writer.write(b"".join(pending))
            pending.clear()
            size = 0
            await writer.drain()
            if rate and (wait := start + sent / rate - time.monotonic()) > 0:
                await asyncio.sleep(wait)
    writer.write(b"".join(pending))
    await writer.drain()


async def serve(port_file: Path, log: Path) -> None:
    """Listen on a free port, name it in `port_file`, until killed."""
    server = await asyncio.start_server(lambda r, w: answer(r, w, log), "127.0.0.1", 0, limit=1 << 26)
    port_file.write_text(str(server.sockets[0].getsockname()[1]))  # noqa: ASYNC240 - nothing else runs yet
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(Path(sys.argv[1]), Path(sys.argv[2])))
