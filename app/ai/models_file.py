"""models.json: the user's own providers and models, laid over the built-in ones; it must never resolve a key.

The form is the reference's (spec core §1.16). A provider with a mistake is left out whole and told with its place;
the built-in models and the other providers stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StrictBool, ValidationError

from app.ai.messages import InputKind, Model, ModelCost, WireModel
from app.config import jsonc
from app.config.jsonc import Problem

_DEEP_COMPAT = ("openRouterRouting", "vercelGatewayRouting")

Size = Annotated[int, Field(gt=0, strict=True)]
Price = Annotated[float, Field(ge=0)]
Filled = Annotated[str, Field(min_length=1, strict=True)]


def _strict_map(value: object) -> object:
    if isinstance(value, dict) and not all(part is None or isinstance(part, str) for part in value.values()):
        raise ValueError("each level must be a string or null")
    return value


LevelMap = Annotated[dict[str, str | None], BeforeValidator(_strict_map)]


class CostEntry(WireModel):
    """Prices that were given; the others stay as they are."""

    input: Price | None = None
    output: Price | None = None
    cache_read: Price | None = None
    cache_write: Price | None = None


class OverrideEntry(WireModel):
    """What to change of a built-in model."""

    name: Filled | None = None
    reasoning: StrictBool | None = None
    thinking_level_map: LevelMap | None = None
    input: list[InputKind] | None = None
    cost: CostEntry | None = None
    context_window: Size | None = None
    max_tokens: Size | None = None
    headers: dict[str, str] | None = None
    compat: dict[str, Any] | None = None


class ModelEntry(OverrideEntry):
    """A model of the user's own."""

    id: Filled
    api: Filled | None = None
    base_url: Filled | None = None


class ProviderEntry(WireModel):
    """A provider of the user's own, or changes to a built-in one."""

    name: Filled | None = None
    base_url: Filled | None = None
    api_key: Filled | None = None
    api: Filled | None = None
    headers: dict[str, str] | None = None
    auth_header: StrictBool | None = None
    compat: dict[str, Any] | None = None
    models: list[ModelEntry] | None = None
    model_overrides: dict[str, OverrideEntry] | None = None


@dataclass(frozen=True, slots=True)
class RequestConfig:
    """How requests of a provider are signed, unresolved: key and headers as configured (literal, variable, `!command`).

    `model_headers` are per model id and win over `headers`.
    """

    api_key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    auth_header: bool = False
    model_headers: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Merged:
    """Built-in and own models in order, how the file's providers are signed, and what was left out."""

    models: list[Model]
    requests: dict[str, RequestConfig]
    problems: list[Problem]


def load_models(path: Path, built_in: Iterable[Model]) -> Merged:
    """`built_in` with the file `path` laid over: address and compat, overrides, then own models. Never raises."""
    models = list(built_in)
    entries, problems = read_providers(path, models)
    requests: dict[str, RequestConfig] = {}
    for provider, entry in entries.items():
        models = _lay_over(models, provider, entry)
        requests[provider] = RequestConfig(
            entry.api_key, entry.headers or {}, bool(entry.auth_header), _model_headers(entry)
        )
    return Merged(models, requests, problems)


def read_providers(path: Path, built_in: list[Model]) -> tuple[dict[str, ProviderEntry], list[Problem]]:
    """The sound providers of the file, and what is wrong with it or the others. A missing file holds none."""
    raw, problems = jsonc.read_object(path)
    if problems or not raw:
        return {}, problems
    providers = raw.get("providers")
    if not isinstance(providers, dict):
        return {}, [Problem(path, "providers", 'must be an object: {"providers": {"<name>": {…}}}')]
    known = {model.provider for model in built_in}
    sound: dict[str, ProviderEntry] = {}
    for name, value in providers.items():
        place = f"providers.{name}"
        try:
            entry = ProviderEntry.model_validate(value)
        except ValidationError as error:
            problems += [_problem(path, place, detail["loc"], detail["msg"]) for detail in error.errors()]
            continue
        lacks = _lacking(entry, name in known)
        if lacks:
            problems.append(Problem(path, place, lacks))
        else:
            sound[name] = entry
    return sound, problems


