"""Scales images down to what a model can see, as PNG. Inspects only libraries that the cell has imported."""

from __future__ import annotations

from base64 import b64encode
from binascii import a2b_base64
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING

from ..run.after_import import after_import
from .figures import MAX_BASE64, MAX_SIDE, figure_bundle, is_a
from .picture_size import picture_size

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Pixels, without Pillow; models refuse a larger image together with everything in the same message.
_MAX_UNSCALED_SIDE = 8000
_MAX_DECODED = 40_000_000  # pixels: a small file may decode to more than fits into the sandbox's memory
_MAX_NOTES = 20

_notes: dict[str, bool] = {}  # notes about images of this cell that were not shown; a dict to keep their order


def install(show: Callable[[dict[str, Any]], object]) -> None:
    """Make `Image.show()` of Pillow call `show` with the bundle: there is no program that could show a file."""

    def change(module: Any) -> None:
        module.Image.show = lambda image, *_, **__: show(_pillow_bundle(image))

    after_import("PIL.Image", change)


def picture(value: Any) -> dict[str, Any] | None:
    """Returns the MIME bundle of a figure or an image of these libraries; None for any other value."""
    if is_a(value, "matplotlib.figure", "Figure"):
        return figure_bundle(value)
    if is_a(value, "PIL.Image", "Image"):
        return _pillow_bundle(value)
    return None


def fitting(mime: str, data: str) -> tuple[str, str | None]:
    """Returns (MIME type, base64) of an image, scaled down if it is too large and Pillow is available. If it is too large to send and cannot be
    scaled, the content is None and a note says why."""
    try:
        content = a2b_base64(data)
    except ValueError:  # the bridge reports it
        return mime, data
    size = picture_size(content)
    if len(data) <= MAX_BASE64 and (size is None or max(size) <= MAX_SIDE):
        return mime, data
    if size is None or size[0] * size[1] <= _MAX_DECODED:
        with suppress(Exception):  # no Pillow, or an unsupported image
            return "image/png", _scaled_png(content)
    if size is not None and max(size) > _MAX_UNSCALED_SIDE:
        _note(mime, size, f"at most {_MAX_UNSCALED_SIDE:,} a side can be")
        return mime, None
    return mime, data  # the bridge reports too many bytes


def notes() -> list[str]:
    """Returns the notes about this cell's images, and clears them."""
    said = list(_notes)
    _notes.clear()
    return said


def _note(what: str, size: tuple[int, int], most: str) -> None:
    if len(_notes) < _MAX_NOTES:
        said = f"An image ({what}) is not shown: it has {size[0]:,} × {size[1]:,} pixels, {most}; make it smaller."
        _notes[said] = True


def _pillow_bundle(image: Any) -> dict[str, Any]:
    data = {"text/plain": f"<image, {image.mode}, {image.width} × {image.height} pixels>"}
    # An image opened from a file is decoded at its first use.
    if getattr(image, "tile", None) and image.width * image.height > _MAX_DECODED:
        _note("Pillow", image.size, f"at most {_MAX_DECODED // 1_000_000} million are decoded to be shown")
        return data
    with suppress(Exception):  # an empty or broken image has no picture
        data["image/png"] = _image_png(image)
    return data


def _scaled_png(content: bytes) -> str:
    from PIL import Image, ImageOps

    with Image.open(BytesIO(content)) as image:
        if image.width * image.height > _MAX_DECODED:
            raise ValueError("too many pixels")
        image.draft(None, (MAX_SIDE, MAX_SIDE))  # a JPEG can be decoded at a fraction of its size
        return _image_png(ImageOps.exif_transpose(image))


def _image_png(image: Any) -> str:
    for side in (MAX_SIDE, MAX_SIDE // 2, MAX_SIDE // 4):
        small = _resized(image, side)
        if small.mode not in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
            small = small.convert("RGB")
        stream = BytesIO()
        small.save(stream, "PNG")
        if stream.tell() * 4 // 3 <= MAX_BASE64:
            break
    return b64encode(stream.getvalue()).decode("ascii")


def _resized(image: Any, side: int) -> Any:
    """Returns a copy with no side longer than `side`, without a copy in full size. Does not change the image."""
    scale = side / max(image.size)
    if scale >= 1:
        return image
    smoother = {"1": "L", "P": "RGBA"}.get(image.mode)  # in these modes, resizing would only drop pixels
    size = tuple(max(1, round(length * scale)) for length in image.size)
    if smoother and image.width * image.height <= _MAX_DECODED:
        image = image.convert(smoother)
    return image.resize(size, reducing_gap=2.0 if image.mode in ("L", "RGB") else None)
