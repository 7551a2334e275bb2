"""What the built-in tools share: where they work and what the user set; it must never know a session or a face."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.tools.mutation_queue import FileMutationQueue


def _default_output_dir() -> Path:
    """A folder of this user's own. Where nothing can be written (full disks) only the spilling fails, when it comes."""
    try:
        place = tempfile.gettempdir()
    except OSError:
        place = "/tmp"
    return Path(place) / f"pinyon-output-{os.getuid() if hasattr(os, 'getuid') else 'user'}"


@dataclass(slots=True)
class ToolContext:
    """The surroundings of one session's tools; the owner may change a member between calls.

    `output_dir` takes the full output of long commands; `env` is laid over the environment of child processes;
    `model_sees_images` is asked at each image. Sessions that share a process may share `mutations`.
    """

    cwd: Path
    shell_path: str | None = None
    command_prefix: str | None = None
    auto_resize_images: bool = True
    model_sees_images: Callable[[], bool] = lambda: True
    output_dir: Path = field(default_factory=_default_output_dir)
    env: Mapping[str, str] = field(default_factory=dict)
    mutations: FileMutationQueue = field(default_factory=FileMutationQueue)
