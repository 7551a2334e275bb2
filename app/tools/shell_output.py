"""The output of a command as a reader would see it, of any length in bounded memory; the raw bytes go to a file.

Colours and cursor movements are dropped, `\\r` leaves the last state of a line, other control characters go.
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import secrets
from pathlib import Path
from typing import BinaryIO

from app.tools.clusters import cut_start
from app.tools.truncate import MAX_BYTES, MAX_LINES, Truncation, byte_length, truncate_tail

# The tail kept in memory, in characters: always enough for MAX_BYTES bytes.
KEPT_CHARS = 2 * MAX_BYTES
# An escape sequence that has not ended after so many characters is taken for text.
LONGEST_SEQUENCE_CHARS = 4096
_SEQUENCE = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]"  # CSI
    "|\x9b[0-?]*[ -/]*[@-~]"
    "|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)"  # OSC
    "|\x1b[PX^_][^\x1b]*\x1b\\\\"  # DCS, SOS, PM, APC
    "|\x1b[ -/]*[0-OQ-WYZ\\\\`-~]"  # two-byte ones, not the openers above
)
_OPEN_SEQUENCE = re.compile(
    "(?:\x1b(?:\\[[0-?]*[ -/]*|\\][^\x07\x1b]*\x1b?|[PX^_][^\x1b]*\x1b?|[ -/]*)|\x9b[0-?]*[ -/]*)$"
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufff9-\ufffb]")


class ShellOutput:
    """Takes the bytes of one command as they come; not thread-safe."""

    def __init__(self, output_dir: Path, name: str = "bash") -> None:
        self._output_dir = output_dir
        self._name = name
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._escape = ""  # the beginning of a sequence that the last chunk cut
        self._ended: list[str] = []  # finished lines, the newest KEPT_CHARS of them
        self._ended_chars = 0
        self._ended_lines = 0
        self._ended_bytes = 0
        self._line = ""  # the unfinished line, its end when it is long
        self._line_bytes = 0
        self._last_ended_bytes = 0  # of the newest finished line, without its line feed
        self._return_pending = False
        self._raw: list[bytes] = []
        self._raw_bytes = 0
        self._file: BinaryIO | None = None
        self.path: Path | None = None
        self.spill_error: OSError | None = None

    def is_spilling(self, size_bytes: int) -> bool:
        """Whether `keep_raw` of so many bytes would write to the disk."""
        return self._raw_bytes + size_bytes > MAX_BYTES

    def keep_raw(self, data: bytes) -> None:
        """Keep the bytes for the full output: in memory up to the limit, then in a file (mode 0600). May block."""
        self._raw_bytes += len(data)
        if self._file is None:
            self._raw.append(data)
            if self._raw_bytes > MAX_BYTES:
                self.spill()
            return
        self._write(data)

    def spill(self) -> None:
        """Put what came so far into the file; a disk that refuses is noted in `spill_error`, the command goes on."""
        if self.path is not None or self.spill_error is not None:
            return
        try:
            self._output_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            if os.lstat(self._output_dir).st_uid != os.geteuid():
                # in a folder like /tmp anyone may have made it first, and could change what the model then reads
                raise PermissionError(errno.EPERM, "the folder for outputs belongs to someone else")
            path = self._output_dir / f"{self._name}-{secrets.token_hex(8)}.log"
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except OSError as error:
            self.spill_error = error
            self._raw.clear()
            return
        self._file = os.fdopen(descriptor, "wb", buffering=0)
        self.path = path
        for piece in self._raw:
            self._write(piece)
        self._raw.clear()

    def _write(self, data: bytes) -> None:
        if self._file is None or self.spill_error is not None:
            return
        try:
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) or 0 :]
        except OSError as error:
            self.spill_error = error

    def feed(self, data: bytes, *, final: bool = False) -> None:
        """Take the bytes into the readable text; a character or sequence may go on in the next ones."""
        text = self._escape + self._decoder.decode(data, final)
        self._escape = ""
        if "\x1b" in text or "\x9b" in text:
            text = _SEQUENCE.sub("", text)
            if not final and (found := _OPEN_SEQUENCE.search(text, max(0, len(text) - LONGEST_SEQUENCE_CHARS))):
                self._escape = found[0]
                text = text[: found.start()]
        text = _CONTROL.sub("", text)
        if text:
            self._take(text)

    def _take(self, text: str) -> None:
        if self._return_pending:
            text = "\r" + text
            self._return_pending = False
        if text.endswith("\r"):
            # It may be half of a CRLF, or the end of a last state that stays.
            text = text[:-1]
            self._return_pending = True
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        last = text.rfind("\n")
        if last >= 0:
            self._end_lines(text[:last])
            text = text[last + 1 :]
        if "\r" in text:
            self._line = _last_state(self._line + text)
            self._line_bytes = byte_length(self._line)
        else:
            self._line += text
            self._line_bytes += byte_length(text)
        if len(self._line) > 2 * KEPT_CHARS:
            self._line = self._line[-KEPT_CHARS:]

    def _end_lines(self, text: str) -> None:
        """`text`, without its last line feed, ends the open line and perhaps more."""
        extra = self._line_bytes - byte_length(self._line)  # what was dropped of a long line
        whole = self._line + text
        self._line, self._line_bytes = "", 0
        if "\r" in whole:
            whole = "\n".join(_last_state(line) if "\r" in line else line for line in whole.split("\n"))
        newest = whole[whole.rfind("\n") + 1 :]
        self._last_ended_bytes = byte_length(newest) + (max(0, extra) if len(newest) == len(whole) else 0)
        whole += "\n"
        self._ended_lines += whole.count("\n")
        self._ended_bytes += byte_length(whole) + max(0, extra)
        self._ended.append(whole[-KEPT_CHARS:])
        self._ended_chars += len(self._ended[-1])
        if self._ended_chars > 4 * KEPT_CHARS:
            joined = "".join(self._ended)[-KEPT_CHARS:]
            self._ended = [joined]
            self._ended_chars = len(joined)

    def tail(self) -> Truncation:
        """The last 2000 lines or 50 KiB so far, with the totals of all."""
        text = ("".join(self._ended) + self._line)[-KEPT_CHARS:]
        if len(text) == KEPT_CHARS:
            text = text[cut_start(text, 1) :]
        lines = self._ended_lines + bool(self._line)
        return truncate_tail(
            text, MAX_LINES, MAX_BYTES, total_lines=lines, total_bytes=self._ended_bytes + self._line_bytes
        )

    @property
    def last_line_bytes(self) -> int:
        """Bytes of the last line, whole, without its line feed."""
        return self._line_bytes if self._line else self._last_ended_bytes

    def finish(self) -> Truncation:
        """End the text and the file; a file that holds no more than the tail is removed. May block."""
        self.feed(b"", final=True)
        tail = self.tail()
        if tail.truncated:
            self.spill()
        if self._file is not None:
            self._file.close()
            self._file = None
        if self.path is not None and not tail.truncated:
            self.path.unlink(missing_ok=True)
            self.path = None
        return tail


def _last_state(line: str) -> str:
    """What `\\r` leaves of a line: its last state that is not empty."""
    return next((state for state in reversed(line.split("\r")) if state), "")
