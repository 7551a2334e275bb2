"""Which model a text means, and how hard it thinks (spec core §1.1, §1.16); pure functions that never read a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from app.ai.messages import THINKING_LEVELS, Model, ThinkingLevel
from app.errors import UsageError

LISTED = ". pinyon --list-models tells all"
_DATED = re.compile(r"-\d{8}$")
Usable = Callable[[Model], bool]


@dataclass(frozen=True, slots=True)
class Match:
    """A model found for a text, the level in it (None: none named), and a warning to show (may be empty)."""

    model: Model
    level: ThinkingLevel | None = None
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """The models to cycle through, in order and without doubles, and a warning for each pattern without any."""

    matches: list[Match] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def full_id(model: Model) -> str:
    """`provider/id`."""
    return f"{model.provider}/{model.id}"


def as_level(text: str) -> ThinkingLevel | None:
    """`text` as a thinking level, None if it is none."""
    return next((level for level in THINKING_LEVELS if level == text), None)


def supported_levels(model: Model) -> list[ThinkingLevel]:
    """The levels that `model` can be asked for, rising; `["off"]` if it doesn't reason. Never empty."""
    if not model.reasoning:
        return ["off"]
    known = model.thinking_level_map or {}
    levels = [level for level in THINKING_LEVELS if not (level in known and known[level] is None)]
    if known.get("xhigh") is None and "xhigh" in levels:
        levels.remove("xhigh")
    return levels or ["off"]


def clamp_level(model: Model, level: str) -> ThinkingLevel:
    """The supported level nearest to `level`: itself, else the next above, else the next below.

    A text that is no level gives the lowest supported one.
    """
    supported = supported_levels(model)
    wanted = as_level(level)
    if wanted is None:
        return supported[0]
    at = THINKING_LEVELS.index(wanted)
    upwards = [step for step in THINKING_LEVELS[at:] if step in supported]
    downwards = [step for step in reversed(THINKING_LEVELS[:at]) if step in supported]
    return (upwards + downwards)[0]


def find_exact(text: str, models: Sequence[Model]) -> Model | None:
    """The model whose `provider/id`, else whose id alone, is `text` (case ignored); None if several or none are."""
    wanted = text.lower()
    for name in (full_id, _bare_id):
        found = [model for model in models if name(model).lower() == wanted]
        if len(found) == 1:
            return found[0]
    return None


def find_pattern(text: str, models: Sequence[Model], usable: Usable | None = None) -> Model | None:
    """The exact model, else the best of those whose id or name holds `text` (case ignored).

    Best: usable ones before others, aliases (no date at the end) before dated ones, then the highest id.
    """
    exact = find_exact(text, models)
    if exact is not None:
        return exact
    part = text.lower()
    found = [model for model in models if part in model.id.lower() or part in model.name.lower()]
    if not found and "/" in part:
        found = [model for model in models if part in full_id(model).lower()]
    if usable is not None:
        found = [model for model in found if usable(model)] or found
    aliases = [model for model in found if not _DATED.search(model.id)]
    return max(aliases or found, key=lambda model: model.id, default=None)


def parse_pattern(text: str, models: Sequence[Model], usable: Usable | None = None) -> Match | None:
    """What `sonnet:high` means; None if nothing fits.

    A suffix that is no level (`sonnet:fast`) is left out with a warning, and then no level counts.
    """
    found = find_pattern(text, models, usable)
    if found is not None:
        return Match(found)
    prefix, colon, suffix = text.rpartition(":")
    if not colon:
        return None
    inner = parse_pattern(prefix, models, usable)
    if inner is None or inner.warning:
        return inner
    level = as_level(suffix)
    if level is None:
        return Match(inner.model, None, f"{suffix!r} in {text!r} is no thinking level; it was left out")
    return Match(inner.model, level)


def resolve_cli(
    provider: str | None,
    model: str | None,
    models: Sequence[Model],
    defaults: Mapping[str, str],
    usable: Usable | None = None,
) -> Match | None:
    """What `--provider` and `--model` mean among all models, with a key or not; None if neither is given.

    An unknown id of a known provider becomes a model like that provider's default, with a warning. Raises UsageError
    for an unknown provider, a text that fits nothing, or an id that several providers have.
    """
    if not provider and not model:
        return None
    names = {known.provider.lower(): known.provider for known in models}
    if provider and provider.lower() not in names:
        raise UsageError(f"Unknown provider {provider!r}", _nearest(provider, names.values()) + LISTED)
    chosen = names[provider.lower()] if provider else None
    if not model:
        return Match(_default_of(chosen or "", models, defaults))
    inferred = None
    if chosen is None and "/" in model:
        inferred = names.get(model.split("/", 1)[0].lower())
    owner = chosen or inferred
    text = model
    if owner and model.lower().startswith(owner.lower() + "/"):
        text = model[len(owner) + 1 :]
    found = _find_cli(text, [known for known in models if owner in (None, known.provider)], usable)
    if found is None and (inferred or (chosen and text != model)):
        # The id itself may begin with a provider's name: openrouter's openai/gpt-5.1.
        found = _find_cli(model, [known for known in models if chosen in (None, known.provider)], usable)
    if found is not None:
        return found
    if owner and owner != "offline":
        return _unknown_id(text, owner, models, defaults)
    raise UsageError(f"No model fits {model!r}", _nearest(model, map(full_id, models)) + LISTED)


