"""What a session tells its faces beyond the ten AgentEvents (spec core §6.1), and the union of both.

The events of the reference are printed by JSON mode; `EntryAppended`, `SessionNote`, `WriteFailed` and
`SessionSwitched` are ours, for screens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from app.agent.events import AgentEvent, AgentMessage

NoteLevel = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class QueueUpdate:
    """The texts that wait: steering first in line, then follow-ups."""

    steering: list[str]
    follow_up: list[str]
    type: Literal["queue_update"] = "queue_update"


@dataclass(frozen=True, slots=True)
class CompactionStart:
    """A summary of the older conversation is being written."""

    reason: Literal["manual", "threshold", "overflow"]
    type: Literal["compaction_start"] = "compaction_start"


@dataclass(frozen=True, slots=True)
class CompactionEnd:
    """The compaction ended; `result` is the compaction entry's own data, None when nothing changed."""

    reason: Literal["manual", "threshold", "overflow"]
    result: dict[str, Any] | None = None
    aborted: bool = False
    will_retry: bool = False
    error_message: str | None = None
    type: Literal["compaction_end"] = "compaction_end"


@dataclass(frozen=True, slots=True)
class AutoRetryStart:
    """A failed request will be sent again after `delay_ms`."""

    attempt: int
    max_attempts: int
    delay_ms: int
    error_message: str
    type: Literal["auto_retry_start"] = "auto_retry_start"


@dataclass(frozen=True, slots=True)
class AutoRetryEnd:
    """Retrying is over: by an answer, by the last failure (`final_error`), or stopped by the user."""

    success: bool
    attempt: int
    final_error: str | None = None
    type: Literal["auto_retry_end"] = "auto_retry_end"


@dataclass(frozen=True, slots=True)
class SessionInfoChanged:
    """The session has another name; None: no name."""

    name: str | None
    type: Literal["session_info_changed"] = "session_info_changed"


@dataclass(frozen=True, slots=True)
class ThinkingLevelChanged:
    """Another thinking level from the next request on."""

    level: str
    type: Literal["thinking_level_changed"] = "thinking_level_changed"


@dataclass(frozen=True, slots=True)
class ModelChanged:
    """Another model from the next run on."""

    provider: str
    model_id: str
    type: Literal["model_changed"] = "model_changed"


@dataclass(frozen=True, slots=True)
class EntryAppended:
    """`message` is stored, under `entry_id`."""

    entry_id: str
    message: AgentMessage
    type: Literal["entry_appended"] = "entry_appended"


@dataclass(frozen=True, slots=True)
class SessionNote:
    """Something the user should read; not part of the conversation."""

    text: str
    level: NoteLevel = "info"
    type: Literal["note"] = "note"


@dataclass(frozen=True, slots=True)
class WriteFailed:
    """An entry could not be stored, so the run was stopped."""

    error_message: str
    type: Literal["write_failed"] = "write_failed"


@dataclass(frozen=True, slots=True)
class BashStart:
    """A `!` command of the user's began."""

    bash_id: str
    command: str
    exclude_from_context: bool
    type: Literal["bash_start"] = "bash_start"


@dataclass(frozen=True, slots=True)
class BashOutput:
    """`output` is the whole tail so far (it replaces the one before)."""

    bash_id: str
    output: str
    type: Literal["bash_output"] = "bash_output"


@dataclass(frozen=True, slots=True)
class BashEnd:
    """The command ended; `message` is its bashExecution message."""

    bash_id: str
    message: AgentMessage
    type: Literal["bash_end"] = "bash_end"


@dataclass(frozen=True, slots=True)
class EditorText:
    """Put `text` before what stands in the prompt (queued messages that come back)."""

    text: str
    type: Literal["editor_text"] = "editor_text"


@dataclass(frozen=True, slots=True)
class SessionSwitched:
    """The face now shows another session, or another place in the tree of this one: draw it anew.

    `editor_text` goes into the prompt (a message that is to be written again).
    """

    reason: Literal["new", "resume", "fork", "tree"]
    editor_text: str | None = None
    type: Literal["session_switched"] = "session_switched"


SessionEvent = (
    AgentEvent
    | QueueUpdate
    | CompactionStart
    | CompactionEnd
    | AutoRetryStart
    | AutoRetryEnd
    | SessionInfoChanged
    | ThinkingLevelChanged
    | ModelChanged
    | EntryAppended
    | SessionNote
    | WriteFailed
    | BashStart
    | BashOutput
    | BashEnd
    | EditorText
    | SessionSwitched
)

# What JSON mode prints: the reference's own events and no others.
REFERENCE_EVENTS = frozenset(
    {
        "agent_start",
        "agent_end",
        "turn_start",
        "turn_end",
        "message_start",
        "message_update",
        "message_end",
        "tool_execution_start",
        "tool_execution_update",
        "tool_execution_end",
        "queue_update",
        "compaction_start",
        "compaction_end",
        "auto_retry_start",
        "auto_retry_end",
        "session_info_changed",
        "thinking_level_changed",
    }
)
