"""Shows matplotlib's figures: each when it is shown, and the open ones at the end of a cell, if it has imported it."""

from __future__ import annotations

import os
import sys
import weakref
from base64 import b64encode
from io import BytesIO
from typing import TYPE_CHECKING

from ..run.after_import import after_import
from . import missing_glyphs

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    _Bundle = dict[str, Any]

MAX_SIDE = 1568  # pixels; clients scale larger images down
MAX_BASE64 = 5_000_000
_MARGIN = 0.1  # inches
_MAX_GROWTH = 2
_ARTISTS_DEPTH = 3  # of nested lists that plotting functions return
_CONTENTS = ("axes", "lines", "patches", "texts", "images", "artists", "legends", "subfigs")

_shown: weakref.WeakSet[Any] = weakref.WeakSet()  # figures that the running cell has already shown


def install(show: Callable[[_Bundle], object]) -> None:
    """Make matplotlib draw without a screen, and `show()` of pyplot and of a figure call `show` with the bundle."""
    os.environ.setdefault("MPLBACKEND", "Agg")

    def show_figure(figure: Any, *_: object, **__: object) -> None:
        is_old = not _is_news(figure)
        data = figure_bundle(figure)
        _close(figure)
        if not is_old:
            show(data)

    def change_manager(module: Any) -> None:
        module.FigureManagerBase.show = lambda manager: show_figure(manager.canvas.figure)

    def change_figure(module: Any) -> None:
        module.Figure.show = show_figure

    # pyplot.show() shows every open figure by its manager.
    after_import("matplotlib.backend_bases", change_manager)
    after_import("matplotlib.figure", change_figure)
    missing_glyphs.install()


def figure_bundle(figure: Any) -> _Bundle:
    """Returns the MIME bundle of a figure; one without any content has no picture."""
    if is_empty(figure):
        return {"text/plain": repr(figure)}
    data = {"text/plain": "", "image/png": _png(figure)}  # its repr adds nothing to the picture
    _shown.add(figure)
    figure.stale = False  # until something is drawn on it
    return data


def open_figures() -> list[_Bundle]:
    """At the end of a cell: returns bundles of pyplot's open figures that were not shown, and closes all."""
    helpers: Any = sys.modules.get("matplotlib._pylab_helpers")
    try:
        figures = [manager.canvas.figure for manager in helpers.Gcf.get_all_fig_managers()] if helpers else []
        return [figure_bundle(figure) for figure in figures if not is_empty(figure) and _is_news(figure)]
    finally:
        _shown.clear()
        if helpers:
            helpers.Gcf.destroy_all()


def was_shown(value: object) -> bool:
    """True for a figure that this cell has shown as it is now."""
    return is_a(value, "matplotlib.figure", "Figure") and not _is_news(value)


def is_artist(value: object, depth: int = _ARTISTS_DEPTH) -> bool:
    """True for what plotting functions return (`fig, ax`); False for a figure and for what has a picture of its own."""
    if is_a(value, "numpy", "ndarray"):
        found: Any = value
        return bool(found.dtype == object and 0 < found.size < 1000) and is_artist(found.ravel().tolist(), depth)
    if isinstance(value, (list, tuple)):
        return depth > 0 and 0 < len(value) < 1000 and all(is_artist(item, depth - 1) for item in value)
    if depth == _ARTISTS_DEPTH and is_a(value, "matplotlib.figure", "Figure"):
        return False
    kind = type(value)
    return is_a(value, "matplotlib.artist", "Artist") or (
        str(kind.__module__).startswith(("matplotlib.", "seaborn."))
        and kind.__repr__ is object.__repr__
        and not hasattr(kind, "_repr_png_")
    )


def is_a(value: object, module: str, name: str) -> bool:
    """True if a class of this module, which the cell has imported, made the value."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def is_empty(figure: Any) -> bool:
    return not any(getattr(figure, name, ()) for name in _CONTENTS)


def _is_news(figure: Any) -> bool:
    return figure not in _shown or figure.stale


def _close(figure: Any) -> None:
    helpers: Any = sys.modules.get("matplotlib._pylab_helpers")
    for manager in helpers.Gcf.get_all_fig_managers() if helpers else ():
        if manager.canvas.figure is figure:
            helpers.Gcf.destroy(manager.num)


def _png(figure: Any) -> str:
    size, options = figure.get_size_inches(), {}
    if (box := _drawn_box(figure, *size)) is not None:
        size, options = (box.width, box.height), {"bbox_inches": box}
    dpi = min(figure.dpi, MAX_SIDE / max(*size, 0.01))
    for scale in (1, 0.5, 0.25):
        stream = BytesIO()
        figure.savefig(stream, format="png", dpi=dpi * scale, **options)
        if stream.tell() * 4 // 3 <= MAX_BASE64:
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
