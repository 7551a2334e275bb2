"""`pinyon --list-models [words]`: what is known, and which of it can be asked."""

from __future__ import annotations

import sys


def list_models(words: str) -> int:
    """Print one model a line; `words` (all must occur) narrow the list. Exit code 0, 1 when none fits."""
    from app.ai.catalogue import ModelRegistry
    from app.config.paths import config_dir
    from app.modes.output import complain

    registry = ModelRegistry(config_dir())
    for problem in registry.problems:
        complain(str(problem))
    wanted = words.lower().split()
    shown = 0
    for model in registry.models():
        name = f"{model.provider}/{model.id}"
        if all(word in f"{name} {model.name}".lower() for word in wanted):
            ready = "ready " if registry.has_auth(model) else "no key"
            sys.stdout.write(f"{ready}  {name:<48} {model.context_window // 1000:>5}k  {model.name}\n")
            shown += 1
    return 0 if shown else 1
