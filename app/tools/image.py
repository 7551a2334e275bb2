"""Images for a model: known by their first bytes, made small enough; it must never trust a file's name."""

from __future__ import annotations

import base64
import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from app.tools.threads import StopFlag
from app.tools.truncate import format_size

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_SIDE_PX = 2000
MAX_BASE64_BYTES = int(4.5 * 1024 * 1024)  # providers refuse more than 5 MB an image
MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_PIXELS = 120_000_000
JPEG_QUALITIES = (80, 85, 70, 55, 40)


@dataclass(frozen=True, slots=True)
class Picture:
    """An image ready to send (base64 `data`), or a note why it is not (`data` None)."""

    original_type: str
    mime_type: str
    data: str | None
    note: str = ""


def image_type(start: bytes) -> str | None:
    """The mime type by the file's first bytes: jpeg, png, gif or webp; None for anything else."""
    if start.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if start.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if start.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if start.startswith(b"RIFF") and start[8:12] == b"WEBP":
        return "image/webp"
    return None


def prepare_image(file: BinaryIO, mime_type: str, resize: bool, stop: StopFlag) -> Picture:
    """The image within 2000×2000 pixels and 4.5 MB of base64, untouched when it already is (spec core §3.5).

    With `resize` off it is sent as it is. What can't be made to fit, or read at all, becomes a note without data.
    """
    data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        return Picture(mime_type, mime_type, None, f"Not shown: the file is over {format_size(MAX_FILE_BYTES)}")
    stop.check()
    if not resize:
        return _untouched(data, mime_type)
    # Not at the top: pillow takes longer to import than the whole tool room.
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pillow warns of large images; the limit is checked here
            with Image.open(io.BytesIO(data)) as source:
                width, height = source.size
                if width * height > MAX_PIXELS:
                    return Picture(mime_type, mime_type, None, f"Not shown: {width}x{height} pixels are too many")
                turned = source.getexif().get(0x0112, 1) not in (0, 1)
                if not turned and max(width, height) <= MAX_SIDE_PX and _base64_size(data) <= MAX_BASE64_BYTES:
                    source.load()  # a torn file would be refused by the provider
                    return _untouched(data, mime_type)
                upright = ImageOps.exif_transpose(source) if turned else source
                return _fitted(upright, mime_type, stop)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        return Picture(mime_type, mime_type, None, f"Not shown: the image can't be read ({error})")


def _untouched(data: bytes, mime_type: str) -> Picture:
    return Picture(mime_type, mime_type, base64.b64encode(data).decode("ascii"))


def _base64_size(data: bytes) -> int:
    return (len(data) + 2) // 3 * 4


def _fitted(image: Image, mime_type: str, stop: StopFlag) -> Picture:
    """The image shrunk until PNG or JPEG fits; a note without data when even a tiny one doesn't."""
    full = image.size
    scale = min(1.0, MAX_SIDE_PX / max(full))
    while True:
        stop.check()
        size = (max(1, round(full[0] * scale)), max(1, round(full[1] * scale)))
        shrunk = image.convert("RGBA" if _has_alpha(image) else "RGB")
        if size != full:
            shrunk = shrunk.resize(size)
        if found := _encoded(shrunk, stop):
            data, kind = found
            note = "" if size == full else _scale_note(full, size)
            return Picture(mime_type, kind, base64.b64encode(data).decode("ascii"), note)
        if max(size) == 1:
            return Picture(mime_type, mime_type, None, "Not shown: the image can't be made small enough")
        scale *= 0.75


def _scale_note(full: tuple[int, int], size: tuple[int, int]) -> str:
    return (
        f"Original {full[0]}x{full[1]}, shown at {size[0]}x{size[1]}. "
        f"Multiply coordinates by {full[0] / size[0]:.2f} to get those of the original."
    )


def _has_alpha(image: Image) -> bool:
    return image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info


def _encoded(image: Image, stop: StopFlag) -> tuple[bytes, str] | None:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    if _base64_size(buffer.getvalue()) <= MAX_BASE64_BYTES:
        return buffer.getvalue(), "image/png"
    plain = image.convert("RGB")
    for quality in JPEG_QUALITIES:
        stop.check()
        buffer = io.BytesIO()
        plain.save(buffer, "JPEG", quality=quality)
        if _base64_size(buffer.getvalue()) <= MAX_BASE64_BYTES:
            return buffer.getvalue(), "image/jpeg"
    return None
