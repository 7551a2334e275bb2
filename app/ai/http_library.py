"""httpx without its command line program, which would import click, rich and pygments: two thirds of its import time.

httpx leaves the program out by itself where click is missing; so click is missing while httpx is imported.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import cast

_known = "click" in sys.modules
if not _known:
    sys.modules["click"] = cast("ModuleType", None)  # the import system's own sign for "can't be imported"
try:
    import httpx
finally:
    if not _known:
        del sys.modules["click"]

__all__ = ["httpx"]
