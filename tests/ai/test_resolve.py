"""Which model a text means, and which thinking levels it has."""

from __future__ import annotations

import pytest

from app.ai.messages import Model, ThinkingLevel
from app.ai.resolve import (
    Match,
    choose_initial,
    clamp_level,
    find_exact,
    full_id,
    parse_pattern,
    resolve_cli,
    resolve_scope,
    supported_levels,
)
from app.errors import UsageError


def make(name: str, label: str = "", *, reasoning: bool = False, levels: dict[str, str | None] | None = None) -> Model:
    provider, _, model_id = name.partition("/")
    return Model(
        id=model_id,
        name=label or model_id,
        api="a",
        provider=provider,
        reasoning=reasoning,
        thinking_level_map=levels,
    )


MODELS = [
    make("anthropic/claude-sonnet-4-5"),
    make("anthropic/claude-sonnet-4-5-20250929"),
    make("anthropic/claude-opus-4-1-20250805"),
    make("anthropic/claude-opus-4-20250514"),
    make("openai/gpt-4o"),
    make("openai/gpt-5.1"),
    make("openrouter/qwen/qwen3-coder:exacto"),
    make("openrouter/zai/glm-5"),
    make("openrouter/openai/gpt-4o:extended"),
    make("zai/glm-5.1", "GLM Fünf"),
    make("groq/shared"),
    make("xai/shared"),
    make("offline/guide", "offline guide"),
]
DEFAULTS = {"anthropic": "claude-opus-4-1-20250805", "openai": "gpt-5.1"}


def cli(model: str | None, provider: str | None = None) -> Match:
    match = resolve_cli(provider, model, MODELS, DEFAULTS)
    assert match is not None
    return match


def test_a_model_that_cannot_reason_has_only_off() -> None:
    assert supported_levels(make("a/b")) == ["off"]
    assert clamp_level(make("a/b"), "high") == "off"


def test_null_takes_a_level_away_and_xhigh_must_be_named() -> None:
    assert supported_levels(make("a/b", reasoning=True)) == ["off", "minimal", "low", "medium", "high"]
    levels: dict[str, str | None] = {"off": None, "minimal": None, "xhigh": "max"}
    assert supported_levels(make("a/b", reasoning=True, levels=levels)) == ["low", "medium", "high", "xhigh"]
    assert "xhigh" not in supported_levels(make("a/b", reasoning=True, levels={"xhigh": None}))
    nothing: dict[str, str | None] = dict.fromkeys(("off", "minimal", "low", "medium", "high"))
    assert supported_levels(make("a/b", reasoning=True, levels=nothing)) == ["off"]


@pytest.mark.parametrize(
    ("wanted", "given"),
    [("low", "low"), ("minimal", "low"), ("medium", "high"), ("xhigh", "high"), ("off", "low"), ("wild", "low")],
)
def test_an_unsupported_level_goes_up_first_then_down(wanted: str, given: ThinkingLevel) -> None:
    model = make("a/b", reasoning=True, levels={"off": None, "minimal": None, "medium": None})
    assert clamp_level(model, wanted) == given


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ANTHROPIC/claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"),
        ("gpt-5.1", "openai/gpt-5.1"),
        ("qwen/qwen3-coder:exacto", "openrouter/qwen/qwen3-coder:exacto"),
    ],
)
def test_exact_means_provider_and_id_or_the_id_alone(text: str, found: str) -> None:
    model = find_exact(text, MODELS)
    assert model is not None
    assert full_id(model) == found


def test_an_id_of_several_providers_is_not_exact() -> None:
    assert find_exact("shared", MODELS) is None


@pytest.mark.parametrize(
    ("text", "found", "level"),
    [
        ("sonnet", "anthropic/claude-sonnet-4-5", None),
        ("opus", "anthropic/claude-opus-4-20250514", None),
        ("fünf", "zai/glm-5.1", None),
        ("sonnet:high", "anthropic/claude-sonnet-4-5", "high"),
        ("qwen3-coder:exacto:high", "openrouter/qwen/qwen3-coder:exacto", "high"),
        ("qwen3-coder:exacto", "openrouter/qwen/qwen3-coder:exacto", None),
    ],
)
def test_a_part_of_id_or_name_prefers_aliases_and_may_end_in_a_level(text: str, found: str, level: str | None) -> None:
    match = parse_pattern(text, MODELS)
    assert match is not None
    assert (full_id(match.model), match.level, match.warning) == (found, level, "")


@pytest.mark.parametrize("text", ["sonnet:random", "sonnet:", "qwen3-coder:exacto:high:random"])
def test_a_suffix_that_is_no_level_warns_and_no_level_counts(text: str) -> None:
    match = parse_pattern(text, MODELS)
    assert match is not None
    assert match.level is None
    assert match.warning


def test_an_empty_pattern_fits_something_and_nonsense_fits_nothing() -> None:
    assert parse_pattern("", MODELS) is not None
    assert parse_pattern("no-such-model", MODELS) is None


def test_a_usable_model_is_preferred_to_one_without_a_key() -> None:
    models = [make("anthropic/claude-sonnet-4-6"), make("openrouter/anthropic/claude-sonnet-4.5")]
    match = parse_pattern("sonnet", models, lambda model: model.provider == "openrouter")
    assert match is not None
    assert match.model.provider == "openrouter"


