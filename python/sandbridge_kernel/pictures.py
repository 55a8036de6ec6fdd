"""Scales images down to what a model can see; converts images of matplotlib and Pillow to PNG. Inspects only libraries that the cell
has imported. Imports Pillow itself only for an image that is too large to send as it is.
"""

from __future__ import annotations

import os
import sys
import weakref
from base64 import b64encode
from binascii import a2b_base64
from io import BytesIO
from typing import TYPE_CHECKING

from .image_size import image_size

if TYPE_CHECKING:
    from typing import Any

_MAX_SIDE = 1568  # pixels; clients scale larger images down
_MAX_UNSCALED_SIDE = (
    8000  # pixels, without Pillow; models refuse a larger image together with everything in the same message
)
_MAX_DECODED = 40_000_000  # pixels: a small file may decode to more than fits into the sandbox's memory
_MAX_BASE64 = 5_000_000
_MAX_NOTES = 20
_MARGIN = 0.1  # inches
_MAX_GROWTH = 2
_ARTISTS_DEPTH = 3  # of nested lists that plotting functions return

_shown: weakref.WeakSet[Any] = weakref.WeakSet()  # figures that the running cell has already shown
_notes: dict[str, bool] = {}  # notes about images of this cell that were not shown; a dict to keep their order


def install() -> None:
    """Make matplotlib draw without a screen. Figures are shown when the cell ends, so plt.show() must not warn."""
    import warnings

    os.environ.setdefault("MPLBACKEND", "Agg")
    warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive", UserWarning)


def picture(value: Any) -> dict[str, Any] | None:
    """Returns the MIME bundle of a figure or an image of these libraries; None for any other value."""
    if is_a(value, "matplotlib.figure", "Figure"):
        _shown.add(value)
        return {"text/plain": "", "image/png": _figure_png(value)}  # its repr adds nothing to the picture
    if is_a(value, "PIL.Image", "Image"):
        return _pillow_bundle(value)
    return None


def open_figures() -> list[dict[str, Any]]:
    """Returns bundles of pyplot's open figures that were not shown yet, and closes all."""
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    numbers = pyplot.get_fignums() if hasattr(pyplot, "get_fignums") else ()
    figures = [pyplot.figure(number) for number in numbers]
    try:
        return [shown for figure in figures if figure not in _shown and (shown := picture(figure))]
    finally:
        _shown.clear()
        if figures:
            pyplot.close("all")


def is_artist(value: object, depth: int = _ARTISTS_DEPTH) -> bool:
    """True for what plotting functions return, also `fig, ax`: it adds nothing to the open figure.

    False for a figure itself, which is shown.
    """
    if isinstance(value, (list, tuple)):
        return depth > 0 and 0 < len(value) < 1000 and all(is_artist(item, depth - 1) for item in value)
    if depth == _ARTISTS_DEPTH and is_a(value, "matplotlib.figure", "Figure"):
        return False
    return str(type(value).__module__).startswith("matplotlib.")


def fitting(mime: str, data: str) -> tuple[str, str | None]:
    """Returns (MIME type, base64) of an image, scaled down if it is too large and Pillow is available. If it is too large to send and cannot be
    scaled, the content is None and a note says why."""
    try:
        content = a2b_base64(data)
    except ValueError:  # the bridge reports it
        return mime, data
    size = image_size(content)
    if len(data) <= _MAX_BASE64 and (size is None or max(size) <= _MAX_SIDE):
        return mime, data
    if size is None or size[0] * size[1] <= _MAX_DECODED:
        try:
            return "image/png", _scaled_png(content)
        except Exception:  # no Pillow, or an unsupported image
            pass
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
        _notes[f"An image ({what}) is not shown: it has {size[0]:,} × {size[1]:,} pixels, {most}; make it smaller."] = (
            True
        )


def is_a(value: object, module: str, name: str) -> bool:
    """True if a class of this module, which the cell has imported, made the value."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def _figure_png(figure: Any) -> str:
    size, options = figure.get_size_inches(), {}
    if (box := _drawn_box(figure, *size)) is not None:
        size, options = (box.width, box.height), {"bbox_inches": box}
    dpi = min(figure.dpi, _MAX_SIDE / max(*size, 0.01))
    for scale in (1, 0.5, 0.25):
        stream = BytesIO()
        figure.savefig(stream, format="png", dpi=dpi * scale, **options)
        if stream.tell() * 4 // 3 <= _MAX_BASE64:
            break
    return b64encode(stream.getvalue()).decode("ascii")


def _drawn_box(figure: Any, width: float, height: float) -> Any:
    """Returns what the figure draws on, in inches, also beyond its edges: labels there are not cut off, as in Jupyter. None if that is
    unknown or much larger than the figure."""
    try:
        box = figure.get_tightbbox().padded(_MARGIN)
    except Exception:
        return None
    return box if box.width <= _MAX_GROWTH * width and box.height <= _MAX_GROWTH * height else None


def _pillow_bundle(image: Any) -> dict[str, Any]:
    plain = f"<image, {image.mode}, {image.width} × {image.height} pixels>"
    # An image opened from a file is decoded at its first use.
    if getattr(image, "tile", None) and image.width * image.height > _MAX_DECODED:
        _note("Pillow", image.size, f"at most {_MAX_DECODED // 1_000_000} million are decoded to be shown")
        return {"text/plain": plain}
    try:
        return {"text/plain": plain, "image/png": _image_png(image)}
    except Exception:  # an empty or broken image has no picture
        return {"text/plain": plain}


def _scaled_png(content: bytes) -> str:
    from PIL import Image, ImageOps

    with Image.open(BytesIO(content)) as image:
        if image.width * image.height > _MAX_DECODED:
            raise ValueError("too many pixels")
        image.draft(None, (_MAX_SIDE, _MAX_SIDE))  # a JPEG can be decoded at a fraction of its size
        return _image_png(ImageOps.exif_transpose(image))


def _image_png(image: Any) -> str:
    for side in (_MAX_SIDE, _MAX_SIDE // 2, _MAX_SIDE // 4):
        small = _resized(image, side)
        if small.mode not in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
            small = small.convert("RGB")
        stream = BytesIO()
        small.save(stream, "PNG")
        if stream.tell() * 4 // 3 <= _MAX_BASE64:
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
