"""The house: imports go one way, the core knows no face, files stay small, and habits that bite are absent."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(path for top in ("app", "widgets", "renderers") for path in (ROOT / top).rglob("*.py"))
EVERYTHING = [*SOURCES, *sorted((ROOT / "tests").rglob("*.py"))]
MOST_LINES = 400
BANNED = {
    r"\bcreate_task\(|\bensure_future\(|\basyncio\.gather\(": "task groups only",
    r"\.aiter_lines\(|\.iter_lines\(": "splits on U+2028",
    r"\.splitlines\(": "splits on U+2028",
    r"\btime\.sleep\(": "blocks the loop",
    r"shell=True|verify=False": "unsafe",
    r"# type: ignore\s*$": "say which error",
}


def run(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.timeout(120)
def test_imports_go_one_way() -> None:
    result = run(str(Path(sys.executable).parent / "lint-imports"), "--no-cache")
    assert result.returncode == 0, result.stdout[-3000:]


def test_the_core_imports_no_face() -> None:
    code = "import sys, app.runtime.opening, app.modes.print_mode; print(*(m for m in sys.modules))"
    result = run(sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}")
    assert result.returncode == 0, result.stderr
    loaded = result.stdout.split()
    assert [name for name in loaded if name.split(".")[0] in ("textual", "rich", "widgets", "renderers")] == []


def test_the_first_frame_needs_no_heavy_module() -> None:
    code = "import sys, app.tui.application, app.tui.screens.chat; print(*(m for m in sys.modules))"
    result = run(sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}")
    assert result.returncode == 0, result.stderr
    heavy = {"pydantic", "httpx", "tiktoken", "pygments", "PIL", "markdown_it", "yaml", "anyio.to_process"}
    assert heavy.intersection(result.stdout.split()) == set()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_has_one_subject_and_says_which(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") <= MOST_LINES
    if path.name != "__init__.py":
        assert ast.get_docstring(ast.parse(text)), "no docstring"
    for pattern, why in BANNED.items():
        assert not re.search(pattern, text, re.MULTILINE), f"{pattern}: {why}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_class_has_at_most_25_methods(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ClassDef):
            methods = [part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]
            assert len(methods) <= 25, node.name


def test_tests_do_not_sleep_or_swallow() -> None:
    own = Path(__file__)
    for path in EVERYTHING:
        if path != own:
            text = path.read_text("utf-8")
            assert not re.search(r"\btime\.sleep\(|asyncio\.gather\(|except Exception:\s*pass", text), path
