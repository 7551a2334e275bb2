"""What all sessions of one event loop share and somebody has to close: a face calls it when its last one has ended."""

from __future__ import annotations

import sys


async def close_connections() -> None:
    """Close the HTTP client with its connections, if anything was asked over HTTP (else httpx was never imported)."""
    http = sys.modules.get("app.ai.http")
    if http is not None:
        await http.close_client()