def resolve_scope(patterns: Iterable[str], available: Sequence[Model]) -> Scope:
    """The models of `--models` or `enabledModels`, in order: a glob adds all it fits, another pattern one."""
    scope = Scope()
    for pattern in patterns:
        if any(sign in pattern for sign in "*?["):
            matches = _glob(pattern, available)
        else:
            match = parse_pattern(pattern, available)
            matches = [match] if match else []
            if match and match.warning:
                scope.warnings.append(match.warning)
        if not matches:
            scope.warnings.append(f"No model with a key fits {pattern!r}")
        known = {full_id(match.model) for match in scope.matches}
        scope.matches.extend(match for match in matches if full_id(match.model) not in known)
    return scope


def choose_initial(
    models: Sequence[Model],
    available: Sequence[Model],
    defaults: Mapping[str, str],
    *,
    cli: Match | None = None,
    scope: Sequence[Match] = (),
    restored: tuple[str, str] | None = None,
    saved: tuple[str | None, str | None] = (None, None),
) -> Match | None:
    """The model to begin with; its `warning` says when it is not the one that was asked for. None if there is none.

    Order: the command line; of a new session the saved default if in scope, else the first in scope; the session's own
    (`restored`) if it still has a key; the `saved` default, key or not; the first provider in `defaults` whose default
    model is available; the first available, the offline guide last (spec core §1.16).
    """
    if cli is not None:
        return cli
    notice = ""
    default = _find_saved(saved, models)
    if restored is None and scope:
        inside = (match for match in scope if default is not None and full_id(match.model) == full_id(default))
        return next(inside, scope[0])
    if restored is not None:
        own = _find_restored(restored, models, available)
        if own is not None:
            return Match(own)
        known = any((model.provider, model.id) == restored for model in models)
        reason = "its provider has no key" if known else "it is configured no more"
        notice = f"Could not go on with {restored[0]}/{restored[1]}: {reason}"
    elif default is None and saved[1]:
        notice = f"The saved default {'/'.join(filter(None, saved))} is not a known model"
    choice = default or _preferred(available, defaults)
    if choice is None:
        return None
    return Match(choice, None, f"{notice}; using {full_id(choice)}" if notice else "")


def _preferred(available: Sequence[Model], defaults: Mapping[str, str]) -> Model | None:
    known = {(model.provider, model.id): model for model in available}
    for key in defaults.items():
        if key in known:
            return known[key]
    return min(available, key=lambda model: model.provider == "offline", default=None)


def _find_saved(saved: tuple[str | None, str | None], models: Sequence[Model]) -> Model | None:
    provider, model_id = saved
    if not model_id:
        return None
    if provider:
        return next((model for model in models if (model.provider, model.id) == (provider, model_id)), None)
    return find_exact(model_id, models)


def _find_restored(restored: tuple[str, str], models: Sequence[Model], available: Sequence[Model]) -> Model | None:
    """A session's own model if its provider has a key; an id that we don't know is taken on trust, as it was before."""
    provider, model_id = restored
    for model in available:
        if (model.provider, model.id) == restored:
            return model
    if any((model.provider, model.id) == restored for model in models):
        return None
    like = next((model for model in available if model.provider == provider), None)
    return like.model_copy(update={"id": model_id, "name": model_id}) if like else None


def _bare_id(model: Model) -> str:
    return model.id


def _find_cli(text: str, models: Sequence[Model], usable: Usable | None) -> Match | None:
    """As parse_pattern, but a suffix that is no level fails, and an id that several providers have is refused."""
    prefix, _, suffix = text.rpartition(":")
    level = as_level(suffix)
    for name, meant in ((text, None), (prefix, level)):
        if not name or (name is prefix and level is None):
            continue
        twins = [model for model in models if model.id.lower() == name.lower()]
        if len(twins) > 1 and usable is not None:
            twins = [model for model in twins if usable(model)] or twins
        if len(twins) == 1:
            return Match(twins[0], meant)
        if twins and find_exact(name, models) is None:
            raise UsageError(f"{name!r} is a model of several providers", "Say " + " or ".join(map(full_id, twins)))
        found = find_pattern(name, models, usable)
        if found is not None:
            return Match(found, meant)
    return None


def _default_of(provider: str, models: Sequence[Model], defaults: Mapping[str, str]) -> Model:
    own = [model for model in models if model.provider == provider]
    return next((model for model in own if model.id == defaults.get(provider)), own[0])


def _unknown_id(text: str, provider: str, models: Sequence[Model], defaults: Mapping[str, str]) -> Match:
    prefix, _, suffix = text.rpartition(":")
    level = as_level(suffix) if prefix else None
    model_id = prefix if level else text
    near = _nearest(model_id, (model.id for model in models if model.provider == provider))
    warning = f"{provider} has no known model {model_id!r}; it is asked for it all the same. {near}".strip()
    base = _default_of(provider, models, defaults)
    return Match(base.model_copy(update={"id": model_id, "name": model_id}), level, warning)


def _glob(pattern: str, models: Sequence[Model]) -> list[Match]:
    prefix, _, suffix = pattern.rpartition(":")
    level = as_level(suffix)
    wanted = (prefix if level else pattern).lower()
    return [
        Match(model, level)
        for model in models
        if fnmatchcase(full_id(model).lower(), wanted) or fnmatchcase(model.id.lower(), wanted)
    ]


def _nearest(text: str, names: Iterable[str]) -> str:
    """A sentence with up to three names like `text`, else the first few; "" without any."""
    from difflib import SequenceMatcher

    known = sorted(set(names))

    def likeness(name: str) -> float:
        bare = name.rpartition("/")[2]
        return max(SequenceMatcher(None, text.lower(), part.lower()).ratio() for part in {name, bare})

    close = [name for name in sorted(known, key=likeness, reverse=True) if likeness(name) >= 0.5][:3]
    if close:
        return f"{'Nearest is' if len(close) == 1 else 'Nearest are'} {', '.join(close)}"
    return f"Known are {', '.join(known[:6])}{' …' if len(known) > 6 else ''}" if known else ""