def merge_compat(below: Mapping[str, Any] | None, over: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Flags of `over` on those of `below`, flag by flag; the two routing objects merge key by key."""
    if not below or not over:
        return dict(over or below or {}) or None
    merged = {**below, **over}
    for key in _DEEP_COMPAT:
        if isinstance(below.get(key), dict) and isinstance(over.get(key), dict):
            merged[key] = {**below[key], **over[key]}
    return merged


def _problem(path: Path, place: str, loc: tuple[int | str, ...], message: str) -> Problem:
    for part in loc:
        place += f"[{part}]" if isinstance(part, int) else f".{part}"
    message = message.removeprefix("Value error, ")
    return Problem(path, place, message[:1].lower() + message[1:])


def _lacking(entry: ProviderEntry, built_in: bool) -> str:
    """What a provider needs and hasn't got, else ""."""
    if not entry.models:
        given = (entry.base_url, entry.headers, entry.compat, entry.model_overrides, entry.api_key)
        return "" if any(given) else 'needs "models", or one of "baseUrl", "headers", "compat", "modelOverrides"'
    if built_in:
        return ""
    lacks = [] if entry.base_url or all(model.base_url for model in entry.models) else ['"baseUrl"']
    lacks += [] if entry.api_key else ['"apiKey" (any text, if the server asks for none)']
    lacks += [] if entry.api or all(model.api for model in entry.models) else ['"api"']
    return "needs " + " and ".join(lacks) if lacks else ""


def _lay_over(models: list[Model], provider: str, entry: ProviderEntry) -> list[Model]:
    first = next((model for model in models if model.provider == provider), None)
    laid = [_changed(model, entry) if model.provider == provider else model for model in models]
    for own in entry.models or ():
        model = _own_model(provider, entry, own, first)
        same = next((at for at, old in enumerate(laid) if (old.provider, old.id) == (provider, own.id)), None)
        if same is None:
            laid.append(model)
        else:
            laid[same] = model
    return laid


def _changed(model: Model, entry: ProviderEntry) -> Model:
    """A built-in model with the provider's address, flags and its own override."""
    changes: dict[str, Any] = {"compat": merge_compat(model.compat, entry.compat)}
    if entry.base_url:
        changes["base_url"] = entry.base_url
    override = (entry.model_overrides or {}).get(model.id)
    if override is not None:
        changes["compat"] = merge_compat(changes["compat"], override.compat)
        for name in ("name", "reasoning", "input", "context_window", "max_tokens"):
            value = getattr(override, name)
            if value is not None:
                changes[name] = value
        if override.thinking_level_map is not None:
            changes["thinking_level_map"] = {**(model.thinking_level_map or {}), **override.thinking_level_map}
        changes["cost"] = _cost(model.cost, override.cost)
    return model.model_copy(update=changes)


def _own_model(provider: str, entry: ProviderEntry, own: ModelEntry, first: Model | None) -> Model:
    model = Model(
        id=own.id,
        name=own.name or own.id,
        api=own.api or entry.api or (first.api if first else ""),
        provider=provider,
        base_url=own.base_url or entry.base_url or (first.base_url if first else ""),
        reasoning=bool(own.reasoning),
        thinking_level_map=own.thinking_level_map,
        cost=_cost(ModelCost(), own.cost),
        compat=merge_compat(entry.compat, own.compat),
    )
    changes = {"input": own.input, "context_window": own.context_window, "max_tokens": own.max_tokens}
    return model.model_copy(update={name: value for name, value in changes.items() if value is not None})


def _cost(base: ModelCost, over: CostEntry | None) -> ModelCost:
    if over is None:
        return base
    names = ("input", "output", "cache_read", "cache_write")
    given = {name: value for name in names if (value := getattr(over, name)) is not None}
    return base.model_copy(update=given)


def _model_headers(entry: ProviderEntry) -> dict[str, Mapping[str, str]]:
    headers: dict[str, Mapping[str, str]] = {
        model_id: override.headers for model_id, override in (entry.model_overrides or {}).items() if override.headers
    }
    headers.update({own.id: own.headers for own in entry.models or () if own.headers})
    return headers
