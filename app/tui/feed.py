"""From SessionEvents to transcript blocks, and from a stored branch to blocks; it must never touch the session.

Block ids: an entry's id for what an entry holds alone, `entry/index` for the blocks of an answer, the call's id for a
tool call. While an entry is not stored yet it has a provisional id, renamed when `EntryAppended` tells the real one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from app.tui.block_maker import BlockMaker, Outcome
from widgets.blocks import (
    AssistantBlock,
    BashBlock,
    Block,
    NoteBlock,
    ThinkingBlock,
    ToolBlock,
    UserBlock,
)

if TYPE_CHECKING:
    from app.ai.events import AssistantMessageEvent
    from app.ai.messages import AssistantMessage
    from app.runtime.events import NoteLevel
    from widgets.transcript import Transcript


WELCOME = "welcome"
EARLIER = "earlier"


class TranscriptFeed(BlockMaker):
    """Keeps one transcript in step with one session."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__()
        self._transcript = transcript
        self._streaming: list[Block | None] = []
        self._stream_key = ""
        self._bash: dict[str, BashBlock] = {}
        self._pending: list[tuple[Any, list[Block]]] = []
        self.entry_of_block: dict[str, str] = {}

    def clear(self) -> None:
        """Forget everything (another session)."""
        self.__init__(self._transcript)  # type: ignore[misc]
        self._transcript.clear()

    # -- a stored branch ------------------------------------------------------------------------------------------

    def show_branch(self, entries: Iterable[tuple[str, Any]], siblings: dict[str, tuple[int, int]]) -> None:
        """Show the messages of a branch, (entry id, message) in order; replaces what is there."""
        self.clear()
        self._transcript.set_blocks(self._stored_blocks(entries, siblings))

    def show_older(self, entries: Iterable[tuple[str, Any]], siblings: dict[str, tuple[int, int]]) -> None:
        """Show messages of the branch that come before all that is there."""
        last, self._failure = (self._failure, self._failures), None
        self._transcript.prepend_blocks(self._stored_blocks(entries, siblings))
        self._failure, self._failures = last

    def say_earlier(self, count: int) -> None:
        """A line on top that so many entries come before what is there; 0: none."""
        self._transcript.remove_block(EARLIER)
        self._transcript.awaits_earlier = count > 0
        if count:
            self._transcript.prepend_blocks([NoteBlock(EARLIER, f"{count:,} earlier entries · scroll up to read them")])

    def _stored_blocks(self, entries: Iterable[tuple[str, Any]], siblings: dict[str, tuple[int, int]]) -> list[Block]:
        live, self._calls = self._calls, {}
        blocks: list[Block] = []
        for entry_id, message in entries:
            made = self._blocks_of(entry_id, message, siblings.get(entry_id))
            for block in made:
                self.entry_of_block[block.id] = entry_id
            blocks += made
        self._calls = live
        return blocks

    # -- what happens now -----------------------------------------------------------------------------------------

    def message_started(self, message: Any) -> None:
        """A message begins. An answer's blocks come with its updates; a tool's result belongs to its call."""
        role = getattr(message, "role", "")
        if role == "assistant":
            if (failed := self._settle_failure(role)) is not None:
                self._transcript.touch(failed.id)
            self._streaming, self._stream_key = [], self._key("answer")
        elif role != "toolResult":
            self._transcript.remove_block(WELCOME)
            blocks = self._blocks_of(self._key("entry"), message, None)
            for block in blocks:
                self._transcript.append_block(block)
            self._pending.append((message, blocks))

    def message_updated(self, event: AssistantMessageEvent) -> None:
        """One token: the growing block alone is touched."""
        match event.type:
            case "text_delta":
                block = self._streaming_block(event.content_index)
                if isinstance(block, AssistantBlock):
                    block.append(event.delta)
                    self._transcript.touch(block.id)
            case "thinking_delta":
                block = self._streaming_block(event.content_index)
                if isinstance(block, ThinkingBlock):
                    block.append(event.delta)
                    self._transcript.touch(block.id)
            case "toolcall_delta" | "toolcall_end":
                block = self._streaming_block(event.content_index)
                content = event.partial.content[event.content_index]
                if isinstance(block, ToolBlock) and content.type == "toolCall":
                    block.name = content.name
                    block.set_params(content.arguments)
                    self._transcript.touch(block.id)
            case "text_start" | "thinking_start" | "toolcall_start":
                self._finish_thinking()
                self._open(event.content_index, event.partial)
            case "text_end" | "thinking_end":
                self._finish(event.content_index)
            case _:
                pass

    def message_ended(self, message: Any) -> None:
        """The message is final: what did not stream is shown now, endings too."""
        if getattr(message, "role", "") != "assistant":
            return
        for index in range(len(self._streaming)):
            self._finish(index)
        shown = [block for block in self._streaming if block is not None]
        if not shown and message.content:
            shown = self._answer_blocks(self._stream_key, message)
            for block in shown:
                self._transcript.append_block(block)
        else:
            for call, content in zip(self._streaming, message.content, strict=False):
                if isinstance(call, ToolBlock) and content.type == "toolCall":
                    call.name = content.name
                    call.set_params(content.arguments)
                    self._calls[content.id] = call
                    self._transcript.touch(call.id)
                elif isinstance(call, ThinkingBlock) and content.type == "thinking" and content.duration_ms is not None:
                    call.finish(content.duration_ms / 1000)
                    self._transcript.touch(call.id)
            endings = self._endings(self._stream_key, message)
            for block in endings:
                self._transcript.append_block(block)
            shown += endings
        if message.stop_reason in ("error", "aborted"):
            self._drop_calls(message)
        self._pending.append((message, shown))
        self._streaming = []

    def tool_started(self, call_id: str, name: str, params: dict[str, Any]) -> None:
        """A call runs."""
        block = self._calls.get(call_id)
        if block is None:
            block = self._calls[call_id] = self._tool(call_id, name, params, None)
            self._transcript.append_block(block)
        block.start()
        self._transcript.touch(block.id)

    def tool_updated(self, call_id: str, partial: Any) -> None:
        """A call has something to show."""
        if (block := self._calls.get(call_id)) is not None:
            block.set_partial(Outcome(partial, is_error=False))
            self._transcript.touch(block.id)

    def tool_ended(self, call_id: str, result: Any, is_error: bool) -> None:
        """A call ended; its duration comes with the result's message."""
        if (block := self._calls.get(call_id)) is not None:
            block.set_result(Outcome(result, is_error=is_error))
            self._transcript.touch(block.id)

    def result_stored(self, message: Any) -> None:
        """The result's message, which knows how long the call took."""
        if (block := self._calls.pop(message.tool_call_id, None)) is not None:
            block.set_result(message)
            self._transcript.touch(block.id)

    def entry_appended(self, entry_id: str, message: Any) -> None:
        """The message has its entry: blocks get their final ids."""
        place = next((i for i, (waiting, _) in enumerate(self._pending) if waiting is message), None)
        if place is None:
            return
        for shown in self._pending.pop(place)[1]:
            block = shown
            final = block.id
            if not isinstance(block, ToolBlock):
                _, slash, tail = block.id.partition("/")
                final = entry_id + slash + tail
                self._transcript.rename_block(block.id, final)
            self.entry_of_block[final] = entry_id

    def set_siblings(self, block_id: str, siblings: tuple[int, int] | None) -> None:
        """A message of the user's has, or has not, others in its place."""
        block = self._transcript.get_block(block_id)
        if isinstance(block, UserBlock) and block.siblings != siblings:
            block.set_siblings(siblings)
            self._transcript.touch(block_id)

    def bash_started(self, bash_id: str, command: str, excluded: bool) -> None:
        """The user's own command begins."""
        block = self._bash[bash_id] = BashBlock(self._key("bash"), command, excluded=excluded, running=True)
        self._transcript.append_block(block)

    def bash_output(self, bash_id: str, output: str) -> None:
        """What it said so far."""
        if (block := self._bash.get(bash_id)) is not None:
            block.set_output(output)
            self._transcript.touch(block.id)

    def bash_ended(self, bash_id: str, message: Any) -> None:
        """It ended."""
        if (block := self._bash.pop(bash_id, None)) is not None:
            block.set_output(message.output)
            block.finish(message.exit_code, cancelled=message.cancelled, full_output_path=message.full_output_path)
            self._transcript.touch(block.id)
            self._pending.append((message, [block]))

    def note(self, text: str, level: NoteLevel = "info") -> None:
        """Show a remark of the program's own."""
        self._transcript.append_block(NoteBlock(self._key("note"), text, level))

    def welcome(self, text: str) -> None:
        """What an empty session shows until something is said in it."""
        self._transcript.append_block(NoteBlock(WELCOME, text))

    # -- inside ---------------------------------------------------------------------------------------------------

    def _streaming_block(self, index: int) -> Block | None:
        return self._streaming[index] if index < len(self._streaming) else None

    def _open(self, index: int, partial: AssistantMessage) -> None:
        while len(self._streaming) <= index:
            self._streaming.append(None)
        content = partial.content[index]
        block: Block
        match content.type:
            case "text":
                block = AssistantBlock(f"{self._stream_key}/{index}", content.text, finished=False)
            case "thinking":
                block = ThinkingBlock(f"{self._stream_key}/{index}", content.thinking, streaming=True)
            case "toolCall":
                block = self._tool(content.id or f"{self._stream_key}/{index}", content.name, {}, None)
                block.set_params(content.arguments)
        self._streaming[index] = block
        self._transcript.append_block(block)

    def _finish(self, index: int) -> None:
        block = self._streaming_block(index)
        if isinstance(block, AssistantBlock):
            block.finish()
        elif isinstance(block, ThinkingBlock):
            if not block.is_running:
                return
            block.finish()
        else:
            return
        self._transcript.touch(block.id)

    def _finish_thinking(self) -> None:
        for index, block in enumerate(self._streaming):
            if isinstance(block, ThinkingBlock):
                self._finish(index)

    def _drop_calls(self, message: AssistantMessage) -> None:
        """Calls of an answer that failed are not run: show them as such."""
        from app.session.pairing import NOT_RUN

        for content in message.content:
            if content.type == "toolCall" and (block := self._calls.pop(content.id, None)) is not None:
                block.set_result(Outcome(None, is_error=True, text=NOT_RUN[message.stop_reason]))
                self._transcript.touch(block.id)
