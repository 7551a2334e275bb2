"""The files of a session's entries: looked up, compared, restored, taken over; it must never act without a plan."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from app.errors import SessionError
from app.runtime.file_places import NO_FILES, FilePlaces
from app.runtime.file_project import ProjectFiles, Usage
from app.runtime.file_recorder import FileRecorder
from app.session.snapshots.model import Difference, Manifest, SnapshotError, differences
from app.session.snapshots.tracker import Limits

if TYPE_CHECKING:
    from app.runtime.agent_session import AgentSession
    from app.session.snapshots.compare import FileChange
    from app.session.snapshots.plan import RestorePlan
    from app.session.snapshots.restore import Restored

NOTHING_KEPT = "this session keeps nothing on disk (--no-session), its files neither"


class FileHistory:
    """The files of one AgentSession. Entry ids may be None: before the first entry.

    Where nothing else is said, methods raise SnapshotError: no snapshot tells, it was pruned, or snapshots are off.
    """

    def __init__(self, session: AgentSession, root: Path | None = None) -> None:
        self._session = session
        why_off = NOTHING_KEPT if session.session.path is None else None
        self._files = ProjectFiles(root or Path(session.session.cwd), Limits.of(session.settings.raw), why_off)
        self.places = FilePlaces(session.session)
        self.recorder = FileRecorder(session, self._files, self.places)

    @property
    def why_off(self) -> str | None:
        """Why there are no snapshots; None: there are, as far as is known."""
        return self._files.why_off

    def attach(self) -> None:
        """Take snapshots around every turn with a tool that may change files."""
        self.recorder.attach()

    async def warm(self) -> None:
        """Read and keep the project's files now, so that the first tool which changes something need not wait for it
        (about 0.8 s for 20,000 files, once a project). For the background, while the model answers. Never raises.
        """
        try:
            await self._files.now(full=False)
        except SnapshotError:
            return  # the first turn that changes files says so

    @asynccontextmanager
    async def command(self) -> AsyncIterator[None]:
        """Put a `!` command of the user's inside, the keeping of its message included. Raises nothing of its own."""
        async with self.recorder.command():
            yield

    async def close(self) -> None:
        """Stop listening, let go of the kernel's watch. Never raises."""
        self.recorder.detach()
        await self._files.close()

    async def usage(self) -> Usage:
        """What the snapshots of all projects take on the disk, and the limits."""
        return await self._files.usage()

    # -- looking them up ------------------------------------------------------------------------------------------

    async def files_at(self, entry_id: str | None) -> Manifest | None:
        """The files as they were at an entry (None: before the first); None when no snapshot tells.

        Raises SnapshotError when the snapshot was pruned, UnknownEntryError.
        """
        place = self.places.at(entry_id)
        return None if place is None else await self._files.load(place.manifest_id)

    async def files_now(self) -> Manifest:
        """The files as they are now (kept as a snapshot)."""
        return await self._files.now(full=True)

    async def changes_between(self, entry_a: str | None, entry_b: str | None) -> list[FileChange]:
        """What differs between the files at two entries, with line counts, by path."""
        return await self._changes(await self._need(entry_a), await self._need(entry_b))

    async def changes_until_now(self, entry_id: str | None) -> list[FileChange]:
        """What differs between the files at an entry and those on the disk."""
        return await self._changes(await self._need(entry_id), await self.files_now())

    async def branch_changes(self, tip: str, fork: str | None) -> list[FileChange]:
        """What the branch from `fork` (exclusive) to `tip` did to the files."""
        base, theirs = self.places.base_of(tip, fork), self.places.at(tip)
        if base is None or theirs is None:
            return []
        return await self._changes(await self._files.load(base.manifest_id), await self._files.load(theirs.manifest_id))

    async def diff(self, path: str, entry_a: str | None, entry_b: str | None) -> str:
        """One file's diff between two entries as rows, foreign text (unified_rows)."""
        return await self._diff(path, await self._need(entry_a), await self._need(entry_b))

    async def diff_until_now(self, path: str, entry_id: str | None) -> str:
        """One file's diff between an entry and the disk, as rows."""
        return await self._diff(path, await self._need(entry_id), await self.files_now())

    # -- restoring ------------------------------------------------------------------------------------------------

    async def preview(self, entry_id: str | None, overwrite: Collection[str] = ()) -> RestorePlan:
        """Exactly what bringing back the files of an entry would do; nothing is done.

        What someone else changed is skipped unless `overwrite` names it.
        """
        target = await self._need(entry_id)
        place = self.places.at(entry_id)
        return await self._plan(target, place.order if place is not None else 0, overwrite)

    async def preview_undo(self, overwrite: Collection[str] = ()) -> RestorePlan:
        """What taking back the last restore or take would do: to the paths that it touched, and to no other, so that
        what was changed since stays. Raises SnapshotError when there was none.
        """
        last = self.places.last_undoable()
        if last is None or last.undo_id is None:
            raise SnapshotError("nothing was restored in this session yet")
        target, after = await self._files.load(last.undo_id), await self._files.load_if_kept(last.manifest_id)
        if after is not None:
            touched = {one.path: one.old for one in differences(target, after)}
            target = (await self.files_now()).with_changes(touched)
        return await self._plan(target, last.order, overwrite)

    async def take(
        self, from_entry: str, into_entry: str | None = None, paths: Collection[str] | None = None
    ) -> RestorePlan:
        """What bringing another branch's file changes (from its fork with the branch of `into_entry`, the leaf when
        None, to `from_entry`) into the present files would do; nothing is done.
        """
        from app.session.snapshots.taking import plan_take

        tree = self._session.session.tree
        fork = tree.common_ancestor(from_entry, into_entry or tree.leaf_id)
        base, theirs = self.places.base_of(from_entry, fork), self.places.at(from_entry)
        if base is None or theirs is None:
            raise SnapshotError(NO_FILES)
        base_files, their_files = await self._files.load(base.manifest_id), await self._files.load(theirs.manifest_id)
        now, tracker = await self.files_now(), self._files.tracker()
        return await self._files.run(lambda _: plan_take(tracker, now, base_files, their_files, paths))

    async def plan_changes(self, plan: RestorePlan) -> list[FileChange]:
        """What a plan would do to each of its paths, with line counts."""
        from app.session.snapshots.compare import describe

        packs = self._files.packs
        made = {file.path: file.content for file in plan.files if file.content is not None}
        found = [Difference(file.path, file.old, file.new) for file in plan.files]
        return await self._files.run(lambda _: describe(packs, found, made))

    async def plan_diff(self, plan: RestorePlan, path: str) -> str:
        """What a plan would do to one path, as diff rows: from the present file to what it becomes."""
        from app.session.snapshots.compare import content_of, content_rows, diff_rows

        file = next((file for file in plan.files if file.path == path), None)
        if file is None:
            return ""
        packs, old, new, content = self._files.packs, file.old, file.new, file.content
        if content is None:
            return await self._files.run(lambda _: diff_rows(packs, old, new))
        return await self._files.run(lambda _: content_rows(content_of(packs, old), content))

    async def apply(self, plan: RestorePlan) -> Restored:
        """Do it, and note it in the session so that it can be undone. Refused while a turn runs."""
        if self._session.is_busy:
            raise SnapshotError("files are not restored while a turn runs", "Stop it first with escape")
        if self._session.session.is_read_only:
            raise SnapshotError("this session is open to look at only: it can't note what is restored")
        async with self._session.exclusive():  # what is typed meanwhile must not find half of the files
            return await self._apply(plan)

    # -- inside ---------------------------------------------------------------------------------------------------

    async def _apply(self, plan: RestorePlan) -> Restored:
        from app.session.snapshots.restore import apply

        tracker = self._files.tracker()
        with anyio.CancelScope(shield=True):  # what was begun is finished and noted
            try:
                done = await anyio.to_thread.run_sync(apply, tracker, plan)
            except OSError as error:
                raise SnapshotError(f"the files can't be restored: {error.strerror or error}") from error
            try:
                await self.recorder.note(plan.purpose, done.after, done.before.id)
            except SessionError as error:
                raise SnapshotError(f"{done.summary}, but the session could not note it: {error.message}") from error
        return done

    async def _plan(self, target: Manifest, since: int, overwrite: Collection[str]) -> RestorePlan:
        from app.session.snapshots.plan import plan_restore

        tracker, now, last = self._files.tracker(), await self.files_now(), self.places.last()
        known = await self._files.load_if_kept(last.manifest_id) if last is not None else None
        pairs: list[tuple[Manifest, Manifest]] = []
        for old_id, new_id in self.places.outside_changes(since):
            old, new = await self._files.load_if_kept(old_id), await self._files.load_if_kept(new_id)
            if old is not None and new is not None:
                pairs.append((old, new))

        def plan(_: object) -> RestorePlan:
            # what the agent changed later is the agent's again
            found = [one for old, new in pairs for one in differences(old, new)]
            foreign = {one.path for one in found if now.files.get(one.path) == one.new}
            return plan_restore(tracker, now, target, known, foreign=foreign, overwrite=overwrite)

        return await self._files.run(plan)

    async def _changes(self, old: Manifest, new: Manifest) -> list[FileChange]:
        from app.session.snapshots.compare import changes

        packs = self._files.packs
        return await self._files.run(lambda _: changes(packs, old, new))

    async def _diff(self, path: str, old: Manifest, new: Manifest) -> str:
        from app.session.snapshots.compare import diff_rows

        packs = self._files.packs
        return await self._files.run(lambda _: diff_rows(packs, old.files.get(path), new.files.get(path)))

    async def _need(self, entry_id: str | None) -> Manifest:
        manifest = await self.files_at(entry_id)
        if manifest is None:
            raise SnapshotError(NO_FILES)
        return manifest
