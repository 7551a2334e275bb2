from __future__ import annotations

from renderers.folded import fold_label, folded_visual, is_foldable
from tests.renderers.draw import draw, result


def test_calls_that_only_read_fold_and_failures_never_do() -> None:
    assert is_foldable("read", result("a"))
    assert is_foldable("ls", result("a"))
    assert not is_foldable("read", result("a", error=True))
    assert not is_foldable("read", None)
    assert not is_foldable("bash", result("a"))


def test_the_line_says_what_was_done() -> None:
    calls: list[tuple[str, dict[str, object]]] = [
        ("read", {"path": "a"}), ("read", {"path": "b"}), ("read", {"path": "a", "offset": 3}),
        ("grep", {"pattern": "x"}), ("find", {"pattern": "y"}), ("ls", {}),
    ]  # fmt: skip
    assert fold_label(calls) == "read 2 files, 2 searches, 1 listing"
    assert draw(folded_visual(calls), 60)[0].startswith("  ✓ read 2 files, 2 searches, 1 listing")
    assert draw(folded_visual(calls), 60)[0].endswith("▸")
    assert draw(folded_visual(calls, expanded=True), 60)[0].endswith("▾")
    assert draw(folded_visual(calls, plain=True), 60)[0].startswith("  done: read 2 files")


def test_odd_arguments_still_count() -> None:
    assert fold_label([("read", {}), ("read", {"path": 5})]) == "read 2 files"
    assert fold_label([]) == "0 calls"
