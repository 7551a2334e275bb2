"""Writing an export: which kind, where, all of it or nothing; it must never overwrite unasked or touch the session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

from app.errors import SessionError, UsageError
from app.session.file import SessionFile
from app.session.view import SessionView

Kind = Literal["html", "markdown", "jsonl"]

_KINDS: dict[str, Kind] = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".jsonl": "jsonl",
}
ENDINGS: dict[Kind, str] = {"html": ".html", "markdown": ".md", "jsonl": ".jsonl"}


def kind_of(out: Path) -> Kind:
    """The kind that a file's ending asks for. Raises UsageError for any other ending."""
    kind = _KINDS.get(out.suffix.lower())
    if kind is None:
        raise UsageError(f"{out}: no kind of export ends so", "Use .html, .md or .jsonl")
    return kind


def export_session(
    path: Path, out: Path | None = None, kind: Kind | None = None, leaf: str | None = None, *, force: bool = False
) -> Path:
    """Write the session at `path` to `out` and give the file's path. Blocks.

    `out` is a file, or a folder that gets one named after the session (default: the present folder). HTML shows the
    whole tree, opened at `leaf` (default: the session's own); Markdown and JSONL hold that branch alone.
    Raises UsageError, NotASessionError, UnknownEntryError, and SessionError when `out` exists (without `force`) or
    can't be written: then nothing is left behind.
    """
    file = SessionFile.read(path)
    try:
        view = SessionView(file)
        if leaf is not None:
            view.tree.get(leaf)
        target = _target(path, out, kind)
        if target.exists() and target.samefile(path):
            raise UsageError(f"{target} is the session itself", "Choose another name")
        if target.exists() and not force:
            raise SessionError(f"{target} exists", "Use --force to replace it")
        _write(target, _pieces(view, kind or kind_of(target), leaf or view.leaf_id), force)
        return target
    finally:
        file.close()


def _target(path: Path, out: Path | None, kind: Kind | None) -> Path:
    if out is not None and not out.is_dir():
        return out
    return (out or Path.cwd()) / f"{path.name.removesuffix('.jsonl')}{ENDINGS[kind or 'html']}"


def _pieces(view: SessionView, kind: Kind, leaf: str | None) -> Iterator[str]:
    match kind:
        case "html":
            from app.session.export.page import page

            return page(view, leaf)
        case "markdown":
            from app.session.export.markdown import document

            return document(view, leaf)
        case "jsonl":
            from app.session.export.chain import chain

            return chain(view, leaf)


def _write(target: Path, pieces: Iterator[str], force: bool) -> None:
    draft = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            # one copy in memory at a time: a page of a long session is written as it is made
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", newline="") as stream:
                stream.writelines(pieces)
            if force:
                draft.replace(target)
            else:
                _name(draft, target)
        finally:
            with suppress(FileNotFoundError):
                draft.unlink()
    except FileExistsError as error:
        raise SessionError(f"{target} exists", "Use --force to replace it") from error
    except OSError as error:
        raise SessionError(f"{target}: not exported: {error.strerror}", "Choose another place") from error


def _name(draft: Path, target: Path) -> None:
    try:
        os.link(draft, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if target.exists():
            raise FileExistsError(17, "exists", str(target)) from None
        draft.replace(target)
