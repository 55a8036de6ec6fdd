"""A value → a bundle of MIME types, by Jupyter's conventions: `_repr_mimebundle_`, `_repr_png_` and so on. Binary types as base64."""

import builtins
from base64 import b64encode

_METHODS = (
    ("_repr_html_", "text/html"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_latex_", "text/latex"),
    ("_repr_json_", "application/json"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
)


def bundle(value):
    """The MIME bundle of a value; it always has `text/plain`. Raises whatever the value's own methods raise."""
    found = {}
    # Looked up on the type: an object that answers to every attribute, such as a Record or a Mock, has none of these.
    method = getattr(type(value), "_repr_mimebundle_", None)
    if method is not None and not isinstance(value, type):
        data = method(value)
        if isinstance(data, tuple):  # Jupyter allows (data, metadata)
            data = data[0]
        found.update(data or {})
    else:
        for name, mime in _METHODS:
            method = None if isinstance(value, type) else getattr(type(value), name, None)
            content = None if method is None else method(value)
            if isinstance(content, tuple):
                content = content[0]
            if content is not None:
                found[mime] = content
    shown = {str(mime): _content(content) for mime, content in found.items()}
    if "text/plain" not in shown:
        shown = {"text/plain": repr(value), **shown}
    return shown


def _content(content):
    return b64encode(content).decode("ascii") if isinstance(content, (bytes, bytearray, memoryview)) else content


def install(channel, output):
    """Make `display(…)` a builtin."""

    def display(*values):
        """Show values as they are: text, images, tables."""
        for value in values:
            data = bundle(value)
            output.flush()
            channel.send({"type": "display", "cell": channel.cell, "data": data})

    builtins.display = display
