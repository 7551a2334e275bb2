"""Which renderer draws which tool; it must never let a renderer's fault reach the screen.

`render_tool` is the one place where a renderer's exception is caught: the call is then drawn by the default renderer
with a note (architecture §2). A renderer is pure: data in, a Visual out; expansion and focus live elsewhere.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, cast

from textual.visual import Visual

Density = Literal["title", "preview", "full"]
DENSITIES: tuple[Density, ...] = ("title", "preview", "full")

NEVER_RAN = -1

Params = Mapping[str, object]


class ToolOutcome(Protocol):
    """What a call gave so far: a ToolResultMessage, an AgentToolResult, or any object of that shape.

    `is_error` and `duration_ms` (milliseconds) are read when present; `details` may be of any type (cases S5).
    """

    @property
    def content(self) -> Sequence[object]:
        """Blocks with `text`, or with `data` (base64) and `mime_type`."""
        ...

    @property
    def details(self) -> object:
        """The tool's own details, or whatever a foreign session holds there."""
        ...


@dataclass(frozen=True, slots=True)
class ToolView:
    """How a call is to be drawn: `elapsed_s` seconds so far while it runs.

    `frame` counts spinner steps, or is NEVER_RAN: nothing streams and there is no result (a foreign session).
    `plain` draws words for glyphs and no gutter (ui.md §7). `note` is a remark to show under the header.
    """

    density: Density = "preview"
    elapsed_s: float | None = None
    frame: int = 0
    plain: bool = False
    note: str = ""

    @property
    def is_open(self) -> bool:
        """Whether more than the header is wanted."""
        return self.density != "title"

    @property
    def is_full(self) -> bool:
        """Whether everything is wanted, up to the cap."""
        return self.density == "full"


@dataclass(frozen=True, slots=True)
class ToolRenderResult:
    """A drawn call. With `is_custom` the content stands as it is, else a card may be put around it."""

    content: Visual
    is_custom: bool = False


class ToolRenderer(Protocol):
    """Draws one tool's calls. `result` is None until there is something to show.

    A renderer whose `render` takes no `view` (as an extension's may) is drawn the same at every density.
    """

    def render(
        self, params: Params, result: ToolOutcome | None, is_streaming: bool, view: ToolView
    ) -> ToolRenderResult:
        """The call as a Visual; never blank."""
        ...


class PlainToolRenderer(Protocol):
    """A renderer that knows nothing of densities."""

    def render(self, params: Params, result: ToolOutcome | None, is_streaming: bool) -> ToolRenderResult:
        """The call as a Visual; never blank."""
        ...


tool_renderers: dict[str, ToolRenderer | PlainToolRenderer] = {}
_DEFAULT_DENSITY: dict[str, Density] = {
    "read": "title",
    "write": "title",
    "grep": "title",
    "find": "title",
    "ls": "title",
}


class _JsonMode:
    on = False


def register_tool_renderer(name: str, renderer: ToolRenderer | PlainToolRenderer) -> None:
    """Draw calls of the tool `name` with `renderer` from now on; the last one registered wins."""
    tool_renderers[name] = renderer


def get_tool_renderer(name: str) -> ToolRenderer | PlainToolRenderer | None:
    """The renderer registered for `name`, or None: the default one will draw it."""
    return tool_renderers.get(name)


def set_show_json_mode(on: bool) -> None:
    """Draw every call as pretty JSON (for debugging). What is drawn already stays until it is drawn again."""
    _JsonMode.on = on


def is_json_mode() -> bool:
    """Whether `set_show_json_mode(True)` is in force."""
    return _JsonMode.on


def default_density(name: str, *, is_error: bool = False) -> Density:
    """The density a call starts at: read, write, grep, find and ls as a title, all else and any failure as a preview.

    Source: ui.md §1.
    """
    return "preview" if is_error else _DEFAULT_DENSITY.get(name, "preview")


def as_params(params: object) -> Params:
    """The arguments as a mapping: a JSON object in a string is read, None is empty, anything else is under "value"."""
    if isinstance(params, Mapping):
        return cast("Params", params)
    if params is None:
        return {}
    if isinstance(params, str):
        import json

        try:
            value: object = json.loads(params)
        except ValueError:
            value = None
        if isinstance(value, dict):
            return value
    return {"value": params}


def render_tool(
    name: str,
    params: object,
    result: ToolOutcome | None,
    is_streaming: bool,
    *,
    density: Density = "preview",
    elapsed_s: float | None = None,
    frame: int = 0,
    plain: bool = False,
) -> ToolRenderResult:
    """The call drawn by its renderer, or by the default one: unknown tool, JSON mode, or a renderer that raised.

    `params` may be partial or odd, `result` is None while pending; `is_streaming` while arguments or output still come.
    Without either the call never ran.
    `elapsed_s`: seconds since it started running. Never raises, never blank.
    """
    view = ToolView(density, elapsed_s, NEVER_RAN if result is None and not is_streaming else max(0, frame), plain)
    arguments = as_params(params)
    renderer = None if _JsonMode.on else tool_renderers.get(name)
    if renderer is not None:
        try:
            return _run(renderer, arguments, result, is_streaming, view)
        except Exception as error:  # a border: one entry must never take the screen down
            view = replace(view, note=f"the renderer of {name} failed: {type(error).__name__}: {error}")
    from renderers.default import DefaultRenderer

    return DefaultRenderer(name).render(arguments, result, is_streaming, view)


def _run(
    renderer: ToolRenderer | PlainToolRenderer,
    params: Params,
    result: ToolOutcome | None,
    is_streaming: bool,
    view: ToolView,
) -> ToolRenderResult:
    if _takes_view(renderer):
        drawn = cast("ToolRenderer", renderer).render(params, result, is_streaming, view)
    else:
        drawn = cast("PlainToolRenderer", renderer).render(params, result, is_streaming)
    content: object = drawn.content
    if isinstance(content, Visual):
        return drawn
    if isinstance(content, str):
        from textual.content import Content

        from renderers.text import sanitise

        return ToolRenderResult(Content(sanitise(content)), drawn.is_custom)
    raise TypeError(f"content must be a Visual or a str, not {type(content).__name__}")


def _takes_view(renderer: ToolRenderer | PlainToolRenderer) -> bool:
    parameters = inspect.signature(renderer.render).parameters.values()
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return True
    return (
        sum(parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD) for parameter in parameters)
        > 3
    )
