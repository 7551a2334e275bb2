"""From stored messages to transcript blocks: what a branch looks like when it is opened; it must never touch a session.

Block ids: an entry's id for what an entry holds alone, `entry/index` for the blocks of an answer, the call's id for a
tool call.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from widgets.blocks import (
    AssistantBlock,
    BashBlock,
    Block,
    CustomBlock,
    ErrorBlock,
    InterruptedBlock,
    NoteBlock,
    SummaryBlock,
    ThinkingBlock,
    ToolBlock,
    UserBlock,
)

if TYPE_CHECKING:
    from app.ai.messages import AssistantMessage


class BlockMaker:
    """Makes blocks and remembers which calls still wait for their result."""

    def __init__(self) -> None:
        self._count = 0
        self._calls: dict[str, ToolBlock] = {}
        self._seen_calls: set[str] = set()
        self._failure: ErrorBlock | None = None
        self._failures = 0

    def _settle_failure(self, role: str) -> ErrorBlock | None:
        """A message of `role` comes next. The failed answer's block, if that is its next attempt: it is quiet now."""
        failed = self._failure
        if role in ("toolResult", "compactionSummary"):
            return None
        self._failure = None
        if role != "assistant":
            self._failures = 0
        elif failed is not None:
            failed.set_retried(again=self._failures > 1)
            return failed
        return None

    def _blocks_of(self, key: str, message: Any, siblings: tuple[int, int] | None) -> list[Block]:
        self._settle_failure(getattr(message, "role", ""))
        match getattr(message, "role", ""):
            case "user":
                text, images = _text_and_images(message.content)
                return [UserBlock(key, text, siblings=siblings, images=images)]
            case "assistant":
                return self._answer_blocks(key, message)
            case "toolResult":
                if (call := self._calls.pop(message.tool_call_id, None)) is not None:
                    call.set_result(message)
                    return []
                return [self._tool(message.tool_call_id or key, message.tool_name, {}, message)]
            case "bashExecution":
                return [
                    BashBlock(
                        key,
                        message.command,
                        message.output,
                        exit_code=message.exit_code,
                        cancelled=message.cancelled,
                        excluded=bool(message.exclude_from_context),
                        full_output_path=message.full_output_path,
                    )
                ]
            case "branchSummary":
                return [SummaryBlock(key, "branch", message.summary)]
            case "compactionSummary":
                after = None if message.tokens_kept is None else message.tokens_kept + len(message.summary) // 4
                return [SummaryBlock(key, "compaction", message.summary, message.tokens_before, after)]
            case "custom":
                if not message.display:
                    return []
                return [CustomBlock(key, message.custom_type, _text_and_images(message.content)[0])]
            case _:
                return []

    def _answer_blocks(self, key: str, message: AssistantMessage) -> list[Block]:
        blocks: list[Block] = []
        for index, content in enumerate(message.content):
            block_id = f"{key}/{index}"
            match content.type:
                case "text":
                    if content.text.strip():
                        blocks.append(AssistantBlock(block_id, content.text, finished=True))
                case "thinking":
                    if content.thinking.strip():
                        seconds = None if content.duration_ms is None else content.duration_ms / 1000
                        blocks.append(ThinkingBlock(block_id, content.thinking, elapsed_s=seconds))
                case "toolCall":
                    tool = self._tool(content.id, content.name, content.arguments, None)
                    self._calls[content.id] = tool
                    blocks.append(tool)
        return blocks + self._endings(key, message)

    def _endings(self, key: str, message: AssistantMessage) -> list[Block]:
        if message.stop_reason == "aborted":
            return [InterruptedBlock(f"{key}/end")]
        if message.stop_reason == "error":
            self._failure = ErrorBlock(f"{key}/end", message.error_message or "the request failed")
            self._failures += 1
            return [self._failure]
        self._failures = 0
        if message.stop_reason == "length":
            return [NoteBlock(f"{key}/end", "cut at the model's output limit", "warning")]
        return []

    def _tool(self, call_id: str, name: str, params: dict[str, Any], result: Any) -> ToolBlock:
        block_id, twin = call_id or self._key("call"), 2
        while block_id in self._seen_calls:  # some providers give the same id twice in a session
            block_id, twin = f"{call_id}#{twin}", twin + 1
        self._seen_calls.add(block_id)
        return ToolBlock(block_id, name, params, result)

    def _key(self, kind: str) -> str:
        self._count += 1
        return f"new-{kind}-{self._count}"


class TextPart:
    """A text block for an outcome that no tool gave."""

    type = "text"

    def __init__(self, text: str) -> None:
        self.text = text


class Outcome:
    """What a renderer reads of a result (ToolOutcome)."""

    duration_ms: int | None = None

    def __init__(self, result: Any, *, is_error: bool, text: str = "") -> None:
        self.content = [TextPart(text)] if result is None else result.content
        self.details = getattr(result, "details", None)
        self.is_error = is_error


def _attached(text: str) -> str:
    """An attached file's block shows its name alone."""
    match = re.match(r'<file name="([^"\n]*)">', text)
    return f"+ {match.group(1)}" if match else text


def _text_and_images(content: Any) -> tuple[str, int]:
    if isinstance(content, str):
        return content, 0
    texts = [
        _attached(block.text) if place else block.text for place, block in enumerate(content) if block.type == "text"
    ]
    return "\n".join(texts), sum(block.type == "image" for block in content)
