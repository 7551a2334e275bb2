"""Walk branches in a real terminal: three of them, compare, take, restore, undo, 12 keys, a restart. Dev only.

usage: python scripts/branch_walk.py [FOLDER]      pictures go into FOLDER, to be looked at; fails at what is not so
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from branch_walk_terminal import Place, Walk


def expect(is_so: bool, what: str) -> None:
    """Say it, or end with an error."""
    print(f"{'ok  ' if is_so else 'FAIL'}  {what}", flush=True)
    if not is_so:
        raise SystemExit(1)


def three_turns(walk: Walk) -> None:
    """An edit, a first way in two turns."""
    walk.until("offline guide")
    walk.say('replace "aaa" with "AAA" in one.txt', "Replaced 1 block")
    walk.say('write two.txt with "first way"', "new file")
    walk.say("run echo hi > three.txt", "printed nothing")
    walk.terminal.run(0.8)  # escape right after a run is meant for the run


def twelve_keys(walk: Walk, work: Path, out: Path) -> None:
    """Go back two turns, try another way, compare, keep the first one with its files."""
    walk.keys.clear()
    walk.press("esc", "K", "K", "e")
    walk.until("Write this message anew?", "yes, and its files")
    walk.picture(out / "go-back.png")
    walk.press("down", "enter")
    walk.until("/undo-restore takes it back")
    expect(not (work / "two.txt").exists() and not (work / "three.txt").exists(), "going back takes the files along")
    walk.terminal.send(b"\x15")  # what stands in the prompt is typed over
    walk.say('write two.txt with "second way"', "Wrote 11 bytes")
    walk.press("ctrl+t")
    walk.until("▲ tree", "◀ here")
    walk.press("c")
    walk.until("compare from", "2 files")
    walk.picture(out / "compare.png")
    walk.press("K")
    walk.until("Go on with this branch?")
    walk.press("down", "enter")
    walk.until("/undo-restore takes it back", "printed nothing")
    expect((work / "two.txt").read_text() == "first way\n", "the better branch is kept with its files")
    expect(len(walk.keys) <= 12, f"{len(walk.keys)} keys: {' '.join(walk.keys)}")


def third_branch(walk: Walk, work: Path, out: Path) -> None:
    """Another one from the first answer, by the tree; then take, restore and undo."""
    walk.press("ctrl+t")
    walk.until("▲ tree")
    walk.press("home", "down", "down", "down", "enter")
    walk.until("Bring its files too?", "Never kept")
    walk.picture(out / "restore.png")
    walk.press("down", "enter")
    walk.until("/undo-restore takes it back")
    expect(not (work / "two.txt").exists(), "a restore brings back what was there")
    walk.say('replace "bbb" with "BBB" in one.txt', "-2 bbb")
    walk.press("ctrl+t")
    walk.until("3 branches")
    walk.picture(out / "tree.png")
    walk.press("/")
    walk.type("two.txt")
    walk.until("two.txt", "of")
    walk.picture(out / "search.png")
    walk.press("esc", "esc")
    walk.until("3 branches") if "▲ tree" in walk.rows()[0] else walk.press("ctrl+t")
    walk.press("home", "down", "down", "down", "down", "t")
    walk.until("Take…")
    walk.press("enter")
    walk.until("Take the file changes of that branch?")
    walk.picture(out / "take.png")
    walk.press("down", "enter")
    walk.until("/undo-restore takes it back")
    expect((work / "two.txt").exists() and "BBB" in (work / "one.txt").read_text(), "files taken, one's own kept")
    walk.type("/undo-restore")
    walk.press("enter")
    walk.until("Take back what was restored last?")
    walk.press("down", "enter")
    walk.until("Take back", gone=True)
    walk.until("takes it back")
    expect(not (work / "two.txt").exists() and "BBB" in (work / "one.txt").read_text(), "the take is undone, no more")


def restart(place: Place, out: Path) -> None:
    """Jump, quit, `-c`: the same place, files untouched; in other sizes too."""
    stamps = {path.name: path.stat().st_mtime_ns for path in place.work.iterdir()}
    for columns, rows in ((120, 40), (80, 24), (60, 15)):
        walk = Walk(place, "-c", columns=columns, rows=rows)
        walk.until("BBB")
        walk.press("ctrl+t")
        walk.until("◀ here")
        walk.picture(out / f"tree-{columns}x{rows}.png")
        walk.press("esc")
        walk.leave()
    expect(stamps == {path.name: path.stat().st_mtime_ns for path in place.work.iterdir()}, "files are untouched")


def main() -> None:
    """Walk, and say what was seen."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="branch-walk-"))
    place = Place()
    (place.work / "one.txt").write_text("aaa\nbbb\nccc\n")
    walk = Walk(place)
    three_turns(walk)
    twelve_keys(walk, place.work, out)
    third_branch(walk, place.work, out)
    walk.leave()
    restart(place, out)
    print(f"pictures in {out}")


if __name__ == "__main__":
    main()
