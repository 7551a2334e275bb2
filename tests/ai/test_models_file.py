"""models.json: laid over the built-in models; a mistake costs its provider only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.ai.messages import Model, ModelCost
from app.ai.models_file import Merged, load_models, merge_compat


def built_in() -> list[Model]:
    cost = ModelCost(input=1, output=2, cache_read=3, cache_write=4)
    return [
        Model(
            id="one",
            name="One",
            api="anthropic-messages",
            provider="acme",
            base_url="https://acme.test",
            reasoning=True,
            cost=cost,
            compat={"a": 1},
            thinking_level_map={"xhigh": "max"},
        ),
        Model(id="two", name="Two", api="anthropic-messages", provider="acme", base_url="https://acme.test"),
        Model(id="one", name="Other one", api="openai-completions", provider="other", base_url="https://other.test"),
    ]


def load(tmp_path: Path, content: object) -> Merged:
    path = tmp_path / "models.json"
    path.write_text(content if isinstance(content, str) else json.dumps({"providers": content}))
    return load_models(path, built_in())


def find(merged: Merged, name: str) -> Model:
    return next(model for model in merged.models if f"{model.provider}/{model.id}" == name)


def test_without_a_file_the_built_in_models_stand(tmp_path: Path) -> None:
    merged = load_models(tmp_path / "models.json", built_in())
    assert merged.models == built_in()
    assert (merged.problems, merged.requests) == ([], {})


def test_an_own_provider_gets_the_defaults(tmp_path: Path) -> None:
    entry = {"baseUrl": "http://x/v1", "apiKey": "k", "api": "openai-completions", "models": [{"id": "m"}]}
    merged = load(tmp_path, {"mine": entry})
    assert merged.problems == []
    model = find(merged, "mine/m")
    assert (model.name, model.api, model.base_url) == ("m", "openai-completions", "http://x/v1")
    assert (model.reasoning, model.input, model.context_window, model.max_tokens) == (False, ["text"], 128_000, 16_384)
    assert model.cost == ModelCost()
    assert merged.models[:3] == built_in()
    assert merged.requests["mine"].api_key == "k"


def test_every_member_of_an_own_model_counts(tmp_path: Path) -> None:
    own = {
        "id": "m", "name": "M", "api": "anthropic-messages", "baseUrl": "http://y", "reasoning": True,
        "thinkingLevelMap": {"off": None, "high": "max"}, "input": ["text", "image"], "cost": {"input": 5},
        "contextWindow": 9, "maxTokens": 8, "headers": {"X": "1"}, "compat": {"b": 2},
    }  # fmt: skip
    entry = {
        "baseUrl": "http://x",
        "apiKey": "k",
        "api": "openai-completions",
        "compat": {"a": 1, "b": 1},
        "models": [own],
    }
    model = find(load(tmp_path, {"mine": entry}), "mine/m")
    assert (model.name, model.api, model.base_url, model.reasoning) == ("M", "anthropic-messages", "http://y", True)
    assert model.thinking_level_map == {"off": None, "high": "max"}
    assert (model.input, model.cost.input, model.cost.output) == (["text", "image"], 5, 0)
    assert (model.context_window, model.max_tokens, model.compat) == (9, 8, {"a": 1, "b": 2})


def test_comments_and_trailing_commas_are_allowed(tmp_path: Path) -> None:
    merged = load(tmp_path, '{ // mine\n "providers": {"acme": {"baseUrl": "http://proxy//x",},}, }')
    assert merged.problems == []
    assert find(merged, "acme/one").base_url == "http://proxy//x"


def test_an_address_alone_moves_every_built_in_model_of_that_provider(tmp_path: Path) -> None:
    merged = load(tmp_path, {"acme": {"baseUrl": "http://proxy"}})
    assert [model.base_url for model in merged.models] == ["http://proxy", "http://proxy", "https://other.test"]
    assert len(merged.models) == 3


def test_an_own_model_with_a_known_id_replaces_exactly_that_one(tmp_path: Path) -> None:
    merged = load(tmp_path, {"acme": {"compat": {"p": 1}, "models": [{"id": "one", "name": "Mine"}, {"id": "three"}]}})
    assert [(model.provider, model.name) for model in merged.models] == [
        ("acme", "Mine"), ("acme", "Two"), ("other", "Other one"), ("acme", "three"),
    ]  # fmt: skip
    assert find(merged, "acme/three").api == "anthropic-messages"
    assert find(merged, "acme/three").base_url == "https://acme.test"
    assert all(model.compat == {"p": 1} for model in merged.models if model.provider == "acme")


def test_an_override_changes_only_what_it_names(tmp_path: Path) -> None:
    override = {"cost": {"input": 99}, "thinkingLevelMap": {"off": None}, "compat": {"b": 2}, "maxTokens": 7}
    merged = load(tmp_path, {"acme": {"modelOverrides": {"one": override, "ghost": {"name": "x"}}}})
    model = find(merged, "acme/one")
    assert (model.cost.input, model.cost.output, model.cost.cache_write) == (99, 2, 4)
    assert model.thinking_level_map == {"xhigh": "max", "off": None}
    assert (model.compat, model.max_tokens, model.name) == ({"a": 1, "b": 2}, 7, "One")
    assert (merged.problems, len(merged.models)) == ([], 3)


def test_routing_flags_merge_key_by_key_and_others_whole() -> None:
    below = {"openRouterRouting": {"only": ["a"], "order": ["b"]}, "list": {"x": 1}}
    over = {"openRouterRouting": {"only": ["c"]}, "list": {"y": 2}}
    assert merge_compat(below, over) == {"openRouterRouting": {"only": ["c"], "order": ["b"]}, "list": {"y": 2}}
    assert merge_compat(None, None) is None


def test_headers_are_kept_unresolved_for_the_request_and_off_the_model(tmp_path: Path) -> None:
    entry = {
        "headers": {"A": "!cmd"}, "authHeader": True, "models": [{"id": "m", "headers": {"B": "2"}}],
        "modelOverrides": {"one": {"headers": {"C": "3"}}},
    }  # fmt: skip
    merged = load(tmp_path, {"acme": entry})
    request = merged.requests["acme"]
    assert (request.headers, request.auth_header) == ({"A": "!cmd"}, True)
    assert request.model_headers == {"one": {"C": "3"}, "m": {"B": "2"}}
    assert all(model.headers is None for model in merged.models)


@pytest.mark.parametrize(
    ("entry", "place", "reason"),
    [
        ({}, "providers.bad", "needs"),
        ({"models": []}, "providers.bad", "needs"),
        ({"apiKey": "k", "models": [{"id": "m"}]}, "providers.bad", '"baseUrl" and "api"'),
        ({"baseUrl": "u", "api": "a", "models": [{"id": "m"}]}, "providers.bad", '"apiKey"'),
        ({"baseUrl": 5}, "providers.bad.baseUrl", "string"),
        ({"baseUrl": "u", "models": [{"name": "x"}]}, "providers.bad.models[0].id", "required"),
        ({"baseUrl": "u", "models": [{"id": ""}]}, "providers.bad.models[0].id", "at least 1"),
        ({"models": [{"id": "m", "contextWindow": 0}]}, "providers.bad.models[0].contextWindow", "greater than 0"),
        ({"models": [{"id": "m", "input": ["audio"]}]}, "providers.bad.models[0].input[0]", "'text' or 'image'"),
        ({"models": [{"id": "m", "reasoning": "yes"}]}, "providers.bad.models[0].reasoning", "boolean"),
        (
            {"models": [{"id": "m", "thinkingLevelMap": {"off": 1}}]},
            "providers.bad.models[0].thinkingLevelMap",
            "string",
        ),
        ("text", "providers.bad", "dictionary"),
    ],
)
def test_a_wrong_provider_is_left_out_and_told_with_its_place(
    tmp_path: Path, entry: object, place: str, reason: str
) -> None:
    good = {"baseUrl": "http://x", "apiKey": "k", "api": "a", "models": [{"id": "m"}]}
    merged = load(tmp_path, {"bad": entry, "good": good})
    problem = merged.problems[0]
    assert (problem.path, problem.place) == (tmp_path / "models.json", place)
    assert reason in problem.reason
    assert [model.provider for model in merged.models] == ["acme", "acme", "other", "good"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"providers": {\n  "a": }}', "line 2, column 8"),
        ("[]", ""),
        ('{"providers": []}', "providers"),
        ('{"x": 1}', "providers"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_and_the_built_in_models_stand(
    tmp_path: Path, text: str, place: str
) -> None:
    merged = load(tmp_path, text)
    assert merged.models == built_in()
    assert [problem.place for problem in merged.problems] == [place]
    assert str(tmp_path / "models.json") in str(merged.problems[0])
