"""Images of matplotlib and Pillow as PNG, scaled down to what a model can see. Neither library is ever loaded here for its own sake:
only what the cell has imported is looked at, and Pillow for an image that is too large to be sent as it is.
"""

import os
import sys
import weakref
from base64 import b64encode
from binascii import a2b_base64
from io import BytesIO

_MAX_SIDE = 1568  # pixels; more is scaled down by those who look at it
_MAX_BASE64 = 5_000_000

_shown = weakref.WeakSet()  # figures that the running cell has shown by itself


def install():
    """Have matplotlib draw without a screen; figures are shown when the cell ends, so that plt.show() has nothing to say."""
    import warnings

    os.environ.setdefault("MPLBACKEND", "Agg")
    warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive", UserWarning)


def picture(value):
    """The MIME bundle of a figure or an image of these libraries; None for any other value."""
    if _is_a(value, "matplotlib.figure", "Figure"):
        _shown.add(value)
        return {"text/plain": repr(value), "image/png": _figure_png(value)}
    if _is_a(value, "PIL.Image", "Image"):
        return {"text/plain": f"<image, {value.mode}, {value.width} × {value.height} pixels>", "image/png": _image_png(value)}
    return None


def open_figures():
    """The bundles of the figures that pyplot holds open and that were not shown yet; closes them all."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    numbers = pyplot.get_fignums() if hasattr(pyplot, "get_fignums") else ()
    figures = [pyplot.figure(number) for number in numbers]
    try:
        return [picture(figure) for figure in figures if figure not in _shown]
    finally:
        _shown.clear()
        if figures:
            pyplot.close("all")


def is_artist(value):
    """Whether a value is what plotting functions return, and says nothing beside the figure itself."""
    if isinstance(value, (list, tuple)):
        return bool(value) and len(value) < 1000 and all(map(is_artist, value))
    return type(value).__module__.startswith("matplotlib.") and not _is_a(value, "matplotlib.figure", "Figure")


def fitting(mime, data):
    """Base64 of an image, made smaller where it is too large and Pillow is there."""
    if len(data) <= _MAX_BASE64 or not mime.startswith("image/"):
        return mime, data
    try:
        from PIL import Image

        with Image.open(BytesIO(a2b_base64(data))) as image:
            return "image/png", _image_png(image)
    except Exception:  # no Pillow, or nothing it can read: the bridge says that it was too large
        return mime, data


def _is_a(value, module, name):
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def _figure_png(figure):
    dpi = min(figure.dpi, _MAX_SIDE / max(*figure.get_size_inches(), 0.01))
    for scale in (1, 0.5, 0.25):
        stream = BytesIO()
        figure.savefig(stream, format="png", dpi=dpi * scale)
        if stream.tell() * 4 // 3 <= _MAX_BASE64:
            break
    return b64encode(stream.getvalue()).decode("ascii")


def _image_png(image):
    for side in (_MAX_SIDE, _MAX_SIDE // 2, _MAX_SIDE // 4):
        small = image
        if max(image.size) > side:
            small = image.copy()
            small.thumbnail((side, side))
        if small.mode not in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
            small = small.convert("RGB")
        stream = BytesIO()
        small.save(stream, "PNG")
        if stream.tell() * 4 // 3 <= _MAX_BASE64:
            break
    return b64encode(stream.getvalue()).decode("ascii")
