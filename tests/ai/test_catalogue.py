"""The models on offer, and how requests to them are signed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.ai.catalogue import OFFLINE, ModelRegistry, RequestAuth, built_in_models, default_models
from app.ai.messages import Model
from app.ai.resolve import choose_initial, full_id
from app.ai.stream import ADAPTERS
from app.config.paths import config_dir
from app.errors import ErrorKind, ModelError


@pytest.fixture
def folder() -> Path:
    config_dir().mkdir(parents=True)
    return config_dir()


def write(folder: Path, providers: object) -> None:
    (folder / "models.json").write_text(json.dumps({"providers": providers}))


def model_of(registry: ModelRegistry, name: str) -> Model:
    model = registry.find(*name.split("/", 1))
    assert model is not None
    return model


def test_every_built_in_model_can_be_talked_to_and_ids_are_unique() -> None:
    models = built_in_models()
    assert len({full_id(model) for model in models}) == len(models) >= 15
    for model in models:
        assert model.api in ADAPTERS
        assert model.name
        assert model.max_tokens <= model.context_window
        assert model.base_url.startswith("https://") or model.provider == "offline"


def test_each_provider_has_its_default_model_and_anthropic_comes_first() -> None:
    registry = ModelRegistry(config_dir())
    defaults = default_models()
    assert next(iter(defaults)) == "anthropic"
    assert all(registry.find(provider, model_id) for provider, model_id in defaults.items())
    assert {model.provider for model in registry.models()} == {*defaults, "offline"}


def test_with_nothing_configured_only_the_offline_guide_is_available() -> None:
    registry = ModelRegistry(config_dir())
    assert [(model.provider, model.id) for model in registry.available()] == [OFFLINE]
    choice = choose_initial(registry.models(), registry.available(), default_models())
    assert choice is not None
    assert choice.model == registry.offline()
    assert not config_dir().exists()


def test_a_key_anywhere_makes_its_models_available(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    write(
        folder,
        {"mine": {"baseUrl": "http://x", "apiKey": "!exit 1", "api": "openai-completions", "models": [{"id": "m"}]}},
    )
    registry = ModelRegistry(folder)
    registry.credentials.store("groq", "k")
    registry.credentials.use_for_this_run("xai", "k")
    assert {model.provider for model in registry.available()} == {"openai", "mine", "groq", "xai", "offline"}
    assert registry.available()[-1].provider == "offline"


def test_reloading_reads_the_file_again(folder: Path) -> None:
    registry = ModelRegistry(folder)
    write(folder, {"anthropic": {"baseUrl": "http://proxy"}})
    registry.reload()
    assert model_of(registry, "anthropic/claude-opus-4-7").base_url == "http://proxy"
    (folder / "models.json").write_text("{")
    registry.reload()
    assert registry.problems[0].path == folder / "models.json"
    assert model_of(registry, "anthropic/claude-opus-4-7").base_url == "https://api.anthropic.com"


@pytest.mark.anyio
async def test_a_request_is_signed_anew_each_time(
    monkeypatch: pytest.MonkeyPatch, folder: Path, tmp_path: Path
) -> None:
    count = tmp_path / "count"
    write(
        folder,
        {
            "mine": {
                "baseUrl": "http://x", "apiKey": f"!echo x >> {count}; wc -l < {count}", "api": "openai-completions",
                "authHeader": True, "headers": {"X-A": "provider", "X-B": "MY_VALUE"},
                "models": [{"id": "m", "headers": {"X-A": "own"}}, {"id": "n"}],
            }
        },
    )  # fmt: skip
    registry = ModelRegistry(folder)
    monkeypatch.setenv("MY_VALUE", "first")
    own = await registry.request_auth(model_of(registry, "mine/m"))
    assert own == RequestAuth("1", {"X-A": "own", "X-B": "first", "Authorization": "Bearer 1"})
    monkeypatch.setenv("MY_VALUE", "second")
    other = await registry.request_auth(model_of(registry, "mine/n"))
    assert other == RequestAuth("2", {"X-A": "provider", "X-B": "second", "Authorization": "Bearer 2"})
    assert "Bearer" not in repr(other)


@pytest.mark.anyio
async def test_a_stored_or_given_key_goes_before_that_of_models_json(folder: Path) -> None:
    write(folder, {"anthropic": {"apiKey": "from-models", "headers": {"X": "1"}}})
    registry = ModelRegistry(folder)
    model = model_of(registry, "anthropic/claude-opus-4-7")
    assert await registry.request_auth(model) == RequestAuth("from-models", {"X": "1"})
    registry.credentials.store("anthropic", "from-auth")
    assert (await registry.request_auth(model)).api_key == "from-auth"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"apiKey": "!exit 7"}, "exit code 7"),
        ({"apiKey": "k", "headers": {"X-Token": "!true"}}, "X-Token"),
        ({"headers": {"X": "1"}}, "ANTHROPIC_API_KEY"),
    ],
)
async def test_a_request_that_cannot_be_signed_says_what_to_do(folder: Path, entry: object, said: str) -> None:
    write(folder, {"anthropic": entry})
    registry = ModelRegistry(folder)
    with pytest.raises(ModelError) as caught:
        await registry.request_auth(model_of(registry, "anthropic/claude-opus-4-7"))
    assert said in str(caught.value)
    assert (caught.value.kind, caught.value.retryable) == (ErrorKind.AUTH, False)


@pytest.mark.anyio
async def test_the_offline_guide_needs_no_key() -> None:
    registry = ModelRegistry(config_dir())
    assert await registry.request_auth(registry.offline()) == RequestAuth(None, {})
