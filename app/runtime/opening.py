"""From the command line's wishes to an AgentSession: settings, models, session, tools, system prompt."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from app.agent.tool import AgentTool
from app.ai.messages import Model, ThinkingLevel
from app.ai.models_file import ModelRegistry
from app.ai.resolve import choose_model, clamp_level, resolve_cli_model
from app.config import paths
from app.config.settings import Settings, load_settings
from app.config.trust import is_trusted
from app.errors import PinyonError, SessionBusyError, UsageError
from app.resources.context_files import load_context_files
from app.resources.system_prompt import PromptParts, build_system_prompt
from app.runtime.agent_session import AgentSession, SessionParts
from app.runtime.events import NoteLevel
from app.session.listing import find_session, most_recent
from app.session.session import Session
from app.tools.builtin import builtin_tools
from app.tools.context import ToolContext

if TYPE_CHECKING:
    from app.session.context import SessionContext


@dataclass(slots=True)
class StartOptions:
    """What a start asks for; None: as settings and defaults say."""

    cwd: Path
    provider: str | None = None
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    thinking: ThinkingLevel | None = None
    session: str | None = None
    fork: str | None = None
    continue_: bool = False
    no_session: bool = False
    session_dir: str | None = None
    system_prompt: str | None = None
    append_system_prompt: Sequence[str] = ()
    tools: Sequence[str] | None = None
    no_context_files: bool = False


Notes = list[tuple[str, NoteLevel]]


async def open_agent_session(options: StartOptions) -> AgentSession:
    """A session ready to be entered. What was wrong in files of the user's stands in its notes.

    Raises UsageError, ConfigError, NotASessionError and SessionError for what can't be worked around.
    """
    notes: Notes = []
    settings, problems = load_settings(options.cwd, trusted=is_trusted(options.cwd))
    notes += [(str(problem), "warning") for problem in problems]
    registry = ModelRegistry(paths.config_dir())
    notes += [(str(problem), "warning") for problem in registry.problems]
    session = await open_session(options, settings, notes)
    context = session.context()
    model, level = _choose(options, settings, registry, context, notes)
    if options.api_key is not None:
        registry.set_api_key(model.provider, options.api_key)
    holder: list[AgentSession] = []
    tool_context = ToolContext(
        cwd=options.cwd,
        shell_path=settings.shell_path,
        command_prefix=settings.shell_command_prefix,
        auto_resize_images=settings.images.auto_resize,
        model_sees_images=lambda: "image" in holder[0].agent.state.model.input,
        output_dir=Path(tempfile.gettempdir()),
    )
    tools = _pick_tools(builtin_tools(tool_context), options.tools)
    made = AgentSession(
        SessionParts(
            session=session,
            settings=settings,
            registry=registry,
            model=model,
            thinking_level=level,
            tools=tools,
            system_prompt=_prompt_builder(options, notes),
            notes=notes,
        )
    )
    holder.append(made)
    if not context.messages:
        await session.append_model_change(model.provider, model.id)
        await session.append_thinking_level(level)
    elif context.thinking_level != level:
        await session.append_thinking_level(level)
    return made


async def open_session(options: StartOptions, settings: Settings, notes: Notes) -> Session:
    """The session that the options name, else a new one; a busy one is forked, with a note."""
    folder = options.session_dir or settings.session_dir
    session_dir = Path(folder).expanduser() if folder else None
    if options.no_session:
        return Session.in_memory(options.cwd)
    source: Path | None = None
    if options.fork is not None:
        return await Session.fork_from(find_session(options.fork, options.cwd, session_dir), options.cwd, session_dir)
    if options.session is not None:
        source = find_session(options.session, options.cwd, session_dir)
    elif options.continue_:
        source = most_recent(options.cwd, session_dir)
        if source is None:
            notes.append(("there is no earlier session of this folder: this is a new one", "info"))
    if source is None:
        return Session.create(options.cwd, session_dir)
    try:
        session = await Session.open(source)
    except SessionBusyError as error:
        session = await Session.fork_from(source, options.cwd, session_dir)
        notes.append((f"{error} This is a copy of it: {session.path}", "warning"))
    notes += [(note, "warning") for note in session.notes]
    return session


def _choose(
    options: StartOptions, settings: Settings, registry: ModelRegistry, context: SessionContext, notes: Notes
) -> tuple[Model, ThinkingLevel]:
    models = registry.models()
    level = options.thinking
    model: Model | None = None
    if options.model is not None or options.provider is not None:
        chosen = resolve_cli_model(models, options.provider, options.model)
        model, level = chosen.model, level or chosen.thinking_level
        if chosen.warning:
            notes.append((chosen.warning, "warning"))
    elif context.model is not None:
        model = registry.find(*context.model)
        if model is None or not registry.has_auth(model):
            wanted = "/".join(context.model)
            model = choose_model(models, settings, registry.has_auth)
            notes.append(
                (f"{wanted} of this session can't be asked now: {model.provider}/{model.id} answers", "warning")
            )
    if model is None:
        model = choose_model(models, settings, registry.has_auth)
    stored = context.thinking_level if context.messages else None
    wished: ThinkingLevel = level or stored or settings.default_thinking_level or "medium"
    return model, clamp_level(model, wished)


def _pick_tools(tools: list[AgentTool], names: Sequence[str] | None) -> list[AgentTool]:
    if names is None:
        return tools
    known = {tool.name: tool for tool in tools}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no tool {name!r}", f"There are {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)]


def _prompt_builder(options: StartOptions, notes: Notes) -> Callable[[Sequence[AgentTool]], str]:
    files = []
    if not options.no_context_files:
        files, problems = load_context_files(options.cwd, paths.config_dir())
        notes += [(problem, "warning") for problem in problems]
    custom = None if options.system_prompt is None else _text_or_file(options.system_prompt, options.cwd)
    append = "\n\n".join(_text_or_file(text, options.cwd) for text in options.append_system_prompt) or None
    today = date.today()

    def build(tools: Sequence[AgentTool]) -> str:
        return build_system_prompt(PromptParts(options.cwd, today, tools, custom, append, files))

    return build


def _text_or_file(value: str, cwd: Path) -> str:
    """The content of the file that `value` names, else `value` itself (spec core §7.1)."""
    try:
        path = cwd / Path(value).expanduser()
        if "\n" not in value and path.is_file():
            return path.read_text("utf-8", "replace")
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, PermissionError):
            raise PinyonError(f"the prompt file {value} can't be read: {error.strerror}") from error
    return value
