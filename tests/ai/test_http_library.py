"""httpx comes without the program that it would bring along."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_asking_over_http_imports_no_click_rich_or_pygments() -> None:
    code = "import sys, app.ai.adapters.anthropic, app.ai.adapters.openai_chat; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=15, check=True)
    loaded = {name.partition(".")[0] for name in ran.stdout.split()}
    assert "httpx" in loaded
    assert loaded & {"click", "rich", "pygments"} == set()


def test_click_itself_stays_what_it_was() -> None:
    code = "import app.ai.http_library, importlib.util, sys; print('click' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=15, check=True)
    assert ran.stdout == "False\n"
