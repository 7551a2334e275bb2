"""The user's own editor: the screen steps aside, a file is edited, and what was saved comes back."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from app.errors import PinyonError

if TYPE_CHECKING:
    from textual.app import App, ReturnType


def edit_text(app: App[ReturnType], text: str, *, suffix: str = ".md") -> str | None:
    """The text as saved, one final line feed less; None when the editor failed, so that nothing is taken over.

    The event loop stands still meanwhile: not while a run goes on. Raises PinyonError when there is no editor.
    """
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not command:
        raise PinyonError("no editor is set", "Set VISUAL or EDITOR, e.g. export EDITOR=vim")
    descriptor, name = tempfile.mkstemp(prefix="pinyon-", suffix=suffix)
    path = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        with app.suspend():
            code = subprocess.run([*shlex.split(command), name], check=False).returncode
        if code != 0:
            return None
        return path.read_text("utf-8", "replace").removesuffix("\n")
    except SuspendNotSupported as error:
        raise PinyonError("this terminal can't be handed to an editor") from error
    except (OSError, ValueError) as error:
        raise PinyonError(f"the editor {command!r} can't be run: {error}", "Check VISUAL and EDITOR") from error
    finally:
        path.unlink(missing_ok=True)
