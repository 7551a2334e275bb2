"""`@file` arguments of the command line: text becomes a tagged block, an image an attachment."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from pathlib import Path

from app.ai.messages import ImageContent
from app.config.paths import expand
from app.errors import UsageError

MAX_TEXT_BYTES = 10 * 1024 * 1024
IMAGE_SIGNS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


@dataclass(slots=True)
class FileArguments:
    """`texts`: a block for each file; `images`: what is attached."""

    texts: list[str] = field(default_factory=list)
    images: list[ImageContent] = field(default_factory=list)


def read_file_arguments(names: list[str], cwd: Path) -> FileArguments:
    """What `@name` arguments stand for. Raises UsageError for one that is missing, no file, or too large."""
    result = FileArguments()
    for name in names:
        path = expand(name, cwd).absolute()
        try:
            if path.is_dir():
                raise UsageError(f"@{name} is a folder", "Name a file in it")
            with path.open("rb") as file:  # the size is not asked: pipes and devices have none
                raw = file.read(MAX_TEXT_BYTES + 1)
            if len(raw) > MAX_TEXT_BYTES:
                raise UsageError(f"@{name} is larger than 10 MiB", "Let the agent read the part it needs")
        except OSError as error:
            raise UsageError(f"@{name} can't be read: {error.strerror}", "Check the name") from error
        mime = image_mime(raw)
        if mime:
            result.images.append(ImageContent(data=base64.b64encode(raw).decode("ascii"), mime_type=mime))
            result.texts.append(f'<file name="{path}"></file>')
        elif raw:
            result.texts.append(f'<file name="{path}">\n{raw.decode("utf-8", "replace")}\n</file>')
    return result


def image_mime(raw: bytes) -> str | None:
    """The kind of an image by its first bytes; None: no image that models take."""
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for sign, mime in IMAGE_SIGNS.items() if raw.startswith(sign)), None)
