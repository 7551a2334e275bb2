"""Where Pinyon's own files lie; it must never create one by being asked.

Each of the three folders comes from its variable, else from the platform's habit (platformdirs, imported only then).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_APP = Path(__file__).resolve().parent.parent


def config_dir() -> Path:
    """The folder of settings, keys and extensions: `PINYON_CONFIG_DIR`, else the platform's. Not created."""
    return _folder("PINYON_CONFIG_DIR", "user_config_dir")


def data_dir() -> Path:
    """The folder of sessions, snapshots and history: `PINYON_DATA_DIR`, else the platform's. Not created."""
    return _folder("PINYON_DATA_DIR", "user_data_dir")


def cache_dir() -> Path:
    """The folder whose loss costs time only: `PINYON_CACHE_DIR`, else the platform's. Not created."""
    return _folder("PINYON_CACHE_DIR", "user_cache_dir")


def sessions_dir() -> Path:
    """The folder that holds one folder of sessions per project (architecture §6). Not created."""
    return data_dir() / "sessions"


def stylesheet() -> Path:
    """The absolute path of styles.tcss: inside app/ when installed, beside it in a checkout (packaging 5.1).

    Raises FileNotFoundError when the installation is damaged.
    """
    for candidate in (_APP / "styles.tcss", _APP.parent / "styles.tcss"):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError("styles.tcss is missing from this installation")


def ensure_private_dir(path: Path) -> Path:
    """`path`, now an existing folder; what had to be made has mode 0700, what was there is left as it is.

    Raises OSError when it can't be made.
    """
    missing = []
    folder = path
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    if not path.is_dir():
        raise NotADirectoryError(20, "is not a folder", str(path))
    return path


def write_private(path: Path, text: str) -> None:
    """Replace `path` by `text` (UTF-8, mode 0600) at one stroke; a link's target is replaced, not the link.

    The folder is made when missing (0700). Raises OSError; then the old file is whole.
    """
    target = path.resolve()
    ensure_private_dir(target.parent)
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other Pinyon processes from changing `path` meanwhile (a lock file beside it; waits for its turn).

    The folder is made when missing. Raises OSError when the lock file can't be made.
    """
    ensure_private_dir(path.parent)
    descriptor = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            import fcntl
        except ImportError:  # a system without it gets no lock; writes are still made at one stroke
            yield
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def tilde(path: Path | str) -> str:
    """`path` for display, the home folder shortened to `~`. Purely textual: the path need not exist."""
    text = str(path)
    home = os.path.expanduser("~")
    if home in ("", "/", "~"):
        return text
    if text == home:
        return "~"
    return "~" + text[len(home) :] if text.startswith(home.rstrip(os.sep) + os.sep) else text


def expand(text: str, base: Path) -> Path:
    """The absolute path that a user meant by `text`: `~` is home, a relative path starts at `base`.

    A `~name` of nobody's is a name like any other. Raises nothing (`Path.expanduser` would).
    """
    return base / os.path.expanduser(text)


def _folder(variable: str, habit: str) -> Path:
    given = os.environ.get(variable)
    if given:
        return Path(os.path.expanduser(given)).absolute()
    import platformdirs

    path: str = getattr(platformdirs, habit)("pinyon", appauthor=False)
    return Path(path)
