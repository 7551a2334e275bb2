"""The models on offer and how requests to them are signed; it must never keep a resolved key.

Built-in models come from catalogue.json, the user's from models.json; `request_auth` resolves at each request.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from app.ai.messages import Model
from app.ai.models_file import RequestConfig, load_models
from app.config.credentials import ENV_KEYS, Credentials, resolve_value
from app.config.jsonc import Problem
from app.errors import ErrorKind, ModelError

OFFLINE = ("offline", "guide")
_NO_KEY_APIS = frozenset({"pinyon-offline", "pinyon-scripted"})
_NOTHING = RequestConfig()


class RequestAuth(NamedTuple):
    """What signs one request; never to be printed."""

    api_key: str | None
    headers: dict[str, str]

    def __repr__(self) -> str:
        return f"RequestAuth(api_key={'set' if self.api_key else None}, headers={sorted(self.headers)})"


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((Path(__file__).parent / "catalogue.json").read_text("utf-8"))
    providers: dict[str, Any] = data["providers"]
    return providers


def built_in_models() -> list[Model]:
    """The built-in models, fresh objects, providers in order of preference, the offline guide last."""
    return [
        Model.model_validate({"api": data["api"], "baseUrl": data["baseUrl"], "provider": provider, **entry})
        for provider, data in _data().items()
        for entry in data["models"]
    ]


def default_models() -> dict[str, str]:
    """The default model id of each built-in provider, in order of preference (spec core §1.16), offline left out."""
    return {provider: data["defaultModel"] for provider, data in _data().items() if provider != OFFLINE[0]}


class ModelRegistry:
    """The models of one configuration folder. `problems` says what was left out of models.json and auth.json."""

    def __init__(self, config_dir: Path, credentials: Credentials | None = None) -> None:
        self.path = config_dir / "models.json"
        self.credentials = credentials or Credentials(config_dir)
        self._models: list[Model] = []
        self._requests: dict[str, RequestConfig] = {}
        self._problems: list[Problem] = []
        self._load()

    @property
    def problems(self) -> list[Problem]:
        """What was wrong when the files were last read."""
        return [*self._problems, *self.credentials.problems]

    def reload(self) -> None:
        """Read models.json and auth.json again (the model picker does when it opens)."""
        self.credentials.reload()
        self._load()

    def _load(self) -> None:
        merged = load_models(self.path, built_in_models())
        self._models, self._requests, self._problems = merged.models, merged.requests, merged.problems

    def models(self) -> list[Model]:
        """All models, with or without a key."""
        return list(self._models)

    def available(self) -> list[Model]:
        """The models that a request could go to: those with a key configured, and the offline guide (last)."""
        return sorted(filter(self.has_auth, self._models), key=lambda model: model.provider == OFFLINE[0])

    def find(self, provider: str, model_id: str) -> Model | None:
        """The model with exactly this provider and id."""
        return next((m for m in self._models if (m.provider, m.id) == (provider, model_id)), None)

    def offline(self) -> Model:
        """The offline guide: the model of those who have none."""
        return next(model for model in built_in_models() if (model.provider, model.id) == OFFLINE)

    def has_auth(self, model: Model) -> bool:
        """Whether a key is configured for it. Cheap: runs no command, so that the request may still find none."""
        if model.api in _NO_KEY_APIS:
            return True
        return self.credentials.has_key(model.provider) or bool(self._request(model).api_key)

    async def request_auth(self, model: Model) -> RequestAuth:
        """Key and headers for one request, resolved now. Raises ModelError (auth, not retryable) that says what to do.

        Header order: models.json's provider headers, then the model's own, then the Bearer header of `authHeader`.
        """
        if model.api in _NO_KEY_APIS:
            return RequestAuth(None, {})
        request = self._request(model)
        key = await self._key(model, request)
        configured = {**request.headers, **request.model_headers.get(model.id, {})}
        headers: dict[str, str] = {}
        for name, value in configured.items():
            resolved = await resolve_value(value)
            if resolved.value is None:
                raise self._failure(model, f"header {name} of {model.provider}: {resolved.reason}", f"See {self.path}")
            headers[name] = resolved.value
        if request.auth_header:
            headers["Authorization"] = f"Bearer {key}"
        return RequestAuth(key, headers)

    async def _key(self, model: Model, request: RequestConfig) -> str:
        resolved = await self.credentials.key(model.provider)
        if resolved.value is not None:
            return resolved.value
        if resolved.reason:
            raise self._failure(model, f"No key for {model.provider}: {resolved.reason}", "Mend or remove that entry")
        if request.api_key is None:
            names = ENV_KEYS.get(model.provider, ())
            variable = f"Set {names[0]}, pass" if names else "Pass"
            hint = f"{variable} --api-key, or choose the model offline/guide, which needs none"
            raise self._failure(model, f"No key for {model.provider}/{model.id}", hint)
        resolved = await resolve_value(request.api_key)
        if resolved.value is None:
            raise self._failure(model, f"No key for {model.provider}: {resolved.reason}", f"See {self.path}")
        return resolved.value

    def _request(self, model: Model) -> RequestConfig:
        return self._requests.get(model.provider, _NOTHING)

    @staticmethod
    def _failure(model: Model, message: str, hint: str) -> ModelError:
        return ModelError(ErrorKind.AUTH, message, hint=hint, retryable=False)
