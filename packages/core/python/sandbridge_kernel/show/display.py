"""Converts a value to a MIME bundle, by Jupyter's conventions: `_repr_mimebundle_`, `_repr_png_` and so on. Binary types in base64."""

from __future__ import annotations

import builtins
import json
import sys
from base64 import b64encode
from contextlib import contextmanager
from functools import wraps
from io import StringIO
from typing import TYPE_CHECKING

from ..data import media
from ..data.values import media_in
from . import charts, figures, ipython, pictures
from .tables import records, table
from .wrapping import wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..wire.channel import Channel
    from ..wire.frame_types import DisplayFrame
    from .output import Output

_METHODS = (
    ("_repr_html_", "text/html"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_latex_", "text/latex"),
    ("_repr_json_", "application/json"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
)
_MAX_CHARS = 8_000_000  # of one text; longer reprs are cut in the middle
_MAX_JSON_CHARS = 200_000  # of a value that is also sent as JSON
_MAX_MEDIA = 21  # inside one value; the bridge shows 20 and reports when there are more
_SHOWN = ("image/png", "image/jpeg", "image/webp", "image/gif")


def bundle(value: object, with_json: bool = False) -> dict[str, Any]:
    """Return the MIME bundle of a value; it always has `text/plain`. Raises what the value's repr raises. `with_json`:
    also as `application/json`, if the value has a JSON form."""
    found = pictures.picture(value) or charts.chart(value) or table(value) or _own_bundle(value)
    contents = (_content(str(mime), content) for mime, content in found.items() if content is not None)
    shown = {mime: content for mime, content in contents if content is not None}
    if "text/plain" not in shown:
        # `<__main__.Plot object at 0x…>` adds nothing to the picture.
        says_nothing = type(value).__repr__ is object.__repr__ and any(mime in _SHOWN for mime in shown)
        shown = {"text/plain": "" if says_nothing else bounded(_plain(value)), **shown}
    if with_json and "application/json" not in shown and (plain := _json_of(value)) is not None:
        shown["application/json"] = plain
    return shown


def _plain(value: object) -> str:
    method = getattr(type(value), "_repr_pretty_", None)
    if callable(method) and not isinstance(value, type):
        printer = _Printer()
        _data(method, value, printer, False)
        if shown := printer.getvalue():
            return shown
    return wrapped(value, repr(value))


class _Printer(StringIO):
    """IPython's, as far as `_repr_pretty_` needs it, without breaking lines."""

    def breakable(self, sep: str = " ") -> None:
        self.write(sep)

    text = breakable

    def pretty(self, value: object) -> None:
        self.write(_plain(value))

    @contextmanager
    def group(self, indent: int = 0, open: str = "", close: str = "") -> Iterator[None]:
        self.write(open)
        yield
        self.write(close)


def _own_bundle(value: object) -> dict[Any, Any]:
    # Looked up on the type: an object that has every attribute, such as a Record or a Mock, has none of these.
    if isinstance(value, type):
        return {}
    kind = type(value)
    method = getattr(kind, "_repr_mimebundle_", None)
    if callable(method) and isinstance(data := _data(method, value, include=None, exclude=None), dict):
        return data
    return {mime: _data(method, value) for name, mime in _METHODS if callable(method := getattr(kind, name, None))}


def _shows_itself(value: object) -> bool:
    """`_ipython_display_`, which displays in place of all reprs."""
    method = getattr(type(value), "_ipython_display_", None)
    if not callable(method) or isinstance(value, type) or charts.is_chart(value):
        return False
    try:
        method(value)
    except NotImplementedError:
        return False
    except Exception as error:
        _tell_failure(method, value, error)
        return False
    return True


def _tell_failure(method: Callable[..., Any], value: object, error: Exception) -> None:
    name = getattr(method, "__qualname__", type(value).__name__)
    print(f"{name} failed: {type(error).__name__}: {error}", file=sys.stderr)


def _data(method: Callable[..., Any], value: object, *arguments: object, **options: object) -> Any:
    """Returns the result of a rich repr; None if it fails, which is told: the plain repr follows."""
    try:
        data = method(value, *arguments, **options)
    except Exception as error:
        _tell_failure(method, value, error)
        return None
    return data[0] if isinstance(data, tuple) else data  # Jupyter allows (data, metadata)


def _content(mime: str, content: object) -> tuple[str, Any]:
    """Returns (MIME type, content to send); the content is None if it is not of that type."""
    if isinstance(content, (bytes, bytearray, memoryview)):
        content = b64encode(content).decode("ascii")
    if isinstance(content, str):
        return (
            pictures.fitting(mime, content)
            if mime.startswith("image/") and "<" not in content
            else (mime, bounded(content))
        )
    return mime, None if mime.startswith(("text/", "image/", "audio/")) else content


def bounded(text: str, most: int = _MAX_CHARS) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"


def _json_of(value: object) -> Any:
    try:
        if (text := records(value)) is None:
            if not isinstance(value, (dict, list, tuple)) or not value:
                return None
            text = json.dumps(value, allow_nan=False)
        return json.loads(text) if len(text) <= _MAX_JSON_CHARS else None
    except (TypeError, ValueError, RecursionError):
        return None


class Display:
    """Shows a cell's values while it runs, and open figures at its end."""

    def __init__(self, channel: Channel, output: Output) -> None:
        self._channel, self._output = channel, output
        self.with_json = False  # set for each cell
        self.captured: list[dict[str, Any]] | None = None  # what is not to be shown now

    def show(self, data: dict[str, Any], display_id: str | None = None) -> None:
        if self.captured is not None:
            self.captured.append(data)
            return
        self._output.flush()
        self._output.has_shown = True
        if self._channel.detached:  # a forked child has no frames
            self._output.stdout.write(f"{data.get('text/plain') or '<a picture of a forked process>'}\n")
            return
        frame: DisplayFrame = {"type": "display", "cell": self._channel.cell, "data": data}
        if display_id is not None:
            frame["id"] = display_id
        self._channel.send(frame)

    def clear(self, wait: bool) -> None:
        """Take back what the cell has shown; with `wait`, when it shows more."""
        self._output.flush()
        if not self._channel.detached:
            self._channel.send({"type": "clear", "cell": self._channel.cell, "wait": wait})

    def display(self, value: object, data: dict[str, Any] | None, display_id: str | None) -> None:
        """Show a value, or the bundle `data` of one."""
        if data is None and _shows_itself(value):
            return
        self.show(bundle(value, self.with_json) if data is None else data, display_id)
        if data is None:
            self.show_media(value)

    def show_media(self, value: object) -> None:
        """Show the images and sounds inside a list or a dict, beside its text."""
        content: str | None
        for mime, content in media_in(value, _MAX_MEDIA):
            if mime in _SHOWN:
                mime, content = pictures.fitting(mime, content)
            if content is not None:
                self.show({mime: content})

    def show_figures(self) -> bool:
        """At the end of a cell. Returns True if there was a figure."""
        shown = figures.open_figures()
        for data in shown:
            self.show(data)
        return bool(shown)

    def value(self, value: object) -> dict[str, Any] | None:
        """Returns the bundle of a cell's last value; None if there is nothing to show."""
        # First the bundle, so that a figure that is the value itself is not shown twice.
        is_told = value is None or figures.was_shown(value) or _shows_itself(value)
        data = None if is_told or figures.is_artist(value) else bundle(value, self.with_json)
        self.show_media(value)
        if not self.show_figures() and data is None and not is_told:
            return bundle(value, self.with_json)
        return data

    def install(self, shell: Callable[[], Any]) -> None:
        """Make `display(…)` a builtin, and the libraries show by it. `shell` makes what get_ipython() returns."""
        ipython.install(self, shell)
        figures.install(self.show)
        pictures.install(self.show)
        charts.install()
        media.at_first.append(self._show_printed)

    def _show_printed(self) -> None:
        """Make `print` show the images in what it prints."""
        plain = builtins.print

        @wraps(plain)
        def printing(*values: object, file: Any = None, **how: Any) -> None:
            plain(*values, file=file, **how)
            if file is None or file is sys.stdout:
                self.show_media(values)

        builtins.print = printing
