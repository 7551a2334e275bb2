"""The installed version, asked of the installation; falls back for a tree that was never installed."""

from __future__ import annotations


def version() -> str:
    """Such as "0.1.0"."""
    from importlib import metadata

    try:
        return metadata.version("pinyon")
    except metadata.PackageNotFoundError:
        return "0 (not installed)"
