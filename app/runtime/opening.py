"""From the command line's wishes to an AgentSession: settings, models, session, tools, system prompt."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import anyio.to_thread

from app.agent.tool import AgentTool
from app.ai.catalogue import ModelRegistry, default_models
from app.ai.messages import Model, ThinkingLevel
from app.ai.resolve import as_level, choose_initial, clamp_level, resolve_cli, resolve_scope
from app.config import paths
from app.config.jsonc import Problem
from app.config.settings import Settings, load_settings
from app.config.trust import is_trusted, trust_problems, untrusted_settings
from app.errors import SessionBusyError, SessionError, UsageError
from app.resources.context_files import ContextFile, load_context_files
from app.resources.system_prompt import PromptParts, build_system_prompt
from app.runtime.agent_session import AgentSession, SessionParts
from app.runtime.events import NoteLevel
from app.runtime.file_history import FileHistory
from app.runtime.user_bash import UserBash
from app.session.forks import fork_from
from app.session.listing import Found, find_session, most_recent
from app.session.session import Session
from app.tools.builtin import builtin_tools
from app.tools.context import ToolContext
from app.tools.output_files import prune_outputs

if TYPE_CHECKING:
    from app.session.context import Outline


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
    on_busy: Literal["fork", "raise"] = "fork"
    """What happens to a session that another process writes: a copy with a note, or SessionBusyError."""
    read_only: bool = False


Notes = list[tuple[str, NoteLevel]]


async def open_agent_session(options: StartOptions) -> AgentSession:
    """A session ready to be entered. What was wrong in files of the user's stands in its notes.

    Raises UsageError, ConfigError, NotASessionError and SessionError for what can't be worked around.
    """
    notes: Notes = []
    settings, problems = load_settings(options.cwd, trusted=is_trusted(options.cwd))
    notes += [(str(problem), "warning") for problem in (*_folder_problems(), *problems, *trust_problems())]
    if words := untrusted_settings(options.cwd):
        notes.append((words, "warning"))
    registry = ModelRegistry(paths.config_dir())
    notes += [(str(problem), "warning") for problem in registry.problems]
    session = await open_session(options, settings, notes)
    try:
        return await _put_together(options, settings, registry, session, notes)
    except BaseException:  # else its lock and its lease would outlive the attempt
        await session.close()
        raise


async def _put_together(
    options: StartOptions, settings: Settings, registry: ModelRegistry, session: Session, notes: Notes
) -> AgentSession:
    outline = await anyio.to_thread.run_sync(session.outline)
    speaks = outline.speaks(session.file.body)
    model, level = _choose(options, settings, registry, outline if speaks else None, notes)
    if options.api_key is not None:
        registry.credentials.use_for_this_run(model.provider, options.api_key)
    holder: list[AgentSession] = []
    tool_context = ToolContext(
        cwd=options.cwd,
        shell_path=settings.shell_path,
        command_prefix=settings.shell_command_prefix,
        auto_resize_images=settings.images.auto_resize,
        model_sees_images=lambda: "image" in holder[0].agent.state.model.input,
    )
    files = _context_files(options, notes)
    tools = _pick_tools(builtin_tools(tool_context), options.tools)
    made = AgentSession(
        SessionParts(
            session=session,
            settings=settings,
            registry=registry,
            model=model,
            thinking_level=level,
            tools=tools,
            system_prompt=_prompt_builder(options, files),
            notes=notes,
            context_files=[file.path for file in files],
        )
    )
    holder.append(made)
    await anyio.to_thread.run_sync(prune_outputs, tool_context.output_dir)
    made.bash = UserBash(made, tool_context)
    made.files = FileHistory(made, options.cwd)
    made.cwd, made.session_dir = options.cwd, _session_dir(options.session_dir or settings.session_dir)
    made.files.attach()
    if not speaks:
        await session.append_model_change(model.provider, model.id)
        await session.append_thinking_level(level)
    elif outline.thinking_level != level:
        await session.append_thinking_level(level)
    return made


async def open_session(options: StartOptions, settings: Settings, notes: Notes) -> Session:
    """The session that the options name, else a new one; a busy one is forked, with a note."""
    session_dir = _session_dir(options.session_dir or settings.session_dir)
    if options.no_session:
        return Session.in_memory(options.cwd)
    cwd = str(options.cwd)
    if options.fork is not None:
        return await fork_from(_existing(options.fork, cwd, session_dir), cwd, session_dir)
    source: Path | None = None
    if options.session is not None:
        found = _named(options.session, cwd, session_dir)
        if not found.exists:
            return Session.create(cwd, session_dir, path=found.path)
        source = found.path
    elif options.continue_:
        source = most_recent(cwd, session_dir)
        if source is None:
            notes.append(("there is no earlier session of this folder: this is a new one", "info"))
    if source is None:
        return Session.create(cwd, session_dir)
    try:
        session = await Session.open(source, read_only=options.read_only)
    except SessionBusyError as error:
        if options.on_busy == "raise":
            error.path = source
            raise
        session = await fork_from(source, cwd, session_dir)
        notes.append((f"{error}. This is a copy of it: {session.path}", "warning"))
    notes += [(note, "warning") for note in session.notes]
    return session


def _folder_problems() -> list[Problem]:
    folder = paths.config_dir()
    wrong = os.path.lexists(folder) and not folder.is_dir()
    return [Problem(folder, "", "is not a folder: no settings, keys or models are read from it")] if wrong else []


def _named(reference: str, cwd: str, session_dir: Path | None) -> Found:
    try:
        return find_session(reference, cwd, session_dir)
    except SessionError as error:
        raise UsageError(error.message, error.hint) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(
            f"the session {reference} can't be read: {reason}", "pinyon sessions lists those there are"
        ) from error


def _existing(reference: str, cwd: str, session_dir: Path | None) -> Path:
    found = _named(reference, cwd, session_dir)
    if not found.exists:
        raise UsageError(f"there is no session {reference}", "pinyon sessions lists them")
    return found.path


def _session_dir(folder: str | None) -> Path | None:
    return paths.expand(folder, Path()).absolute() if folder else None


def _choose(
    options: StartOptions, settings: Settings, registry: ModelRegistry, restored: Outline | None, notes: Notes
) -> tuple[Model, ThinkingLevel]:
    models, available, defaults = registry.models(), registry.available(), default_models()
    scope = resolve_scope(settings.enabled_models or (), available)
    notes += [(warning, "warning") for warning in scope.warnings]
    chosen = choose_initial(
        models,
        available,
        defaults,
        cli=resolve_cli(options.provider, options.model, models, defaults, registry.has_auth),
        scope=scope.matches,
        restored=(restored.model.provider, restored.model.model_id) if restored and restored.model else None,
        saved=(settings.default_provider, settings.default_model),
    )
    if chosen is None:
        raise UsageError("there is no model to ask", "pinyon --list-models lists what is known")
    if chosen.warning:
        notes.append((chosen.warning, "warning"))
    stored = as_level(restored.thinking_level) if restored else None
    wished = options.thinking or chosen.level or stored or settings.default_thinking_level or "medium"
    return chosen.model, clamp_level(chosen.model, wished)


def _pick_tools(tools: list[AgentTool], names: Sequence[str] | None) -> list[AgentTool]:
    if names is None:
        return tools
    known = {tool.name: tool for tool in tools}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no tool {name!r}", f"There are {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)]


def _context_files(options: StartOptions, notes: Notes) -> list[ContextFile]:
    if options.no_context_files:
        return []
    files, problems = load_context_files(options.cwd, paths.config_dir())
    notes += [(problem, "warning") for problem in problems]
    return files


def _prompt_builder(options: StartOptions, files: list[ContextFile]) -> Callable[[Sequence[AgentTool]], str]:
    custom = None if options.system_prompt is None else _text_or_file(options.system_prompt, options.cwd)
    append = "\n\n".join(_text_or_file(text, options.cwd) for text in options.append_system_prompt) or None
    today = date.today()

    def build(tools: Sequence[AgentTool]) -> str:
        return build_system_prompt(PromptParts(options.cwd, today, tools, custom, append, files))

    return build


def _text_or_file(value: str, cwd: Path) -> str:
    """The content of the file that `value` names, else `value` itself (spec core §7.1)."""
    try:
        path = paths.expand(value, cwd)
        is_file = "\n" not in value and path.is_file()
    except (OSError, ValueError):
        return value  # too long for a name, or no name at all
    if not is_file:
        return value
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"the prompt file {value} can't be read: {error.strerror}", "Check it") from error