@pytest.mark.parametrize(
    ("provider", "model", "found", "level"),
    [
        (None, "zai/glm-5", "zai/glm-5.1", None),
        (None, "openai/gpt-4o:extended", "openrouter/openai/gpt-4o:extended", None),
        (None, "anthropic/sonnet:low", "anthropic/claude-sonnet-4-5", "low"),
        ("openrouter", "openrouter/zai/glm-5", "openrouter/zai/glm-5", None),
        ("openrouter", "zai/glm-5:high", "openrouter/zai/glm-5", "high"),
        ("Anthropic", None, "anthropic/claude-opus-4-1-20250805", None),
        ("groq", None, "groq/shared", None),
        (None, "xai/shared", "xai/shared", None),
        (None, "guide", "offline/guide", None),
    ],
)
def test_the_command_line_names_a_model(provider: str | None, model: str | None, found: str, level: str | None) -> None:
    match = cli(model, provider)
    assert (full_id(match.model), match.level, match.warning) == (found, level, "")


def test_neither_option_means_no_choice() -> None:
    assert resolve_cli(None, None, MODELS, DEFAULTS) is None


@pytest.mark.parametrize(
    ("provider", "model", "found", "level"),
    [
        ("openai", "gpt-4o:extended", "openai/gpt-4o:extended", None),
        ("openrouter", "openrouter/openai/ghost", "openrouter/openai/ghost", None),
        (None, "anthropic/claude-next:high", "anthropic/claude-next", "high"),
    ],
)
def test_an_unknown_id_of_a_known_provider_is_asked_for_with_a_warning(
    provider: str | None, model: str, found: str, level: str | None
) -> None:
    match = cli(model, provider)
    assert (full_id(match.model), match.level) == (found, level)
    assert "no known model" in match.warning
    assert "Nearest" in match.warning or "Known are" in match.warning


def test_an_unknown_provider_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="anthropic"):
        cli("x", "antropic")


def test_an_unknown_model_names_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"openai/gpt-5\.1"):
        cli("gtp-5.1")
    with pytest.raises(UsageError, match="offline/guide"):
        cli("offline/giude")


def test_an_id_of_several_providers_names_them_unless_one_has_a_key() -> None:
    with pytest.raises(UsageError, match="groq/shared or xai/shared"):
        cli("shared")
    match = resolve_cli(None, "shared:low", MODELS, DEFAULTS, lambda model: model.provider == "xai")
    assert match is not None
    assert (full_id(match.model), match.level) == ("xai/shared", "low")


def test_a_scope_keeps_its_order_without_doubles_and_warns_of_what_fits_nothing() -> None:
    scope = resolve_scope(["openai/*:high", "sonnet", "GPT-4?", "nothing*", "nope", "openrouter/*"], MODELS)
    assert [(full_id(match.model), match.level) for match in scope.matches] == [
        ("openai/gpt-4o", "high"),
        ("openai/gpt-5.1", "high"),
        ("openrouter/openai/gpt-4o:extended", "high"),  # a glob is held against the id alone as well
        ("anthropic/claude-sonnet-4-5", None),
        ("openrouter/qwen/qwen3-coder:exacto", None),
        ("openrouter/zai/glm-5", None),
    ]
    assert len(scope.warnings) == 2


GUIDE = MODELS[-1]
GPT, SONNET = MODELS[5], MODELS[0]


def initial(**wanted: object) -> tuple[str, str]:
    match = choose_initial(MODELS, **{"available": [GUIDE], "defaults": DEFAULTS, **wanted})  # type: ignore[arg-type]
    assert match is not None
    return full_id(match.model), match.warning


def test_with_nothing_configured_the_offline_guide_answers() -> None:
    assert initial() == ("offline/guide", "")


def test_the_first_default_with_a_key_is_preferred_then_any_with_a_key() -> None:
    assert initial(available=[GUIDE, SONNET, GPT])[0] == "openai/gpt-5.1"
    assert initial(available=[GUIDE, SONNET])[0] == "anthropic/claude-sonnet-4-5"


def test_the_saved_default_counts_without_a_key() -> None:
    assert initial(saved=("anthropic", "claude-sonnet-4-5"), available=[GUIDE, GPT])[0] == "anthropic/claude-sonnet-4-5"
    assert initial(saved=(None, "gpt-5.1"))[0] == "openai/gpt-5.1"


def test_a_saved_default_that_is_unknown_is_told() -> None:
    model, warning = initial(saved=("anthropic", "gone"))
    assert model == "offline/guide"
    assert "anthropic/gone" in warning


def test_a_session_keeps_its_model_if_it_still_has_a_key_and_says_so_if_not() -> None:
    restored = ("openai", "gpt-5.1")
    assert initial(restored=restored, available=[GPT, SONNET]) == ("openai/gpt-5.1", "")
    model, warning = initial(restored=restored, available=[GUIDE, SONNET])
    assert model == "anthropic/claude-sonnet-4-5"
    assert "openai/gpt-5.1" in warning
    assert "using anthropic/claude-sonnet-4-5" in warning
    assert "its provider has no key" in warning
    assert "it is configured no more" in initial(restored=("gone", "x"), available=[GUIDE])[1]
    assert initial(restored=("openai", "own-id"), available=[GPT]) == ("openai/own-id", "")


def test_a_new_session_begins_inside_its_scope() -> None:
    scope = [Match(SONNET, "high"), Match(GPT)]
    assert initial(scope=scope)[0] == "anthropic/claude-sonnet-4-5"
    assert initial(scope=scope, saved=("openai", "gpt-5.1"))[0] == "openai/gpt-5.1"
    assert initial(scope=scope, restored=("offline", "guide"))[0] == "offline/guide"


def test_the_command_line_goes_before_all() -> None:
    assert initial(cli=Match(GPT), saved=("anthropic", "claude-sonnet-4-5"), restored=("offline", "guide"))[0] == (
        "openai/gpt-5.1"
    )
