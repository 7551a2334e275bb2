"""The installed version, asked of the installation; falls back for a tree that was never installed."""

from __future__ import annotations

import os
import sys

_BEGIN, _END = "pinyon-", ".dist-info"


def version() -> str:
    """Such as "0.1.0".

    Read off the name of the installation's own folder: importlib.metadata, which asks the same, takes 35 ms to import.
    """
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.startswith(_BEGIN) and name.endswith(_END):
                return name[len(_BEGIN) : -len(_END)]
    return _from_metadata()


def _from_metadata() -> str:
    from importlib import metadata

    try:
        return metadata.version("pinyon")
    except metadata.PackageNotFoundError:
        return "0 (not installed)"
