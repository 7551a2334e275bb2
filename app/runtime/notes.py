"""UI-only notes, kept in the model so that a redraw never loses one: status lines, warnings, printed answers."""

from __future__ import annotations

from dataclasses import dataclass

from app.runtime.events import NoteLevel


@dataclass(frozen=True, slots=True)
class Note:
    """A note and the entry after which it stands (None: before the first)."""

    note_id: str
    text: str
    level: NoteLevel
    after_entry: str | None


class Notes:
    """In order; a status note directly after another replaces it (no spam of status lines)."""

    def __init__(self) -> None:
        self._notes: list[Note] = []
        self._count = 0

    def add(self, text: str, level: NoteLevel = "info", after_entry: str | None = None) -> Note:
        """Keep a note and return it."""
        self._count += 1
        note = Note(f"note-{self._count}", text, level, after_entry)
        self._notes.append(note)
        return note

    def after(self, entry_id: str | None) -> list[Note]:
        """The notes that stand behind an entry."""
        return [note for note in self._notes if note.after_entry == entry_id]

    def clear(self) -> None:
        """Forget them all (another session)."""
        self._notes.clear()
