"""What the sessions screen does to sessions: open with its questions, rename, trash and back, pin; it loses nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.to_thread
from textual.screen import Screen

from app.config.paths import tilde
from app.errors import PinyonError, SessionBusyError
from renderers.text import one_line
from widgets.session_rows import Shelf, title_of

if TYPE_CHECKING:
    from app.session.listing import SessionInfo
    from app.session.session import Session
    from app.session.trash import Trashed
    from widgets.session_rows import SessionRow

WAIT_S = 0.5

Action = Literal["open", "open_here", "fork", "view"]


@dataclass(frozen=True, slots=True)
class SessionChoice:
    """What was chosen: go on with the session (in its folder, or `open_here`), fork it here, or look at it.

    `entry_id` is the hit to show, None for the session's own place.
    """

    path: Path
    entry_id: str | None
    action: Action


class SessionsActions(Screen[SessionChoice | None]):
    """The half of the screen that acts; the other half shows (`note`, `show_shelf`)."""

    def __init__(self, cwd: Path, session: Session | None = None) -> None:
        super().__init__()
        self.shelf = Shelf(str(cwd))
        self.session = session
        self.current = session.path if session is not None and session.is_stored else None
        self.trashed: tuple[Trashed, SessionInfo] | None = None
        self._called_off: anyio.Event | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a session that another process writes is waited for."""
        return self._called_off is not None

    def stop_waiting(self) -> None:
        """Wait no longer."""
        if self._called_off is not None:
            self._called_off.set()

    def note(self, text: str, *, is_warning: bool = False) -> None:
        """Say something in the last row."""

    def show_shelf(self) -> None:
        """Draw the list anew."""

    async def act(self, action: str, row: SessionRow) -> None:
        """Do what was asked with a row; what goes wrong is told. Only inside a worker."""
        info = row.info
        if info is None:
            return
        try:
            match action:
                case "open":
                    await self._open(info, self._hit_of(row))
                case "rename":
                    await self._rename(info)
                case "delete":
                    await self._delete(info)
                case "pin":
                    await self._pin(info)
        except PinyonError as error:
            self.note(str(error), is_warning=True)
        except Exception as error:  # the border of the worker: a bug is told, the screen stays
            self.note(f"{action} failed: {type(error).__name__}: {error}", is_warning=True)

    # -- open

    def _hit_of(self, row: SessionRow) -> str | None:
        """The entry of the row's hit; on the line of a session that was found, of its first one."""
        if row.hit is not None:
            return row.hit.entry_id
        found = self.shelf.found.hits if self.shelf.found is not None and self.shelf.query else ()
        return next((hit.entry_id for hit in found if row.info is not None and hit.path == row.info.path), None)

    async def _open(self, info: SessionInfo, entry_id: str | None) -> None:
        from app.session.trash import is_in_use

        if info.path == self.current:
            self.dismiss(SessionChoice(info.path, entry_id, "open"))
            return
        if not await anyio.to_thread.run_sync(info.path.exists):
            self.shelf.infos.pop(info.path, None)
            self.show_shelf()
            self.note("this session's file is gone", is_warning=True)
            return
        action: Action | None = "open"
        if await anyio.to_thread.run_sync(is_in_use, info.path):
            action = await self._ask_busy(info)
        if action == "open" and not await anyio.to_thread.run_sync(Path(info.cwd or "/nowhere").is_dir):
            action = await self._ask_gone(info)
        if action is not None:
            self.dismiss(SessionChoice(info.path, entry_id, action))

    async def _ask_gone(self, info: SessionInfo) -> Action | None:
        from widgets.dialogs import choose

        here = one_line(tilde(self.shelf.cwd))
        answer = await choose(
            self.app,
            "The folder of this session is gone",
            [("open_here", f"continue in {here}"), ("fork", f"fork it into {here}"), ("no", "cancel")],
            body=one_line(tilde(info.cwd)) or "it names none",
        )
        return "open_here" if answer == "open_here" else "fork" if answer == "fork" else None

    async def _ask_busy(self, info: SessionInfo) -> Action | None:
        from app.session.lease import read_holder
        from widgets.dialogs import choose

        holder = await anyio.to_thread.run_sync(read_holder, info.path)
        who = f"process {holder.pid} on {one_line(holder.host)}" if holder is not None else "another process"
        answer = await choose(
            self.app,
            "This session is in use",
            [("view", "look at it"), ("fork", "fork it"), ("wait", "wait until it is free"), ("no", "cancel")],
            body=f"{title_of(info)}\n{who} writes it.",
        )
        if answer == "wait":
            return "open" if await self._wait(info) else None
        return "view" if answer == "view" else "fork" if answer == "fork" else None

    async def _wait(self, info: SessionInfo) -> bool:
        """Until nobody writes the session; False when it was called off."""
        from app.session.trash import is_in_use

        self._called_off = called_off = anyio.Event()
        self.note(f"waiting for {title_of(info)} · esc stops waiting")
        try:
            while not called_off.is_set():
                if not await anyio.to_thread.run_sync(is_in_use, info.path):
                    return True
                with anyio.move_on_after(WAIT_S):
                    await called_off.wait()
            return False
        finally:
            self._called_off = None
            self.note("")

    # -- change

    async def _rename(self, info: SessionInfo) -> None:
        from widgets.text_input import ask_text

        name = await ask_text(self.app, "Name of the session (blank: none)", info.name or "")
        if name is None or " ".join(name.split()) == (info.name or ""):
            return
        if info.path == self.current and self.session is not None:
            await self.session.set_name(name)
        else:
            from app.session.session import Session

            try:
                session = await Session.open(info.path)
            except SessionBusyError as error:
                self.note(f"not renamed: {error.message}", is_warning=True)
                return
            try:
                await session.set_name(name)
            finally:
                await session.close()
        self.shelf.add([replace(info, name=" ".join(name.split()) or None)])
        self.show_shelf()
        self.note(f"renamed to {one_line(name)}" if name.strip() else "it has no name now")

    async def _delete(self, info: SessionInfo) -> None:
        from app.session.trash import put_away
        from widgets.dialogs import choose

        if info.path == self.current:
            self.note("this session is open here: leave it first", is_warning=True)
            return
        answer = await choose(
            self.app,
            "Move this session to the trash?",
            [("trash", "move it to the trash"), ("no", "keep it")],
            body=title_of(info),
        )
        if answer != "trash":
            return
        try:
            moved = await anyio.to_thread.run_sync(put_away, info.path)
        except SessionBusyError as error:
            self.note(f"not moved: {error.message}", is_warning=True)
            return
        self.shelf.infos.pop(info.path, None)
        self.show_shelf()
        self.note(f"{title_of(info)[:40]} is in the trash · u brings it back")
        self.trashed = moved, info

    async def undo(self) -> None:
        """Bring back what was moved to the trash last, as long as the note about it stands."""
        from app.session.trash import bring_back

        if self.trashed is None:
            return
        (moved, info), self.trashed = self.trashed, None
        try:
            await anyio.to_thread.run_sync(bring_back, moved)
        except PinyonError as error:
            self.note(str(error), is_warning=True)
            return
        self.shelf.add([info])
        self.show_shelf()
        self.note(f"{title_of(info)[:60]} is back")

    async def _pin(self, info: SessionInfo) -> None:
        from app.session.pins import load_pins, toggle_pin

        is_pinned = await anyio.to_thread.run_sync(toggle_pin, info.id)
        self.shelf.pins = await anyio.to_thread.run_sync(load_pins)
        self.show_shelf()
        self.note(f"{title_of(info)[:60]} is {'pinned' if is_pinned else 'no longer pinned'}")
