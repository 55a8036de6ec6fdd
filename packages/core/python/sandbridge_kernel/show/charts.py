"""Shows charts of Altair and Plotly: as a PNG if their exporter is installed, else as a page saved as an artifact.
Without a browser neither can show one, so `chart.show()` is replaced."""

from __future__ import annotations

import builtins
import os
import sys
from base64 import b64encode
from typing import TYPE_CHECKING

from ..run.after_import import after_import
from .figures import is_a

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# The module and class that all charts of a library derive from.
_ALTAIR = ("altair", "TopLevelMixin")
_PLOTLY = ("plotly.basedatatypes", "BaseFigure")
_KINDS = dict((_ALTAIR, _PLOTLY))
_SCALE = 2  # of a PNG: text stays readable when a client scales it down

# In processes of their own: the exporter contains a JavaScript engine, which ends its process where it cannot start.
_DRAW = f"import sys, vl_convert; sys.stdout.buffer.write(vl_convert.vegalite_to_png(sys.stdin.read(), scale={_SCALE}))"
# What shows the page forbids `eval`, with which Vega reads expressions by default.
_WHOLE = """\
import sys, altair
chart = altair.Chart.from_json(sys.stdin.read())
sys.stdout.buffer.write(chart.to_html(inline=True, embed_options={"ast": True}).encode())"""
_EXPORT_SECONDS = 30

_page_count = 0  # of this session; each page has a name of its own


def install() -> None:
    """Make `chart.show()` display the chart, from the import of its library on."""

    def change(module: Any) -> None:
        kind = _KINDS[module.__name__]
        getattr(module, kind).show = _show

    for name in _KINDS:
        after_import(name, change)


def is_chart(value: Any) -> bool:
    return any(is_a(value, *kind) for kind in _KINDS.items())


def chart(value: Any) -> dict[str, Any] | None:
    """Returns the MIME bundle of a chart; None for any other value. Raises what the library says of an invalid chart."""
    if is_a(value, *_ALTAIR):
        value.to_dict()  # an invalid chart must not pass for a failed exporter
        has_exporter, png, page = _has("vl_convert"), _altair_png, value.to_html
    elif is_a(value, *_PLOTLY):
        has_exporter, png, page = _has("kaleido"), _plotly_png, _plotly_page(value)
    else:
        return None
    if has_exporter:
        try:
            return {"text/plain": "", "image/png": b64encode(png(value)).decode("ascii")}
        except Exception:  # such as Kaleido without a browser
            pass
    return {"text/plain": _saved(page())}


def whole_page(value: Any) -> Any:
    """A chart as a page with its library inside, so that it needs no network; any other value as it is."""
    if is_a(value, *_ALTAIR):
        return _altair_page(value)
    return value.to_html(include_plotlyjs=True) if is_a(value, *_PLOTLY) else value


def _altair_png(value: Any) -> bytes:
    return _export(_DRAW, value)


def _altair_page(value: Any) -> str:
    from subprocess import SubprocessError

    from ..api.errors import ArgumentsError

    try:
        return _export(_WHOLE, value).decode()
    except (OSError, SubprocessError) as error:
        reason = "Altair's exporter, vl-convert-python, is missing or does not run in this sandbox"
        raise ArgumentsError(f"{reason}. Show a chart of Plotly, or draw one with matplotlib.") from error


def _export(program: str, value: Any) -> bytes:
    import subprocess

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program]
    spec = str(value.to_json()).encode()
    return subprocess.run(
        command, input=spec, env=environment, timeout=_EXPORT_SECONDS, capture_output=True, check=True
    ).stdout


def _plotly_png(value: Any) -> bytes:
    return bytes(value.to_image(format="png", scale=_SCALE))


def _plotly_page(value: Any) -> Callable[[], str]:
    # With the library inside, each page would have 5 MB.
    return lambda: str(value.to_html(include_plotlyjs="cdn"))


def _saved(page: str) -> str:
    from ..api.artifacts import save_artifact
    from ..api.errors import MCPError

    global _page_count
    _page_count += 1
    name = f"chart-{_page_count}.html"
    instead = "To see a chart yourself, draw it with matplotlib."
    try:
        save_artifact(name, page)
    except MCPError as error:
        return f"The chart can be shown only as a web page, which could not be saved: {error} {instead}"
    return f"The chart is a web page, saved for the user as the artifact {name}. {instead}"


def _has(name: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _show(self: object, *_: object, **__: object) -> None:
    """Display the chart, whatever renderer it names."""
    builtins.display(self)  # type: ignore[attr-defined]
