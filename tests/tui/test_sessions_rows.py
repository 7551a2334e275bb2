"""The rows of the sessions list: projects, threads, pins, hits, and what a query leaves."""

from __future__ import annotations

from pathlib import Path

from app.session.listing import SessionInfo
from app.session.search import Hit, SearchResult
from widgets.session_rows import Shelf, threaded, title_of


def info(name: str, when: int, *, cwd: str = "/w", parent: str | None = None, called: str | None = None) -> SessionInfo:
    path = Path(f"/s/{name}.jsonl")
    return SessionInfo(path, name, cwd, called, parent, 0, when, 1, f"first of {name}", 10, False)


def leads(infos: list[SessionInfo]) -> list[str]:
    return [lead + item.id for item, lead in threaded(infos)]


def test_forks_hang_below_their_parents_each_once() -> None:
    infos = [
        info("c", 5, parent="/x/a.jsonl"),
        info("d", 4, parent="c.jsonl"),
        info("b", 3, parent="C:\\s\\a.jsonl"),
        info("a", 2),
        info("z", 1, parent="/x/unknown.jsonl"),
    ]
    assert leads(infos) == ["a", "├ c", "│ └ d", "└ b", "z"]


def test_rings_of_parents_end_and_lose_nobody() -> None:
    infos = [info("a", 2, parent="b.jsonl"), info("b", 1, parent="a.jsonl"), info("c", 0, parent="c.jsonl")]
    assert sorted(item.id for item, _ in threaded(infos)) == ["a", "b", "c"]


def test_a_long_line_of_forks_does_not_recurse() -> None:
    infos = [info(f"n{n}", n, parent=f"n{n - 1}.jsonl" if n else None) for n in range(5_000)]
    assert len(threaded(infos)) == 5_000


def rows(shelf: Shelf) -> list[str]:
    return [row.text if row.info is None else row.id.rpartition("/")[2].replace("\n", "#") for row in shelf.rows()]


def test_projects_are_ordered_by_their_newest_session() -> None:
    shelf = Shelf("/w", show_all=True)
    shelf.add([info("old", 1), info("new", 9), info("mid", 5, cwd="/other")])
    assert rows(shelf) == ["/w", "new.jsonl", "old.jsonl", "/other", "mid.jsonl"]
    shelf.show_all = False
    assert rows(shelf) == ["/w", "new.jsonl", "old.jsonl"]
    shelf.pins = ["old"]
    assert rows(shelf) == ["pinned", "old.jsonl", "/w", "new.jsonl"]


def test_a_query_leaves_what_was_found_and_what_is_named_so() -> None:
    shelf = Shelf("/w", query="ndl")
    shelf.add([info("hit", 3), info("named", 2, called="Needle hunt"), info("other", 1)])
    assert rows(shelf) == ["/w", "named.jsonl"]
    hit = Hit(Path("/s/hit.jsonl"), "e1", "user", 0, "ndl", ((0, 3),))
    shelf.found = SearchResult([hit], {hit.path: 7})
    assert rows(shelf) == ["/w", "hit.jsonl", "hit.jsonl#e1", "named.jsonl"]
    assert [row.hits for row in shelf.rows()] == [2, 7, 0, 0]
    shelf.found, shelf.query = None, "first of oth"
    assert rows(shelf) == ["/w", "other.jsonl"], "what is not indexed yet is found by its first words"


def test_a_title_is_one_safe_line() -> None:
    assert title_of(info("x", 0, called="a\n\x1b[31mb")) == "a b"
    assert title_of(info("x", 0)) == "first of x"
