"""What a tool is to the loop: AgentTool, its result, and the abort signal; it must never know how a tool looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import anyio
from pydantic import BaseModel

from app.ai.messages import ImageContent, TextContent, ToolSpec

ToolExecutionMode = Literal["sequential", "parallel"]


class AbortSignal:
    """One run's stop sign. `abort()` cancels every scope opened with `guard()`; later guards are cancelled at once."""

    def __init__(self) -> None:
        self._aborted = False
        self._scopes: list[anyio.CancelScope] = []

    @property
    def aborted(self) -> bool:
        """Whether `abort()` was called."""
        return self._aborted

    def abort(self) -> None:
        """Stop the run: idempotent, never raises, returns at once."""
        self._aborted = True
        for scope in tuple(self._scopes):
            scope.cancel()

    @contextmanager
    def guard(self) -> Iterator[anyio.CancelScope]:
        """A cancel scope that `abort()` cancels; after the block, `scope.cancelled_caught` tells."""
        with anyio.CancelScope() as scope:
            self._scopes.append(scope)
            if self._aborted:
                scope.cancel()
            try:
                yield scope
            finally:
                self._scopes.remove(scope)


@dataclass(slots=True)
class AgentToolResult:
    """What a tool gave: `content` for the model, `details` (a JSON object, the tool's own TypedDict) for its renderer.

    `terminate` asks the loop not to call the model again; it counts only when every call of the batch asks for it.
    """

    content: list[TextContent | ImageContent] = field(default_factory=list)
    details: Any = None
    terminate: bool = False

    @classmethod
    def of_text(cls, text: str, details: Any = None) -> AgentToolResult:
        """A result of one text block."""
        return cls([TextContent(text=text)], details)


OnUpdate = Callable[[AgentToolResult], None]


class AgentTool(Protocol):
    """A tool. `execute` raises ToolError to fail; on cancellation it stops what it started and lets it pass.

    The loop runs `execute` inside `signal.guard()`, so an abort arrives as anyio's cancellation; `on_update` may be
    called at any time until the return, synchronously, with the whole result so far.
    `prompt_snippet` (one line) and `prompt_guidelines` go into the system prompt.
    """

    @property
    def name(self) -> str:
        """What the model calls it by."""
        ...

    @property
    def label(self) -> str:
        """What a person reads."""
        ...

    @property
    def description(self) -> str:
        """What the model is told it does."""
        ...

    @property
    def parameters(self) -> type[BaseModel] | dict[str, Any]:
        """A pydantic model, or a JSON schema object."""
        ...

    @property
    def execution_mode(self) -> ToolExecutionMode | None:
        """None: as the run says."""
        ...

    @property
    def prompt_snippet(self) -> str:
        """One line for the system prompt; empty: not listed."""
        ...

    @property
    def prompt_guidelines(self) -> tuple[str, ...]:
        """Bullets for the system prompt."""
        ...

    def prepare_arguments(self, raw: dict[str, Any]) -> dict[str, Any]:
        """Mend arguments of an older shape before they are validated; returns `raw` when nothing is to be done."""
        ...

    async def execute(
        self, tool_call_id: str, params: Any, signal: AbortSignal, on_update: OnUpdate
    ) -> AgentToolResult:
        """Do it. `params` is a validated `parameters` object (or a dict for a schema given as a dict)."""
        ...


class BaseTool:
    """The defaults of an AgentTool, to derive from."""

    name = ""
    label = ""
    description = ""
    parameters: type[BaseModel] | dict[str, Any] = {"type": "object", "properties": {}}
    execution_mode: ToolExecutionMode | None = None
    prompt_snippet = ""
    prompt_guidelines: tuple[str, ...] = ()

    def prepare_arguments(self, raw: dict[str, Any]) -> dict[str, Any]:
        """The arguments as they are."""
        return raw


def tool_spec(tool: AgentTool) -> ToolSpec:
    """The tool as a model is told of it, its schema without pydantic's titles."""
    schema = tool.parameters
    if not isinstance(schema, dict):
        schema = _without_titles(schema.model_json_schema())
    return ToolSpec(tool.name, tool.description, schema)


def _without_titles(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: {name: _without_titles(part) for name, part in value.items()}
            if key in ("properties", "$defs")
            else _without_titles(value)
            for key, value in schema.items()
            if key != "title"
        }
    if isinstance(schema, list):
        return [_without_titles(part) for part in schema]
    return schema
